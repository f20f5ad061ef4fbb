"""Runs rocmcfg: in this process, which is fast, or as the real program, which is the truth."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from rocmcfg.host.local import LocalHost

from .tool_host import ToolHost
from .tools import HANG

SOURCE = Path(__file__).resolve().parents[2]
DEMO = SOURCE / "docs/demo"
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def too_wide(said: str) -> list[str]:
    """Lines over 80 columns that could have been folded: not those of a diff, nor one long word after its
    indent. Folders may have names of any length, so a path never makes a line too wide."""
    return [
        line
        for line in said.splitlines()
        if len(re.sub(r"/\S{20,}", "/…", line)) > 80
        and line[:1] not in ("+", "-", "@")
        and not re.fullmatch(r"\s*(help: |at )?\S+", line)
    ]


def unfolded(said: str) -> str:
    """On one line: folded text, and a command that goes on after a backslash."""
    return " ".join(said.replace("\\\n", " ").split())


@dataclass(frozen=True, slots=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The JSON document that is all of stdout."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found

    @property
    def ids(self) -> list[str]:
        return [d["id"] for d in self.document["diagnostics"]]


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def rocmcfg(
    *arguments: str | Path,
    answer: str | None = None,
    tools: Path | None = None,
    host: type[LocalHost] | None = None,
) -> Result:
    """In this process. `answer` is typed at a terminal; `tools` lets the tree run its tools: see ToolHost.
    `host` is what --root is opened with in place of LocalHost."""
    from rocmcfg.cli import app, hosts

    out, err = io.StringIO(), io.StringIO()
    stdin = _Terminal(answer) if answer is not None else io.StringIO("")
    argv = ["rocmcfg", *map(str, arguments)]
    with contextlib.ExitStack() as stack:
        stack.enter_context(_own_signals())
        stack.enter_context(mock.patch.object(sys, "argv", argv))
        stack.enter_context(mock.patch.object(sys, "stdin", stdin))
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        if tools is not None:
            stack.enter_context(mock.patch.object(ToolHost, "tools", tools))
            stack.enter_context(mock.patch.object(hosts, "LocalHost", ToolHost))
        if host is not None:
            stack.enter_context(mock.patch.object(hosts, "LocalHost", host))
        code: object = None
        try:
            app.main()
        except SystemExit as end:
            code = end.code
    assert isinstance(code, int)
    return Result(code, out.getvalue(), err.getvalue())


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "rocmcfg", *map(str, arguments)]


def tool_command(tools: Path, *arguments: str | Path) -> list[str]:
    """As `command`, for a tree whose tools run."""
    return [sys.executable, "-m", "tests.support.tool_host", str(tools), *map(str, arguments)]


def environment(changes: Mapping[str, str] | None = None) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(SOURCE), **(changes or {})}


def process(argv: list[str], *, env: Mapping[str, str] | None = None, stdin: str = "") -> Result:
    """The real program, to its end."""
    done = subprocess.run(
        argv,
        input=stdin,
        capture_output=True,
        text=True,
        cwd=SOURCE,
        env=environment(env),
        timeout=HANG,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def as_nobody(argv: list[str], env: Mapping[str, str] | None = None) -> Result:
    """The real program without rights; skips the test where that user cannot run it at all."""
    env = {"HOME": "/", **(env or {})}
    if os.geteuid() != 0:
        return process(argv, env=env)
    drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    if not shutil.which("setpriv") or process([*drop, *command("--version")]).code != 0:
        pytest.skip("the user nobody cannot run this interpreter here")
    return process([*drop, *argv], env=env)


def in_namespace(script: str, *arguments: str | Path) -> Result:
    """A shell script in a mount namespace of its own: nothing stays mounted."""
    argv = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", *map(str, arguments)]
    return process(argv)


needs_mounts = pytest.mark.skipif(
    os.geteuid() != 0
    or not shutil.which("unshare")
    or subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "x", "/mnt"], capture_output=True).returncode
    != 0,
    reason="needs root and the right to mount",
)


def problem(result: Result, id: str, code: int, *, hint: bool = True) -> str:
    """What every refusal owes its reader: the exit code, one error with its id and a hint, no traceback.

    Returns stderr. A warning may follow (that all was rolled back); a second error may not.
    """
    assert result.code == code, f"exit {result.code}, not {code}\n{result.out}\n{result.err}"
    assert "Traceback" not in result.err + result.out, result.err
    assert result.err.count("error[") == 1, result.err
    assert f"error[{id}]: " in result.err, result.err
    if hint:
        assert "  help: " in result.err, result.err
    return result.err
