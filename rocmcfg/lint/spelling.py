"""A proposal, as the place wants it: on a command line, in an `options` line, in a script, in a path."""

from __future__ import annotations

from dataclasses import dataclass

from rocmcfg.lint import names
from rocmcfg.lint.assignment import Assignment, What
from rocmcfg.lint.rules.machine import Machine
from rocmcfg.lint.rules.masks import default_mask
from rocmcfg.lint.verdict import Verdict
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.value import hexint

Edit = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Spelt:
    """`text` stands in for the token; None where there is nothing to propose, empty where it should go.
    `setting` is for --set."""

    text: str | None = None
    edits: tuple[Edit, ...] = ()
    setting: str = ""


def spell(found: Assignment, verdict: Verdict, text: str, known: Catalogue, machine: Machine) -> Spelt:
    """`text` is the file's."""
    if verdict.literal is not None:
        return Spelt(verdict.literal, ((found.start, found.stop, verdict.literal),))
    if verdict.instead is None:
        return Spelt()
    if not verdict.instead:
        removable = found.removable and found.what is not What.PATH
        return Spelt("", ((found.start, found.stop, ""),)) if removable else Spelt()
    target = _target(verdict.instead, known, machine)
    if target is None:
        return Spelt()
    name = _name(found, target[0], verdict.instead)
    if name is None:
        return Spelt()
    edits: list[Edit] = [(*found.name_at, name)]
    value = target[1]
    if found.what is What.PATH:  # what is written there stands elsewhere
        return Spelt() if name == text[found.start : found.stop] else Spelt(name, tuple(edits), "")
    if value is not None and found.value_at is not None:
        edits.append((*found.value_at, value))
    elif value is not None:
        edits[0] = (*found.name_at, f"{name}={value}")
    setting = verdict.instead if "=" in verdict.instead else ""
    return Spelt(applied(text, edits, found.start, found.stop), tuple(edits), setting)


def _target(instead: str, known: Catalogue, machine: Machine) -> tuple[str, str | None] | None:
    """The name and value to write; a feature becomes the mask that differs from the default in it alone."""
    name, equals, value = instead.partition("=")
    scope, _, rest = name.partition(".")
    if scope == "feature":
        feature = known.features[rest]
        default = default_mask(known.parameters[feature.parameter], machine)
        if default is None:
            return None
        return feature.parameter, hexint(feature.compose(default, value == "true"))
    return name, value if equals else None


def _name(found: Assignment, name: str, instead: str) -> str | None:
    """As it is spelt at the place; None where it cannot stand there."""
    scope, _, rest = name.partition(".")
    if found.what is What.VARIABLE:
        return rest if scope == "env" else None
    if scope == "env":
        return None
    parameter = names.split_parameter(name)
    if found.what is What.PATH:
        return f"/sys/module/{parameter[0]}/parameters/{parameter[1]}" if parameter else None
    if found.dotted:
        return rest if scope == "karg" else name
    module = found.name.partition(".")[0]
    if parameter and parameter[0] == module:
        return parameter[1]
    # `options amdgpu amdgpu.runpm=0`: the proposal has no module of its own
    return name if "." not in name and not instead.startswith("karg.") else None


def applied(text: str, edits: list[Edit] | tuple[Edit, ...], start: int, stop: int) -> str:
    """text[start:stop] with the edits in it."""
    parts, at = [], start
    for begin, end, new in sorted(edits):
        parts += [text[at:begin], new]
        at = end
    return "".join(parts) + text[at:stop]
