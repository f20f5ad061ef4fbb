"""Changes to real data as damage and malice make them, drawn from a seed so that each can be had again."""

from __future__ import annotations

import random
import re

_NESTED = (b"[", b"{", b'{"a":', b"(", b"'", b'"', b"${A:-", b"\0v", b"\0", b"`", b"$(", b"\\")
_HUGE = (b"9" * 5000, b"1e999", b"-1", b"0x" + b"f" * 400, b"18446744073709551616", "\u0663\u00b2".encode())
_ODD = (
    b"\0",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\r",
    b"\r\n",
    b"\n\n",
    "\u2028\u200e".encode(),
    b"\x1b[2J",
    b"\t",
)
_NUMBER = re.compile(rb"[0-9]+")
_WORD = re.compile(rb"[A-Za-z0-9_.-]+")
_LONG = 200_000  # bytes of one line


def mutate(rng: random.Random, content: bytes) -> bytes:
    """One change, or a few of them one after the other."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        content = rng.choice(_CHANGES)(rng, content)
    return content


def _flip(rng: random.Random, content: bytes) -> bytes:
    if not content:
        return bytes([rng.randrange(256)])
    changed = bytearray(content)
    for _ in range(rng.choice((1, 3, 16))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(rng: random.Random, content: bytes) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _without(rng: random.Random, content: bytes) -> bytes:
    start = rng.randrange(len(content) + 1)
    return content[:start] + content[start + rng.randrange(64) :]


def _insert(rng: random.Random, content: bytes) -> bytes:
    at = rng.randrange(len(content) + 1)
    return content[:at] + rng.choice(_ODD) + content[at:]


def _nest(rng: random.Random, content: bytes) -> bytes:
    deep = rng.choice(_NESTED) * rng.choice((10, 200, 5000))
    at = rng.choice((0, len(content), rng.randrange(len(content) + 1)))
    return rng.choice((content[:at] + deep + content[at:], deep, b"x" + deep))


def _number(rng: random.Random, content: bytes) -> bytes:
    return _in_place(rng, _NUMBER, content, rng.choice(_HUGE))


def _word(rng: random.Random, content: bytes) -> bytes:
    words = _WORD.findall(content[:4096]) or [b"a"]
    return _in_place(rng, _WORD, content, rng.choice((rng.choice(words), b"", b"a" * 4096, b"../" * 50)))


def _lines(rng: random.Random, content: bytes) -> bytes:
    lines = content.split(b"\n")
    rng.shuffle(lines)
    return rng.choice((b"\n".join(lines), content.replace(b"\n", b"\r\n"), content.replace(b"\n", b"\r")))


def _long(rng: random.Random, content: bytes) -> bytes:
    at = rng.randrange(len(content) + 1)
    return content[:at] + rng.choice((b"a", b" ", b"a=1 ", b"\0", b"\\\n"))[:4] * (_LONG // 4) + content[at:]


def _noise(rng: random.Random, content: bytes) -> bytes:
    return rng.randbytes(rng.choice((0, 1, 64, 4096)))


def _in_place(rng: random.Random, form: re.Pattern[bytes], content: bytes, new: bytes) -> bytes:
    found = list(form.finditer(content[:65536]))
    if not found:
        return content + new
    at = rng.choice(found)
    return content[: at.start()] + new + content[at.end() :]


_CHANGES = (_flip, _cut, _without, _insert, _nest, _number, _word, _lines, _long, _noise)
