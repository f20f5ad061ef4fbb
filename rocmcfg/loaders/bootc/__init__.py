"""bootc in image mode, where bootc itself keeps kernel arguments by their source: bootc 1.15.2 and later with
libostree 2026.1 and later, except 2026.2.

`bootc loader-entries set-options-for-source --source rocmcfg` makes a new deployment with the arguments,
which boots next, and notes in its boot entry that they are rocmcfg's (x-options-source-rocmcfg). Updates
inherit both. Arguments from other sources and from the image's own kargs.d stay. The notes on deployments in
`rpm_ostree` apply here as well.

With an older bootc, or with libostree 2026.2, which forgets the source of the arguments, rocmcfg uses
rpm-ostree if it is installed. rocmcfg refuses a host that boots from composefs without ostree, because its
command line is part of a signed kernel image: its settings belong in the image (rocmcfg render --format
bootc). Sources: bootc 1.16.9 and libostree 2026.4. Tested with a stand-in, not on a real host.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.loaders.shared import kept_arguments
from rocmcfg.loaders.shared.kept_arguments import DeploymentChain, status
from rocmcfg.loaders.shared.ostree import deployments
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.facts import Detection
from rocmcfg.model.kargs import last, split

_PROGRAM = "/usr/bin/bootc"
_SET = ("bootc", "loader-entries", "set-options-for-source")
_KEY = "x-options-source-rocmcfg"
_SINCE, _FORGETS = (2026, 1), (2026, 2)  # libostree


class _Bootc(DeploymentChain):
    """Keeps arguments by their source. crates/lib/src/loader_entries.rs bases the new deployment on the
    staged one, or else on the running one. In libostree 2026.2 the staged keys of one call override those of
    the next (22e24c81)."""

    NAME = "bootc"
    PROGRAM = _PROGRAM
    DECISIVE = True
    INSTEAD_OF = ("rpm-ostree",)  # it is installed on many bootc hosts too
    TITLE = "bootc (image mode)"
    MANUAL = (
        f"sudo {' '.join(_SET)} --source rocmcfg " + '--options "{kargs}"\n'
        "which requires bootc 1.15.2 and libostree 2026.1, not 2026.2; or make the settings part of the image"
    )
    TOOL = NAME
    KEEPS = "the kernel arguments of the next and all later deployments, with their source"
    SHOWS: tuple[str, ...] = ("grep", "-H", "options", "/boot/loader/entries/*.conf")

    def detect(self, view: HostView) -> Detection | None:
        """Return the detection; None where there is no bootc, or where rpm-ostree is the program to use."""
        detection = super().detect(view)
        if detection is None:
            return _composefs(view) if view.exists(self.PROGRAM) else None
        able = _keeps_sources(view)
        usable = able or not view.exists(deployments.RPM_OSTREE)
        return detection._replace(supported=able, renders="bootc") if usable else None

    def unable(self, view: HostView) -> Iterable[Diagnostic]:
        document, output = status(view, (self.TOOL, "status", "--format", "json"))
        booted = ((document or {}).get("status") or {}).get("booted")
        if not isinstance(booted, dict) or not booted.get("ostree"):
            summary = "bootc does not report that it manages the running system"
            hint = "run the command as root on the booted host itself, and check the output of `bootc status`"
            yield error("RC3144", summary, detail="\n".join(output.splitlines()[-12:]), hint=hint)

    def held(self, view: HostView, ours: str = "") -> str | None:
        """Return the arguments that bootc's note in the boot entry marks as ours. Raises Unreadable."""
        self.readable_menu(view)
        staged = deployments.staged(view)
        noted = [staged.extra] if staged is not None else [entry.first for entry in deployments.written(view)]
        return kept_arguments.text(kept_arguments.words(noted[0].get(_KEY))) if noted else None

    def keep(self, wanted: str | None, held: str | None = None) -> tuple[str, ...]:
        return (*_SET, "--source", "rocmcfg", *(("--options", wanted) if wanted else ()))


def _composefs(view: HostView) -> Detection | None:
    """Return the detection of a host whose command line shows that it was booted without ostree; else None
    (bootc, crates/lib/src/bootc_composefs/status.rs)."""
    booted = last(split(text_or_empty(view, "/proc/cmdline")), "composefs")
    if booted is None:
        return None
    return Detection(
        "bootc",
        "bootc without ostree (composefs), whose command line is part of the image",
        (_PROGRAM, f"/proc/cmdline: {booted.text[:24]}…"),
        proof=True,
        manual="kargs = [ {list} ] in /usr/lib/bootc/kargs.d/ of the image",
        renders="bootc",
    )


def _keeps_sources(view: HostView) -> bool:
    """Return whether this host's bootc and libostree keep arguments by their source. True where no program of
    the host can be run: `unable` refuses there."""
    if not view.runs_tools:
        return True
    set_help = view.query((*_SET, "--help"))
    ostree = view.query(("ostree", "--version"))
    if set_help is None or not set_help.ok or ostree is None:
        return False
    match = re.search(r"Version: '([0-9]{1,9})\.([0-9]{1,9})", ostree.stdout)
    version = (int(match[1]), int(match[2])) if match else (0, 0)
    return version >= _SINCE and version != _FORGETS


BACKEND = _Bootc()
