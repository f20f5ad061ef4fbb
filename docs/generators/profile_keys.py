"""Every key of a profile file: what it means, and an example that validates (tests/packaging/test_man.py)."""

from __future__ import annotations

import sys
from dataclasses import dataclass

HEAD = 'schema = 1\nsummary = "What it is for"\n'


@dataclass(frozen=True, slots=True)
class Key:
    """`example` is TOML; what it needs around it is in `before` and `after`, which the page does not show."""

    name: str
    text: str
    example: str
    before: str = HEAD
    after: str = ""


FILE = (
    Key("schema", "The version of the format, always 1. Required.", "schema = 1", 'summary = "x"\n'),
    Key(
        "summary",
        "One line for `profile list`. Required.",
        'summary = "RDNA 4: wave-save faults"',
        "schema = 1\n",
    ),
    Key(
        "gfx",
        "The GPU targets it is for. Without it, and without one that is inherited, it is for any GPU. A "
        "profile whose GPU is not here is refused unless `--any-gpu` is given.",
        'gfx = ["gfx1200", "gfx1201"]',
    ),
    Key(
        "apu",
        "Narrows gfx: true for GPUs in one package with the processor, false for graphics cards.",
        'gfx = ["gfx1103"]\napu = true',
    ),
    Key(
        "use",
        "How a profile comes to be used. auto (the default): by name, and by `--profile auto` for its "
        "GPUs. named: only by name. diagnosis: by name, and with a warning where it is applied to a host; "
        "it is meant for `rocmcfg run`.",
        'use = "named"',
    ),
    Key(
        "extends",
        "The name of a profile that this one adds to. It inherits settings, parameters, notes and gfx. "
        "What both set must be equal: to change a value, copy the profile.",
        'extends = "rdna4"',
    ),
    Key(
        "notes",
        "Sentences that `profile show` prints below the settings.",
        'notes = ["Set the carve-out to its minimum in the firmware."]',
    ),
    Key(
        "parameters",
        "Numbers that only the user knows, one table each; see PARAMETERS.",
        '[parameters.gtt_gib]\nsummary = "Memory that the GPU may map"\n\n'
        '[module.ttm]\npages_limit.value = { from = "gtt_gib", times = 262144 }',
    ),
    Key(
        "module",
        "Module parameters, by module: [module.amdgpu], [module.ttm], [module.amdttm]. They go to the "
        "kernel command line, or to modprobe.d with `--via modprobe`.",
        "[module.amdgpu]\nrunpm = 0",
    ),
    Key(
        "features",
        "Bits of amdgpu's feature masks by name, true or false. They are composed onto the mask that the "
        "host would otherwise have. `rocmcfg explain ppfeaturemask` lists them.",
        "[features]\ngfxoff = false",
    ),
    Key(
        "cmdline",
        "Other kernel arguments. true is a flag without a value, a list an argument that is given several "
        "times. A name with a dot is quoted.",
        '[cmdline]\niommu = "pt"\nthreadirqs = true\n"pcie_aspm.policy" = "performance"',
    ),
    Key(
        "env",
        "Environment variables. The value is a text.",
        '[env]\nMIOPEN_DEBUG_CONV_GEMM = "0"',
    ),
)

SETTING = (
    Key("value", "The value; required in the long form.", "[module.amdgpu.runpm]\nvalue = 0"),
    Key(
        "because",
        "Why, in one sentence: what it does about which fault. `rocmcfg plan` shows it.",
        '[module.amdgpu.runpm]\nvalue = 0\nbecause = "An idle card sometimes fails to come back."',
    ),
    Key(
        "evidence",
        "Links that a reader can check.",
        '[module.amdgpu.runpm]\nvalue = 0\nevidence = ["https://gitlab.freedesktop.org/drm/amd"]',
    ),
    Key(
        "cost",
        "What it costs; there always is something.",
        '[module.amdgpu.runpm]\nvalue = 0\ncost = "The card takes power when idle."',
    ),
    Key(
        "confidence",
        "confirmed: the evidence establishes cause and cure. reported: users say that it helps. asked "
        "for: often advised, proven by nobody.",
        '[module.amdgpu.runpm]\nvalue = 0\nconfidence = "reported"',
    ),
    Key(
        "when",
        "The setting is applied only where this holds; see CONDITIONS. Without it: always.",
        '[module.amdgpu.runpm]\nvalue = 0\nwhen = { kernel = "<6.12" }',
    ),
    Key(
        "optional",
        "true: left out unless `--with NAME` asks for it.",
        "[module.amdgpu.runpm]\nvalue = 0\noptional = true",
    ),
    Key(
        "via",
        "cmdline or modprobe: where this one goes, for module parameters and features. Without it the "
        "command line option `--via` decides.",
        '[module.amdgpu.runpm]\nvalue = 0\nvia = "modprobe"',
    ),
)


