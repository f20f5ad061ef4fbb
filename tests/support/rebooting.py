"""A try with reboots on a tree: its boots are played as in `boots`, its programs are real."""

from __future__ import annotations

import os
import pwd
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rocmcfg.host.foreground import Ended
from rocmcfg.host.unattended import Unattended
from rocmcfg.host.view import Host
from rocmcfg.model.experiment import Design
from rocmcfg.model.request import Request
from rocmcfg.records import reboots, tries
from rocmcfg.records.reboots import RootTries
from rocmcfg.records.tries import Terms, Try
from rocmcfg.workflow import reboot_start, rebooting
from rocmcfg.workflow.one_run import Start
from rocmcfg.workflow.rebooting import Taken
from rocmcfg.workflow.try_report import TryReport, report

from . import usecases as use
from .boots import boot, enable_unit, grub_line
from .hosts import debian_grub_host
from .tool_host import QuickHost

CURE = "amdgpu.cwsr_enable=0"
# Fails unless the kernel of the tree runs the cure.
PROGRAM = '#!/bin/sh\necho "$(cat "$VALUE")" >> "$NOTES"\n[ "$(cat "$VALUE")" = 0 ]\n'
# What happens to a boot: the kernel and the units run, or the machine goes down before they do.
Fate = Callable[["Lab"], object]


class Lab:
    """A machine with a program. `fates` are what happens to boots by their number; a boot without one is as
    it should be. `events` are the numbers of the boots in which the unit went on."""

    def __init__(self, folder: Path, root: Path | None = None) -> None:
        self.folder, self.root = folder, root or debian_grub_host(folder)
        self.program = folder / "program"
        self.notes = folder / "notes"
        self.fates: dict[int, Fate] = {}
        self.boots = 0
        self.reboots_due = False
        self.in_run: Fate | None = None
        self.host: Host = QuickHost(str(self.root))
        self.link = folder / "value"  # the program reads the kernel's value there, whichever tree it runs for
        self.link.unlink(missing_ok=True)
        self.link.symlink_to(self.value)
        if root is not None:
            return
        enable_unit(self.root)
        enable_unit(self.root, "rocmcfg-try.service")
        (self.root / "proc/sys/kernel/osrelease").write_text("6.12.107+deb13-amd64\n")
        self.program.write_text(PROGRAM)
        self.program.chmod(0o755)

    # -- the machine of the try

    def starter(self, attempt: Try) -> Start:
        del attempt

        def start(
            program: Unattended, command: Sequence[str], environment: Mapping[str, str], limit: float | None
        ) -> Ended:
            if self.in_run is not None:
                self.in_run(self)
            return program.run(command, environment, limit)

        return start

    def reboot(self) -> None:
        self.reboots_due = True

    # -- what a test does with it

    def begin(self, boots: int = 3, *settings: str, **more: Any) -> Try:
        design = Design("reboots", (), 95, 2 * boots, warm_up=False, boots=boots)
        prepared = reboot_start.prepare(
            self.host,
            Request(set=settings or (CURE,)),
            more.pop("program", (str(self.program),)),
            design,
            more.pop("terms", Terms()),
            pwd.getpwuid(os.geteuid()),
            {"VALUE": str(self.link), "NOTES": str(self.notes), "PATH": os.environ["PATH"]},
            going_down_fails=more.pop("going_down_fails", False),
        )
        return reboot_start.begin(self.host, prepared, self, use.quiet).attempt

    @property
    def value(self) -> Path:
        return self.root / "sys/module/amdgpu/parameters/cwsr_enable"

    def goes_down(self) -> None:
        """The next kernel starts, and nothing of it reaches the disk."""
        boot(self.root, grub_line(self.root), str(uuid.uuid4()))

    def comes_up(self) -> Taken | None:
        """The next boot, with its units."""
        self.recovers()
        return self.goes_on()

    def recovers(self) -> None:
        """The next boot, until the unit of the try."""
        self.goes_down()
        self.reboots_due = False
        self.boots += 1
        if self.boots in self.fates:
            self.fates[self.boots](self)
        use.recover(self.host)

    def goes_on(self) -> Taken | None:
        """The unit of the try."""
        return rebooting.go_on(self.host, self, use.quiet)

    def to_the_end(self, most: int = 40) -> TryReport:
        """Boot until nobody reboots any more, and return the report."""
        while self.reboots_due and self.boots < most:
            self.comes_up()
        return self.report()

    def report(self, number: int = 1) -> TryReport:
        return report(tries.load(RootTries(self.host), number))

    def under_way(self) -> int | None:
        return reboots.under_way(self.host)

    def ran_with(self) -> list[str]:
        """The value that the kernel had in each run."""
        return self.notes.read_text().split() if self.notes.exists() else []
