"""Read the variables that all files together set for all users, and write the file of one account."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from rocmcfg.files import templates
from rocmcfg.host.view import HostView, Unreadable, drop_ins, text_or_empty
from rocmcfg.languages import Effect, Statement, env_file, pam_env, shell
from rocmcfg.model.diagnostic import Diagnostic, warning
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

PLACES = ("/etc", "/run", "/usr/local/lib", "/usr/lib")  # folders of systemd's files, the first one wins
DIRECTORIES = tuple(f"{place}/environment.d" for place in PLACES)
_SUMMED = regex(rb"#[^\n]*\n#[^\n]*\n# sha256 of the lines below: ([0-9a-f]{16})\n(.*)", re.DOTALL)


def user_file(pairs: Sequence[tuple[str, str]]) -> bytes:
    """Return the file for ~/.config/environment.d of one account. No receipt records it, so it has a
    checksum."""
    body = "".join(f"{name}={value}\n" for name, value in pairs)
    return templates.user_environment_conf(checksum=_checksum(body.encode()), lines=body).encode()


def is_as_written(content: bytes) -> bool:
    """Return whether the lines of a `user_file` are unchanged."""
    match = _SUMMED.fullmatch(content)
    return match is not None and match[1].decode() == _checksum(match[2])


def _checksum(body: bytes) -> str:
    import hashlib

    return hashlib.sha256(body).hexdigest()[:16]


def environment_d(view: HostView) -> tuple[str, ...]:
    return drop_ins(view, DIRECTORIES, ".conf")


def profile_d(view: HostView) -> tuple[str, ...]:
    """Return the files that login shells source, in order of name (/etc/profile)."""
    return drop_ins(view, ("/etc/profile.d",), ".sh")


class Assignment(NamedTuple):
    """A variable that a file sets. `source` is `file:line`. `value` is None where only the program that reads
    the file can tell it."""

    name: str
    value: str | None
    source: str


def untold(name: str, source: str, hint: str) -> Diagnostic:
    """Return the warning that a variable's value is not known without running the file."""
    summary = f"cannot determine the value that {source} gives {name}"
    detail = "it depends on a condition, another program, a variable of the session, or the release"
    return warning("RC3307", summary, detail=detail, location=source, hint=hint)


def sourced_by(view: HostView) -> Callable[[str], str | None]:
    """Return the reader of a script that another one sources; it returns None for a missing or unreadable
    script."""

    def text(path: str) -> str | None:
        try:
            return view.text(path)
        except Unreadable:
            return None

    return text


def last_of(statements: Iterable[Statement], path: str) -> dict[str, Assignment]:
    """Return the variables that a file sets, by name; the last assignment of a name counts."""
    assignments: dict[str, Assignment] = {}
    for statement in statements:
        if statement.effect is Effect.FORGETS:
            assignments.clear()
        elif statement.effect is Effect.UNSETS:
            assignments.pop(statement.name, None)
        elif statement.effect is Effect.SETS:
            assignments[statement.name] = Assignment(
                statement.name, statement.value, f"{path}:{statement.line}"
            )
    return assignments


def read_script(
    view: HostView, path: str, environment: shell.Environment, text: str | None = None
) -> dict[str, Assignment | None]:
    """Source a script into `environment`, and return each variable that it changes, by name; None for one
    that it unsets. `text` is the part of the script that is sourced; by default all of it."""
    before = dict.fromkeys(environment.exported)
    text = text_or_empty(view, path) if text is None else text
    assignments: dict[str, Assignment | None] = {}
    for statement in shell.read(text, environment, sourced_by(view)):
        exported = environment.is_exported(statement.name)
        if exported is False:
            assignments |= {statement.name: None} if statement.name in before else {}
        else:
            assignments[statement.name] = Assignment(
                statement.name, environment.value(statement.name), f"{path}:{statement.line}"
            )
    return assignments


def for_everybody(view: HostView) -> tuple[Assignment, ...]:
    """Return every variable that a file sets for all users, in the order of reading, so that later ones win:
    pam_env(8), environment.d(5), login shells, and /etc/set-environment of NixOS (nixpkgs,
    nixos/modules/config/shells-environment.nix). A file that is also reachable by a symbolic link counts
    once, at its last place. Variables that a login shell unsets again are left out."""
    read = (_PAM, *environment_d(view))
    once = reversed(dict.fromkeys(view.real_path(path) for path in reversed(read)))
    assignments: list[Assignment] = []
    values: dict[str, str | None] = {}
    for path in once:
        for assignment in _of_session(view, path, values).values():
            assignments.append(assignment)
            values[assignment.name] = assignment.value
    environment = shell.Environment(values)
    for path, text in _login_scripts(view):
        made = read_script(view, path, environment, text)
        gone = {name for name, assignment in made.items() if assignment is None}
        assignments = [assignment for assignment in assignments if assignment.name not in gone]
        assignments += [assignment for assignment in made.values() if assignment is not None]
    return tuple(assignments)


_PAM = "/etc/environment"
_PROFILE = "/etc/profile"
_FOLDER = regex(r"^[^#\n]*/etc/profile\.d\b", re.MULTILINE)
# As Debian, Fedora, Arch and openSUSE write it: it begins and ends where a line begins.
_COMPOUND = regex(r"^(?:if|for)\b(?:.*\n(?!(?:fi|done)\b))*.*\n(?:fi|done)\b.*$", re.MULTILINE)


def _of_session(view: HostView, path: str, before: Mapping[str, str | None]) -> dict[str, Assignment]:
    """Return the variables that a file of pam_env or environment.d sets. By a link /etc/environment may be
    both: where its two readers see different values, the value is unknown."""
    text = text_or_empty(view, path)
    if path != _PAM:
        return last_of(env_file.read_environment_d(text, before), path)
    assignments = last_of(pam_env.read(text), path)
    if any(view.real_path(file) == path for file in environment_d(view)):
        by_systemd = last_of(env_file.read_environment_d(text, before), path)
        for name, assignment in assignments.items():
            other = by_systemd.get(name, assignment)
            if other.value != assignment.value:
                assignments[name] = assignment._replace(value=None)
    return assignments


def _login_scripts(view: HostView) -> Iterator[tuple[str, str | None]]:
    """Yield the scripts, or parts of them, that login shells source, in order. The command in /etc/profile
    that names the folder of scripts sources these."""
    text = text_or_empty(view, _PROFILE)
    sources = next((match for match in _COMPOUND.finditer(text) if _FOLDER.search(match.group())), None)
    start, end = sources.span() if sources else (len(text), len(text))
    yield _PROFILE, text[:start]
    scripts = dict.fromkeys(view.real_path(path) for path in (*profile_d(view), "/etc/set-environment"))
    yield from ((path, None) for path in scripts if path != _PROFILE)
    yield _PROFILE, "\n" * text.count("\n", 0, end) + text[end:]


def set_variables(view: HostView, environment: Mapping[str, str]) -> dict[str, tuple[str | None, str]]:
    """Return (value, source) by name: from the caller's environment, or else from the files that new logins
    read. The value is None where it is not known."""
    variables: dict[str, tuple[str | None, str]] = {
        assignment.name: (assignment.value, assignment.source) for assignment in for_everybody(view)
    }
    variables |= {name: (value, "the environment of this command") for name, value in environment.items()}
    return variables
