"""What the last committed transaction wrote. `verify` reads nothing else of ours, so that it works for
everybody: the receipt is world-readable and holds no secret, journals and backups are root's alone."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from rocmcfg.host.view import HostView
from rocmcfg.model.diagnostic import RocmcfgError, error
from rocmcfg.model.request import Request
from rocmcfg.model.state import ActivationState, Channel, DesiredSetting, Kind
from rocmcfg.records.digest import sha256
from rocmcfg.records.journal import RECEIPT, require_trusted
from rocmcfg.records.newer import NewerRecord
from rocmcfg.records.shapes import (
    Malformed,
    Shape,
    exactly,
    listed,
    noun,
    one_of,
    optional,
    path,
    plain,
    table,
    text,
)

PATH = RECEIPT
_VERSION = 1


class BadReceipt(RocmcfgError):
    def __init__(self, reason: str) -> None:
        super().__init__(
            error(
                "RC4030",
                f"the receipt of the last apply cannot be used: {reason}",
                location=PATH,
                hint="`rocmcfg apply` again writes a new one; `rocmcfg rollback` undoes the last transaction",
            )
        )


class Receipt(NamedTuple):
    """`request` is what was asked for. `files` maps each path to the digest of its content; `activations` a
    tool to how it ended."""

    transaction: int
    profiles: tuple[str, ...]
    request: Request
    boot_backend: str
    boot_id: str
    settings: tuple[DesiredSetting, ...]
    files: dict[str, str]
    activations: dict[str, ActivationState]


def digest(content: bytes | None) -> str:
    """Of a file's content; empty for a file that is not there."""
    return "" if content is None else sha256(content)


def load(view: HostView) -> Receipt | None:
    """None where nothing is applied. Raises BadReceipt, Untrusted, or Unreadable for want of rights."""
    require_trusted(view)  # what takes it back, too
    require_trusted(view, PATH)
    content = view.read(PATH)
    return None if content is None else parse(content)


_TEXTS = listed(text)
REQUEST: dict[str, Shape[Any]] = {
    **dict.fromkeys(("profiles", "set", "with_", "without"), _TEXTS),
    **dict.fromkeys(("unconditional", "any_gpu"), exactly(bool)),
    **dict.fromkeys(("via", "boot_backend"), text),
}
_SETTING_TEXTS = (
    *("id", "name", "module", "parameter", "because", "cost", "confidence", "decision"),
    *("location", "profile", "adopted_from"),
)
SETTING = noun(
    DesiredSetting,
    {
        **dict.fromkeys(_SETTING_TEXTS, text),
        "kind": one_of(Kind),
        "channel": one_of(Channel),
        "text": optional(text),
        "evidence": _TEXTS,
        "rewritten": exactly(bool),
    },
    may_lack=_SETTING_TEXTS[2:],
    closed=True,
)
_RECEIPT = noun(
    Receipt,
    {
        "transaction": exactly(int),
        "profiles": _TEXTS,
        "request": noun(Request, REQUEST, may_lack=REQUEST),
        "boot_backend": text,
        "boot_id": text,
        "settings": listed(SETTING),
        "files": table(text, path),
        "activations": table(one_of(ActivationState)),
    },
)


def parse(content: bytes) -> Receipt:
    """Raises BadReceipt or NewerRecord."""
    try:
        return _RECEIPT(versioned(content, PATH, _VERSION))
    except (ValueError, RecursionError) as problem:
        raise BadReceipt(f"it is damaged ({problem})") from problem


def versioned(content: bytes, path: str, known: int) -> dict[str, Any]:
    """The table of a record that this version reads. Raises NewerRecord for one of a newer format, or for one
    that was asked for with an option that we do not know; ValueError for what is none."""
    document = exactly(dict)(json.loads(content))
    version = document.get("schema_version")
    if not isinstance(version, int):
        raise Malformed("is no number", "schema_version")
    asked = document.get("request")
    more = set(asked) - set(REQUEST) if isinstance(asked, dict) else set()
    if version > known or more:
        raise NewerRecord(path, f"format {version}" if version > known else f"the option {min(more)!r}")
    return document


def dump(receipt: Receipt) -> bytes:
    return written(receipt, _VERSION)


def written(record: NamedTuple, version: int) -> bytes:
    document = {"schema_version": version, **plain(record)}
    return (json.dumps(document, indent=1, sort_keys=True) + "\n").encode()


def boot_id(view: HostView) -> str:
    return (view.text("/proc/sys/kernel/random/boot_id") or "").strip()


def load_quietly(view: HostView) -> Receipt | None:
    """For a new apply, which replaces a damaged receipt: a bad one counts as none."""
    try:
        return load(view)
    except BadReceipt:
        return None
