"""Transcripts: text files that tell what is typed on a recorded host and what comes of it, played again.

    What the case is about, in prose: lines that begin in the first column.

    Host: debian gfx=gfx1201,gfx1036

      $ rocmcfg plan --set amdgpu.runpm=0 --root host
      what it prints, and `! ` before what goes to standard error
      [3]

A command is a line of two blanks and `$ `; `> ` lines below it belong to it, and `< ` lines are typed at the
terminal that asks. `rocmcfg` runs in this process, `reboot` is the next boot of the recorded host, and
everything else is a line of the shell. What follows a command is written by `play`: its output, its exit code
where it is not 0, which files of the host it changed and which programs of the host it ran.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import re
import shlex
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timezone
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from rocmcfg import __version__
from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import CommandResult
from tests.support import boots
from tests.support.program import SOURCE, rocmcfg
from tests.support.tool_host import QuickHost

from . import recorded

_INDENT = "  "
_COMMAND, _MORE, _TYPED = "  $ ", "  > ", "  < "
# rocmcfg says absolute paths and folds its lines at 80 columns: the folder of a case has the same length
# wherever the test runs, and is shown by a name of that length.
_FOLDER = "/home/you/rocmcfg-case"
_KEPT = ("PATH", "PYTEST_CURRENT_TEST")
_STATE = "var/lib/rocmcfg/"
Files = dict[str, tuple[str, bytes]]


@dataclass(frozen=True)
class Typed:
    """One command of a transcript: its line, the lines that continue it, the answers to its questions."""

    line: str
    more: tuple[str, ...]
    answers: tuple[str, ...]


class Said(NamedTuple):
    """What a command printed, and the programs of the host that it ran. `into`: where its output went."""

    code: int
    out: str
    err: str
    ran: tuple[str, ...] = ()
    into: str = ""


def parse(text: str) -> list[str | Typed]:
    """The lines of prose and the commands of a transcript, in order; what commands printed is left out."""
    found: list[str | Typed] = []
    for line in text.splitlines():
        last = found[-1] if found else ""
        if line.startswith(_COMMAND):
            found.append(Typed(line.removeprefix(_COMMAND), (), ()))
        elif isinstance(last, Typed) and line.startswith(_MORE):
            found[-1] = Typed(last.line, (*last.more, line.removeprefix(_MORE)), last.answers)
        elif isinstance(last, Typed) and line.startswith(_TYPED):
            found[-1] = Typed(last.line, last.more, (*last.answers, line.removeprefix(_TYPED)))
        elif not line.startswith(_INDENT) and line.strip():
            found.append(line)
        elif not line.strip() and not isinstance(last, Typed) and last:
            found.append("")
    return found


def play(text: str) -> str:
    """The transcript as it is when its commands run now."""
    parts = parse(text)
    described = next((p for p in parts if isinstance(p, str) and p.startswith("Host: ")), "Host: none")
    with _case() as place:
        stage = _Stage(place, recorded.build(described.removeprefix("Host: "), place))
        written: list[str] = []
        for part in parts:
            if isinstance(part, str):
                after_command = bool(written) and written[-1].startswith(_INDENT)
                written += ["", part] if after_command and part else [part]
            else:
                before_it = written[-1:]
                written += [""] * (before_it != [""])
                written += stage.lines(part)
    return "\n".join(written).rstrip("\n") + "\n"


_GIVEN = {".demo": SOURCE / "docs/demo", ".tests": SOURCE / "tests"}


@contextlib.contextmanager
def _case() -> Iterator[Path]:
    """An empty folder as the current directory of an account without surprises."""
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
            # by names of the same length wherever the checkout lies: lines are folded by their length
            for link, target in _GIVEN.items():
                Path(name, link).symlink_to(target)
            yield Path(name)
        finally:
            os.umask(mask)
            os.chdir(before)
            os.environ.clear()
            os.environ.update(environment)


class _Stage:
    """Where the commands of one transcript run, one after the other."""

    def __init__(self, place: Path, host: recorded.Recorded) -> None:
        self.place, self.host = place, host
        self.boots = 0

    def lines(self, typed: Typed) -> list[str]:
        before = _files(self.place)
        said = self._run(typed)
        after = _files(self.place)
        after.pop(said.into, None)
        changed = _changes(before, after) if typed.line.startswith("rocmcfg") else []
        shown = [
            *said.out.splitlines(),
            *(f"! {line}".rstrip() for line in said.err.splitlines()),
            *([f"[{said.code}]"] if said.code else []),
            *(f"ran: {argv}" for argv in said.ran),
            *changed,
        ]
        head = [
            _COMMAND + typed.line,
            *(_MORE + line for line in typed.more),
            *(_TYPED + line for line in typed.answers),
        ]
        return [*head, *((_INDENT + self._normal(line)).rstrip() for line in shown)]

    def _run(self, typed: Typed) -> Said:
        if typed.line == "reboot":
            return self._reboot()
        if typed.line.split()[0] == "rocmcfg":
            words = shlex.split(typed.line)
            if words[-2:-1] != [">"]:
                return self._rocmcfg(words[1:], typed.answers)
            said = self._rocmcfg(words[1:-2], typed.answers)
            (self.place / words[-1]).write_text(said.out)
            return said._replace(out="", into=words[-1])
        command = "\n".join((typed.line, *typed.more))
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # python3 is the one that runs the test
        env = {**os.environ, "PATH": path, **self._given()}
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, env=env)
        return Said(done.returncode, done.stdout, done.stderr)

    def _given(self) -> dict[str, str]:
        return {link.lstrip(".").upper(): str(self.place / link) for link in _GIVEN}

    def _rocmcfg(self, words: list[str], answers: tuple[str, ...]) -> Said:
        ran: list[str] = []
        for name, folder in self._given().items():
            words = [word.replace(f"${name}", folder) for word in words]
        answer = "".join(f"{line}\n" for line in answers) if answers else None
        with mock.patch.object(LocalHost, "user", return_value="you"):
            found = rocmcfg(
                *words, answer=answer, host=_recorder(ran, self.host.modinfo) if self.host.tools else None
            )
        return Said(found.code, found.out, found.err, tuple(ran))

    def _reboot(self) -> Said:
        """As GRUB and the kernel would make it of the host's files."""
        self.boots += 1
        line = boots.reboot(self.place / "host")
        boot_id = f"{self.boots:08x}-51b7-4c39-8e6f-0b1a7d93c2e4"
        (self.place / "host/proc/sys/kernel/random/boot_id").write_text(f"{boot_id}\n")
        return Said(0, f"booted with: {line}\n", "")

    def _normal(self, text: str) -> str:
        """What differs from one run to the next, and means nothing, is replaced by something as long."""
        for name, folder in self._given().items():
            text = text.replace(folder, f"${name}")
        text = text.replace(str(self.place), _FOLDER)
        return normal(text)


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


