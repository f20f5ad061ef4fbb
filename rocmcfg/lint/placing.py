"""A proposal, as the place wants it: on a command line, in an `options` line, in a script, in a path."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rocmcfg.judging.parameters import default_mask
from rocmcfg.lint.assignment import Assignment, What
from rocmcfg.lint.remark import Remark
from rocmcfg.lint.wording import Knowledge
from rocmcfg.model.spelling import Spelling, hexint, parameter
from rocmcfg.model.state import Kind

Edit = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Spelt:
    """`text` stands in for the token; None where there is nothing to propose, empty where it should go.
    `setting` is for --set."""

    text: str | None = None
    edits: tuple[Edit, ...] = ()
    setting: str = ""


def spell(found: Assignment, remark: Remark, text: str, knowledge: Knowledge) -> Spelt:
    """`text` is the file's."""
    if remark.literal is not None:
        return Spelt(remark.literal, ((found.start, found.stop, remark.literal),))
    if remark.instead is None:
        removable = remark.remove and found.where.removable and found.what is not What.PATH
        return Spelt("", ((found.start, found.stop, ""),)) if removable else Spelt()
    target = _target(remark.instead, knowledge)
    name = _name(found, target) if target is not None else None
    if target is None or name is None:
        return Spelt()
    edits: list[Edit] = [(*found.name_at, name)]
    value = target.value
    if found.what is What.PATH:  # what is written there stands elsewhere
        return Spelt() if name == text[found.start : found.stop] else Spelt(name, tuple(edits), "")
    if value is not None and found.value_at is not None:
        edits.append((*found.value_at, value))
    elif value is not None:
        edits[0] = (*found.name_at, f"{name}={value}")
    setting = str(remark.instead) if value is not None else ""
    return Spelt(applied(text, edits, found.start, found.stop), tuple(edits), setting)


def _target(instead: Spelling, knowledge: Knowledge) -> Spelling | None:
    """What to write; a feature becomes the mask that differs from the default in it alone."""
    if instead.kind is not Kind.FEATURE:
        return instead
    known = knowledge.catalogue
    feature = known.features[instead.name]
    default = default_mask(known.parameters[feature.parameter], knowledge.machine.kernels)
    if default is None:
        return None
    return parameter(feature.parameter, hexint(feature.compose(default, instead.enabled)))


def _name(found: Assignment, target: Spelling) -> str | None:
    """As it is spelt at the place; None where it cannot stand there."""
    if (found.what is What.VARIABLE) != (target.kind is Kind.ENV):
        return None
    if found.what is What.PATH:
        of_a_module = target.kind is Kind.PARAMETER
        return f"/sys/module/{target.module}/parameters/{target.name}" if of_a_module else None
    if target.kind is Kind.ENV or found.dotted:
        return target.name if target.kind is not Kind.PARAMETER else target.id
    # in `options amdgpu …` the module stands before: another one's parameter has no place there
    same_module = target.kind is Kind.PARAMETER and target.module == found.name.partition(".")[0]
    return target.name if same_module else None


def applied(text: str, edits: Iterable[Edit], start: int = 0, stop: int | None = None) -> str:
    """text[start:stop] with the edits in it; one that overlaps an earlier edit is left out."""
    parts, at = [], start
    for begin, end, new in sorted(set(edits)):
        if begin >= at:
            parts += [text[at:begin], new]
            at = end
    return "".join(parts) + text[at:stop]
