"""A fake tree whose tools can be run: the stand-ins of `fake_tools`, or programs that a test supplies.

`python -m tests.support.tool_host TOOLS COMMAND…` is `rocmcfg COMMAND…` on such a tree; TOOLS is a directory
of programs that replace stand-ins of the same name, also where rocmcfg only asks them. Each is started as
`NAME ROOT ARGUMENT…` by the product's own runner, so that what is tested of time limits, signals and output
is real.
"""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import BinaryIO, ClassVar
from unittest import mock

from rocmcfg.host import runner
from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import CommandResult

from . import fake_tools

SETTLES = "ROCMCFG_TEST_SETTLES"  # in the environment: what tools wrote is synced, as on a real host


class ToolHost(LocalHost):
    """An offline tree that may nevertheless run its tools, as --chroot would on a real one."""

    tools: Path | None = None
    probed: ClassVar[dict[str, str]] = {"abstraction": "\n", "fs": "ext2\n"}

    @property
    def runs_tools(self) -> bool:
        return True

    def has_tool(self, name: str) -> bool:
        return name in fake_tools.EVERYWHERE or super().has_tool(name)

    def _own(self, name: str) -> Path | None:
        """The program of the test that stands for the one of this name."""
        found = self.tools / name if self.tools else None
        return found if found is not None and found.exists() else None

    def query(self, argv: Sequence[str]) -> CommandResult | None:
        own = self._own(argv[0])
        if own is not None:
            found = runner.query((*_started(own), self.root, *argv[1:]))
            return found and found._replace(argv=tuple(argv))
        if argv[0] in fake_tools.LOOKS:
            status, said = fake_tools.look(Path(self.root), list(argv))
            return CommandResult(tuple(argv), status, said, "")
        if argv[0] in ("grub-probe", "grub2-probe"):  # nothing for a plain partition, and the file system
            return CommandResult(tuple(argv), 0, self.probed[argv[1].partition("=")[2]], "")
        return None

    def stream_query(self, argv: Sequence[str]) -> BinaryIO | None:
        """The logs of this machine are not the tree's."""
        del argv
        return None

    def execute(
        self, argv: Sequence[str], *, timeout: float, progress: Callable[[], None], mark: str = ""
    ) -> CommandResult:
        tool, *arguments = _bare(argv)
        if not self.has_tool(tool):
            return CommandResult(tuple(argv), 127, "", f"{tool}: not found")
        own = self._own(tool)
        if own is not None:
            command: tuple[str, ...] = (*_started(own), self.root, *arguments)
        else:
            command = (sys.executable, "-IS", fake_tools.__file__, tool, self.root, *arguments)
        result = runner.execute(command, timeout=timeout, progress=progress, mark=mark)
        return CommandResult(tuple(argv), result.status, result.stdout, result.stderr)

    def settle(self, paths: Sequence[str]) -> None:
        """Costs time, and a tree in a temporary directory outlives no power cut: only where a test asks."""
        if os.environ.get(SETTLES):
            super().settle(paths)

    def unpack(
        self, argv: Sequence[str], wanted: Sequence[str], *, here: bool = False
    ) -> dict[str, bytes] | None:
        del here
        files = fake_tools.unpacked(Path(self.root + argv[-1]))
        return {name: files[name] for name in wanted if name in files}


class QuickHost(ToolHost):
    """The same, with the stand-ins called in this process: for tests that run a transaction many times."""

    def execute(
        self, argv: Sequence[str], *, timeout: float, progress: Callable[[], None], mark: str = ""
    ) -> CommandResult:
        tool = _bare(argv)[0]
        if self._own(tool) is not None or not self.has_tool(tool):
            return super().execute(argv, timeout=timeout, progress=progress, mark=mark)
        return CommandResult(tuple(argv), fake_tools.run(Path(self.root), _bare(argv)), "", "")


@cache
def _started(program: Path) -> tuple[str, ...]:
    """One in Python by this interpreter without its site packages: three times as fast as by its first line,
    where that leads through a script of pyenv."""
    with program.open("rb") as file:
        python = file.readline().rstrip().endswith(b"env python3")
    return (sys.executable, "-S", str(program)) if python else (str(program),)


def _bare(argv: Sequence[str]) -> list[str]:
    """Without `env NAME=VALUE` before it."""
    return list(argv) if argv[0] != "env" else [*itertools.dropwhile(lambda word: "=" in word, argv[1:])]


def main() -> None:
    from rocmcfg.cli import app, hosts

    ToolHost.tools = Path(sys.argv[1])
    mock.patch.object(hosts, "LocalHost", ToolHost).start()
    sys.argv = ["rocmcfg", *sys.argv[2:]]
    app.main()


if __name__ == "__main__":
    main()
