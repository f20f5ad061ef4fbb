"""The shapes of a journal's records.

A checksum proves that a line is whole, not that it is one of ours: one of another shape stops whoever reads
it, instead of breaking an undo in its middle.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

Shape = Callable[[Any], bool]


def _text(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value


def _path(value: Any) -> bool:
    return _text(value) and value.startswith("/")


def _number(value: Any) -> bool:
    return type(value) is int and value >= 0


def _anything(_: Any) -> bool:
    return True


def _list(of: Shape) -> Shape:
    return lambda value: isinstance(value, list) and all(of(item) for item in value)


def _table(of: Shape, keys: Shape = _text) -> Shape:
    return lambda value: isinstance(value, dict) and all(keys(k) and of(v) for k, v in value.items())


def _or_none(of: Shape) -> Shape:
    return lambda value: value is None or of(value)


def _fields(needed: Mapping[str, Shape], more: Mapping[str, Shape] | None = None) -> Shape:
    def fits(value: Any) -> bool:
        return isinstance(value, dict) and not _misfit(value, needed, more or {})

    return fits


def _misfit(record: Mapping[str, Any], needed: Mapping[str, Shape], more: Mapping[str, Shape]) -> str:
    """The first field that is missing or of another shape; empty where all fit."""
    missing = next((name for name in needed if name not in record), "")
    shapes = {**needed, **more}
    return missing or next((n for n, value in record.items() if n in shapes and not shapes[n](value)), "")


def _digest(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


def _attribute(value: Any) -> bool:
    base64 = r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"
    return _list(_text)(value) and len(value) == 2 and re.fullmatch(base64, value[1]) is not None


_SAVED = _or_none(
    _fields(
        {
            "sha256": _digest,
            "mode": lambda value: _number(value) and value <= 0o7777,
            "uid": _number,
            "gid": _number,
            "mtime_ns": lambda value: type(value) is int and abs(value) < 1 << 63,
            "xattrs": _list(_attribute),
        }
    )
)
_EXPECT = _fields({"backend": _text, "wanted": _list(_text), "added": _list(_text), "removed": _list(_text)})
_EDIT = _fields({"removed": _text, "inserted": _text})
_TRIAL = _fields({"token": _text, "arguments": _list(_text)})

# By kind: fields that there must be, and fields that there may be.
_RECORDS: Mapping[str, tuple[Mapping[str, Shape], Mapping[str, Shape]]] = {
    "begin": (
        {
            "time": _text,
            "user": _text,
            "boot_id": _text,
            "profiles": _list(_text),
            "request": _table(_anything),
            "settings": _list(_text),
            "expect": _EXPECT,
        },
        {"kernel": _anything, "mark": _text, "confirms": _number, "swept": _anything, "trial": _TRIAL},
    ),
    "file": ({"path": _path, "before": _SAVED, "after": _or_none(_digest)}, {"edit": _EDIT}),
    "mkdir": ({"path": _path}, {}),
    "activation": ({"tool": _text, "outputs": _table(_SAVED, _path)}, {"scratch": _list(_path)}),
    "activated": ({"tool": _text, "outputs": _table(_text, _path)}, {}),
    "tool": ({"tool": _text}, {"saved": _SAVED}),
    "commit": ({}, {}),
    "undo": ({}, {"user": _text, "time": _text, "boot_id": _text, "together": _list(_number)}),
    "kept": ({"path": _path, "copy": _SAVED}, {}),
    "undone": ({}, {}),
    "trial": (
        {"event": _text},
        {"boot_id": _text, "reasons": _list(_text), "evidence": _table(_anything)},
    ),
}


def fault(record: Any, *, first: bool) -> str:
    """What is wrong with it, to be read behind "the journal cannot be used"; empty where nothing is."""
    kind = record.get("kind") if isinstance(record, dict) else None
    if not isinstance(kind, str) or kind not in _RECORDS:
        return "a line is of no kind that this rocmcfg knows"
    if (kind == "begin") is not first:
        return "it begins in its middle" if first else "it begins twice"
    field = _misfit(record, *_RECORDS[kind])
    return f"{field!r} of a {kind} line is not what it should be" if field else ""