def _recorder(ran: list[str], modinfo: tuple[str, str] | None) -> type[QuickHost]:
    class Recorder(QuickHost):
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


def _files(place: Path) -> Files:
    """Mode and content of all that is below: a link has its target, a directory nothing."""
    found: Files = {}
    for folder, directories, files in os.walk(place):
        for name in [*directories, *files]:
            path = Path(folder, name)
            mode = path.lstat().st_mode
            content = os.readlink(path).encode() if stat.S_ISLNK(mode) else b""
            content = path.read_bytes() if stat.S_ISREG(mode) else content
            found[str(path.relative_to(place))] = (stat.filemode(mode), content)
    return found


def _changes(before: Files, after: Files) -> list[str]:
    shown: list[str] = []
    for path in sorted(before.keys() | after.keys(), key=_without_digest):
        if before.get(path) == after.get(path):
            continue
        old, new = before.get(path), after.get(path)
        sign = "+" if old is None else "-" if new is None else "~"
        modes = " -> ".join(dict.fromkeys(entry[0] for entry in (old, new) if entry))
        shown.append(f"{sign} {_without_digest(path)}  {modes}")
        if _STATE not in path and new is not None and not new[0].startswith("d"):
            shown += [f"    {line}" for line in _difference(old[1] if old else None, new[1])]
    return shown


def _without_digest(path: str) -> str:
    """A backup is called by the digest of its content, and the content may hold a moment."""
    return re.sub(r"(?<=/backups/)[0-9a-f]{64}$", "SHA256", path)


def _difference(old: bytes | None, new: bytes) -> list[str]:
    try:
        was, now = (old or b"").decode().splitlines(), new.decode().splitlines()
    except UnicodeDecodeError:
        return ["(binary)"]
    if "\0" in new.decode():
        return ["(binary)"]
    if old is None:
        return [f"| {line}" for line in now]
    return [
        line
        for line in difflib.unified_diff(was, now, n=0, lineterm="")
        if not line.startswith(("---", "+++", "@@"))
    ]


_CHANGING: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"(?P<day>20\d\d-\d\d-\d\d)(?P<between>[T ])\d\d:\d\d(?P<seconds>:\d\d)?"), _now),
    (re.compile(rf"(?<=rocmcfg )(?:0\.0\.0|{re.escape(__version__)})(?=[ \"]|$)"), "VERSION"),
    (re.compile(r'(?<="mark":")[0-9a-f]{32}(?=")'), "0" * 32),
    (re.compile(r'(?<="sum":")[0-9a-f]{16}(?=")'), "0" * 16),
    (re.compile(r'(?<="mtime_ns":)\d+'), "0"),
    (re.compile(r'(?<="[gu]id":)\d+'), "0"),
    (re.compile(r'(?<="after":")[0-9a-f]{64}(?=",.*"path":"/var/lib/rocmcfg/)'), "0" * 64),
    (re.compile(r'(?<="user":")[^"]*(?=")'), "you"),
)


def cases(folder: Path) -> Mapping[str, Path]:
    """Every transcript below `folder`, by its name in it."""
    paths: Iterable[Path] = sorted(folder.rglob("*.txt"))
    return {str(path.relative_to(folder).with_suffix("")): path for path in paths}
