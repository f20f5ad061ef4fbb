"""A remark on one assignment, the proposal as its place spells it, and the finding made of both."""

from __future__ import annotations

from functools import partial

from rocmcfg.judging.words import Advice
from rocmcfg.model.diagnostic import Severity
from rocmcfg.model.shape import NamedTuple, published
from rocmcfg.model.spelling import Spelling

# The class of each id, for users who filter findings; an id never changes its class.
CLASSES = {
    "RC7101": "unknown",
    "RC7102": "misspelt",
    "RC7103": "illegal_value",
    "RC7104": "inverted",
    "RC7105": "presence_only",
    "RC7106": "build_only",
    "RC7107": "deprecated",
    "RC7108": "taints",
    "RC7109": "dangerous",
    "RC7110": "side_effect",
    "RC7111": "conflict",
    "RC7112": "duplicate",
    "RC7113": "no_effect",
    "RC7114": "default",
    "RC7115": "obsolete",
    "RC7116": "misread",
    "RC7117": "absent_here",
    "RC7118": "syntax",
    "RC7119": "read_only",
    "RC7120": "limited",
    "RC7121": "not_exported",
    "RC7122": "undoes_cure",
    "RC7123": "costly",
    "RC7124": "debugging",
    "RC7125": "hands_over",
}


class Remark(NamedTuple):
    """A remark on a token. `advice` is what to do about it. `instead` is the setting to write, without a
    value if the author's stays; None without a proposal. `better` is what that setting becomes when it is
    judged itself. `literal` is the text that replaces an error of syntax. `by_author`: only the author
    can tell what is meant, so --fix removes nothing."""

    id: str
    summary: str
    why: str = ""
    severity: Severity = Severity.INFO
    instead: Spelling | None = None
    better: Spelling | None = None
    advice: Advice = Advice.NOTE
    literal: str | None = None
    by_author: bool = False
    sources: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        return CLASSES[self.id]

    @property
    def remove(self) -> bool:
        return self.advice in (Advice.TAKE_OUT, Advice.UNNEEDED) and not self.by_author

    @property
    def proposal(self) -> Spelling | None:
        return None if self.remove else self.better or self.instead

    @property
    def source(self) -> str:
        return ", ".join(self.sources)


# The driver would not load, or the program would stop.
error = partial(Remark, severity=Severity.ERROR)
# The line does not do what it is meant to do, or does more.
warning = partial(Remark, severity=Severity.WARNING)
# The line changes nothing here, or is worth knowing more about.
info = partial(Remark, severity=Severity.INFO)

GRAVITY = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


class Spelt(NamedTuple):
    """A proposal as its place spells it. `text` replaces the token: None without a proposal, empty if the
    token should be removed. `setting` is the same in the spelling of `--set`, empty if rocmcfg cannot set
    it."""

    text: str | None = None
    setting: str = ""


@published(
    "file line column text",
    "remark: id class=kind severity summary why",
    "replacement=spelt.text setting=spelt.setting source=remark.source",
)
class Finding(NamedTuple):
    """A finding of lint. `text` is the token as written, from `start` to `stop` of the file; `line` and
    `column` count from 1, columns in characters. The `replacement` is None without a proposal, empty if the
    token should be removed."""

    file: str
    line: int
    column: int
    text: str
    start: int
    stop: int
    remark: Remark
    spelt: Spelt
