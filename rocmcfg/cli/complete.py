"""Command `complete KIND WORD…`: the shell completions (docs/generators/completions.py) call it when TAB is
pressed, for candidates that depend on the host or the catalogue. It is not for people.

The last word is the one being completed, the words before it are the command line. Each candidate is printed
on a line of its own, followed by a TAB and a remark. Candidates are whole words of harmless characters, so no
shell has to quote them. On any error nothing is printed, because the command runs while the user types.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rocmcfg.cli import options as opt
from rocmcfg.cli.printer import Printer
from rocmcfg.host.files import read_own_file
from rocmcfg.host.local import LocalHost
from rocmcfg.model.regex import regex
from rocmcfg.model.request import Request
from rocmcfg.model.shape import NamedTuple

if TYPE_CHECKING:
    from rocmcfg.model.catalogue import Catalogue
    from rocmcfg.model.profile import Profile


_PATIENCE = 3.0  # seconds; a network file system that hangs must not block the terminal
_HARMLESS = regex(r"[A-Za-z0-9._,:@%+=/-]+")
_SCOPES = {
    "feature.": "a feature bit of a mask: true or false",
    "karg.": "a kernel argument",
    "env.": "an environment variable",
    "profile.": "a number that a profile leaves to you",
}
_SUMMARY = regex(rb'^summary\s*=\s*"([^"\\]*)"', re.M)
Candidates = Iterator[tuple[str, str]]


class Line(NamedTuple):
    """The command line before the cursor: the `word` being completed, the profiles, and their host.
    `literally`: the command is about profiles themselves, where auto is not a name."""

    word: str
    profiles: tuple[str, ...]
    host: LocalHost
    literally: bool = False


def complete(
    printer: Printer,  # noqa: ARG001  # every command gets one
    *,
    kind: str = opt.argument("KIND", "", "free"),
    words: tuple[str, ...] = opt.argument("WORD…", "", "free", "texts", required=False),
) -> None:
    """Print the candidates for the last word."""
    signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
    signal.setitimer(signal.ITIMER_REAL, _PATIENCE)
    with contextlib.suppress(Exception):
        # bash passes the words with their backslashes and quotes
        *before, word = [text.replace("\\", "").strip("'\"") for text in words or ("",)]
        word = word.partition("=")[2] if word.startswith("--") else word.removeprefix("-p")
        line = _read(before, word)
        offered = [(text, about) for text, about in _CANDIDATES[kind](line) if text.startswith(word)]
        sys.stdout.write("".join(_lines(offered)))
    signal.setitimer(signal.ITIMER_REAL, 0)


def _lines(offered: Iterable[tuple[str, str]]) -> Iterator[str]:
    for text, about in dict.fromkeys(offered):
        if _HARMLESS.fullmatch(text):
            remark = " ".join("".join(c if c.isprintable() else " " for c in about).split())
            yield f"{text}\t{remark}\n" if remark else f"{text}\n"


def _read(words: Sequence[str], at: str) -> Line:
    values: dict[str, list[str]] = {"--profile": [], "--root": []}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name in ("--profile", "-p", "--root") and not equals:
            value = next(rest, "")
        elif word.startswith("-p"):
            name, value = "-p", word[2:]
        values.setdefault("--profile" if name == "-p" else name, []).append(value)
    host = LocalHost((values["--root"] or ["/"])[-1] or "/")
    literally = words[:1] == ["profile"]
    return Line(at, tuple(filter(None, values["--profile"])) or ("auto",) * (not literally), host, literally)


def _profiles(line: Line) -> Candidates:
    from rocmcfg.knowledge import profile_document, profiles

    for name in profiles.names(line.host):
        if profile_document.unwritable_name(name) is not None:
            continue
        local, content = profiles.local_path(name), b""
        with contextlib.suppress(Exception):  # the name of a broken profile is offered anyway
            here = line.host.exists(local)
            content = line.host.read(local) or b"" if here else read_own_file(profiles.shipped_path(name))
        summary = _SUMMARY.search(content)
        yield name, summary[1].decode("utf-8", "replace") if summary else ""
    if not line.literally:
        yield "auto", "the shipped profile for each GPU of this host"


def _loaded(line: Line) -> Iterator[Profile]:
    from rocmcfg.knowledge import profiles

    names = list(line.profiles)
    if "auto" in names:
        from rocmcfg.change.planning.automatic import expand_auto
        from rocmcfg.facts.gpus import read_gpus
        from rocmcfg.knowledge.catalogue import gpu_models

        with contextlib.suppress(Exception):
            gpus = read_gpus(line.host, gpu_models())
            names = list(expand_auto(line.host, Request(profiles=line.profiles), gpus)[0])
    for name in names:
        with contextlib.suppress(Exception):
            yield from profiles.read(line.host, [name])[0]


def _settings_of_profiles(line: Line, *, optional: bool) -> Candidates:
    yield from ((s.id, s.because) for p in _loaded(line) for s in p.settings if s.optional is optional)


def _settings(line: Line) -> Candidates:
    from rocmcfg.knowledge import catalogue

    names = catalogue.load()
    scope, dot, rest = line.word.partition(".")
    name, equals, _ = rest.partition("=")
    if equals:
        yield from ((f"{scope}.{name}={value}", about) for value, about in _values(names, scope, name))
    elif dot:
        tables: dict[str, Iterable[Any]] = {
            "feature": names.features.values(),
            "karg": names.arguments.values(),
            # a variable that nothing reads, or only a compiler, is not a setting
            "env": (v for v in names.variables.values() if not v.unknown and not v.build_only),
            "profile": (parameter for profile in _loaded(line) for parameter in profile.parameters),
        }
        of_module = (row for row in names.parameters.values() if row.module == scope)
        for row in tables.get(scope, of_module):
            yield f"{scope}.{row.name}{'' if getattr(row, 'flag', False) else '='}", row.summary
    else:
        yield from ((f"{module}.", f"a parameter of {module}") for module in names.modules())
        yield from _SCOPES.items()


def _values(names: Catalogue, scope: str, name: str) -> Candidates:
    """Yield the values that the catalogue names, without ranges such as 1..35."""
    if scope == "feature":
        yield from (("true", "on"), ("false", "off")) if name in names.features else ()
        return
    tables: dict[str, Any] = {"karg": names.arguments, "env": names.variables}
    key = name if scope in tables else f"{scope}.{name}"
    if entry := tables.get(scope, names.parameters).get(key):
        words = getattr(entry, "values", ()) or (value for value in entry.meanings if ".." not in value)
        yield from ((word, entry.meanings.get(word, "")) for word in words)


def _explained(_: Line) -> Candidates:
    from rocmcfg.knowledge import catalogue

    names = catalogue.load()
    tables: tuple[Mapping[str, Any], ...] = (
        names.parameters,
        names.features,
        names.arguments,
        names.variables,
    )
    yield from ((entry.name, entry.summary) for table in tables for entry in table.values())
    yield from ((issue.id, issue.title) for issue in catalogue.known_issues())
    yield from ((fix.name, fix.summary) for fix in names.fixes.values())
    yield from ((model.gfx, model.codename) for model in catalogue.gpu_models())


def _kernels(line: Line) -> Candidates:
    for folder in ("/usr/lib/modules", "/lib/modules"):
        yield from ((name, "installed") for name in line.host.names(folder))


def _transactions(line: Line) -> Candidates:
    from rocmcfg.records.journal import read_all

    for entry in read_all(line.host):
        if entry.state == "committed":
            yield str(entry.id), f"{entry.header.time[:10]} {', '.join(entry.header.settings)}"
    yield "0", "before the first transaction"


def _crashes(line: Line) -> Candidates:
    from rocmcfg.records.crashes import load_all

    for crash in load_all(line.host)[0]:
        yield crash.id, f"{crash.address} {crash.verdict.id}".rstrip()


def _env_targets(_: Line) -> Candidates:
    from rocmcfg.files import environment_targets

    yield from ((target.name, f"variables for {target.readers}") for target in environment_targets.FIXED)
    yield "unit:", "variables for one service"


_CANDIDATES: dict[str, Callable[[Line], Candidates]] = {
    "profile": _profiles,
    "setting": _settings,
    "optional": lambda line: _settings_of_profiles(line, optional=True),
    "leavable": lambda line: _settings_of_profiles(line, optional=False),
    "name": _explained,
    "kernel": _kernels,
    "transaction": _transactions,
    "crash": _crashes,
    "env-target": _env_targets,
}
KINDS = frozenset(_CANDIDATES)
