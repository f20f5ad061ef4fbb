"""What the last committed transaction wrote. `verify` reads nothing else of ours, so that it works for
everybody: the receipt is world-readable and holds no secret, journals and backups are root's alone."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from rocmcfg.host.view import HostView
from rocmcfg.model.diagnostic import RocmcfgError, error
from rocmcfg.model.state import ActivationState, Channel, DesiredSetting, Kind
from rocmcfg.records.digest import sha256
from rocmcfg.records.journal import require_trusted

PATH = "/var/lib/rocmcfg/receipt.json"
_VERSION = 1
_T = TypeVar("_T")


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
    """`request` is what was asked for, as `planning.request.from_document` reads it. `files` maps each path
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
    return "" if content is None else sha256(content)


def load(view: HostView) -> Receipt | None:
    """None where nothing is applied. Raises BadReceipt, Untrusted, or Unreadable for want of rights."""
    require_trusted(view)  # what takes it back, too
    require_trusted(view, PATH)
    content = view.read(PATH)
    return None if content is None else parse(content)


def parse(content: bytes) -> Receipt:
    """Raises BadReceipt."""
    try:
        document = json.loads(content)
        if document["schema_version"] > _VERSION:
            raise BadReceipt(f"a newer rocmcfg wrote it (format {document['schema_version']})")
        return _from(document)
    except KeyError as problem:
        raise BadReceipt(f"it is damaged ({problem} is missing)") from problem
    except (ValueError, TypeError, AttributeError, RecursionError) as problem:
        raise BadReceipt(f"it is damaged ({problem})") from problem


def _from(document: dict[str, Any]) -> Receipt:
    """Raises KeyError, TypeError or ValueError for anything that `dump` would not have written."""
    return Receipt(
        typed(document["transaction"], int, "transaction"),
        texts(document["profiles"], "profiles"),
        request(document["request"]),
        text(document["boot_backend"], "boot_backend"),
        text(document["boot_id"], "boot_id"),
        tuple(setting(row) for row in typed(document["settings"], list, "settings")),
        _files(document["files"]),
        {
            text(tool, "activations"): ActivationState(state)
            for tool, state in typed(document["activations"], dict, "activations").items()
        },
    )


def setting(row: Any) -> DesiredSetting:
    fields: dict[str, Any] = {
        name: text(value, f"settings: {name}")
        for name, value in typed(row, dict, "settings").items()
        if name not in ("text", "evidence", "rewritten")
    }
    fields["kind"], fields["channel"] = Kind(row["kind"]), Channel(row["channel"])
    value = row["text"]
    return DesiredSetting(
        **fields,
        text=None if value is None else text(value, "settings: text"),
        evidence=texts(row["evidence"], "settings: evidence"),
        rewritten=typed(row["rewritten"], bool, "settings: rewritten"),
    )


def _files(document: Any) -> dict[str, str]:
    files = typed(document, dict, "files")
    for path, content in files.items():
        text(content, "files")
        if not path.startswith("/") or not path.isprintable():
            raise ValueError(f"files: {path!r} is not a path")
    return files


def request(document: Any) -> dict[str, Any]:
    """A list of texts, a text or true/false each: what `planning.request.Request` has for fields."""
    request = typed(document, dict, "request")
    for name, value in request.items():
        if isinstance(value, list):
            texts(value, f"request: {name}")
        elif not isinstance(value, bool):
            text(value, f"request: {name}")
    return request


def texts(value: Any, name: str) -> tuple[str, ...]:
    return tuple(text(item, name) for item in typed(value, list, name))


def text(value: Any, name: str) -> str:
    text = typed(value, str, name)
    text.encode("utf-8", "surrogateescape")  # a name becomes a path in /sys: half a character raises
    if "\0" in text:
        raise ValueError(f"{name} holds a NUL")
    return text


def typed(value: Any, wanted: type[_T], name: str) -> _T:
    if type(value) is not wanted:  # exactly: true is no number
        raise TypeError(f"{name} is of type {type(value).__name__}, not {wanted.__name__}")
    return value


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
