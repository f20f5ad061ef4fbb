"""One text through all of it: its kind, its reader, the rules, and the findings with their places; and what
becomes of each of its settings: kept, changed or taken out, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

from rocmcfg.judging import names
from rocmcfg.lint import kinds, readers, superseded
from rocmcfg.lint.assignment import Assignment, Reading, What
from rocmcfg.lint.kinds import FileKind
from rocmcfg.lint.proposal import chosen, proposed, spell
from rocmcfg.lint.readers.kernel import ON_THE_LINE
from rocmcfg.lint.remark import GRAVITY, Finding, Remark, Spelt
from rocmcfg.lint.source import Source, whole
from rocmcfg.lint.wording import Knowledge, remarks, spelled
from rocmcfg.model.catalogue import Catalogue
from rocmcfg.model.diagnostic import Severity
from rocmcfg.model.kargs import canonical
from rocmcfg.model.named_tuple import NamedTuple
from rocmcfg.model.published import published
from rocmcfg.model.spelling import as_number, hexint
from rocmcfg.model.state import Kind

# A line with this is not judged, as in `amdgpu.gfxoff=0  # rocmcfg: ignore`.
IGNORE = "rocmcfg: ignore"
_LARGE = 1 << 20  # characters; a larger text is first looked through for any word of ours
_WORDS = 200  # characters before and behind a setting that may speak of it
_ROUNDS = 5  # a name is mended, then its value, then it loses to another one, or is the default
MOST = 1000  # findings of one text that are told


class Checked:
    """A text with what was found in it, in the order of the text; `left_out` counts what is not told, `anew`
    are variables of which the text throws an earlier file's value away. `needed` are the tokens, as ranges,
    that override one of another file which stays there."""

    def __init__(self, file: str, kind: FileKind, source: Source, reading: Reading) -> None:
        self.file, self.kind, self.source = file, kind, source
        self.assignments: Sequence[Assignment] = reading.assignments
        self.anew = frozenset(reading.anew)
        self.findings: list[Finding] = []
        self.needed: set[tuple[int, int]] = set()
        self.left_out = 0

    def add(
        self, found: Assignment, remark: Remark, knowledge: Knowledge, spelt: Spelt | None = None
    ) -> None:
        if len(self.findings) >= MOST:
            self.left_out += 1
            return
        spelt = spelt or spell(found, remark, self.source.text, knowledge)
        self.add_at(found.start, found.stop, remark, spelt)

    def add_at(self, start: int, stop: int, remark: Remark, spelt: Spelt) -> None:
        text = self.source.text[start:stop]
        place = self.source.place(start)
        self.findings.append(Finding(self.file, *place, text, start, stop, remark, spelt))

    def settings(self) -> Iterator[str]:
        return (self.source.text[one.start : one.stop] for one in self.assignments)

    def place(self, found: Assignment) -> str:
        """Where an assignment stands, as a finding of another file says it."""
        return f"in {self.file} {self.within(found)}"

    def line(self, found: Assignment) -> int:
        return self.source.place(found.start)[0]

    def within(self, found: Assignment) -> str:
        return "at line {}, column {}".format(*self.source.place(found.start))

    def beside(self, found: Assignment) -> str:
        """The words of its line, without other settings, and those of a comment on the line above."""
        number = self.line(found)
        start, stop = self.source.line(number)
        text = self.source.text
        words = text[max(start, found.start - _WORDS) : found.start] + " "
        words += text[found.stop : min(stop, found.stop + _WORDS)]
        if number > 1:
            above = text[slice(*self.source.line(number - 1))][:_WORDS].strip()
            words = f"{above} {words}" if above.startswith(("#", "//")) else words
        return " ".join(word for word in words.split() if "=" not in word)

    def settle(self) -> None:
        """Sorts the findings, and drops those whose line asks to be left alone."""
        text = self.source.text
        if IGNORE in text:
            lines = ((f, text[slice(*self.source.line(f.line))]) for f in self.findings)
            self.findings = [finding for finding, line in lines if IGNORE not in line]
        self.findings.sort(key=lambda f: (f.start, f.stop, f.remark.id))


def check(file: str, text: str, knowledge: Knowledge, *, kind: FileKind | None = None) -> Checked:
    """Judges a text alone. `file` is its path, which may tell its kind."""
    reading = Reading()
    chosen = kind or kinds.of(file, text)
    if len(text) < _LARGE or names.mentions_anything(text):
        readers.read(chosen, whole(text), reading)
    checked = Checked(file, chosen, Source(text), reading)
    listed = file == kinds.PASTED and not kinds.BOOT_WORDS.search(text)  # for nobody knows which place
    for start, stop, slip in reading.slips:
        if listed and slip.id == ON_THE_LINE:
            continue
        checked.add_at(start, stop, slip, Spelt(slip.literal, ((start, stop, slip.literal or ""),)))
    numbers = {
        (each.where.scope, canonical(each.name)): each
        for each in superseded.in_turn(reading.assignments)
        if each.what is What.PARAMETER and as_number(each.value) is not None
    }
    said: dict[object, tuple[Remark, ...]] = {}
    for each in reading.assignments:
        found = each
        if found.what is What.PARAMETER and names.may_be_intended(found.name):
            found = each._replace(beside=checked.beside(each))
        # equal assignments are judged once: a text of megabytes repeats itself
        where = found.where
        key = (found.what, found.name, found.value, found.opaque, where.trust, where.builds, found.beside)
        if key not in said:
            said[key] = tuple(remarks(found, knowledge))
        for each_said in said[key]:
            remark, spelt = _with_mask(each_said, found, numbers, checked, knowledge.catalogue)
            checked.add(found, remark, knowledge, spelt)
    for loser, remark in superseded.repeated(reading.assignments, checked.within):
        checked.add(loser, remark, knowledge)
    checked.settle()
    return checked


def mended(checked: Checked, knowledge: Knowledge) -> str:
    """The text with the proposals, and with those for what they leave or bring, until there is none."""
    text = proposed(checked)
    for _ in range(0 if text == checked.source.text else _ROUNDS):
        before, text = text, proposed(check(checked.file, text, knowledge, kind=checked.kind))
        if text == before:
            break
    return text


def _with_mask(
    remark: Remark,
    found: Assignment,
    numbers: dict[tuple[str, str], Assignment],
    checked: Checked,
    known: Catalogue,
) -> tuple[Remark, Spelt | None]:
    """Where a feature is proposed beside its mask, a second mask would replace the first: the feature goes
    into that one."""
    scope, instead = found.where.scope, remark.instead
    if not scope or instead is None or instead.kind is not Kind.FEATURE:
        return remark, None
    feature = known.features[instead.name]
    mask = numbers.get((scope, feature.parameter))
    if mask is None or mask.value_at is None:
        return remark, None
    value = hexint(feature.compose(as_number(mask.value) or 0, instead.enabled))
    said = f"{feature.parameter} is set already {checked.within(mask)}: with the feature it is {value}."
    numbers[scope, feature.parameter] = mask._replace(value=value)  # another feature comes on top of this
    spelt = Spelt("", ((*mask.value_at, value),), f"{feature.parameter}={value}")
    return remark._replace(why=f"{remark.why} {said}", instead=None), spelt


# -- what becomes of each setting -------------------------------------------------------------------------


class Fate(str, Enum):
    TAKE_OUT = "take out"
    CHANGE = "change"
    BY_HAND = "by hand"  # wrong, and in a text in which nothing may be replaced
    KEEP = "keep"


@published("file", "line", "column", "text", "verdict=fate", "replacement", "setting", "summary", "severity")
class Verdict(NamedTuple):
    """`replacement` is what stands there in the end, and `setting` the same for --set; both are empty but for
    a change. `summary` is the gravest of what is said of it, empty with no `severity` where nothing is."""

    file: str
    line: int
    column: int
    text: str
    fate: Fate
    replacement: str
    setting: str
    summary: str
    severity: Severity | None


def verdicts(checked: Checked, after: str, knowledge: Knowledge) -> list[Verdict]:
    """Worst first. `after` is the text with all that is proposed."""
    again = check(checked.file, after, knowledge, kind=checked.kind)
    left = {
        _plain_name(each.name): (after[each.start : each.stop], str(spelled(each)))
        for each in again.assignments
    }
    spelt = {(f.start, f.stop): f.spelt for f in chosen(checked)}
    found = [
        _verdict(checked, each, left, spelt.get((each.start, each.stop), Spelt()))
        for each in checked.assignments
    ]
    fates = list(Fate)
    return sorted(
        found, key=lambda v: (fates.index(v.fate), GRAVITY[v.severity or Severity.INFO], v.line, v.column)
    )


def _verdict(checked: Checked, each: Assignment, left: dict[str, tuple[str, str]], spelt: Spelt) -> Verdict:
    text = checked.source.text[each.start : each.stop]
    said = [f.remark for f in checked.findings if (f.start, f.stop) == (each.start, each.stop)]
    worst = min(said, key=lambda remark: GRAVITY[remark.severity], default=None)
    name = each.name if spelt.text is None else spelt.text.partition("=")[0]
    stays, setting = left.get(_plain_name(name), ("", "")) if name else ("", "")
    if stays == spelt.text and spelt.setting:  # a feature says more than the mask that it becomes here
        setting = spelt.setting
    fate = Fate.KEEP if stays == text else Fate.CHANGE if stays else Fate.TAKE_OUT
    if fate is Fate.KEEP and worst is not None and worst.severity is not Severity.INFO:
        fate = Fate.BY_HAND
    return Verdict(
        checked.file,
        *checked.source.place(each.start),
        text,
        fate,
        *((stays, setting) if fate is Fate.CHANGE else ("", "")),
        worst.summary if worst else "",
        worst.severity if worst else None,
    )


def _plain_name(name: str) -> str:
    return canonical(name.strip("\"' "))
