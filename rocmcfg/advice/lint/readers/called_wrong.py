"""Find settings that a document itself calls wrong: they are not reported.

Only words about the setting itself count, directly before it ("do not set X", "X, not Y") or directly after
it ("X does not exist", "X | ignored"). Words such as avoid, wrong and deprecated also occur in sentences that
recommend a setting.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from rocmcfg.advice.lint.source import Span
from rocmcfg.model.regex import regex

_NEAR = 200  # characters; words further away are about something else
_LISTED = 8  # settings of one enumeration
# The end of a paragraph, or the beginning of a list item, a table row or a heading.
_BREAK = regex(r"\n[ \t>]*(?:\n|(?=[-*+|#]|\d+[.)][ \t]))")
_LINE_END = regex(r"\s*\n[ \t>]*")
_OPEN, _CLOSE = r"[\"'“‘`*_(\[]*", r"[\"'”’`*_)\]]*"

_KIND = (
    r"(?:parameter|option|variable|setting|line|flag|name|value|argument|spelling|form|kernel|module|boot"
    r"|environment|export|old|bare|plain)"
)
_VERB = (
    r"(?:us(?:e|ing)|set(?:ting)?|writ(?:e|ing)|add(?:ing)?|pass|put|try|export|rely on|copy|recommend|enable"
    r"|specify|include|apply|need)"
)
_NOT = r"(?:(?:do(?:es)?|did|should|must|can|could|would|need|will)(?:\s+not|n[’']t)|cannot|never|not\s+to)"
_BEFORE = regex(
    rf"""(?:(?<![\w-])(?:
      {_NOT}\s+(?:(?:ever|have\s+to|need\s+to|please)\s+)?{_VERB}
    | never
    | avoid(?:s|ed|ing)?(?:\s+(?:using|setting))?(?!\s*:)
    | (?:remov|delet|replac)(?:e[sd]?|ing) | drop(?:ped|ping)? | unset | take\s+out | get\s+rid\s+of
    | instead\s+of | rather\s+than
    | (?<!why\s)(?<!if\s)(?<!whether\s)(?<!or\s)not(?!\s*:)
    | (?:there\s+(?:is|was)\s+|there[’']s\s+)?no(?:\s+such)?(?!\s*:)
    | nothing\s+(?:reads|knows)
    | (?<!was\s)(?<!is\s)(?<!went\s)(?<!goes\s)(?<!something\s)wrong
    | incorrect | invalid | bogus | made-up | non-?existent | obsolete | deprecated
    | (?:typo|misspelt|misspelled)(?:\s+as)?
    )\s*:?\s*(?:(?:the|any|this|that|an?)\s+)?(?:{_KIND}\s+){{0,3}}
    | (?:^|\|)\s*{_OPEN}(?:wrong|incorrect|bad|invalid|typo|misspelt|avoid|never|not|don[’']t(?:\s+use)?
      |do\s+not(?:\s+use)?|❌|✗)[!:.]*{_CLOSE}\s*\|\s*)
    {_OPEN}\Z""",
    re.IGNORECASE | re.VERBOSE,
)
_WRONG = (
    r"(?:wrong|ignored|unknown|deprecated|obsolete|invalid|incorrect|misspel(?:t|led)|typos?|non-?existent"
    r"|removed|refused|rejected|read\s+by\s+(?:nothing|nobody))"
)
_NO_PARAMETER = (
    rf"(?:not\s+an?|no)\s+(?:(?:longer|such|real|valid|known|legal|{_KIND})\s+){{0,3}}"
    r"(?:parameter|option|variable|flag|argument|setting|word|name|value)s?"
)
_NO_EFFECT = (
    r"no\s+effect\b(?!\s+on\s+(?:the\s+)?(?:performance|speed|power|quality|gaming|fps|latency|idle|battery))"
)
_SAID = regex(
    rf"""{_CLOSE}(?:\s+(?:{_KIND}|alone|itself|both|actually|simply|really|here|there)){{0,3}}
    (?:,?\s+(?:which|that|(?:as|since|because|but|though)\s+it))?\s+(?:
      (?:do(?:es)?|did|will|would)(?:\s+not|n[’']t)\s+(?:exist|work|do\s+anything|have\s+any\s+effect)
    | no\s+longer\s+(?:exists?|works?) | never\s+(?:existed|worked)
    | (?:has|had|have)\s+{_NO_EFFECT} | (?:does|did|do)\s+nothing
    | (?:is|are|was|were|gets?|has\s+been|have\s+been)\s+
      (?:(?:simply|just|silently|now|also|plainly|completely|always|long|all|both|in\s+fact|actually|an?|the)\s+)*
      (?:{_WRONG}|{_NO_PARAMETER}|no\s+longer\s+(?:read|valid|supported)|no-?op|useless|nonsense|gone|bogus|made\s+up
        |inverted|not\s+(?:read|valid|real|recogni[sz]ed|defined|known|accepted))\b
    | (?:is|are|was)n[’']t\s+(?:(?:an?\s+|any\s+)?(?:(?:real|valid|known|{_KIND})\s+){{0,2}}
        (?:parameter|option|variable|flag|argument|setting)|read\b|valid\b|real\b|recogni[sz]ed)
    | (?:should|must|ought\s+to)\s+(?:be|read)\s+{_OPEN}[\w.]+=
    | (?:is|are)\s+(?:spelt|spelled|written)\s
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_MARKED = regex(
    rf"""{_CLOSE}\s*(?:[(\[:;,|#=>–—-]|←|→)+\s*{_OPEN}(?:
      (?:{_WRONG}|bad|{_NO_PARAMETER}|does(?:\s+not|n[’']t)\s+exist|does\s+nothing|(?:has\s+)?{_NO_EFFECT}
        |(?:never|do\s+not|don[’']t)(?:\s+(?:use|set|do|copy|write|add)|(?=\s*(?:[:!.]|\Z))))
      (?=\s*(?:[.,;:!?)|\]–—*_`-]|\Z|(?:by|since|in|from|here|this|it|that|name|spelling|parameter|and|as)\b|\())
    | (?:has\s+)?{_NO_EFFECT}
    | [❌✗✘])""",
    re.IGNORECASE | re.VERBOSE,
)
# Another setting of the same enumeration, before or after this one.
_OTHER = r"(?:`[^`\n]+`|[\w.]+=[^\s,;|]+)"
_LIST_BEFORE = regex(rf"{_OTHER}{_CLOSE}\s*(?:,|/|,?\s*\b(?:and|or|nor)\b|&)\s*{_OPEN}\Z")
_LIST_BEHIND = regex(rf"{_CLOSE}\s*(?:,\s*(?:and|or|nor)\b|,|/|\b(?:and|or|nor)\b|&)\s*{_OPEN}{_OTHER}")


def _plain(text: str) -> str:
    """Return a text on one line, without emphasis."""
    return _LINE_END.sub(" ", text).replace("**", "")


class Judgement:
    """The judgement of a document on the settings in it. Places are those of the file."""

    def __init__(self, piece: Span) -> None:
        self.text, self.runs = piece

    def _offset(self, place: int) -> int:
        here, there = self.runs[max(0, bisect_right(self.runs, place, key=lambda run: run[1]) - 1)]
        return here + place - there

    def against(self, start: int, stop: int) -> bool:
        """Return whether the author calls the text from start to stop wrong, or advises against it."""
        return self._before(self._offset(start)) or self._behind(self._offset(stop - 1) + 1)

    def _before(self, start: int) -> bool:
        sentence = _plain(_BREAK.split(self.text[max(0, start - _NEAR) : start])[-1])
        for _ in range(_LISTED):
            if _BEFORE.search(sentence):
                return True
            other = _LIST_BEFORE.search(sentence)
            if other is None:
                return False
            sentence = sentence[: other.start()]
        return False

    def _behind(self, stop: int) -> bool:
        window = self.text[stop : stop + _NEAR]
        paragraph = _BREAK.split(window, 1)[0]
        line, sentence = _plain(paragraph.partition("\n")[0]), _plain(paragraph)
        for _ in range(_LISTED):
            if _SAID.match(sentence) or _MARKED.match(line):
                return True
            other = _LIST_BEHIND.match(sentence)
            if other is None:
                return False
            sentence, line = sentence[other.end() :], line[other.end() :]
        return False


_COMMENT = regex(r"(?:^|(?<=\s))(?:#|//)")


class MarkedLines:
    """The lines of an example, read one after the other, some of which its comments mark as wrong.

    A comment at the end of a line marks that line; a comment on its own line marks the lines that follow, up
    to a blank line or the next comment.
    """

    def __init__(self) -> None:
        self._below = False

    def wrong(self, line: str) -> bool:
        comments = [match.start() for match in _COMMENT.finditer(line[:400])]
        marked = any(_MARKED.match(line[:400], start) for start in comments)
        alone = bool(comments) and not line[: comments[0]].strip()
        if alone or not line.strip():
            self._below = marked
        return marked or (self._below and not alone)
