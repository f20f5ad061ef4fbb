"""The recorded hosts of transcripts and cases, built from the one line that says which host it is.

    Host: sample                        the one of `make demo`
    Host: debian gfx=gfx1100 rocm=none  tests.support.hosts.debian_grub_host
    Host: fedora-bls                    one of tests.support.hosts.OTHER_HOSTS
    Host: partitioned-instinct          eight MI300X, 64 partitions
    Host: machine loader_info=limine    tests.support.hosts.machine: no boot loader, for a tree laid over it
    Host: none                          an empty folder

Options are those of the builder; a comma separates the members of a list. `tools` lets the host run its
programs, which are stand-ins; without it the host is one whose disks are mounted, and nothing of it runs.
`modinfo=RELEASE:NAME:TYPE,…` installs one more kernel, and with `tools` modinfo says what its amdgpu takes.
`trial-unit` enables the service that confirms trials; `as-root` is for what only root is told.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, NamedTuple

from . import boots, hosts
from .program import DEMO
from .tools import require_root, require_tool

_LISTS = ("gfx", "kernels", "without")
_LINES = ("cmdline", "booted_with", "loader_info", "stub_info")  # texts, with + for a blank
_WORDS = {"yes": True, "no": False, "none": None}


class Recorded(NamedTuple):
    """`tools`: programs of the host can be run, by stand-ins for them. `modinfo`: a kernel and what modinfo
    prints of its amdgpu."""

    tools: bool
    modinfo: tuple[str, str] | None


def build(described: str, folder: Path) -> Recorded:
    kind, *options = described.split()
    tools = "tools" in options
    unit = "trial-unit" in options
    given = dict(_option(word) for word in options if "=" in word)
    asked = given.pop("modinfo", None)
    if kind == "sample":
        shutil.copytree(DEMO / "sample-host", folder / "host", symlinks=True)
    elif kind == "debian":
        hosts.debian_grub_host(folder, name="host", **given)
    elif kind == "partitioned-instinct":
        hosts.partitioned_instinct_host(folder).rename(folder / "host")
    elif kind == "machine":
        hosts.machine(folder, name="host", **given)
    elif kind != "none":
        hosts.other_host(folder, kind, name="host", **given)
    if asked:
        hosts.make_root(folder, hosts.kernel_modules(asked[0]), name="host")
    if "as-root" in options:
        require_root()
    if tools:
        require_tool("grub-editenv", "grub-common")
    if unit:
        boots.enable_unit(folder / "host")
    return Recorded(tools, asked)


def _option(word: str) -> tuple[str, Any]:
    name, _, value = word.partition("=")
    if value in _WORDS:
        return name, _WORDS[value]
    if name in _LISTS:
        return name, value.split(",")
    if name == "modinfo":
        release, _, parameters = value.partition(":")
        return name, (release, parameters.replace(",", "\n"))
    if name in _LINES:
        return name, value.replace("+", " ")
    return name, int(value) if name == "partitions" else value
