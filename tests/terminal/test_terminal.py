"""rocmcfg at real terminals: whole from 60 columns, colours and links where they are wanted, progress."""

from __future__ import annotations

import difflib
import fcntl
import os
import pty
import re
import struct
import subprocess
import tempfile
import termios
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.support.program import DEMO, SOURCE, command, environment, tool_command
from tests.support.tools import HANG

CAPTURES = Path(__file__).parent / "captures"
PLAIN_TERMINAL = {
    **dict.fromkeys(("NO_COLOR", "TERM_PROGRAM", "VTE_VERSION", "KONSOLE_VERSION", "LC_CTYPE", "LANG"), ""),
    "TERM": "xterm-256color",
    "LC_ALL": "C.UTF-8",
}
PLACE = "/home/you/rocmcfg-dir"
C = {"LC_ALL": "C"}
TERMINALS: dict[str, tuple[int, dict[str, str]]] = {
    "60 columns": (60, {}),
    "80 columns": (80, {}),
    "120 columns, with links": (120, {"VTE_VERSION": "7600"}),
    "60 columns, no colour, C locale": (60, {"NO_COLOR": "1", **C}),
}
COMMANDS = {
    "help": "--help",
    "help-plan": "plan --help",
    "status": "status",
    "issues": "issues",
    "doctor": "doctor fault.log",
    "doctor-verbose": "doctor -v fault.log",
    "plan": "plan --profile gfx1201",
    "plan-verbose": "plan -v --profile gfx1201",
    "verify": "verify --profile gfx1201",
    "profile-list": "profile list",
    "profile-show": "profile show gfx1201",
    "explain-mask": "explain ppfeaturemask=0xfffd3fff",
    "explain-issue": "explain rdna4-hipblaslt-gltr-overread",
    "lint": "lint advice.md",
    "error": "plan --set amdgpu.cwsr_enble=0 --set karg.amd_iommu=pt",
    "misuse": "plan --profle auto",
}
_NAMES = {"31": "red", "32": "green", "33": "yellow", "36": "cyan", "1": "bold", "2": "dim", "0": "/"}
_SGR = re.compile(r"\x1b\[([0-9]+)m")
_LINK = re.compile(r"\x1b\]8;;([^\x1b]*)\x1b\\")


def typed(
    argv: list[str], columns: int, env: Mapping[str, str], stdin: int | None = None, cwd: Path = SOURCE
) -> str:
    """What a program writes to a terminal, its control sequences included."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen(
        argv,
        stdin=theirs if stdin is None else stdin,
        stdout=theirs,
        stderr=theirs,
        cwd=cwd,
        env=environment({**PLAIN_TERMINAL, **env}),
    )
    os.close(theirs)
    said = b""
    try:
        while piece := os.read(ours, 65536):
            said += piece
    except OSError:  # EIO: nobody writes there any more
        pass
    process.wait(HANG)
    os.close(ours)
    return said.decode().replace("\r\n", "\n")


def spelled(text: str) -> str:
    text = _LINK.sub(lambda found: f"<link {found[1]}>" if found[1] else "</link>", text)
    return _SGR.sub(lambda found: f"<{_NAMES[found[1]]}>", text)


def visible(text: str) -> str:
    return _SGR.sub("", _LINK.sub("", text))


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """The sample host as `host`, in a folder whose name is as long as PLACE."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="rocmcfg-") as folder:
        made = Path(folder)
        (made / "host").symlink_to(DEMO / "sample-host")
        for name in ("fault.log", "advice.md"):
            (made / name).symlink_to(DEMO / name)
        yield made


