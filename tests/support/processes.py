"""Processes of this machine, among those of other tests: a number is used again, and an ended process may be
there until its parent has noticed."""

from __future__ import annotations

from pathlib import Path


def command_line(pid: int | str) -> str:
    """Return the words of a process; empty where it has ended, whether or not its parent has noticed."""
    try:
        return Path(f"/proc/{int(pid)}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def runs(pid: int | str, words: str) -> bool:
    """Return whether a process with these words in its command line has this number."""
    return words in command_line(pid)


def running(words: str) -> list[str]:
    """Return the command lines that contain these words, which are of this test alone."""
    lines = (command_line(entry.name) for entry in Path("/proc").glob("[0-9]*"))
    return [line for line in lines if words in line]
