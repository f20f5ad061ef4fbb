"""The explanation of a name: its nouns, and the parts that names of every kind have in common: values, traps,
the hardware that they act on, and the known issues that mention them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from rocmcfg.judging.verdict import Verdict, is_one_of, meets, trap_holds
from rocmcfg.model.catalogue import Catalogue, Hardware, KernelArgument, Named, Parameter, TrapKind, ValueTrap
from rocmcfg.model.facts import Machine
from rocmcfg.model.issue import Confidence, IssueKind, KnownIssue
from rocmcfg.model.shape import NamedTuple
from rocmcfg.model.spelling import Spelling, as_number

_Setting = Literal["parameter", "feature", "argument", "variable", "misnomer", "new"]
_Subject = Literal[
    "kernel", "issue", "fault", "fix", "gpu", "profile", "number", "diagnostic", "status", "topic"
]
ExplanationKind = Literal[_Setting, _Subject]
Role = Literal["helps", "does_not_help", "unset"]


class Question(NamedTuple):
    """A question about a setting. `seen` says whether sysfs of the running kernel has the parameter of an id;
    None if that is unknown. `verdicts` are empty if the setting has no value."""

    setting: Spelling
    machine: Machine
    catalogue: Catalogue
    issues: tuple[KnownIssue, ...] = ()
    seen: Callable[[str], bool | None] = lambda _: None
    verdicts: tuple[Verdict, ...] = ()


class OnKernel(NamedTuple):
    """A parameter on one kernel. `present` is None if that is unknown. `types` and `defaults` hold two
    entries if the kernel was never read and the releases next to it disagree. `asked` is True if the kernel's
    own modinfo gave the type. `verdict` says why it refuses the value of the question; `doubt` says why it
    may refuse it: one of its types does, or its type is a guess."""

    kernel: str
    present: bool | None
    types: tuple[str, ...]
    defaults: tuple[str, ...]
    permission: str
    taints: bool
    asked: bool
    reads_back: str
    verdict: str
    doubt: str = ""


class Bit(NamedTuple):
    """One bit of a mask, on or off in the value and in the default. `feature` is empty for a bit that belongs
    to no feature."""

    feature: str
    bit: int
    on: bool
    default: bool
    summary: str


class Meaning(NamedTuple):
    value: str
    text: str


class Caution(NamedTuple):
    """A value that does not do what people think. `hardware` and `kernel` say where; empty means everywhere.
    `here` says whether this holds on this host's GPUs and kernels; None if no GPU is known."""

    values: tuple[str, ...]
    kind: TrapKind
    summary: str
    instead: str
    hardware: str
    kernel: str
    here: bool | None


class Mention(NamedTuple):
    """A known issue that mentions the setting. `role` is helps, does_not_help, or unset (unsetting it
    helps)."""

    issue: str
    title: str
    role: Role
    setting: str
    kind: IssueKind
    confidence: Confidence
    concerns: bool


class Explanation(NamedTuple):
    """An explanation of a name. `kind` is parameter, feature, argument, variable, misnomer, new (the host has
    it, the catalogue does not), kernel (a GEMM kernel of ROCm), or one of `subjects`, which `details`
    describe. `instead` is set for a name that is not what it seems.

    `meaning` is the effect of the value; `verdict` says why the value is refused or has no meaning, and
    `harms` what else speaks against it on this machine, such as a cure that it undoes. `unset` is what
    happens without the setting. `acts_on` names the hardware on which it has an effect; `acts_here` says
    whether this host has such hardware. `compared` is the mask whose bits are listed, `default` the mask
    with which they are compared, and `unnamed` the bits without a name in which both differ."""

    name: str
    kind: ExplanationKind
    summary: str
    remarks: tuple[str, ...] = ()
    instead: str = ""
    values: tuple[str, ...] = ()
    unit: str = ""
    unset: str = ""
    meaning: str = ""
    verdict: str = ""
    harms: tuple[str, ...] = ()
    meanings: tuple[Meaning, ...] = ()
    acts_on: str = ""
    acts_here: bool | None = None
    gpus: tuple[str, ...] = ()
    traps: tuple[Caution, ...] = ()
    kernels: tuple[OnKernel, ...] = ()
    compared: int | None = None
    default: int | None = None
    bits: tuple[Bit, ...] = ()
    unnamed: int = 0
    issues: tuple[Mention, ...] = ()
    details: tuple[Meaning, ...] = ()
    sources: tuple[str, ...] = ()


def those(*remarks: tuple[object, str]) -> tuple[str, ...]:
    """Return the texts whose condition holds, from pairs of a condition and a text."""
    return tuple(text for holds, text in remarks if holds)


def on_or_off(on: bool) -> str:
    return "on" if on else "off"


def described(question: Question, explanation: Explanation, ids: Iterable[str], entry: Named) -> Explanation:
    """Return the explanation with the parts that parameters, arguments and variables have in common; `ids`
    are the names that issues use."""
    hardware = None if isinstance(entry, KernelArgument) else entry.acts_on
    if not isinstance(entry, Parameter):
        explanation = explanation._replace(values=entry.values, unset=entry.default)
    return on_hardware(question, explanation, hardware)._replace(
        meaning=_meaning(entry.meanings, question.setting.value),
        meanings=tuple(Meaning(value, text) for value, text in entry.meanings.items()),
        traps=_cautions(question, entry.traps),
        sources=entry.sources,
        issues=mentions(question, ids),
    )


def on_hardware(question: Question, explanation: Explanation, hardware: Hardware | None) -> Explanation:
    gpus = tuple(dict.fromkeys(gpu.gfx or "" for gpu in question.machine.named))
    if hardware is None:
        return explanation._replace(gpus=gpus)
    return explanation._replace(gpus=gpus, acts_on=hardware.words(), acts_here=question.machine.has(hardware))


def _meaning(meanings: Mapping[str, str], value: str | None) -> str:
    """Return the effect of a value; for a mask, and for words joined by commas, the effect of each part."""
    if value is None or not meanings:
        return ""
    for word, text in meanings.items():
        if is_one_of(value, word):
            return text
    number = as_number(value)
    if number is not None and all(word.startswith("0x") for word in meanings):
        return "; ".join(text for word, text in meanings.items() if number & (as_number(word) or 0))
    parts = value.split(",")
    lines = [f"{part}: {meanings[part]}" for part in parts if part in meanings] if len(parts) > 1 else []
    return "; ".join(lines)


def _cautions(question: Question, traps: Sequence[ValueTrap]) -> tuple[Caution, ...]:
    """Return the traps of the question's value, or all traps if it has none."""
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
        if question.setting.value is None or meets(trap, question.setting.value)
    )


def mentions(question: Question, ids: Iterable[str]) -> tuple[Mention, ...]:
    """Return the known issues that mention one of `ids`, those of this host's GPUs first. An issue that
    mentions several is listed once."""
    names = set(ids)
    mentioned = [
        Mention(
            issue.id,
            issue.title,
            *role,
            issue.kind,
            issue.confidence,
            question.machine.has(Hardware(gfx=issue.gfx) if issue.gfx else None) is True,
        )
        for issue in question.issues
        if (role := _role(issue, names)) is not None
    ]
    order = {"helps": 0, "unset": 1, "does_not_help": 2}
    return tuple(sorted(mentioned, key=lambda m: (not m.concerns, order[m.role], m.issue)))


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
