"""Decide whether a text identifies a host or its owner, by lists of harmless words and by its shape; and what
a key says about its value: that it is a secret, a serial, a name, or nothing of interest."""

from __future__ import annotations

import functools
import ipaddress
import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from rocmcfg.knowledge import compiled
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple


@functools.cache
def data() -> dict[str, Any]:
    return compiled.packaged("advice/report/data/redaction.toml")


@functools.cache
def words(name: str) -> frozenset[str]:
    """Return a list of words that are harmless, or that give a key its meaning."""
    return frozenset((data()["words"].get(name) or data()["keys"][name]).split())


@functools.cache
def shape(name: str) -> re.Pattern[str]:
    return re.compile(data()["shapes"][name])


def is_public(site: str) -> bool:
    labels = site.lower().rstrip(".").split(".")
    return any(".".join(labels[n:]) in words("public_sites") for n in range(len(labels)))


def is_nobody(name: str) -> bool:
    """Return whether a name of a host or account is a common one (root, debian)."""
    lowered = name.lower().strip().rstrip("$")
    return lowered in words("nobody") or lowered in words("levels") or not any(c.isalpha() for c in lowered)


def is_ordinary(word: str) -> bool:
    return word.lower() in words("ordinary")


def _is_name(text: str, certain: bool) -> bool:
    return not is_nobody(text) and (certain or not (is_ordinary(text) or text.lower() in words("no_value")))


def _is_host(text: str, certain: bool) -> bool:
    return _is_name(text, certain) and not is_public(text)


def is_value(text: str) -> bool:
    """Return whether a text in the place of a secret is a value, not a word such as "unset"."""
    bare = text.strip("\"' ,.;:()[]{}\\").lower()
    return bool(bare) and bare not in words("no_value") and not shape("no_secret").match(text)


def is_mixed(text: str) -> bool:
    return any(c.isdigit() for c in text) and any(c.isalpha() for c in text)


def _random(text: str) -> bool:
    """Return whether a text looks like a key, which mixes digits and letters."""
    return is_mixed(text) and sum(c.isalpha() for c in text) > 3


def _drawn(text: str) -> bool:
    """Return whether a text looks drawn at random from letters and digits: nearly every second character has
    another class than the one before it. Names of functions, even mangled ones, contain words."""
    classes = [(c.isdigit(), c.isupper()) for c in text]
    changes = sum(before != after for before, after in pairwise(classes))
    return len(set(classes)) == 3 and changes >= 0.45 * (len(text) - 1)


def _credential(text: str) -> bool:
    odd_case = text.lower() != text and not text.isupper() and not text.istitle()
    return _random(text) or odd_case or "=" in text


def _base64(text: str) -> bool:
    mixed = is_mixed(text) and text.lower() != text != text.upper()
    return mixed and not text.startswith("/") and text.count("/") <= 2 + len(text) // 16


def _serial(text: str, certain: bool) -> bool:
    in_capitals = text.isupper() and _is_name(text, certain=False)
    return certain or (
        len(text) > 3 and "8250" not in text and (in_capitals or any(c.isdigit() for c in text))
    )


def is_ip(text: str, before: str, behind: str) -> bool:
    """Return whether a text is the address of one machine. `before` and `behind` are the texts next to it in
    the line."""
    try:
        # leading zeros do not make octal numbers here
        address = ipaddress.ip_address(text if ":" in text else re.sub(r"\b0+(?=\d)", "", text))
    except ValueError:
        return False
    if address.is_loopback or address.is_unspecified or text.startswith("255.255."):
        return False
    if isinstance(address, ipaddress.IPv6Address):
        return not address.is_reserved or address.ipv4_mapped is not None
    if not address.is_global and not text.startswith("0") and not address.is_multicast:
        return not shape("version_surely_before").search(before)
    version = shape("version_before").search(before) or shape("version_behind").match(behind)
    return not (address.is_multicast or version)


_KINDS: Mapping[str, Callable[[str, bool], bool]] = {
    **dict.fromkeys(("user", "name", "label", "volume", "network"), _is_name),
    "host": _is_host,
    "site": lambda text, _certain: _is_host(text, True),
    "secret": lambda text, _certain: is_value(text),
    "serial": _serial,
    # not an address of only one digit
    "mac": lambda text, _certain: len(set(re.sub(r"%3[Aa]|\\x3[aA]|[^0-9A-Fa-f]", "", text).lower())) > 1,
}
LOOKS: Mapping[str, Callable[[str], bool]] = {
    "": lambda _text: True,
    "mixed": is_mixed,
    "credential": _credential,
    "base64": _base64,
    "random": _drawn,
    "named": lambda text: is_mixed(text) or "-" in text.strip("-"),
    "code": lambda text: 4 <= sum(c.isdigit() for c in text) <= len(text) - 2,
    "key": lambda text: _random(text) or re.search(r"[-_.][A-Za-z0-9]{16,}", text) is not None,
    "long": lambda text: _random(text) and re.search(r"[A-Za-z0-9]{16,}", text) is not None,
    # In a sentence any word may follow `is`; a quoted word, or one with digits, is not part of the sentence.
    "said": lambda text: is_mixed(text) or text[:1] in ("'", '"'),
}


def tells(kind: str, text: str, *, certain: bool = False) -> bool:
    judge = _KINDS.get(kind)
    return judge is None or judge(text, certain)


_WORDS = regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+")
_LONGEST = 80  # characters of a key that are looked at, from its end


class Meaning(NamedTuple):
    """The kind of a key's value. `sure`: any value has that kind; otherwise only a value that looks random
    and has at least `least` characters."""

    kind: str
    sure: bool = True
    least: int = 4


@functools.cache
def _kinds(name: str) -> dict[str, str]:
    """Return the kind for each word or pair of words of a table."""
    table = data()["keys"][name].items()
    return {key: kind for kind, keys in table for key in (keys.split() if isinstance(keys, str) else keys)}


@functools.lru_cache(maxsize=4096)
def meaning(key: str) -> Meaning | None:
    """Return what a key says about its value. Programs spell keys in every way (`X-Api-Key`, `apiKey`,
    `OPENAI_API_KEY`, `--hf-token`), so a key is split into words, and mostly judged by the last one."""
    parts = [word.lower() for word in _WORDS.findall(key[-_LONGEST:])]
    if not parts or "serial8250" in key:
        return None
    kind = (
        _kinds("pairs").get(" ".join(parts[-2:]))
        or _kinds("words").get(parts[-1])
        or _kinds("alone").get(key.lower())
        or next((kind for kind, end in data()["keys"]["endings"].items() if key.endswith(end)), None)
    )
    if kind is not None:
        return Meaning(kind, key.isupper() or key.lower() not in words("perhaps"))
    while len(parts) > 1 and parts[-1] in words("suffixes"):
        parts.pop()
    # an option or a variable does not count the tokens of a language model
    return _secret(parts, as_setting=key.startswith("--") or (key.isupper() and "_" in key))


def _secret(parts: list[str], *, as_setting: bool) -> Meaning | None:
    before, last = ("", *parts)[-2:]
    if last in words("secrets") or last.endswith(tuple(words("secret_ends"))):
        return Meaning("secret")
    whose = last.removesuffix("key")
    if last in ("key", "keys") or (last != whose and whose in words("keys_of")):
        return Meaning("secret", before in words("keys_of") or last not in ("key", "keys"), 16)
    if last.endswith(("token", "authtok")):
        of_text = before in words("tokens_of_text")
        return None if of_text else Meaning("secret", as_setting or before in words("tokens_of"))
    return Meaning("secret", sure=False) if last in words("perhaps_secrets") else None
