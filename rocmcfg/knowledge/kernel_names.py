"""Decode the name of a GEMM kernel: Cijk_<A>_<B>_<types>_<flags>_MT<tile>_…

A log shows only the name of a kernel that faults. The name contains the library, the shape of the call and
how the operands are read, but not the sizes of the matrices.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from rocmcfg.knowledge import compiled
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

NAME = regex(r"Cijk_(A[a-z]{2,5})_(B[a-z]{2,5})_[A-Za-z0-9_]{4,4000}", re.ASCII)
_TILE = regex(r"_MT(\d+)x(\d+)(?:x(\d+))?(?:_|$)")
_INSTRUCTION = regex(r"_MI(\d+)x(\d+)x")
_ISA = regex(r"_ISA([0-9a-f]{3,4})(?:_|$)")


class KernelPart(NamedTuple):
    """One part of the name and its meaning: `macro tile`, `256 × 128 …`."""

    name: str
    text: str


class KernelName(NamedTuple):
    """A decoded name. `parts` are its parts in their order."""

    name: str
    parts: tuple[KernelPart, ...]


@functools.cache
def _known() -> dict[str, Any]:
    return compiled.packaged("knowledge/data/kernel_names.toml")


def decode(text: str) -> KernelName | None:
    """Return the first kernel name in a text; None where there is none."""
    whole = NAME.search(text)
    if whole is None:
        return None
    tables, name = _known(), whole[0].rstrip("_")
    words = name.split("_")[3:]
    layout = tables["layout"]
    transposition = layout["A"].get(whole[1], "") + layout["B"].get(whole[2], "")
    types = _types(words[0] if words else "", tables["type"])
    parts = [("library", str(tables["library"]["hipblaslt" if "UserArgs" in words else "rocblas"]))]
    if transposition in layout["meaning"]:
        parts.append(("call", f"{transposition}: {layout['meaning'][transposition]}"))
    if types:
        parts.append(("types", types[0] if len(set(types)) == 1 else ", ".join(types)))
    parts += [("flag", f"{word}: {tables['flag'][word]}") for word in words[1:] if word in tables["flag"]]
    if match := _TILE.search(name):
        tile = " × ".join(filter(None, match.groups()))
        parts.append(("macro tile", f"{tile} (rows, columns, depth of one work group's part)"))
    if match := _INSTRUCTION.search(name):
        parts.append(("matrix instruction", f"{match[1]} × {match[2]}"))
    if match := _ISA.search(name):
        parts.append(("built for", f"gfx{match[1]}"))
    parts += _keys(words, tables["key"])
    return KernelName(name, tuple(KernelPart(*part) for part in parts))


def _types(word: str, letters: Mapping[str, str]) -> tuple[str, ...]:
    """Return the types in one word: input, output, computation, as in BBS. If all are the same there is only
    one, and a B after it means that C is added, as in SB (ProblemType.__str__ in Tensile)."""
    word = word[0] if len(word) == 2 and word.endswith("B") else word
    codes = re.findall("|".join(sorted(letters, key=len, reverse=True)), word)
    return tuple(letters[code] for code in codes) if "".join(codes) == word else ()


def _keys(words: list[str], keys: list[Mapping[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the meanings of words such as DTVB1; n stands for a minus sign."""
    values: dict[str, str] = {}
    for word in words:
        if match := re.fullmatch(r"([A-Z]+)(n?\d+)", word):
            values.setdefault(match[1], match[2].replace("n", "-"))
    for key in keys:
        value = values.get(key["name"])
        if value is not None and (value != "0" or "yes" not in key):
            yield f"{key['name']}{value}", key.get("yes") or f"{key['text']} {value}"
