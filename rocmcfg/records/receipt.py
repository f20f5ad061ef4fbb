"""What the last committed transaction wrote. `verify` reads nothing else of ours, so that it works for
everybody: the receipt is world-readable and holds no secret, journals and backups are root's alone."""

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
        hint = "`rocmcfg apply` again writes a new one; `rocmcfg rollback` undoes the last transaction"
        super().__init__(error("RC4030", summary, location=PATH, hint=hint))


class Receipt(NamedTuple):
    """`request` is what was asked for. `files` maps each path to the digest of its content; `activations` a
    tool to how it ended. `deployment` is the one of several systems on this host that got the arguments; all
    of them share /var, and so this receipt."""

    transaction: int
    profiles: tuple[str, ...]
    request: Request
    boot_backend: str
    boot_id: str
    settings: tuple[DesiredSetting, ...]
    files: dict[Path, str]
    activations: dict[str, ActivationState]
    deployment: str = ""


def load(view: HostView) -> Receipt | None:
    """Return the receipt; None where nothing is applied. Raises BadReceipt, Untrusted, or Unreadable for want
    of rights."""
    require_trusted(view)  # what takes it back, too
    require_trusted(view, PATH)
    content = view.read(PATH)
    return None if content is None else parse(content)


def parsed(noun: type[N], content: bytes, path: str, bad: Callable[[str], RocmcfgError]) -> N:
    """Return a record of one file. Raises what `bad` makes of the reason why it is none, or NewerRecord for
    one of a newer format, or that was asked for with an option that we do not know."""
    try:
        document = exactly(dict, json_value(content))
        version = document.get("schema_version")
        if not isinstance(version, int):
            raise Malformed("schema_version is no number")
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
    """Return a receipt, or another record, as the content of its file; without a field that holds its
    default."""
    defaults = record._field_defaults
    fields = {n: value for n, value in encode(record).items() if n not in defaults or value != defaults[n]}
    document = {"schema_version": _VERSION, **fields}
    return (json.dumps(document, indent=1, sort_keys=True) + "\n").encode()


def boot_id(view: HostView) -> str:
    return (view.text("/proc/sys/kernel/random/boot_id") or "").strip()


def load_quietly(view: HostView) -> Receipt | None:
    """Return the receipt for a new apply, which replaces a damaged one: a bad one counts as none. Raises
    Untrusted or Unreadable."""
    try:
        return load(view)
    except BadReceipt:
        return None
