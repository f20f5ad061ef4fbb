"""Every key of a profile file with an example that validates (tests/packaging/test_man.py)."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

HEAD = 'schema = 1\nsummary = "What it is for"\n'


@dataclass(frozen=True, slots=True)
class Key:
    """`example` is TOML; what it needs around it is in `before` and `after`, which the page does not show.
    `text` says what the key means, in the words of the model that reads it."""

    name: str
    example: str
    before: str = HEAD
    after: str = ""
    text: str = ""


FILE = (
    Key("schema", "schema = 1", 'summary = "x"\n'),
    Key(
        "summary",
        'summary = "RDNA 4: wave-save faults"',
        "schema = 1\n",
    ),
    Key(
        "gfx",
        'gfx = ["gfx1200", "gfx1201"]',
    ),
    Key(
        "apu",
        'gfx = ["gfx1103"]\napu = true',
    ),
    Key(
        "use",
        'use = "named"',
    ),
    Key(
        "extends",
        'extends = "rdna4"',
    ),
    Key(
        "notes",
        'notes = ["Set the carve-out to its minimum in the firmware."]',
    ),
    Key(
        "parameters",
        '[parameters.gtt_gib]\nsummary = "Memory that the GPU may map"\n\n'
        '[module.ttm]\npages_limit.value = { from = "gtt_gib", times = 262144 }',
    ),
    Key(
        "module",
        "[module.amdgpu]\nrunpm = 0",
    ),
    Key(
        "features",
        "[features]\nstutter = false",
    ),
    Key(
        "cmdline",
        '[cmdline]\niommu = "pt"\nthreadirqs = true\n"pcie_aspm.policy" = "performance"',
    ),
    Key(
        "env",
        '[env]\nMIOPEN_DEBUG_CONV_GEMM = "0"',
    ),
)

SETTING = (
    Key("value", "[module.amdgpu.runpm]\nvalue = 0"),
    Key(
        "because",
        '[module.amdgpu.runpm]\nvalue = 0\nbecause = "An idle card sometimes fails to come back."',
    ),
    Key(
        "evidence",
        '[module.amdgpu.runpm]\nvalue = 0\nevidence = ["https://gitlab.freedesktop.org/drm/amd"]',
    ),
    Key(
        "cost",
        '[module.amdgpu.runpm]\nvalue = 0\ncost = "The card takes power when idle."',
    ),
    Key(
        "confidence",
        '[module.amdgpu.runpm]\nvalue = 0\nconfidence = "reported"',
    ),
    Key(
        "when",
        '[module.amdgpu.runpm]\nvalue = 0\nwhen = { kernel = "<6.12" }',
    ),
    Key(
        "optional",
        "[module.amdgpu.runpm]\nvalue = 0\noptional = true",
    ),
    Key(
        "via",
        '[module.amdgpu.runpm]\nvalue = 0\nvia = "modprobe"',
    ),
)


def _when(table: str) -> str:
    return f"[module.amdgpu.runpm]\nvalue = 0\nwhen = {{ {table} }}"


WHEN = (
    Key("kernel", _when('kernel = ">=6.8,<6.12"')),
    Key("rocm", _when('rocm = ">=7.0,<7.2"')),
    Key("pytorch", _when('pytorch = "<2.6"')),
    Key(
        "lacks-fix",
        _when('lacks-fix = "cwsr-expert-scheduling"'),
    ),
    Key("gfx", _when('gfx = ["gfx1201"]')),
    Key("gpus", _when('gpus = ">=2"')),
    Key(
        "igpu",
        _when("igpu = true"),
    ),
    Key(
        "dkms",
        _when("dkms = true"),
    ),
)

_USED = '\n[module.ttm]\npages_limit.value = { from = "gtt_gib", times = 262144 }'


def _number(name: str, row: str) -> Key:
    summary = "" if name == "summary" else 'summary = "Memory that the GPU may map"\n'
    return Key(name, f"[parameters.gtt_gib]\n{summary}{row}", after=_USED)


PARAMETER = (
    _number("summary", 'summary = "Memory that the GPU may map"'),
    _number("unit", 'unit = "GiB"'),
    _number("min", "min = 1"),
    _number("max", "max = 512"),
    _number(
        "within",
        'unit = "GiB"\nwithin = "memory"',
    ),
    _number(
        "unset",
        'unit = "GiB"\nunset = "half of memory"',
    ),
)
_DECLARED = '[parameters.gtt_gib]\nsummary = "Memory that the GPU may map"\n'
MULTIPLE = (
    Key("from", _USED.strip(), HEAD + _DECLARED),
    Key(
        "times",
        '[module.ttm]\npages_limit.value = { from = "gtt_gib", times = 262144 }',
        HEAD + _DECLARED,
    ),
)


def sections() -> list[tuple[str, tuple[Key, ...]]]:
    """The groups of keys, each held against the model that reads them."""
    from rocmcfg.knowledge import profile_schema as schema

    groups: list[tuple[str, tuple[Key, ...], type[schema._Model]]] = [
        ("file", FILE, schema.ProfileFile),
        ("setting", SETTING, schema.SettingTable),
        ("when", WHEN, schema.When),
        ("parameter", PARAMETER, schema.ParameterRow),
        ("multiple", MULTIPLE, schema.From),
    ]
    found = []
    for name, keys, model in groups:
        known = {field.alias or key for key, field in model.model_fields.items()}
        explained = {key.name for key in keys}
        if known != explained:
            sys.exit(f"profile_keys.py: {name}: {', '.join(sorted(known ^ explained))} is not in both")
        texts = {field.alias or key: field.description or "" for key, field in model.model_fields.items()}
        found.append((name, tuple(replace(key, text=texts[key.name]) for key in keys)))
    return found


def documents() -> list[tuple[str, str]]:
    """Each example as a whole profile."""
    return [
        (f"{group} {key.name}", f"{key.before}{key.example}\n{key.after}\n")
        for group, keys in sections()
        for key in keys
    ]
