"""A recorded host and a shell before it: what is typed there, what comes of it, and how the host is then.

`rocmcfg` runs in this process, `reboot` is the next boot of the recorded host, a program of the host that has
a stand-in runs on the host, and everything else is a line of the shell.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, timezone
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from rocmcfg import __version__
from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import CommandResult

from . import boots, fake_tools, recorded
from .program import SOURCE, rocmcfg
from .tool_host import QuickHost

# rocmcfg says absolute paths and folds its lines at 80 columns: the folder of a case has the same length
# wherever the test runs, and is shown by a name of that length.
_FOLDER = "/home/you/rocmcfg-case"
_KEPT = ("PATH", "PYTEST_CURRENT_TEST")
# These folders of the checkout too have names of the same length everywhere: $DEMO and $TESTS.
_GIVEN = {".demo": SOURCE / "docs/demo", ".tests": SOURCE / "tests"}


class Typed(NamedTuple):
    """One command: its line, the lines that continue it, the answers to its questions."""

    line: str
    more: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()

    @property
    def program(self) -> str:
        return self.line.split()[0]


class Said(NamedTuple):
    """What a command printed, and the programs of the host that it ran. `into`: where its output went."""

    code: int
    out: str
    err: str
    ran: tuple[str, ...] = ()
    into: str = ""

    @property
    def lines(self) -> list[str]:
        """As a transcript shows it: standard error after a `!`, an exit code that is not 0 in brackets."""
        return [
            *self.out.splitlines(),
            *(f"! {line}".rstrip() for line in self.err.splitlines()),
            *([f"[{self.code}]"] if self.code else []),
        ]


class Entry(NamedTuple):
    """What lies at a path: its mode as `ls -l` shows it; the target of a link, nothing for a directory."""

    mode: str
    content: bytes


Files = dict[str, Entry]


@contextlib.contextmanager
def empty_folder() -> Iterator[Path]:
    """As the current directory of an account without surprises."""
    base = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else Path("/tmp")
    random = 8  # what tempfile adds to a prefix
    prefix = "c" * (len(_FOLDER) - len(f"{base}/") - random)
    with tempfile.TemporaryDirectory(dir=base, prefix=prefix) as name:
        before, environment, mask = Path.cwd(), dict(os.environ), os.umask(0o022)
        kept = {name: value for name, value in os.environ.items() if name in _KEPT}
        os.environ.clear()
        os.environ.update(kept, HOME=name, LANG="C.UTF-8", TZ="UTC")
        os.chdir(name)
        try:
            for link, target in _GIVEN.items():
                Path(name, link).symlink_to(target)
            yield Path(name)
        finally:
            os.umask(mask)
            os.chdir(before)
            os.environ.clear()
            os.environ.update(environment)


class Stage:
    """Where commands run, one after the other, beside a host in the folder `host`.

    `tools` holds programs that stand for those of the host, in place of the ones of `fake_tools`; each is
    started as `NAME ROOT ARGUMENT…`. One called `reboot` prints the command line of the next boot.
    """

    def __init__(self, place: Path, host: recorded.Recorded, tools: Path | None = None) -> None:
        self.place, self.host, self.tools = place, host, tools
        self.boots = 0

    def run(self, typed: Typed) -> Said:
        if typed.line == "reboot":
            return self._reboot()
        if typed.program == "rocmcfg":
            words = shlex.split(typed.line)
            if words[-2:-1] != [">"]:
                return self._rocmcfg(words[1:], typed.answers)
            said = self._rocmcfg(words[1:-2], typed.answers)
            (self.place / words[-1]).write_text(said.out)
            return said._replace(out="", into=words[-1])
        of_host = typed.program in fake_tools.TOOLS or self._own(typed.program)
        if self.host.tools and (of_host or typed.line.startswith("mv -f /")):
            host = self._host_class([])(str(self.place / "host"))
            result = host.execute(shlex.split(typed.line), timeout=60, progress=lambda: None)
            return Said(result.status or 0, result.stdout, result.stderr)
        return self._shell("\n".join((typed.line, *typed.more)))

    def _own(self, name: str) -> Path | None:
        found = self.tools / name if self.tools else None
        return found if found is not None and found.exists() else None

    def _given(self) -> dict[str, str]:
        return {link.lstrip(".").upper(): str(self.place / link) for link in _GIVEN}

    def _shell(self, command: str) -> Said:
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # python3 is the one that runs the test
        env = {**os.environ, "PATH": path, **self._given()}
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, env=env)
        return Said(done.returncode, done.stdout, done.stderr)

    def _rocmcfg(self, words: list[str], answers: tuple[str, ...]) -> Said:
        ran: list[str] = []
        for name, folder in self._given().items():
            words = [word.replace(f"${name}", folder) for word in words]
        answer = "".join(f"{line}\n" for line in answers) if answers else None
        host = self._host_class(ran) if self.host.tools else None
        with mock.patch.object(LocalHost, "user", return_value="you"):
            found = rocmcfg(*words, answer=answer, host=host)
        return Said(found.code, found.out, found.err, tuple(ran))

    def _host_class(self, ran: list[str]) -> type[QuickHost]:
        """The host as --root opens it; `ran` gets the command line of every program that is run."""
        modinfo = self.host.modinfo

        class Recorder(QuickHost):
            tools = self.tools

            def query(self, argv: Sequence[str]) -> CommandResult | None:
                if modinfo and argv[0] == "modinfo" and modinfo[0] in argv:
                    return CommandResult(tuple(argv), 0, modinfo[1] + "\n", "")
                return super().query(argv)

            def execute(
                self, argv: Sequence[str], *, timeout: float, progress: Callable[[], None], mark: str = ""
            ) -> CommandResult:
                ran.append(shlex.join(argv))
                return super().execute(argv, timeout=timeout, progress=progress, mark=mark)

        return Recorder

    def _reboot(self) -> Said:
        """As the boot loader and the kernel would make it of the host's files."""
        root = self.place / "host"
        own = self._own("reboot")
        if own is None:
            line = boots.grub_line(root)
        else:
            line = subprocess.run([own, root], capture_output=True, text=True, check=True).stdout.strip()
        self.boots += 1
        boots.boot(root, line, f"{self.boots:08x}-51b7-4c39-8e6f-0b1a7d93c2e4")
        return Said(0, f"booted with: {line}\n", "")

    def normal(self, text: str) -> str:
        """What differs from one run to the next, and means nothing, is replaced by something as long."""
        for name, folder in self._given().items():
            text = text.replace(folder, f"${name}")
        return normal(text.replace(str(self.place), _FOLDER))


