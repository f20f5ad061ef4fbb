"""Find assignments that override Environment= of a service, in any order of the lines: the files of
EnvironmentFile= override it, and UnsetEnvironment= comes last (systemd.exec(5))."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rocmcfg.files.environment import Assignment, last_of, sourced_by
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.languages import env_file, unit

_NOT_FOLLOWED = frozenset("*?[%\\\"'")  # a pattern, a specifier, quotes


def overriding(view: HostView, paths: Sequence[str], ours: Mapping[str, str | None]) -> Iterator[Assignment]:
    """Yield the overriding assignments. `paths` are the unit and its drop-ins, in the order of reading. The
    value is empty for a variable that is unset, and None where it is not known."""
    files: list[tuple[str, str]] = []
    gone: list[Assignment] = []
    for path in paths:
        text = text_or_empty(view, path)
        for directive in unit.directives(text):
            place = f"{path}:{directive.line}"
            if (directive.section, directive.key) == ("Service", "EnvironmentFile"):
                name = directive.value.removeprefix("-")
                files = [*files, (name, place)] if directive.value else []
            elif (directive.section, directive.key) == ("Service", "UnsetEnvironment"):
                unset = [Assignment(name, "", place) for name in _unset(directive, ours)]
                gone = [*gone, *unset] if directive.value else []
    for name, place in files:
        yield from _of_file(view, name, place, ours)
    yield from gone


def _unset(directive: unit.Directive, ours: Mapping[str, str | None]) -> Iterator[str]:
    """Yield the variables that UnsetEnvironment= removes: NAME, or NAME=VALUE only with this value."""
    for word in directive.split()[0]:
        name, equals, value = word.value.partition("=")
        if not equals or name not in ours or ours[name] in (None, unit.without_specifiers(value)):
            yield name


def _of_file(view: HostView, path: str, place: str, ours: Mapping[str, str | None]) -> Iterator[Assignment]:
    followed = not _NOT_FOLLOWED & set(path)
    text = sourced_by(view)(path) if followed and path.startswith("/") else None
    if text is not None:
        yield from last_of(env_file.read_environment_file(text), path).values()
    elif not followed or view.exists(path):
        yield from (Assignment(name, None, place) for name in ours)
