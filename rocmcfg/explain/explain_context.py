"""What of a name concerns this host: its hardware, its kernels, the known issues that name it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rocmcfg.explain.explanation import Caution, Explanation, Meaning, Mention, Question, Role
from rocmcfg.judging.verdict import meets, trap_holds
from rocmcfg.model.catalogue import Hardware, KernelArgument, Parameter, ValueTrap, Variable, matches
from rocmcfg.model.issue import KnownIssue
from rocmcfg.model.value import as_number


def those(*remarks: tuple[object, str]) -> tuple[str, ...]:
    """Of pairs of a condition and a text, the texts whose condition holds."""
    return tuple(text for holds, text in remarks if holds)


def described(
    question: Question,
    found: Explanation,
    ids: Iterable[str],
    entry: Parameter | KernelArgument | Variable,
    hardware: Hardware | None = None,
) -> Explanation:
    """With what parameters, arguments and variables have in common; `ids` are the names that issues use."""
    traps = cautions(question, entry.traps)
    better = next((t.instead for t in traps if t.instead and t.here is not False), "")
    return on_hardware(question, found, hardware)._replace(
        instead=better if question.value is not None else "",
        meaning=meaning(entry.meanings, question.value),
        meanings=tuple(Meaning(value, text) for value, text in entry.meanings.items()),
        traps=traps,
        sources=entry.sources,
        issues=mentions(question, ids),
    )


def on_hardware(question: Question, found: Explanation, hardware: Hardware | None) -> Explanation:
    gpus = tuple(dict.fromkeys(gpu.gfx or "" for gpu in question.machine.named))
    if hardware is None:
        return found._replace(gpus=gpus)
    here = question.machine.has(hardware)
    return found._replace(gpus=gpus, acts_on=hardware.words(), acts_here=here)


def meaning(meanings: Mapping[str, str], value: str | None) -> str:
    """What the value does. Of a mask, and of words that are joined by commas, each part's."""
    if value is None or not meanings:
        return ""
    for word, text in meanings.items():
        if _is(word, value):
            return text
    number = as_number(value)
    if number is not None and all(word.startswith("0x") for word in meanings):
        return "; ".join(text for word, text in meanings.items() if number & int(word, 16))
    parts = value.split(",")
    said = [f"{part}: {meanings[part]}" for part in parts if part in meanings] if len(parts) > 1 else []
    return "; ".join(said)


def _is(word: str, value: str) -> bool:
    """Whether a value is the one of a table of meanings: a text, a number in any spelling, a range 4..9."""
    number = as_number(value)
    low, dots, high = word.partition("..")
    if dots and number is not None:
        return (as_number(low) or 0) <= number <= (as_number(high) or 0)
    return word == value.lower() or word == value or (number is not None and as_number(word) == number)


def cautions(question: Question, traps: Sequence[ValueTrap]) -> tuple[Caution, ...]:
    """Those of the value that was asked about, or all where none was."""
    return tuple(
        Caution(
            trap.values,
            trap.kind,
            trap.summary,
            str(trap.instead or ""),
            trap.acts_on.words() if trap.acts_on else "",
            trap.kernel,
            trap_holds(trap, question.machine),
        )
        for trap in traps
        if question.value is None or meets(trap, question.value)
    )


def mentions(question: Question, ids: Iterable[str]) -> tuple[Mention, ...]:
    """Known issues that name it, those of this host's GPUs first. Advice and misspellings are told apart by
    their own commands, and a fault that lists it twice is named once."""
    names = set(ids)
    found = [
        Mention(issue.id, issue.title, *role, issue.confidence, _concerns(question, issue))
        for issue in question.issues
        if (role := _role(issue, names)) is not None
    ]
    order = {"helps": 0, "unset": 1, "does_not_help": 2}
    return tuple(sorted(found, key=lambda m: (not m.concerns, order[m.role], m.issue)))


def _role(issue: KnownIssue, names: set[str]) -> tuple[Role, str] | None:
    lines_of: tuple[tuple[Role, Iterable[object]], ...] = (
        ("helps", issue.workaround.settings),
        ("unset", issue.workaround.unset),
        ("does_not_help", issue.does_not_help),
    )
    for role, lines in lines_of:
        for line in map(str, lines):
            setting = line.split()[0].rstrip(":,;") if line.split() else ""
            if setting.partition("=")[0] in names:
                return role, setting
    return None


def _concerns(question: Question, issue: KnownIssue) -> bool:
    return not issue.gfx or any(matches(gpu.gfx or "", issue.gfx) for gpu in question.machine.named)
