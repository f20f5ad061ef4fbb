"""Find keys and their values in a line, in any style: `key=value`, `key: value`, `"key": "value"` and
Python's `'key': 'value'` (also escaped in another string), `Key: value` of a header, `?key=value` of a URL
(also percent-encoded), `--key value`, `KEY value`, `<key>value</key>`, `('key', 'value')`, `key => value`, `|
key | value |` of a table, and `<add key="name" value="value"/>`, in which one pair gives the meaning of
another one, in the same line or the next.

This is a scanner rather than one pattern, because the key decides whether the value matters, and the
beginning of the value decides where it ends. Each character is looked at a bounded number of times."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocmcfg.advice.report.looks import Meaning, is_mixed, is_ordinary, is_value, meaning, shape, tells, words
from rocmcfg.advice.report.rules import OPAQUE, Place
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

_FIRST = (
    "(?:(?:access|account|api|asset|client|host|license|login|private|product|real|recovery|secret|serial|service"
    "|user) )?"
)
_QUOTE = r"(?:\\{0,8}[\"'`]|%22|%27|&quot;|&#34;|&#39;)"
_KEY = regex(
    rf"(?i)(?<![\w./-])(?P<key>{_FIRST}[\w./-]+)"
    rf"(?:(?P<closing>{_QUOTE}\]?)?(?: ?\([^()\n]{{1,60}}\))?[ \t]{{0,40}}"
    rf"(?P<sign>={{1,2}}>|->|[:?+]?==?|:|%3d|%3a|[|│┃])[ \t]{{0,40}}"
    rf"|(?P<list>{_QUOTE}[ \t]{{0,8}},[ \t]{{0,8}}(?=[bru]?\\{{0,8}}[\"']))"
    rf"|(?P<said>'[ \t]value[ \t](?=')))"  # NetworkManager: added 'ssid' value 'x'
    r"|(?<![\w./-])(?P<option>--?[A-Za-z](?:[\w-]*\w)?)[ \t]{1,8}(?=[^\s-])"
    r"|<(?P<element>[A-Za-z][\w.:-]*)>(?=[^<\s])"
    r"|(?<![\w./-])(?P<word>[A-Za-z][\w-]*)[ \t]{1,8}(?=[^\s=:,;.)\]}|&<>-])"
)
# A pair or an element that names the key for the value of its neighbour.
_NAMED = regex(
    r"(?i)(?<![\w-])(?:key|name|id)\\{0,8}[\"']?\s?[=:]\s?\\{0,8}[\"'](?P<name>[\w.:/-]{1,120})[\"'\\]"
)
_NAMED_BEFORE = regex(r"<(?:name|key)>(?P<name>[^<]{1,120})</(?:name|key)>\s{0,40}$")
_NAMED_IN_LINE = regex(
    r"(?i)(?<![\w-])(?:key|name|id)[\"']?[ \t]?[=:][ \t]?[\"']?(?P<name>[\w.:/-]{1,120})[\"'},\s]{0,8}$"
)
_PERSON_BESIDE = regex(r"^\s*(?:\[(?:user|author|committer)\]|e-?mail\s*=)", re.I)  # gitconfig(5)
_AROUND = 400  # characters in which a neighbour is searched for
_ENCLOSED = {"<": ">", "{": "}"}
# The commands before the name of a variable that is being set: of csh, Dockerfile, fish, Windows.
_SETS = regex(r"(?:^|[\s;&|])(?:setenv|ENV|setx|set(?:[ \t]+-\w+)+)[ \t]+$")
_SETTING = regex(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$")
_ENDS = regex(r"[\"']?[ \t]*(?:$|[;&|#])")
# Quoted values. In a string that is itself escaped, they end with the next escaped quote.
_ENCLOSING = regex(
    r"(?i)(?:%22|%27|&quot;|&#34;|&#39;)(?P<encoded>(?:[^%&\s]|%(?!22|27|26)|&(?!quot;|#))*)"
    r"|[bru]{0,2}\\{1,8}[\"'`](?P<escaped>(?:[^\"'\\]|\\+[^\"'\\])*)"
    r"|[bruf]{0,2}(?:\"(?P<double>(?:[^\"\\]|\\.)*)|'(?P<single>(?:[^'\\]|\\.)*)|`(?P<back>[^`]*))"
)
_BRACKETS = regex(r"\[(?P<square>[^\]\n]*)|\((?P<round>[^)\n]*)")
# a quote within a word belongs to it; a quote after it encloses it
_BARE = regex(r"[^\s\"'`<>](?:[^\s\"'`<>]|[\"'`<>](?=\w))*")
_WORD = regex(r"[^\s\"'`<>,;|(){}\[\]&]+")
_TO_END, _TO_QUOTE, _TO_COMMA = (re.compile(p) for p in (r"[^\n]+", r"[^\"'\n]+", r"[^\"',;\n]+"))
_BARS = ("|", "│", "┃")
_CELL = regex(r"[^\s|│┃](?:[^|│┃]*[^\s|│┃])?")
_LONG = 256  # characters: names and serials are never longer; a longer value of a secret's key is a secret
_TUPLE = regex(r"[(\[] ?[bruBRU]?\\*[\"']$")
_NESTED = ("{", "[", "(", "<")  # not a value, but a structure with values, or a placeholder
_SCHEME = regex(r"(?i)(?:bearer|basic|token|apikey|negotiate|ntlm|key)\s+(?=\S)")
# in a value without quotes, the beginning of another pair, or the end of the enclosing structure
_NEXT_PAIR = regex(r"[,;&](?=$|[\w.-]+=)|%26|,(?=[\"'])")
_OPAQUE = regex(f"[{OPAQUE}]+")


class _Value(NamedTuple):
    start: int
    end: int
    quoted: bool


def pairs(line: str, before: str = "", after: str = "") -> Iterator[Place]:
    """Yield the values in a line that are to be replaced. `before` and `after` are the neighbouring lines,
    which may give the meaning of a value in this one."""
    if not shape("likely").search(line.lower()):
        return
    position = 0
    while (match := _KEY.search(line, position)) is not None:
        # the text between a key and its sign may contain a pair, too: "x (password=y): z"
        position = max(map(match.end, ("key", "option", "element", "word")))
        key = match["key"] or match["option"] or match["element"] or match["word"]
        meant = meaning(key) or _meant_beside(line, match, key.lower(), before, after)
        if meant is None or (match["list"] and not _is_listed(line, match, meant)):
            continue
        value = _value(line, match, meant)
        if value is None or (match["sign"] in _BARS and not (meant.sure and line.rstrip().endswith(_BARS))):
            continue  # a bar outside a table is a pipe between commands
        text = line[value.start : value.end]
        prose = _is_prose(line, match, value)
        if prose and key.lower() == "login":  # "Last login: Fri"
            continue
        if match["word"] and not _tells_behind_a_blank(line, match, meant, value):
            continue
        if prose and meant.sure and meant.kind == "secret" and not line[value.end :].strip():
            prose = is_ordinary(text)  # "root password: toor", and no more of a sentence
        if _tells(meant, text, prose=prose):
            yield Place(value.start, value.end, meant.kind, _is_taught(meant, match, text, value))
            position = value.end


def _is_listed(line: str, match: re.Match[str], meant: Meaning) -> bool:
    """Return whether the key and its value are a pair of a list, such as ["--key", "value"] or
    ('key', 'value'), and not two words of a list."""
    in_tuple = meant.kind == "secret" and _TUPLE.search(line, max(0, match.start() - 12), match.start())
    return match["key"].startswith("--") or bool(in_tuple)


def _meant_beside(line: str, match: re.Match[str], key: str, before: str, after: str) -> Meaning | None:
    """Return the meaning that another attribute of the same element or object gives to this one, in either
    order."""
    if key == "name" and match["sign"] == "=" and _begins(line, match):
        return Meaning("name") if any(map(_PERSON_BESIDE.match, (before, after))) else None
    if key not in words("values") or match["word"]:
        return None
    start = match.start()
    if match["element"]:
        close = line[max(0, start - _AROUND) : start]
        named = _NAMED_BEFORE.search(close if close.strip() else before[-_AROUND:])
        return meaning(named["name"]) if named else None
    begin = max(line.rfind(opening, max(0, start - _AROUND), start) for opening in _ENCLOSED)
    limit = min(len(line), match.end() + _AROUND)
    end = line.find(_ENCLOSED[line[begin]], match.end(), limit) if begin >= 0 else -1
    named = _NAMED.search(line, begin, limit if end < 0 else end) if begin >= 0 else None
    if named is None and end < 0:
        # a dash or a brace begins an item: the line before it belongs to another one
        first = () if line.lstrip().startswith(("-", "{")) else (before,)
        beside = (_NAMED_IN_LINE.search(neighbour[-_AROUND:]) for neighbour in (*first, after))
        named = next(filter(None, beside), None)
    return meaning(named["name"]) if named else None


def _tells_behind_a_blank(line: str, match: re.Match[str], meant: Meaning, value: _Value) -> bool:
    """Return whether `KEY value` gives a value away. The word after most words is not a value. It is one if
    KEY is being set, if the word is quoted, or if it looks like a secret."""
    key, start = match["word"], match.start()
    text = line[value.start : value.end]
    if meant.kind != "secret":
        return False
    if _SETS.search(line, max(0, start - 24), start):
        return True
    if _SETTING.match(key):
        if value.quoted or (is_mixed(text) and not shape("number").match(text)):
            return True
        return len(text) > 7 and not is_ordinary(text) and bool(_ENDS.match(line, value.end))
    if not meant.sure or key.lower() in words("verbs"):
        return False
    if re.match(r"[\w.-]+[=:]", text) or shape("number").match(text):
        return False
    return (value.quoted and any(c.isalpha() for c in text)) or (is_mixed(text) and len(text) > 5)


def _value(line: str, match: re.Match[str], meant: Meaning) -> _Value | None:
    start = match.end()
    if match["element"]:
        end = line.find("<", start)
        return _Value(start, end if end >= 0 else len(line), True)
    enclosed = _ENCLOSING.match(line, start)
    if enclosed is None and meant.kind in ("secret", "network"):
        enclosed = _BRACKETS.match(line, start)
    if enclosed is None:
        return None if line[start : start + 1] in _NESTED else _bare(line, match, meant)
    start, end = enclosed.span(enclosed.lastgroup or 0)
    start = _after_scheme(line, start, meant)
    if meant.kind != "secret":
        end = min(end, start + _LONG)
    return None if line[start : start + 1] in _NESTED else _Value(start, max(start, end), True)


def _bare(line: str, match: re.Match[str], meant: Meaning) -> _Value | None:
    start = _after_scheme(line, match.end(), meant)
    key, sign = (match["key"] or match["option"] or match["word"]).lower(), match["sign"]
    form, limit, quoted = _WORD, start + _LONG, False
    if sign in _BARS:
        form, quoted = _CELL, True
    elif meant.kind == "secret":
        form, limit = _BARE, len(line)
        if key.endswith("cookie") and sign == ":":
            form, quoted = _TO_QUOTE, True
        elif line[start : start + 6].lower() == "digest":
            form, quoted = _TO_END, True
        elif meant.sure and sign == ":" and _begins(line, match):
            form = _TO_END  # a line of YAML or of a dialogue: a passphrase may have blanks
    elif meant.kind in ("network", "label", "name") and (sign == ":" or (sign == "=" and key == "name")):
        form = _TO_COMMA
    value = form.match(line, start, limit)
    if value is None:
        return None
    end = value.end()
    if form is _BARE:
        cut = _NEXT_PAIR.search(line, start, end)
        end = cut.start() if cut else end
        while end > start + 1 and line[end - 1] in ")]},;.":
            end -= 1
    return _Value(start, end, quoted)


def _after_scheme(line: str, start: int, meant: Meaning) -> int:
    scheme = _SCHEME.match(line, start) if meant.kind == "secret" else None
    return scheme.end() if scheme else start


def _is_prose(line: str, match: re.Match[str], value: _Value) -> bool:
    """Return whether `word: value` is running text, in which a key may be an ordinary word."""
    if match["closing"] or value.quoted or match["sign"] not in (":", "->"):
        return False
    return not re.search(r"[-_]", match["key"]) and not _begins(line, match)


def _begins(line: str, match: re.Match[str]) -> bool:
    """Return whether only indentation comes before the key."""
    return match.start() < 40 and not line[: match.start()].strip(" \t-{")


def _tells(meant: Meaning, text: str, *, prose: bool) -> bool:
    bare = _OPAQUE.sub("", text).strip()
    if meant.kind == "secret" and len(bare) > _LONG:
        return True
    if not is_value(bare):
        return False
    if meant.kind == "secret":
        return _is_secret(bare, meant, prose=prose)
    form = meant.kind in ("user", "host", "serial", "id", "uuid") and shape(meant.kind)
    if (form and not form.match(bare)) or (meant.kind == "host" and prose and not meant.sure):
        return False
    certain = meant.kind not in ("host", "serial") and not (prose and meant.kind == "user")
    return bare.strip("0x-") != "" and tells(meant.kind, bare, certain=certain)


def _is_secret(text: str, meant: Meaning, *, prose: bool) -> bool:
    if shape("path").match(text):
        return False
    if meant.sure:
        return not (prose and text.isalpha() and text.islower() and len(text) < 6)
    if len(text) < meant.least or shape("number").match(text):
        return False
    if prose:
        return len(text) >= 8 and is_mixed(text)
    return is_mixed(text) or (len(text) >= 12 and any(c.isalpha() for c in text))


def _is_taught(meant: Meaning, match: re.Match[str], text: str, value: _Value) -> bool:
    if meant.kind == "secret":
        return len(text) >= 8 and is_mixed(text)
    if meant.kind in ("serial", "id"):
        return len(text) >= 6 and any(c.isdigit() for c in text)
    if meant.kind == "user":
        return value.quoted or match["sign"] == "=" or meant.sure
    return meant.kind in ("network", "host") and len(text) > 4 and meant.sure
