"""The formats: which there are, what reads each, and what a rendering gives them.

A format is a template in `templates/` and its row here. What `rocmcfg apply` writes on a host has other names
than the files of a rendering, so that both can be on one host: ours on the host are read later, and win.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Sequence
from urllib.parse import quote

from rocmcfg.files import modprobe
from rocmcfg.files.environment_targets import ENVIRONMENT_D, PROFILE_D
from rocmcfg.host.files import read_own_file
from rocmcfg.loaders.shared.specials import GRUB, Special
from rocmcfg.model.desired import Channel, DesiredSetting, Kind, unique_kargs
from rocmcfg.model.shape import NamedTuple


class Format(NamedTuple):
    """`template` is in `templates/`. `reader` takes the text, `use` is what to do with it; a line that the
    reader passes over begins with `comment`. `special` is what a kernel argument must not hold, since what
    boots the system would not hand it on as it is."""

    template: str
    reader: str
    use: str
    comment: str = "#"
    special: tuple[Special, ...] = GRUB  # of all loaders that the system may have, the one that reads most


FORMATS = {
    "nixos": Format(
        "nixos.nix", "NixOS", "save it beside configuration.nix, add it to `imports`, then nixos-rebuild boot"
    ),
    "guix": Format(
        "guix.scm",
        "Guix System",
        "save it as rocmcfg.scm beside the configuration and use its two variables as it says, then "
        "guix system reconfigure -L .",
        ";;",
    ),
    "bootc": Format(
        "Containerfile",
        "podman build for bootc",
        "add the lines to the image's Containerfile, build, bootc upgrade",
    ),
    "ignition": Format("ignition.json", "Ignition", "merge it into the configuration of the machine", ""),
    "butane": Format("butane.yaml", "Butane for Fedora CoreOS", "merge it, then butane --strict"),
    "machineconfig": Format(
        "machineconfig.yaml",
        "the Machine Config Operator",
        "oc apply -f FILE; its pool then reboots node by node",
    ),
    "cloud-init": Format(
        "cloud-init.yaml", "cloud-init", "give it as user-data; it reboots the new instance once"
    ),
    # snapd, gadget/gadget.go (KernelCmdline): what a gadget appends; module options are arguments there
    "ubuntu-core": Format(
        "gadget.yaml",
        "snapd for Ubuntu Core",
        "merge it into meta/gadget.yaml, then build and refresh the gadget snap",
        special=(),  # its grub.cfg has the arguments in a variable, and GRUB reads no script in one
    ),
    "kickstart": Format("kickstart.ks", "Anaconda", "%include it in the kickstart file"),
}


class File(NamedTuple):
    path: str
    content: str


class Rendering(NamedTuple):
    """`kargs` are arguments of the kernel, `options` the module options beside them, `variables` those of the
    environment: each a (setting, text). `files` hold options and variables where a system takes files."""

    kargs: tuple[tuple[DesiredSetting, str], ...]
    options: tuple[tuple[DesiredSetting, str], ...]
    variables: tuple[DesiredSetting, ...]
    files: tuple[File, ...]


def of_settings(settings: Sequence[DesiredSetting]) -> Rendering:
    """Return what a system has to be given to have the settings."""
    on_line = unique_kargs([s for s in settings if s.channel is Channel.CMDLINE])
    options = {modprobe.line(s): s for s in settings if s.channel is Channel.MODPROBE}
    variables = tuple(s for s in settings if s.kind is Kind.ENV)
    contents = {
        "/etc/modprobe.d/rocmcfg-image.conf": [f"{line}\n" for line in options],
        "/etc/environment.d/80-rocmcfg-image.conf": [*map(ENVIRONMENT_D.written, variables)],
        "/etc/profile.d/rocmcfg-image.sh": [*map(PROFILE_D.written, variables)],
    }
    return Rendering(
        tuple((s, s.karg) for s in on_line),
        tuple((s, line) for line, s in options.items()),
        variables,
        tuple(File(path, "".join(lines)) for path, lines in contents.items() if lines),
    )


def render(format: str, rendering: Rendering, head: Sequence[str]) -> str:
    """The text for a system; `head` says where it comes from, a line each."""
    from jinja2 import Environment, StrictUndefined

    system = FORMATS[format]
    folder = os.path.join(os.path.dirname(__file__), "templates")
    source = read_own_file(os.path.join(folder, f"{system.template}.j2")).decode()
    # no HTML is escaped: each template quotes as its reader unquotes
    jinja = Environment(
        undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True
    )
    jinja.filters.update(_QUOTES)
    comments = [f"{system.comment} {line}".rstrip() for line in head] if system.comment else []
    return jinja.from_string(source).render(**rendering._asdict(), head="\n".join(comments))


def _nix(text: str) -> str:
    """A string of Nix: backslash, quote and the dollar before a brace mean something (Nix manual, Values)."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("${", "\\${") + '"'


def _because(setting: DesiredSetting) -> str:
    """One line for a comment, in which nothing but text stands."""
    words = f"{setting.id}: {setting.because}".split()
    return "".join(c for c in " ".join(words) if c.isprintable()).rstrip(": \\")


_QUOTES: dict[str, Callable[..., str]] = {
    "nix": _nix,
    # YAML 1.2, TOML and Scheme read the strings of JSON, as long as there is nothing but ASCII in them
    "quoted": json.dumps,
    "data_url": lambda text: "data:," + quote(text),
    "shell": shlex.quote,
    "because": _because,
}
