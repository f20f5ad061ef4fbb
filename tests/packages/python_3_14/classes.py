# No `from __future__ import annotations` here, on purpose: ruff's rule for it is switched off for this file.
import json
import sys

from rocmcfg.model.shape import NamedTuple, encode, types


class Part(NamedTuple):
    size: int


class Whole(NamedTuple):
    part: Part
    names: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return super().__repr__()  # which makes the compiler put a cell for the class into its body


try:

    class Late(NamedTuple):
        part: Unknown  # type: ignore[name-defined]

    late = "made"
except NameError as problem:
    late = str(problem)

print(
    json.dumps(
        {
            "version": sys.version_info[:2],
            "fields": Whole._fields,
            "defaults": Whole._field_defaults,
            "types": [str(kind) for kind in types(Whole).values()],
            "document": encode(Whole(Part(1), ("a",))),
            "late": late,
        }
    )
)
