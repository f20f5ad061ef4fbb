#!/usr/bin/env python3
"""rocmcfg on a COPY of the sample host, as if that were the host that runs.

    cp -a docs/demo/sample-host /tmp/sample
    python3 docs/demo/played.py /tmp/sample apply --profile gfx1201 --trial --yes
    python3 docs/demo/reboot.py /tmp/sample

All of rocmcfg is the real program, and it names no `--root`. What it starts on a real host is played by
reboot.py: update-grub and grub-editenv. Nobody needs root for it, and nothing outside of the copy changes.
The demo and the recorded outputs of the documentation use it; no test of the program does.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO
from unittest import mock

import reboot

from rocmcfg.cli import app, hosts, printer
from rocmcfg.host.inside import Weakness
from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import CommandResult
from rocmcfg.model import request
from rocmcfg.records import journal
from rocmcfg.workflow import status

# What grub-probe says of a plain ext4 partition (abstraction: none).
PROBED = {"--target=abstraction": "\n", "--target=fs": "ext2\n"}
# Where a rescue shell mounts the host.
MOUNTED = "/mnt"


class PlayedHost(LocalHost):
    """The copy, wherever the command asks for the running host or for one that is mounted."""

    copy = ""

    def __init__(self, root: str = "/", *, chroot: bool = False) -> None:
        del chroot
        super().__init__(self.copy if root in ("/", MOUNTED) else root)
        self._mounted = root == MOUNTED

    @property
    def offline(self) -> bool:
        return self._mounted

    @property
    def runs_tools(self) -> bool:
        return True

    def weakness(self, path: str) -> Weakness | None:
        """The copy is its owner's, who plays root."""
        del path
        return None

    def query(self, argv: Sequence[str]) -> CommandResult | None:
        said = None
        if argv[0] == "grub-probe":
            said = PROBED.get(argv[1])
        elif argv[0] == "grub-editenv" and argv[2] == "list":
            said = "".join(f"{name}={value}\n" for name, value in reboot.block(Path(self.root)).items())
        return None if said is None else CommandResult(tuple(argv), 0, said, "")

    def stream_query(self, argv: Sequence[str]) -> BinaryIO | None:
        """The logs of this computer are not the copy's."""
        del argv
        return None

    def execute(
        self, argv: Sequence[str], *, timeout: float, progress: Callable[[], None], mark: str = ""
    ) -> CommandResult:
        del timeout, mark
        progress()
        with contextlib.redirect_stdout(io.StringIO()):
            status = reboot.play(Path(self.root), argv)
        return CommandResult(tuple(argv), status, "", "")

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Nobody else changes the copy."""
        yield

    def require_lock(self) -> None: ...

    def settle(self, paths: Sequence[str]) -> None:
        """A copy that goes away outlives no power cut."""


def main() -> None:
    PlayedHost.copy = str(reboot.sample_copy(sys.argv[1]))
    mock.patch.object(hosts, "LocalHost", PlayedHost).start()
    # The commands that are proposed are those for the running host.
    for module in (request, printer):
        mock.patch.object(module, "root_option", return_value="").start()
    mock.patch.object(os, "geteuid", return_value=0).start()
    clock = os.environ.get("PLAYED_CLOCK", "")  # so that what is recorded is the same on every day
    if clock:
        mock.patch.object(journal, "now", return_value=clock).start()
        mock.patch.object(status, "written_at", return_value=clock[:16].replace("T", " ")).start()
    sys.argv = ["rocmcfg", *sys.argv[2:]]
    app.main()


if __name__ == "__main__":
    main()