def _when(table: str) -> str:
    return f"[module.amdgpu.runpm]\nvalue = 0\nwhen = {{ {table} }}"


WHEN = (
    Key("kernel", "A range of kernel versions, for any installed kernel.", _when('kernel = ">=6.8,<6.12"')),
    Key("rocm", "A range of ROCm releases.", _when('rocm = ">=7.0,<7.2"')),
    Key("pytorch", "A range of PyTorch releases.", _when('pytorch = "<2.6"')),
    Key(
        "lacks-fix",
        "The name of a fix in the catalogue. Holds while an installed kernel lacks it.",
        _when('lacks-fix = "cwsr-expert-scheduling"'),
    ),
    Key("gfx", "A list of GPU targets, of which one must be here.", _when('gfx = ["gfx1201"]')),
    Key(
        "gpus", "A range of the number of GPUs; beside gfx, of GPUs of these targets.", _when('gpus = ">=2"')
    ),
    Key(
        "igpu",
        "true where a GPU shares the processor's package, false where none does.",
        _when("igpu = true"),
    ),
    Key(
        "dkms",
        "true where an installed kernel has AMD's DKMS driver, false where one has its own.",
        _when("dkms = true"),
    ),
)

_USED = '\n[module.ttm]\npages_limit.value = { from = "gtt_gib" }'


def _number(name: str, text: str, row: str) -> Key:
    summary = "" if name == "summary" else 'summary = "Memory that the GPU may map"\n'
    return Key(name, text, f"[parameters.gtt_gib]\n{summary}{row}", after=_USED)


PARAMETER = (
    _number("summary", "What the user is asked for. Required.", 'summary = "Memory that the GPU may map"'),
    _number("unit", "Its unit, for the reader.", 'unit = "GiB"'),
    _number("min", "The smallest number; 0 unless given.", "min = 1"),
    _number("max", "The largest number; without it there is no bound.", "max = 512"),
    _number(
        "within",
        "memory: refused where the host has less memory (needs the unit GiB or MiB). gpus: refused where "
        "fewer GPUs are here.",
        'unit = "GiB"\nwithin = "memory"',
    ),
    _number(
        "unset",
        "What the system does without the setting, so that a number that lowers it is remarked on: half "
        "of memory.",
        'unit = "GiB"\nunset = "half of memory"',
    ),
)
_DECLARED = '[parameters.gtt_gib]\nsummary = "Memory that the GPU may map"\n'
MULTIPLE = (
    Key("from", "The parameter's name.", _USED.strip(), HEAD + _DECLARED),
    Key(
        "times",
        "What its number is multiplied with; 1 unless given.",
        '[module.ttm]\npages_limit.value = { from = "gtt_gib", times = 262144 }',
        HEAD + _DECLARED,
    ),
)


def sections() -> list[tuple[str, tuple[Key, ...]]]:
    """The groups of keys, each held against the model that reads them."""
    from rocmcfg.knowledge import profile_schema as schema

    groups: list[tuple[str, tuple[Key, ...], type[schema._Model]]] = [
        ("file", FILE, schema.ProfileFile),
        ("setting", SETTING, schema.SettingRow),
        ("when", WHEN, schema.When),
        ("parameter", PARAMETER, schema.ParameterRow),
        ("multiple", MULTIPLE, schema.From),
    ]
    for name, keys, model in groups:
        known = {field.alias or key for key, field in model.model_fields.items()}
        explained = {key.name for key in keys}
        if known != explained:
            sys.exit(f"profile_keys.py: {name}: {', '.join(sorted(known ^ explained))} is not in both")
    return [(name, keys) for name, keys, _ in groups]


def documents() -> list[tuple[str, str]]:
    """Each example as a whole profile."""
    return [
        (f"{group} {key.name}", f"{key.before}{key.example}\n{key.after}\n")
        for group, keys in sections()
        for key in keys
    ]