def _show(place: Path, line: str, columns: int, env: Mapping[str, str]) -> str:
    words = line.split()
    root = [] if "--help" in words else ["--root", "host"]
    said = typed(command(*words, *root), columns, env, cwd=place)
    # on a busy machine anything takes the second after which a line of progress comes, and goes
    return re.sub(r"\r\x1b\[K([^\r\n]*(?=\r\x1b\[K))?", "", said).replace(str(place), PLACE)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_capture(place: Path, name: str) -> None:
    shown = {title: _show(place, COMMANDS[name], columns, env) for title, (columns, env) in TERMINALS.items()}
    for title, text in shown.items():
        columns = min(TERMINALS[title][0], 100)
        wide = [line for line in visible(text).splitlines() if len(line) > columns]
        assert [line for line in wide if not _may_be_wide(line)] == [], title
    plain = shown["60 columns, no colour, C locale"]
    assert "\x1b" not in plain
    assert plain.isascii()
    assert visible(shown["80 columns"]).split() != [], name
    found = "".join(f"==== {title}\n{spelled(text)}\n" for title, text in shown.items())
    path = CAPTURES / f"{name}.txt"
    found = f"$ rocmcfg {COMMANDS[name]}\n\n{found}"
    if os.environ.get("UPDATE_GOLDEN"):
        CAPTURES.mkdir(exist_ok=True)
        path.write_text(found)
        return
    expected = path.read_text() if path.exists() else ""
    changed = difflib.unified_diff(
        expected.splitlines(), found.splitlines(), "expected", "found", lineterm=""
    )
    assert expected == found, "\n".join(["UPDATE_GOLDEN=1 takes this over:", *changed])


def _may_be_wide(line: str) -> bool:
    """A line of a diff, or one word that is no sentence's: a path, an address, the name of a kernel."""
    return bool(re.match(r"[+@-]|\s*([a-z]+ +)?\S{40,}$", line))


def test_colour_is_never_the_only_carrier(place: Path) -> None:
    """The same words stand there without it, and NO_COLOR and a dumb terminal get none."""
    line = COMMANDS["verify"]
    coloured = _show(place, line, 80, {})
    assert "<red>" in spelled(coloured) or "<yellow>" in spelled(coloured)
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert _show(place, line, 80, env) == visible(coloured)


def test_links_are_for_terminals_that_know_them(place: Path) -> None:
    line = COMMANDS["explain-issue"]
    assert "\x1b]8;;https://" in _show(place, line, 80, {"TERM_PROGRAM": "WezTerm"})
    for env in ({}, {"VTE_VERSION": "7600", "NO_COLOR": "1"}):
        assert "\x1b]8" not in _show(place, line, 80, env)


def test_the_locale_decides_over_arrows(place: Path) -> None:
    line = COMMANDS["lint"]
    assert "→ " in _show(place, line, 80, {})
    for env in ({"LC_ALL": "POSIX"}, {"LC_ALL": "", "LANG": "C"}):
        plain = _show(place, line, 80, env)
        assert "-> " in plain
        assert "?" not in plain.replace("?gfx", "")
        assert plain.isascii()


def test_reading_a_long_log_shows_bytes_and_rate() -> None:
    ours, theirs = os.pipe()

    def write() -> None:
        line = b"kernel: nothing of interest here, nothing at all, nothing\n" * 20000
        for _ in range(8):
            os.write(theirs, line)
            time.sleep(0.2)
        os.close(theirs)

    writer = threading.Thread(target=write)
    writer.start()
    said = typed(command("doctor", "--log", "-", "--root", DEMO / "sample-host"), 60, {}, stdin=ours)
    writer.join()
    os.close(ours)
    assert re.search(r"\r\x1b\[Kreading: \d+ MiB, \d+ MiB/s: ", said)
    assert said.rindex("\r\x1b[K") > said.rindex("reading: "), "the line of progress goes"


def test_a_program_that_takes_long_shows_its_step(tmp_path: Path) -> None:
    from tests.support.hosts import debian_grub_host

    root = debian_grub_host(tmp_path, gfx="gfx1201")
    tool = tmp_path / "tools/update-grub"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\nsleep 2\nexit 1\n")
    tool.chmod(0o755)
    argv = tool_command(tool.parent, "apply", "--set", "amdgpu.runpm=0", "--root", root, "--yes")
    step = r"step 1 of [12], \d+ s: update-grub"
    assert re.search(rf"\r\x1b\[K{step}", typed(argv, 80, {}))
    assert not re.search(step, typed(argv, 80, {"TERM": "dumb"}))
