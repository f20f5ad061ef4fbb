"""Read the configuration of limine-entry-tool, from which it makes the command lines of kernels installed
later.

Files and their order: load_config of limine-common-functions and ConfigReader.java of limine-entry-tool
1.38.0, as described in the notes of OmaSecBoot; the last file wins. `KERNEL_CMDLINE[NAME]` is the line of the
entry NAME, `default` the line of all entries without their own, `fallback` the line of entries with this word
in their names. `=` replaces the present value, `+=` appends to it, with a blank between or without: ours has
a blank on either side. The file is not a shell script: quotes around a value are removed, and nothing is
expanded.

Where no file sets the line of an entry, /etc/kernel/cmdline is used, or else the line of the running kernel.
A single `+=` keeps both from being used (comments of /etc/limine-entry-tool.conf; omacom/omarchy issue 9826).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from rocmcfg.host.view import HostView, drop_ins, text_or_empty
from rocmcfg.loaders.limine import templates
from rocmcfg.loaders.shared import appended_assignment
from rocmcfg.model.kargs import Karg, split
from rocmcfg.model.regex import regex

DEFAULTS = "/etc/default/limine"  # read last
DROP_IN = "/etc/limine-entry-tool.d/zz-rocmcfg.conf"
_PROGRAM = "/usr/bin/limine-entry-tool"
_ASSIGNMENT = regex(r"^[ \t]*KERNEL_CMDLINE\[[\"']?([^]\"']+)[\"']?\][ \t]*(\+?)=[ \t]*(.*?)[ \t\r]*$", re.M)
FALLBACK = "fallback"
DEFAULT = "default"


def here(view: HostView) -> bool:
    return view.exists(_PROGRAM)


def files(view: HostView) -> tuple[str, ...]:
    """Return the existing configuration files in the order in which they are read."""
    places = ("/usr/share", "/etc")
    shared, own = (drop_ins(view, [f"{place}/limine-entry-tool.d"], ".conf") for place in places)
    paths = (*shared, "/etc/limine-entry-tool.conf", *own, DEFAULTS)
    return tuple(path for path in paths if view.exists(path)) if here(view) else ()


def lines(
    view: HostView, *, without_ours: bool = False, defaults: str | None = None
) -> dict[str, tuple[Karg, ...]]:
    """Return the command line of each entry by its name; `defaults` replaces the content of DEFAULTS."""
    values: dict[str, tuple[str, str]] = {}
    for path in files(view):
        text = "" if without_ours and path == DROP_IN else text_or_empty(view, path)
        text = defaults if path == DEFAULTS and defaults is not None else text
        for name, plus, value in _assignments(appended_assignment.blanked(text) if without_ours else text):
            values[name] = (f"{values[name][0]} {value}" if plus and name in values else value, path)
    return {name: split(text, path) for name, (text, path) in values.items()}


def lines_of_others(view: HostView) -> dict[str, tuple[Karg, ...]]:
    """Return the lines that rocmcfg did not set, without the line of fallback entries."""
    return {name: line for name, line in lines(view, without_ours=True).items() if name != FALLBACK}


def edits_defaults(view: HostView, names: Collection[str]) -> bool:
    """Return whether another program's file that is read after our drop-in sets one of these lines."""
    folder = DROP_IN.rpartition("/")[0]
    return view.exists(DEFAULTS) and any(
        name in names
        for path in files(view)
        if path == DEFAULTS or (path.startswith(folder) and path > DROP_IN)
        for name, _, _ in _assignments(appended_assignment.blanked(text_or_empty(view, path)))
    )


def _assignments(text: str) -> Iterator[tuple[str, str, str]]:
    for name, plus, value in _ASSIGNMENT.findall(text):
        quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
        yield name, plus, value[1:-1] if quoted else value


def drop_in(names: Iterable[str], part: bytes) -> bytes:
    return templates.drop_in_conf(names=names, part=part.decode()).encode()


def appended(names: Iterable[str], part: bytes) -> bytes:
    added = part.decode().strip()
    return b"".join(appended_assignment.lines(f"KERNEL_CMDLINE[{name}]", added) for name in names)
