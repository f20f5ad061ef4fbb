"""`bootc loader-entries set-options-for-source`: the only program that keeps track of whose an argument is
(bootc 1.16.9, crates/lib/src/loader_entries.rs; it came with 1.15.2).

It bases the new deployment on the staged one, or else on the one that runs. In libostree 2026.2 the staged
keys of one call beat those of the next (commit 22e24c81 takes that back in 2026.3).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from rocmcfg.backends.boot import entry_options, kept_arguments
from rocmcfg.backends.boot.bootc import reader
from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.ostree import deployments
from rocmcfg.backends.boot.rpm_ostree import backend as rpm_ostree
from rocmcfg.backends.boot.rpm_ostree.reader import PROGRAM as RPM_OSTREE
from rocmcfg.host.view import HostView, Unreadable, text_or_empty
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.facts import Detection
from rocmcfg.model.kargs import last, split
from rocmcfg.model.plan import Activation
from rocmcfg.model.state import DesiredSetting

NAME = reader.NAME
OWNED: tuple[str, ...] = (entry_options.CARRIER,)
TOOL = reader.TOOL
BLOCK = ""
KEEPS = "the kernel arguments of the deployment that boots next, and of those after it, by their source"
SHOWS: tuple[str, ...] = ("grep", "-H", "options", "/boot/loader/entries/*.conf")
UNCHANGED: tuple[int, ...] = ()
AMONG_OTHERS = True
_SET = (TOOL, "loader-entries", "set-options-for-source")
_KEY = "x-options-source-rocmcfg"
_SINCE, _FORGETS = (2026, 1), (2026, 2)  # libostree


def detect(view: HostView) -> Detection | None:
    """None where rpm-ostree is the one to ask."""
    if not view.exists(reader.PROGRAM):
        return None
    if not view.exists(deployments.BOOTED):
        return _composefs(view)
    able = _keeps_sources(view)
    if not able and view.exists(RPM_OSTREE):
        return None
    return Detection(
        NAME,
        "bootc (image mode)",
        (deployments.BOOTED, reader.PROGRAM),
        proof=True,
        supported=able,
        manual=f"sudo {' '.join(_SET)} --source rocmcfg " + '--options "{kargs}"\n'
        "which takes bootc 1.15.2 and libostree 2026.1, not 2026.2; or make the settings part of the image",
        renders="bootc",
    )


def _composefs(view: HostView) -> Detection | None:
    """Booted without ostree: such a host has no /run/ostree-booted, and its command line names what it boots
    (bootc, crates/lib/src/bootc_composefs/status.rs)."""
    booted = last(split(text_or_empty(view, "/proc/cmdline")), "composefs")
    if booted is None:
        return None
    return Detection(
        NAME,
        "bootc without ostree (composefs), whose command line is part of the image",
        (reader.PROGRAM, f"/proc/cmdline: {booted.text[:24]}…"),
        proof=True,
        manual="kargs = [ {list} ] in /usr/lib/bootc/kargs.d/ of the image",
        renders="bootc",
    )


def _keeps_sources(view: HostView) -> bool:
    """Taken for granted where no program of the host can be run: `unable` refuses there."""
    if not view.runs_tools:
        return True
    asked = view.query((*_SET, "--help"))
    ostree = view.query(("ostree", "--version"))
    if asked is None or not asked.ok or ostree is None:
        return False
    found = re.search(r"Version: '(\d+)\.(\d+)", ostree.stdout)
    version = (int(found[1]), int(found[2])) if found else (0, 0)
    return version >= _SINCE and version != _FORGETS


def observe(view: HostView) -> Observed:
    return kept_arguments.observe(view, reader.read(view))


def propose(view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
    del view
    return entry_options.propose_carrier(settings)


def activations(view: HostView, reason: str) -> tuple[Activation, ...]:
    del view, reason
    return ()


def preflight(view: HostView, observed: Observed, kargs: Sequence[str]) -> list[Diagnostic]:
    return [*kept_arguments.preflight(observed, kargs), *rpm_ostree.lost_at_boot(view), *unable(view)]


def unmanaged(view: HostView) -> list[Diagnostic]:
    del view
    return []


def unable(view: HostView) -> list[Diagnostic]:
    asked = view.query((TOOL, "status", "--format", "json"))
    try:
        document = json.loads(asked.stdout) if asked is not None and asked.ok else {}
    except ValueError:
        document = {}
    booted = (document.get("status") or {}).get("booted") if isinstance(document, dict) else None
    if isinstance(booted, dict) and booted.get("ostree"):
        return []
    said = (
        (asked.stderr or asked.stdout).strip() if asked is not None else "no program of this host can be run"
    )
    return [
        error(
            "RC3144",
            "bootc does not say that it manages the system that runs",
            detail="\n".join(said.splitlines()[-12:]),
            hint="run the command as root on the booted host itself, and see what `bootc status` says",
        )
    ]


def held(view: HostView, ours: str = "") -> str | None:
    """By bootc's own note of whose they are."""
    del ours
    menu = reader.read(view)
    if menu.unreadable:
        raise Unreadable(menu.path, menu.unreadable)
    staged = deployments.staged(view)
    if staged is not None:
        return kept_arguments.text(kept_arguments.words(staged.extra.get(_KEY)))
    entries = deployments.written(view)
    return kept_arguments.text(kept_arguments.words(entries[0].first.get(_KEY))) if entries else None


def keep(wanted: str | None, held: str | None = None) -> tuple[str, ...]:
    del held
    return (*_SET, "--source", "rocmcfg", *(("--options", wanted) if wanted else ()))


def damaged(view: HostView) -> bool:
    del view
    return False


def deployment(view: HostView) -> str:
    return deployments.first(view)
