"""Read values serialised by GLib, as far as a staged deployment needs it (GVariant Specification 1.0,
"Serialisation Format"). Elements of varying size are followed by their end offsets, whose width depends on
the size of the whole. Nested variants are followed to the same depth as in GLib."""

from __future__ import annotations

_MOST_NESTED = 128  # G_VARIANT_MAX_RECURSION_DEPTH (glib/gvariant-core.h)

Value = str | bool | list[str] | dict[str, "Value"]


def read(kind: str, data: bytes, depth: int = 0) -> Value:
    """Return a value of the type `s`, `b`, `v`, `as`, or of a dictionary with text keys (`a{s…}`). `depth` is
    the number of values around it. Raises ValueError."""
    if depth > _MOST_NESTED:
        raise ValueError(f"values are nested more than {_MOST_NESTED} deep")
    if kind == "s":
        return data.rstrip(b"\0").decode()
    if kind == "b":
        return data != b"\0"
    if kind == "v":
        value, _, of = data.rpartition(b"\0")
        return read(of.decode("ascii"), value, depth + 1)
    if kind == "as":
        return [part.rstrip(b"\0").decode() for part in _elements(data, 1)]
    if kind.startswith("a{s") and kind.endswith("}"):
        inner = kind[3:-1]
        alignment = 8 if inner == "v" else 1
        return dict(_pair(inner, part, alignment, depth + 1) for part in _elements(data, alignment))
    raise ValueError(f"it holds a value of type {kind}")


def _elements(data: bytes, alignment: int) -> list[bytes]:
    if not data:
        return []
    width = _width(data)
    table = _number(data[-width:])
    if not 0 < table <= len(data) - width or (len(data) - table) % width:
        raise ValueError("the end offsets of its elements are wrong")
    elements, start = [], 0
    for at in range(table, len(data), width):
        end = _number(data[at : at + width])
        if not start <= end <= table:
            raise ValueError("an element ends before it begins")
        elements.append(data[start:end])
        start = end + -end % alignment
    return elements


def _pair(kind: str, data: bytes, alignment: int, depth: int) -> tuple[str, Value]:
    width = _width(data)
    end = _number(data[-width:])
    return data[:end].rstrip(b"\0").decode(), read(kind, data[end + -end % alignment : -width], depth)


def _width(data: bytes) -> int:
    return next(width for width in (1, 2, 4, 8) if len(data) < 1 << 8 * width)


def _number(data: bytes) -> int:
    return int.from_bytes(data, "little")
