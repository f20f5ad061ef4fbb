"""The trial on record, and how far it has come. `verify` reads this, so it loads nothing heavy."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from rocmcfg.backends.boot import registry
from rocmcfg.host.view import Host, HostView, Unreadable
from rocmcfg.model.diagnostic import Diagnostic, ExitCode, RocmcfgError, error
from rocmcfg.model.kargs import last, split
from rocmcfg.model.trial import MARKER, Stage, Terms, Trial
from rocmcfg.records import journal, receipt
from rocmcfg.records.receipt import boot_id

PATH = "/var/lib/rocmcfg/trial.json"
_VERSION = 1


class BadTrial(RocmcfgError):
    def __init__(self, reason: str) -> None:
        super().__init__(
            error(
                "RC4300",
                f"the record of the trial cannot be used: {reason}",
                location=PATH,
                hint="`rocmcfg reject` ends the trial and takes away what it wrote",
            )
        )


class InForce(RocmcfgError):
    """Nothing else may be applied as long as a trial is on record."""

    def __init__(self, trial: Trial, found: Stage) -> None:
        said = {
            Stage.ARMED: ("waits for the next boot", "reboot to try it, or forget it with `rocmcfg reject`"),
            Stage.RUNNING: (
                "runs in this boot",
                "keep it with `rocmcfg confirm`, or end it with `rocmcfg reject`; then run the command again",
            ),
            Stage.OVER: ("is over and not taken away yet", "run `rocmcfg recover`, then the command again"),
        }
        super().__init__(
            error(
                "RC4316",
                f"a trial (transaction {trial.transaction}) {said[found][0]}, and nothing else is "
                "applied meanwhile",
                location=PATH,
                hint=said[found][1],
            ),
            exit_code=ExitCode.ERROR,
        )


def require_none(view: HostView) -> None:
    """Raises InForce or BadTrial."""
    found = load(view)
    if found is not None:
        raise InForce(found, stage(view, found))


def unable(loader: str) -> Diagnostic:
    """Why nothing is tried with a boot loader of which we do not know how it boots something once."""
    return error(
        "RC4310",
        "no trial boot with this boot loader: rocmcfg does not know how it boots something once",
        detail=f"it is {loader}" if loader else "",
        hint="apply without --trial; `rocmcfg rollback` takes it back",
    )


def load(view: HostView) -> Trial | None:
    """None where no trial is on record. Raises BadTrial, Untrusted, or Unreadable for want of rights."""
    journal.require_trusted(view)  # which a trial is nothing without
    journal.require_trusted(view, PATH)
    content = view.read(PATH)
    return None if content is None else parse(content)


def parse(content: bytes) -> Trial:
    """Raises BadTrial."""
    try:
        document = json.loads(content)
        if document["schema_version"] > _VERSION:
            raise BadTrial(f"a newer rocmcfg wrote it (format {document['schema_version']})")
        return _from(document)
    except KeyError as problem:
        raise BadTrial(f"it is damaged ({problem} is missing)") from problem
    except (ValueError, TypeError, AttributeError, RecursionError) as problem:
        raise BadTrial(f"it is damaged ({problem})") from problem


def _from(document: dict[str, Any]) -> Trial:
    """Raises KeyError, TypeError or ValueError for anything that `dump` would not have written."""
    terms = receipt.typed(document["terms"], dict, "terms")
    after = terms["confirm_after"]
    return Trial(
        receipt.typed(document["transaction"], int, "transaction"),
        receipt.texts(document["profiles"], "profiles"),
        receipt.request(document["request"]),
        receipt.text(document["boot_backend"], "boot_backend"),
        receipt.text(document["boot_id"], "boot_id"),
        receipt.text(document["time"], "time"),
        tuple(receipt.setting(row) for row in receipt.typed(document["settings"], list, "settings")),
        receipt.texts(document["arguments"], "arguments"),
        receipt.text(document["token"], "token"),
        Terms(
            None if after is None else receipt.typed(after, int, "confirm_after"),
            receipt.text(terms["health_check"], "health_check"),
        ),
        receipt.texts(document["gpus"], "gpus"),
        tuple(receipt.setting(row) for row in receipt.typed(document["kept"], list, "kept")),
        tuple(receipt.setting(row) for row in receipt.typed(document.get("approved", []), list, "approved")),
    )


def dump(trial: Trial) -> bytes:
    document = {"schema_version": _VERSION, **asdict(trial)}
    return (json.dumps(document, indent=1, sort_keys=True) + "\n").encode()


def stage(view: HostView, trial: Trial) -> Stage:
    """How far it has come, by the kernel command line and the boot id; on a disk that runs no kernel, by what
    the boot loader has for the next boot."""
    if carried(view, trial.token):
        return Stage.OVER if repeated(view, trial) else Stage.RUNNING
    if not view.exists("/proc/cmdline"):
        return Stage.ARMED if waits(view, trial) else Stage.OVER
    return Stage.ARMED if trial.boot_id == boot_id(view) else Stage.OVER


def repeated(view: HostView, trial: Trial) -> bool:
    """Whether an earlier boot was the trial's already. kexec hands the old command line to the next kernel
    (kexec(8), --reuse-cmdline; Debian's kexec-load). Only root can tell."""
    begun = _begun(view, trial.transaction)
    return carried(view, trial.token) and begun not in ("", boot_id(view))


def seen(found: journal.Journal) -> bool:
    """Whether it is noted which boot was its own."""
    return any(record["event"] == "begun" for record in found.of("trial"))


def _begun(view: HostView, id: int) -> str:
    """The id of the boot that was seen to be the trial's first; empty where none was."""
    try:
        found = journal.read(view, id)
    except (Unreadable, journal.BadJournal):
        return ""
    events = found.of("trial") if found is not None else ()
    return next((str(e["boot_id"]) for e in events if e["event"] == "begun"), "")


def note_begin(host: Host, trial: Trial) -> None:
    """Once, in the trial's boot: it tells a later one, which was handed the same command line, from it."""
    note(host, trial.transaction, "begun", boot_id=boot_id(host))


def waits(view: HostView, trial: Trial) -> bool:
    """Whether the boot loader has its arguments for the next boot; True also where only root may look."""
    loader = registry.trial(trial.boot_backend)
    try:
        return loader is not None and bool(loader.armed(view))
    except Unreadable:
        return True


def carried(view: HostView, token: str) -> bool:
    """Whether this boot is the one of that trial."""
    return bool(token) and _mark(view) == token


def marked(view: HostView) -> bool:
    """Whether this boot is the one of any trial."""
    return _mark(view) is not None


def _mark(view: HostView) -> str | None:
    try:
        found = last(split(view.text("/proc/cmdline") or ""), MARKER)
    except Unreadable:
        return None
    return found.value if found is not None else None


# -- in the journal -----------------------------------------------------------------------------------


def note(host: Host, id: int, event: str, **data: Any) -> None:
    """What became of a trial, in its own journal: begun, withheld, not_confirmed, not_tried, rejected."""
    journal.append(host, id, "trial", event=event, **data)


def of_journal(found: journal.Journal) -> bool:
    return "trial" in found.header


def newest(view: HostView) -> journal.Journal | None:
    """The journal of the trial on record: nothing is applied after a trial but its confirmation."""
    found = next((one for one in journal.read_all(view) if one.state == "committed"), None)
    return found if found is not None and of_journal(found) else None


def outcome(found: journal.Journal, stage: Stage | None) -> str:
    """What became of a trial that was not confirmed; `stage` where it is the one on record. One that was
    taken back without a word about it never came to be: its apply failed, or was cut off."""
    if found.state != "rolled_back":
        return stage.value if stage is not None else "over"
    ends = [r["event"] for r in found.of("trial") if r["event"] in ("rejected", "not_confirmed", "not_tried")]
    return ends[-1] if ends else "not_tried"


def armed_at_last(found: journal.Journal) -> bool:
    """Whether its apply had come to the step that makes the next boot the trial."""
    return of_journal(found) and bool(found.of("tool"))
