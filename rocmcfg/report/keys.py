"""What a key says of its value: that it is a secret, a serial, a name, or nothing of interest.

Programs spell keys in every way (`X-Api-Key`, `apiKey`, `OPENAI_API_KEY`, `--hf-token`, `private_key_id`).
A key is therefore split into words, and judged mostly by the last word.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from rocmcfg.report.looks import data

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+")
_LONGEST = 80  # characters of a key that are looked at, from its end


class Meaning(NamedTuple):
    """The value is of this kind. `sure`: whatever the value looks like; otherwise only a value that looks
    random and has at least `least` characters."""

    kind: str
    sure: bool = True
    least: int = 4


@functools.cache
def listed(name: str) -> frozenset[str]:
    return frozenset(data()["keys"][name].split())


@functools.cache
def _kinds(name: str) -> dict[str, str]:
    """Which kind each word or pair of words of a table stands for."""
    table = data()["keys"][name].items()
    return {key: kind for kind, keys in table for key in (keys.split() if isinstance(keys, str) else keys)}


@functools.lru_cache(maxsize=4096)
def meaning(key: str) -> Meaning | None:
    words = [word.lower() for word in _WORDS.findall(key[-_LONGEST:])]
    if not words or "serial8250" in key:
        return None
    kind = (
        _kinds("pairs").get(" ".join(words[-2:]))
        or _kinds("words").get(words[-1])
        or _kinds("alone").get(key.lower())
        or next((kind for kind, end in data()["keys"]["endings"].items() if key.endswith(end)), None)
    )
    if kind is not None:
        return Meaning(kind, key.isupper() or key.lower() not in listed("perhaps"))
    while len(words) > 1 and words[-1] in listed("suffixes"):
        words.pop()
    # an option or a variable is nobody's count of tokens
    return _secret(words, as_setting=key.startswith("--") or (key.isupper() and "_" in key))


def _secret(words: list[str], *, as_setting: bool) -> Meaning | None:
    before, last = ("", *words)[-2:]
    if last in listed("secrets") or last.endswith(tuple(listed("secret_ends"))):
        return Meaning("secret")
    whose = last.removesuffix("key")
    if last in ("key", "keys") or (last != whose and whose in listed("keys_of")):
        return Meaning("secret", before in listed("keys_of") or last not in ("key", "keys"), 16)
    if last.endswith(("token", "authtok")):
        known = before in listed("tokens_of_text")
        return None if known else Meaning("secret", as_setting or before in listed("tokens_of"))
    return Meaning("secret", sure=False) if last in listed("perhaps_secrets") else None
