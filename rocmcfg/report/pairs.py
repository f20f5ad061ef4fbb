"""Keys and their values in a line, in any style: `key=value`, `key: value`, `"key": "value"` and Python's
`'key': 'value'` (also escaped in another string), `Key: value` of a header, `?key=value` of a URL (also
percent-encoded), `--key value`, `KEY value`, `<key>value</key>`, `('key', 'value')`, `key => value`, and
`<add key="name" value="value"/>`, where a pair says what another one means.

A scanner by hand rather than one pattern: whether the value matters depends on the key, and where it ends on
how it begins. Each character is looked at a bounded number of times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from rocmcfg.report.keys import LIKELY, Meaning, meaning
from rocmcfg.report.rule import OPAQUE
from rocmcfg.report.words import NO_VALUE, ORDINARY, is_nobody

_FIRST = (
    "(?:(?:access|account|api|asset|client|host|license|login|private|product|real|recovery|secret|serial|service"
    "|user) )?"
)
_QUOTE = r"(?:\\{0,8}[\"'`]|%22|%27|&quot;|&#34;|&#39;)"
_KEY = re.compile(
    rf"(?i)(?<![\w./-])(?P<key>{_FIRST}[\w./-]+)"
    rf"(?:(?P<closing>{_QUOTE})?\]?[ \t]{{0,40}}(?P<sign>=>|:=|==?|:|%3d|%3a)[ \t]{{0,40}}"
    rf"|(?P<list>{_QUOTE}[ \t]{{0,8}},[ \t]{{0,8}}(?=[bru]?\\{{0,8}}[\"']))"
    rf"|(?P<said>'[ \t]value[ \t](?=')))"  # NetworkManager: added 'ssid' value 'x'
    r"|(?<![\w./-])(?P<option>--?[A-Za-z](?:[\w-]*\w)?)[ \t]{1,8}(?=[^\s-])"
    r"|<(?P<element>[A-Za-z][\w.:-]*)>(?=[^<\s])"
    r"|(?<![\w./-])(?P<word>[A-Za-z][\w-]*)[ \t]{1,8}(?=[^\s=:,;.)\]}|&<>-])"
)
# Pairs and elements that hold the value of what their neighbour names, and how that one does.
_VALUES = frozenset(("value", "val", "content", "string"))
_NAMED = re.compile(
    r"(?i)(?<![\w-])(?:key|name|id)\\{0,8}[\"']?\s?[=:]\s?\\{0,8}[\"'](?P<name>[\w.:/-]{1,120})[\"'\\]"
)
_NAMED_BEFORE = re.compile(r"<(?:name|key)>(?P<name>[^<]{1,120})</(?:name|key)>\s{0,8}$")
_AROUND = 400  # characters in which a neighbour is looked for
_ENCLOSED = {"<": ">", "{": "}"}
# What sets the variable whose name follows: of csh, Dockerfile, fish, Windows.
_SETS = re.compile(r"(?:^|[\s;&|])(?:setenv|ENV|setx|set(?:[ \t]+-\w+)+)[ \t]+$")
_SETTING = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$")
_ENDS = re.compile(r"[\"']?[ \t]*(?:$|[;&|#])")
# They are verbs and names of other things, too: "tests pass gfx1100".
_AMBIGUOUS = frozenset(("otp", "pass", "pw", "webhook"))
_QUOTED = {
    '"': re.compile(r'(?:[^"\\]|\\.)*'),
    "'": re.compile(r"(?:[^'\\]|\\.)*"),
    "`": re.compile(r"[^`]*"),
}
_OPENING = re.compile(r"(?P<prefix>[bBrRuUfF]{0,2})(?P<escapes>\\{0,8})(?P<quote>[\"'`])")
_WITHIN_QUOTES = re.compile(r"(?:[^\"'\\]|\\+[^\"'\\])*")
_ENCODED = re.compile(r"(?i)(?:%22|%27|&quot;|&#34;|&#39;)")
_UP_TO_ENCODED = re.compile(r"(?i)(?:[^%&\s]|%(?!22|27|26)|&(?!quot;|#))*")
# a quote within a word belongs to it; one behind it encloses it
_BARE = re.compile(r"[^\s\"'`<>](?:[^\s\"'`<>]|[\"'`<>](?=\w))*")
_WORD = re.compile(r"[^\s\"'`<>,;|(){}\[\]&]+")
_LONG = 256  # characters: neither a name nor a serial is longer; a secret is one then, whatever it looks like
_TO_END = re.compile(r"[^\n]+")
_TO_QUOTE = re.compile(r"[^\"'\n]+")
_TO_COMMA = re.compile(r"[^\"',;\n]+")
_IN_ELEMENT = re.compile(r"[^<]+")
_BRACKETS = {"[": re.compile(r"[^\]\n]*"), "(": re.compile(r"[^)\n]*")}
_TUPLE = re.compile(r"[(\[] ?[bruBRU]?\\*[\"']$")
_NESTED = ("{", "[", "(", "<")  # no value, but what has some; or what somebody else put in its place
_SCHEME = re.compile(r"(?i)(?:bearer|basic|token|apikey|negotiate|ntlm|key)\s+(?=\S)")
# where another pair, or what encloses this one, follows in a value that has no quotes
_NEXT_PAIR = re.compile(r"[,;&](?=$|[\w.-]+=)|%26|[,;]$")
_OPAQUE = re.compile(f"[{OPAQUE}]+")
_CLOSING = ")]},;."
_PATH = re.compile(
    r"(?:~|\.{1,2})?/(?:app|cache|data|dev|etc|home|mnt|models|opt|proc|root|run|secrets|srv|sys|tmp|usr|var"
    r"|workspace)?(?:/|$)|\.{1,2}/|~/|[\w./-]+\.(?:py|json|toml|ya?ml|pem|key|crt|txt|conf)$"
)
_PLACEHOLDER = re.compile(
    r"\$\{?[A-Z_]+\}?$|\$\(|%[(\[]?\w*[)\]]?s?$|\{.*\}$|[*•x.]+$|\[(?:redacted|hidden)", re.I
)
_NUMBER = re.compile(r"[-+]?[\d.,_]+(?:e[-+]?\d+)?[a-zA-Z%/]{0,3}$|0x[0-9a-fA-F]+$")
_PERSON = re.compile(r"[A-Za-z_](?:[\w.@-]|\\)*\$?$")
_SERIAL = re.compile(r"(?=.*\d)[\w./:+-]{5,}$|[A-Z0-9-]{6,}$")
_MACHINE = re.compile(r"(?=.*[A-Za-z])[\w.\[\],:-]{2,}$")


class Found(NamedTuple):
    """Where the value lies. `sure`: certain enough to go from all other places as well."""

    start: int
    end: int
    kind: str
    sure: bool


def pairs(line: str) -> Iterator[Found]:
    if not LIKELY.search(line.lower()):
        return
    position = 0
    while (found := _KEY.search(line, position)) is not None:
        position = found.end()
        key = found["key"] or found["option"] or found["element"] or found["word"]
        meant = meaning(key)
        if meant is None and key.lower() in _VALUES:
            meant = _meant_beside(line, found)
        if meant is None or (found["list"] and not _in_tuple(line, found, meant)):
            if found["option"] and position == found.end():
                position = found.end("option")
            continue
        value = _value(line, found, meant)
        if value is None:
            continue
        start, end, quoted = value
        text = line[start:end]
        prose = _is_prose(line, found, quoted=quoted)
        if prose and key.lower() == "login":  # "Last login: Fri"
            continue
        if found["word"] and not _tells_behind_a_blank(line, found, meant, value):
            continue
        if _tells(meant, text, prose=prose):
            yield Found(start, end, meant.kind, _is_sure(meant, found, text, quoted=quoted))
            position = end


def _in_tuple(line: str, found: re.Match[str], meant: Meaning) -> bool:
    """('key', 'value'), as Python shows headers; in a list of words one says nothing of the next."""
    start = found.start()
    if found["key"].startswith("--"):
        return True  # a list of arguments
    return meant.kind == "secret" and bool(_TUPLE.search(line[max(0, start - 12) : start]))


def _meant_beside(line: str, found: re.Match[str]) -> Meaning | None:
    """What another attribute of the same element or object says of this one, in either order."""
    start = found.start()
    if found["element"]:
        named = _NAMED_BEFORE.search(line, max(0, start - _AROUND), start)
    else:
        begin = max(line.rfind(opening, max(0, start - _AROUND), start) for opening in _ENCLOSED)
        if begin < 0:
            return None
        limit = min(len(line), found.end() + _AROUND)
        end = line.find(_ENCLOSED[line[begin]], found.end(), limit)
        named = _NAMED.search(line, begin, limit if end < 0 else end)
    return meaning(named["name"]) if named else None


def _tells_behind_a_blank(
    line: str, found: re.Match[str], meant: Meaning, value: tuple[int, int, bool]
) -> bool:
    """Most words are followed by a word that is no value: what is one has to be set, quoted or look so."""
    key, start, (begin, end, quoted) = found["word"], found.start(), value
    text = line[begin:end]
    if meant.kind != "secret":
        return False
    if _SETS.search(line, max(0, start - 24), start):
        return True
    digit, letter = any(c.isdigit() for c in text), any(c.isalpha() for c in text)
    if _SETTING.match(key):
        if quoted or (digit and letter and not _NUMBER.match(text)):
            return True
        return len(text) > 7 and text.lower() not in ORDINARY and bool(_ENDS.match(line, end))
    if not meant.sure or key.lower() in _AMBIGUOUS or re.match(r"[\w.-]+[=:]", text):
        return False
    return (quoted and letter) or (digit and letter and len(text) > 5)


def _value(line: str, found: re.Match[str], meant: Meaning) -> tuple[int, int, bool] | None:
    """Where it starts and ends, and whether quotes say so."""
    start = found.end()
    if found["element"]:
        return _span(_IN_ELEMENT.match(line, start), quoted=True)
    if encoded := _ENCODED.match(line, start):
        return _span(_UP_TO_ENCODED.match(line, encoded.end()), quoted=True)
    if opening := _OPENING.match(line, start):
        # in a string that is itself escaped, the value ends with the next escaped quote
        inner = _WITHIN_QUOTES if opening["escapes"] else _QUOTED[opening["quote"]]
        start = _after_scheme(line, opening.end(), meant)
        end = len(line) if meant.kind == "secret" else start + _LONG
        return (
            None if line[start : start + 1] in _NESTED else _span(inner.match(line, start, end), quoted=True)
        )
    if line[start : start + 1] in _BRACKETS and meant.kind in ("secret", "network"):
        start += 1
        return (
            None
            if line[start : start + 1] in _NESTED
            else _span(_BRACKETS[line[start - 1]].match(line, start), quoted=True)
        )
    if line[start : start + 1] in _NESTED:
        return None
    return _bare(line, found, _after_scheme(line, start, meant), meant)


def _bare(line: str, found: re.Match[str], start: int, meant: Meaning) -> tuple[int, int, bool] | None:
    key = (found["key"] or found["option"] or found["word"]).lower()
    if meant.kind == "secret":
        if key.endswith("cookie") and found["sign"] == ":":
            return _span(_TO_QUOTE.match(line, start), quoted=True)
        if line[start : start + 6].lower() == "digest":
            return _span(_TO_END.match(line, start), quoted=True)
        if meant.sure and found["sign"] == ":" and _begins(line, found):
            # a line of YAML or of a dialogue of its own: a passphrase has blanks
            return _span(_TO_END.match(line, start), quoted=False)
        value = _BARE.match(line, start)
        if value is None:
            return None
        end = value.end()
        if cut := _NEXT_PAIR.search(line, start, end):
            end = cut.start()
        while end > start + 1 and line[end - 1] in _CLOSING:
            end -= 1
        return start, end, False
    if meant.kind in ("network", "label", "name") and found["sign"] == ":":
        return _span(_TO_COMMA.match(line, start, start + _LONG), quoted=False)
    return _span(_WORD.match(line, start, start + _LONG), quoted=False)


def _span(found: re.Match[str] | None, *, quoted: bool) -> tuple[int, int, bool] | None:
    return (found.start(), found.end(), quoted) if found else None


def _after_scheme(line: str, start: int, meant: Meaning) -> int:
    scheme = _SCHEME.match(line, start) if meant.kind == "secret" else None
    return scheme.end() if scheme else start


def _is_prose(line: str, found: re.Match[str], *, quoted: bool) -> bool:
    """`word: value` in running text, where a key may be a word like any other."""
    if found["option"] or found["element"] or found["closing"] or quoted or found["sign"] != ":":
        return False
    return not re.search(r"[-_]", found["key"]) and not _begins(line, found)


def _begins(line: str, found: re.Match[str]) -> bool:
    """Whether nothing but an indentation stands before the key."""
    return found.start() < 40 and not line[: found.start()].strip(" \t-{")


def _tells(meant: Meaning, text: str, *, prose: bool) -> bool:
    bare = _OPAQUE.sub("", text).strip()
    if meant.kind == "secret" and len(bare) > _LONG:
        return True
    if not bare.strip("\"' ,.:;()[]{}\\") or bare.strip("\"' ,.;:()[]\\").lower() in NO_VALUE:
        return False
    if bare.startswith(("{", "<")) or _PLACEHOLDER.match(bare):
        return False
    if meant.kind == "secret":
        return _is_secret(bare, meant, prose=prose)
    if meant.kind == "user":
        return bool(_PERSON.match(bare)) and not is_nobody(bare) and not (prose and bare.lower() in ORDINARY)
    if meant.kind == "host":
        known = is_nobody(bare) or bare.lower() in ORDINARY
        return bool(_MACHINE.match(bare)) and not known and not (prose and not meant.sure)
    if meant.kind in ("serial", "id", "uuid"):
        return bool(_SERIAL.match(bare.strip())) and "8250" not in bare and bare.strip("0x-") != ""
    return not is_nobody(bare)


def _is_secret(text: str, meant: Meaning, *, prose: bool) -> bool:
    if _PATH.match(text):
        return False
    if meant.sure:
        return not (prose and text.isalpha() and text.islower() and len(text) < 6)
    if _NUMBER.match(text):
        return False
    digit, letter = any(c.isdigit() for c in text), any(c.isalpha() for c in text)
    if prose:
        return len(text) >= max(8, meant.least) and digit and letter
    return len(text) >= meant.least and (digit or len(text) >= 12) and letter


def _is_sure(meant: Meaning, found: re.Match[str], text: str, *, quoted: bool) -> bool:
    digit, letter = any(c.isdigit() for c in text), any(c.isalpha() for c in text)
    if meant.kind == "secret":
        return len(text) >= 8 and digit and letter
    if meant.kind in ("serial", "id"):
        return len(text) >= 6 and digit
    if meant.kind == "user":
        return quoted or found["sign"] == "=" or meant.sure
    if meant.kind in ("network", "host"):
        return len(text) > 4 and meant.sure
    return False