def normal(text: str) -> str:
    for pattern, replacement in _CHANGING:
        text = pattern.sub(replacement, text)
    return text


def _now(found: re.Match[str]) -> str:
    """The moment of the run is always the same one; a moment of a recorded log stays."""
    today = datetime.now(timezone.utc).date()
    try:
        days = abs((date.fromisoformat(found["day"]) - today).days)
    except ValueError:  # no day of any calendar
        return found[0]
    if days > 1:
        return found[0]
    return f"2026-01-02{found['between']}03:04" + (":05" if found["seconds"] else "")


def files(place: Path) -> Files:
    """Mode and content of all that is below."""
    found: Files = {}
    for folder, directories, names in os.walk(place):
        for name in [*directories, *names]:
            path = Path(folder, name)
            mode = path.lstat().st_mode
            content = os.readlink(path).encode() if stat.S_ISLNK(mode) else b""
            content = path.read_bytes() if stat.S_ISREG(mode) else content
            found[str(path.relative_to(place))] = Entry(stat.filemode(mode), content)
    return found


_CHANGING: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"(?P<day>20\d\d-\d\d-\d\d)(?P<between>[T ])\d\d:\d\d(?P<seconds>:\d\d)?"), _now),
    (re.compile(r"(?<=\(knowledge )[0-9a-f]{8}|(?<=\"knowledge_version\": \")[0-9a-f]{8}"), "KNOWING_"),
    (re.compile(r"(?<=^Version       )[0-9a-f]{8}", re.MULTILINE), "KNOWING_"),
    (re.compile(rf"(?<=rocmcfg )(?:0\.0\.0|{re.escape(__version__)})(?=[ \"]|$)"), "VERSION"),
    (re.compile(r'(?<="mark":")[0-9a-f]{32}(?=")'), "0" * 32),
    (re.compile(r'(?<="sum":")[0-9a-f]{16}(?=")'), "0" * 16),
    (re.compile(r'(?<="mtime_ns":)\d+'), "0"),
    (re.compile(r'(?<="[gu]id":)\d+'), "0"),
    (re.compile(r'(?<="after":")[0-9a-f]{64}(?=",.*"path":"/var/lib/rocmcfg/)'), "0" * 64),
    (re.compile(r'(?<="user":")[^"]*(?=")'), "you"),
)
