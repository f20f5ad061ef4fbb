"""Real programs that fail now and then, as variables say, and `rocmcfg try` on them as a process."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.support.program import Result, command, environment, process

# Fails in P percent of its runs, in the way of FAIL, unless CURE is 1: as if by chance, but always in the
# same runs, since a try may end undecided by chance. It notes its start and its end.
PROGRAM = r"""#!/bin/bash
echo "start $ROCMCFG_STARTED ${CURE:-0}" >> "$NOTES"
[ -n "$TAKES" ] && sleep "$TAKES"
failed=0
[ "$CURE" != 1 ] && [ $(($(grep -c ^start "$NOTES") * 61 % 100)) -lt "${P:-60}" ] && failed=1
# the output of the first runs is what later ones are held against
[ "$FAIL" = different ] && [ "$(grep -c ^end "$NOTES")" -lt 2 ] && failed=0
echo "end $ROCMCFG_STARTED $failed" >> "$NOTES"
echo "result ${OTHER:-4711}"
[ $failed = 0 ] && exit 0
case "$FAIL" in
exit) exit 3 ;;
signal) kill -SEGV $$ ;;
hang) sleep 600 ;;
output) echo "loss is nan" ;;
different) echo "result 4712" ;;
log) echo "[   60.000001] $FAULT" >> "$LOG" ;;
leak) echo leaked >> "$LEAK" ;;
esac
exit 0
"""
FAULT = "amdgpu 0000:03:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:24 vmid:8 pasid:32770)"


class Bench:
    """A folder with the program, its notes and the tries of a user."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = folder / "program"
        self.notes = folder / "notes"
        self.state = folder / "state/rocmcfg/tries"
        self.program.write_text(PROGRAM)
        self.program.chmod(0o755)
        self.notes.touch()
        (folder / "kernel.log").write_text("[    1.000000] Linux version 6.14.0\n")

    def variables(self, **more: str) -> dict[str, str]:
        return {
            "XDG_STATE_HOME": str(self.folder / "state"),
            "NOTES": str(self.notes),
            "LOG": str(self.folder / "kernel.log"),
            "LEAK": str(self.folder / "leaked"),
            "FAULT": FAULT,
            "FAIL": "exit",
            "CURE": "0",
            **more,
        }

    def words(self, *words: str | Path, setting: str = "CURE=1") -> list[str]:
        """The command that tries the setting on the program."""
        log = ("--log", self.folder / "kernel.log")
        return command("try", *log, "--set", f"env.{setting}", *words, "--", self.program)

    def tried(self, *words: str | Path, setting: str = "CURE=1", **more: str) -> dict[str, Any]:
        """The document of a try."""
        done = process(self.words("--json", *words, setting=setting), env=self.variables(**more))
        assert done.err == "", done.err
        assert done.code == 0, done.out
        return done.document

    def run(self, *words: str | Path, **more: str) -> Result:
        return process(command(*words), env=self.variables(**more))

    def started(self, words: list[str], **more: str) -> subprocess.Popen[bytes]:
        """Start a command in a process group of its own: SIGTSTP stops no process of an orphaned group, which
        that of tests in the background may be."""
        return subprocess.Popen(
            words,
            env=environment(self.variables(**more)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=os.setpgrp,  # noqa: PLW1509
        )

    def noted(self, what: str) -> list[list[str]]:
        lines = [line.split() for line in self.notes.read_text().splitlines()]
        return [rest for first, *rest in lines if first == what]

    def lines(self, number: int = 1) -> list[dict[str, Any]]:
        """The lines of the record of a try that are whole."""
        text = (self.state / str(number) / "try.jsonl").read_text()
        return [json.loads(line) for line in text.split("\n")[:-1]]
