"""What the last committed transaction wrote. `verify` reads nothing else of ours, so that it works for
everybody: the receipt is world-readable and holds no secret, journals and backups are root's alone."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from rocmcfg.host.view import HostView
from rocmcfg.model.diagnostic import RocmcfgError, error
from rocmcfg.model.state import ActivationState, Channel, DesiredSetting, Kind

PATH = "/var/lib/rocmcfg/receipt.json"
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


@dataclass(frozen=True, slots=True)
class Receipt:
    """`request` is what was asked for, as `engine.request.from_document` reads it. `files` maps each path
    to the digest of its content; `activations` a tool to how it ended."""

    transaction: int
    profiles: tuple[str, ...]
    request: dict[str, Any]
    boot_backend: str
    boot_id: str
    settings: tuple[DesiredSetting, ...]
    files: dict[str, str]
    activations: dict[str, ActivationState]


def digest(content: bytes | None) -> str:
    """Of a file's content; empty for a file that is not there."""
    return "" if content is None else hashlib.sha256(content).hexdigest()


def load(view: HostView) -> Receipt | None:
    """None where nothing is applied. Raises BadReceipt, or Unreadable without the right to read it."""
    content = view.read(PATH)
    if content is None:
        return None
    try:
        document = json.loads(content)
        if document["schema_version"] > _VERSION:
            raise BadReceipt(f"a newer rocmcfg wrote it (format {document['schema_version']})")
        return _from(document)
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise BadReceipt(f"it is damaged ({problem})") from problem


def _from(document: dict[str, Any]) -> Receipt:
    settings = tuple(
        DesiredSetting(
            **{
                **row,
                "kind": Kind(row["kind"]),
                "channel": Channel(row["channel"]),
                "evidence": tuple(row["evidence"]),
            }
        )
        for row in document["settings"]
    )
    return Receipt(
        document["transaction"],
        tuple(document["profiles"]),
        dict(document["request"]),
        document["boot_backend"],
        document["boot_id"],
        settings,
        dict(document["files"]),
        {tool: ActivationState(state) for tool, state in document["activations"].items()},
    )


def dump(receipt: Receipt) -> bytes:
    document = {"schema_version": _VERSION, **asdict(receipt)}
    return (json.dumps(document, indent=1, sort_keys=True) + "\n").encode()


def boot_id(view: HostView) -> str:
    return (view.text("/proc/sys/kernel/random/boot_id") or "").strip()


def load_quietly(view: HostView) -> Receipt | None:
    """For a new apply, which replaces a damaged receipt: a bad one counts as none."""
    try:
        return load(view)
    except BadReceipt:
        return None
