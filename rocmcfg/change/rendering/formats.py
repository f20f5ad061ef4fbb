"""List the formats, what reads each of them, and the values that a template gets.

A format is a template in `templates/` and its row here. The files of a rendering have other names than the
files that `rocmcfg apply` writes, so both can exist on one host; those of `rocmcfg apply` are read later, and
win."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import quote

from rocmcfg.files import modprobe
from rocmcfg.files.environment_targets import ENVIRONMENT_D, PROFILE_D
from rocmcfg.host.files import read_own_file
from rocmcfg.loaders.shared.specials import GRUB, Special
from rocmcfg.model.desired import Channel, DesiredSetting, Kind, unique_kargs
from rocmcfg.model.shape import NamedTuple


class Format(NamedTuple):
    """One format. `template` is its file in `templates/`. `reader` is the program that reads the text, and
    `use` says what to do with it. A line that the reader ignores begins with `comment`. `special` lists what
    a kernel argument must not contain because the boot loader of the system would not pass it on unchanged.
    `elsewhere` returns where else a setting can be set that the reader cannot set; empty if the reader can
    set it. `check` is the command that shows the settings in effect, where rocmcfg cannot run."""

    template: str
    reader: str
    use: str
    comment: str = "#"
    special: tuple[Special, ...] = GRUB  # of all possible loaders, the one that interprets most characters
    elsewhere: Callable[[DesiredSetting], str] = lambda _: ""
    check: str = ""


def _variables(where: str) -> Callable[[DesiredSetting], str]:
    """Return `elsewhere` of a reader that can set everything but variables."""
    return lambda setting: where if setting.kind is Kind.ENV else ""


def _of_gpu_operator(setting: DesiredSetting) -> str:
    """AMD's GPU operator gives parameters to one module. The parameters of ttm are those of another module
    in the driver that the operator installs."""
    if setting.kind is Kind.ENV:
        return _IN_PODS
    return "" if setting.module == GPU_OPERATOR_MODULE else _ON_NODES


GPU_OPERATOR_MODULE = "amdgpu"  # ROCm/gpu-operator, internal/kmmmodule/kmmmodule.go (setKMMModuleLoader)
_IN_PODS = "in the pods that need them, under `env`"
_ON_NODES = "on the nodes: with rocmcfg apply, or as their system is built (rocmcfg render)"

FORMATS = {
    "nixos": Format(
        "nixos.nix",
        "NixOS",
        "save it next to configuration.nix, add it to `imports`, then nixos-rebuild boot",
    ),
    "guix": Format(
        "guix.scm",
        "Guix System",
        "save it as rocmcfg.scm next to the configuration, use its two variables as its "
        "comments say, then guix system reconfigure -L .",
        ";;",
    ),
    "bootc": Format(
        "Containerfile",
        "podman build for bootc",
        "add the lines to the image's Containerfile, build the image, then bootc upgrade",
    ),
    "ignition": Format("ignition.json", "Ignition", "merge it into the machine's configuration", ""),
    "butane": Format("butane.yaml", "Butane for Fedora CoreOS", "merge it, then butane --strict"),
    "machineconfig": Format(
        "machineconfig.yaml",
        "the Machine Config Operator",
        "oc apply -f FILE; the pool then reboots node by node",
    ),
    "cloud-init": Format(
        "cloud-init.yaml", "cloud-init", "pass it as user-data; it reboots the new instance once"
    ),
    # snapd, gadget/gadget.go (KernelCmdline): the arguments that a gadget appends, module options among them
    "ubuntu-core": Format(
        "gadget.yaml",
        "snapd for Ubuntu Core",
        "merge it into meta/gadget.yaml, then build and refresh the gadget snap",
        special=(),  # its grub.cfg has the arguments in a variable, whose value GRUB does not interpret
        elsewhere=_variables("in the snap that needs them, under `environment` in its snapcraft.yaml"),
    ),
    "kickstart": Format("kickstart.ks", "Anaconda", "%include it in the kickstart file"),
    # ROCm/gpu-operator 6df13c17, config/crd/bases/amd.com_deviceconfigs.yaml
    "gpu-operator": Format(
        "deviceconfig.yaml",
        "AMD's GPU operator",
        "merge spec.driver into your DeviceConfig (kubectl get deviceconfigs -A)",
        special=(),  # no boot loader hands on what modprobe gets
        elsewhere=_of_gpu_operator,
    ),
    # siderolabs/talos v1.14.0-rc.1, pkg/machinery/config/schemas/config.schema.json;
    # siderolabs/image-factory 26b95cac, pkg/schematic/schematic.go
    "talos": Format(
        "talos.yaml",
        "Talos and its Image Factory",
        "hand each document to its reader, as the comment before it says",
        elsewhere=_variables(_IN_PODS),
        check="talosctl read /proc/cmdline",
    ),
    # TuneD 2.20 to 2.27, plugins/plugin_bootloader.py and plugin_modules.py
    "tuned": Format(
        "tuned.conf",
        "TuneD",
        "save it as /etc/tuned/profiles/rocmcfg/tuned.conf (before TuneD 2.24.1: "
        "/etc/tuned/rocmcfg/tuned.conf), then tuned-adm profile rocmcfg and reboot",
        elsewhere=_variables("on the hosts, with rocmcfg apply or rocmcfg env"),
    ),
}


class File(NamedTuple):
    path: str
    content: str


class Elsewhere(NamedTuple):
    """Settings that the reader of a format cannot set, and where else they can be set."""

    where: str
    settings: tuple[DesiredSetting, ...]


class Rendering(NamedTuple):
    """The values that a template renders. `kargs` are kernel arguments, `options` module options and
    `variables` environment variables; the first two are pairs of setting and text. `files` hold the options
    and variables for a system that takes files. `elsewhere` is what the text names in comments only."""

    kargs: tuple[tuple[DesiredSetting, str], ...]
    options: tuple[tuple[DesiredSetting, str], ...]
    variables: tuple[DesiredSetting, ...]
    files: tuple[File, ...]
    elsewhere: tuple[Elsewhere, ...]

    @property
    def is_empty(self) -> bool:
        return not (self.kargs or self.options or self.variables)


def of_settings(format: str, requested: Sequence[DesiredSetting]) -> Rendering:
    """Return what a system needs in order to have these settings."""
    settings: list[DesiredSetting] = []
    elsewhere: dict[str, list[DesiredSetting]] = {}
    for setting in requested:
        where = FORMATS[format].elsewhere(setting)
        (elsewhere.setdefault(where, []) if where else settings).append(setting)
    on_line = unique_kargs([s for s in settings if s.channel is Channel.CMDLINE])
    options = {modprobe.line(s): s for s in settings if s.channel is Channel.MODPROBE}
    variables = tuple(s for s in settings if s.kind is Kind.ENV)
    contents = {
        "/etc/modprobe.d/rocmcfg-image.conf": "".join(f"{line}\n" for line in options),
        "/etc/environment.d/80-rocmcfg-image.conf": ENVIRONMENT_D.lines(variables),
        "/etc/profile.d/rocmcfg-image.sh": PROFILE_D.lines(variables),
    }
    return Rendering(
        tuple((s, s.karg) for s in on_line),
        tuple((s, line) for line, s in options.items()),
        variables,
        tuple(File(path, lines) for path, lines in contents.items() if lines),
        tuple(Elsewhere(where, tuple(those)) for where, those in elsewhere.items()),
    )


def render(format: str, rendering: Rendering, head: Sequence[str]) -> str:
    """Return the text for a system. `head` says where the text comes from, one line per element."""
    from jinja2 import Environment, StrictUndefined

    system = FORMATS[format]
    folder = os.path.join(os.path.dirname(__file__), "templates")
    source = read_own_file(os.path.join(folder, f"{system.template}.j2")).decode()
    # No HTML is escaped: each template quotes values the way its reader unquotes them.
    jinja = Environment(
        undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True
    )
    jinja.filters.update(_QUOTES)
    lines = [*head, *_apart(system, rendering)]
    comments = [f"{system.comment} {line}".rstrip() for line in lines] if system.comment else []
    return jinja.from_string(source).render(**rendering._asdict(), head="\n".join(comments))


def _apart(system: Format, rendering: Rendering) -> Iterator[str]:
    """Yield the comment on the settings that the reader cannot set."""
    for where, settings in rendering.elsewhere:
        yield f"{system.reader} cannot set these. Set them {where}:"
        yield from (f"  {setting.karg}" for setting in unique_kargs(settings))


def _nix(text: str) -> str:
    """Return the text as a Nix string, in which backslash, quote and the dollar before a brace are special
    (Nix manual, Values)."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("${", "\\${") + '"'


def _because(setting: DesiredSetting) -> str:
    """Return the reason for a setting as one line of printable characters, for a comment."""
    words = f"{setting.id}: {setting.because}".split()
    return "".join(c for c in " ".join(words) if c.isprintable()).rstrip(": \\")


_QUOTES: dict[str, Callable[..., str]] = {
    "nix": _nix,
    # YAML 1.2, TOML and Scheme read JSON strings, as long as these hold only ASCII
    "quoted": json.dumps,
    "data_url": lambda text: "data:," + quote(text),
    "shell": shlex.quote,
    "because": _because,
    # a parameter as its module's own list has it
    "option": lambda setting: setting.karg.partition(".")[2],
}
