"""Read and write the receipt of the last committed transaction. `verify` reads no other record of ours, so it
works for every user: the receipt is world-readable and holds no secret, while only root may read journals and
backups."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

from rocmcfg.host.foreign import json_value
from rocmcfg.host.view import HostView
from rocmcfg.model.activation import ActivationState
from rocmcfg.model.desired import DesiredSetting
from rocmcfg.model.diagnostic import RocmcfgError, error
from rocmcfg.model.request import Request
from rocmcfg.model.shape import Malformed, NamedTuple, encode, exactly
from rocmcfg.records.dialect import N, Path, read
from rocmcfg.records.journal import RECEIPT, NewerRecord, newer, require_trusted

PATH = RECEIPT
_VERSION = 1


class BadReceipt(RocmcfgError):
    def __init__(self, reason: str) -> None:
        summary = f"the receipt of the last apply cannot be used: {reason}"
        hint = "run `rocmcfg apply` again to write a new one; `rocmcfg rollback` undoes the last transaction"
        super().__init__(error("RC4030", summary, location=PATH, hint=hint))


class Receipt(NamedTuple):
    """The receipt. `request` is the user's request. `files` maps each path to the digest of its content,
    `activations` each tool to its result. `deployment` is the system on this host that got the arguments,
    where there are several; all of them share /var, and so this receipt. `by_hand` are kernel arguments that
    were left to the user."""

    transaction: int
    profiles: tuple[str, ...]
    request: Request
    boot_backend: str
    boot_id: str
    settings: tuple[DesiredSetting, ...]
    files: dict[Path, str]
    activations: dict[str, ActivationState]
    deployment: str = ""
    by_hand: tuple[DesiredSetting, ...] = ()


def load(view: HostView) -> Receipt | None:
    """Return the receipt; None where nothing is applied. Raises BadReceipt, Untrusted, or Unreadable without
    the right to read it."""
    require_trusted(view)  # including the journals that an undo uses
    require_trusted(view, PATH)
    content = view.read(PATH)
    return None if content is None else parse(content)


def parsed(noun: type[N], content: bytes, path: str, bad: Callable[[str], RocmcfgError]) -> N:
    """Return a record from one file. Raises the error that `bad` makes from the reason why it is invalid, or
    NewerRecord for a newer format or a request with an unknown option."""
    try:
        document = exactly(dict, json_value(content))
        version = document.get("schema_version")
        if not isinstance(version, int):
            raise Malformed("schema_version is not a number")
        request = document.get("request")
        options = set(request) - set(Request._fields) if isinstance(request, dict) else set()
        if version > _VERSION or options:
            what = f"format {version}" if version > _VERSION else f"the option {min(options)!r}"
            raise NewerRecord(newer(path, what))
        return read(noun, document)
    except ValueError as problem:
        raise bad(f"it is damaged ({problem})") from problem


parse = partial(parsed, Receipt, path=PATH, bad=BadReceipt)


def dump(record: NamedTuple) -> bytes:
    """Return the content of the file of a receipt or another record, without fields that hold their
    defaults."""
    defaults = record._field_defaults
    fields = {n: value for n, value in encode(record).items() if n not in defaults or value != defaults[n]}
    document = {"schema_version": _VERSION, **fields}
    return (json.dumps(document, indent=1, sort_keys=True) + "\n").encode()


def boot_id(view: HostView) -> str:
    return (view.text("/proc/sys/kernel/random/boot_id") or "").strip()


def load_quietly(view: HostView) -> Receipt | None:
    """Return the receipt for a new apply; None also for a damaged one, which the apply replaces. Raises
    Untrusted or Unreadable."""
    try:
        return load(view)
    except BadReceipt:
        return None
