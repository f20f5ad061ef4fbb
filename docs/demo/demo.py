#!/usr/bin/env python3
"""A guided tour of rocmcfg on a copy of the sample host: `make demo`.

Needs no root and no Radeon, and changes nothing of this computer: everything happens in a temporary copy of
docs/demo/sample-host, which goes away at the end. The commands of rocmcfg are real and so is their output;
the programs that it starts and the reboots are played by reboot.py. Exits with 1 as soon as a step gives
anything else than it should.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path
from typing import NoReturn

HERE = Path(__file__).resolve().parent
SAMPLE = HERE / "sample-host"
PROFILE = "gfx1201"
PROGRAM = ".venv/bin/rocmcfg"
PARAMETER = "sys/module/amdgpu/parameters/cwsr_enable"
DROP_IN = "etc/default/grub.d/zz-rocmcfg.cfg"
CHANGES = ("apply", "rollback", "recover")
MEANING = {0: "nothing differs", 6: "the files are right, the running kernel does not have it yet"}
# A boot gives itself a new id; rocmcfg keeps the history of what it did.
CHANGED_BY_A_BOOT = "proc/sys/kernel/random/boot_id"
HISTORY = ("var", "var/lib", "var/lib/rocmcfg")
# Lines of one step; what is longer is cut in the middle.
ROOM = 45
NEXT = f"""\
Nothing is installed yet; this checkout is enough to look, without root:

{PROGRAM} status
{PROGRAM} doctor                 your log: a known issue?
{PROGRAM} lint                   what your boot files say
{PROGRAM} plan --profile auto    what would change

To change something, install it (README.md, "Install"), and then

sudo rocmcfg apply --profile auto --trial   for one boot
sudo reboot
rocmcfg verify                              is it in effect?
sudo rocmcfg confirm                        keep it; without, it is gone

The screen stays black? Power off and on. Else README.md, "The screen stays
black". From a crash to a fix, step by step: docs/tutorial/from-a-crash-to-a-fix.md"""


def main() -> int:
    if sys.stdout.encoding.lower() not in ("utf-8", "utf8"):
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="rocmcfg-demo-") as temporary:
        root = Path(temporary) / "host"
        shutil.copytree(SAMPLE, root, symlinks=True)
        tour(root)
    say(f"The demo ends here, after {time.monotonic() - began:.0f} s; its copy of the sample host is gone.")
    return 0


def tour(root: Path) -> None:
    say(
        "rocmcfg on a recorded host: Ubuntu 24.04, ROCm 7.1.0, one Radeon RX 9070 XT. Everything happens in "
        "a temporary copy of docs/demo/sample-host; nothing of this computer changes. rocmcfg is the real "
        "program; update-grub, grub-editenv and the reboots are A SIMULATION that edits the copy's files."
    )
    before = snapshot(root)

    step(1, "What is this host, and is there a profile for its GPU?")
    rocmcfg(root, "status", expect=("gfx1201", "none applied", PROFILE))

    step(2, "What would change? The plan says what, where and why, and writes nothing.")
    plan = rocmcfg(root, "plan", "--profile", PROFILE, expect=("amdgpu.cwsr_enable",))
    check(snapshot(root) == before, "the plan left every file as it was")

    step(3, "Try it first: the next boot alone gets it. The reboot is SIMULATED.")
    rocmcfg(
        root, "apply", "--profile", PROFILE, "--trial", "--yes", expect=("The next boot is a trial",), last=6
    )
    reboot(root)
    rocmcfg(root, "verify", expect=("Trial (transaction 1)", "In effect"))

    step(4, "Suppose that this hung. Power off and on (SIMULATED): the old boots.")
    reboot(root)
    check("amdgpu.cwsr_enable" not in read(root, "proc/cmdline"), "the argument is gone from this boot")
    rocmcfg(root, "recover", expect=("Rolled back",))
    print("[where a package installed rocmcfg, a unit does that at boot]")

    step(5, "Say that all was well: apply it for good, all of it or nothing.")
    rocmcfg(root, "apply", "--profile", PROFILE, "--yes", expect=("Applied as transaction 2.",), shown=plan)
    check("amdgpu.cwsr_enable=0" in read(root, DROP_IN), f"/{DROP_IN} is there")

    step(6, "Is it in effect? Not yet, and verify does not pretend.")
    rocmcfg(root, "verify", code=6, expect=("amdgpu.cwsr_enable", "pending reboot", "Pending: 1 of 4"))

    step(7, "A reboot, SIMULATED, and the proof.")
    reboot(root)
    check(read(root, PARAMETER) == "0\n", "the simulated kernel shows cwsr_enable 0")
    rocmcfg(root, "verify", expect=("In effect: all 4 settings.",))

    step(8, "Take it back; and a reboot, SIMULATED.")
    rocmcfg(root, "rollback", "--yes", expect=("Rolled back: transaction 2.",), last=12)
    reboot(root)
    check(read(root, PARAMETER) == "1\n", "the simulated kernel shows cwsr_enable 1, its default")
    rocmcfg(root, "verify", expect=("nothing is applied on this host",))

    step(9, "The proof: this host against how it was before step 1.")
    prove(before, snapshot(root))

    step(10, "Advice from a blog (docs/demo/advice.md): what would its lines do here?")
    rocmcfg(root, "lint", "advice.md", code=3, expect=("unknown", "inverted", "presence only"))

    step(11, "The log of a crash (docs/demo/fault.log): what was it, what cures it?")
    rocmcfg(root, "doctor", "--log", "fault.log", expect=("rdna4-hipblaslt-gltr-overread",))

    step(12, "Now your own host.")
    print(textwrap.indent(NEXT, "  "))


# -- what was asked for and what came of it -------------------------------------------------------------


def rocmcfg(
    root: Path, *words: str, code: int = 0, expect: tuple[str, ...], shown: str = "", last: int = ROOM
) -> str:
    """Run and show one command. What `shown` showed already, at the start, is not shown again; with `last`
    only so many lines are, and never more than there is room for."""
    prompt(*(["sudo"] if words[0] in CHANGES else []), "rocmcfg", *words)
    output = run([sys.executable, str(HERE / "played.py"), str(root), *words], code)
    lines = output.splitlines()
    same = common_start(shown.splitlines(), lines)
    if same:
        print(f"[the plan again: the same {same} lines as in step 2]")
    print("\n".join(fitted(lines[same:], last)))
    missing = [text for text in expect if text not in output]
    if missing:
        stop(f"the output lacks: {', '.join(missing)}")
    if words[0] == "verify":
        print(f"[exit code {code}: {MEANING[code]}]")
    return output


def fitted(lines: list[str], room: int) -> list[str]:
    """No more than `room` lines: the end, which says what next, and of the beginning what fits."""
    if len(lines) <= room:
        return lines
    begin = 0 if room < ROOM else room - 12
    end = len(lines) - (room - begin - 1)
    return [*lines[:begin], f"[{end - begin} lines more]", *lines[end:]]


def common_start(one: list[str], other: list[str]) -> int:
    """How many lines two texts begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def reboot(root: Path) -> None:
    prompt("sudo", "reboot")
    print(run([sys.executable, str(HERE / "reboot.py"), "--boot", str(root)], 0), end="")


def run(command: list[str], code: int) -> str:
    """What a program printed, both streams in order. It cannot see a terminal, so it prints no colour."""
    done = subprocess.run(
        command,
        cwd=HERE,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        timeout=60,
        check=False,
    )
    if done.returncode != code:
        print(done.stdout)
        stop(f"exit code {done.returncode}, expected {code}")
    return done.stdout


def check(good: bool, text: str, otherwise: str = "") -> None:
    if not good:
        stop(otherwise or f"this does not hold: {text}")
    print(f"[checked: {text}]")


def stop(text: str) -> NoReturn:
    sys.stdout.flush()
    sys.exit(f"demo: FAILED: {text}")


# -- the proof ------------------------------------------------------------------------------------------


def snapshot(root: Path) -> dict[str, tuple[str, int, bytes]]:
    """Every path below `root`: its kind, its mode, and its bytes or where it points."""
    found: dict[str, tuple[str, int, bytes]] = {}
    for directory, names, files in os.walk(root):
        for name in (*names, *files):
            path = Path(directory) / name
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                entry = ("link", 0, os.fsencode(os.readlink(path)))
            elif stat.S_ISDIR(mode):
                entry = ("directory", stat.S_IMODE(mode), b"")
            else:
                entry = ("file", stat.S_IMODE(mode), path.read_bytes())
            found[str(path.relative_to(root))] = entry
    return found


def prove(before: dict[str, tuple[str, int, bytes]], after: dict[str, tuple[str, int, bytes]]) -> None:
    history = {p for p in after if p in HISTORY or p.startswith(HISTORY[-1] + "/")} - set(before)
    added = sorted(set(after) - set(before) - history)
    gone = sorted(set(before) - set(after))
    changed = sorted(p for p in before if p in after and before[p] != after[p] and p != CHANGED_BY_A_BOOT)
    kinds = [kind for kind, _, _ in before.values()]
    print("Compared, with names, modes and every byte:")
    for top in sorted({path.split("/")[0] for path in before}):
        inside = [p for p, (kind, _, _) in before.items() if p.split("/")[0] == top and kind != "directory"]
        print(f"  /{top:<5} {len(inside):>3} {'file or link' if len(inside) == 1 else 'files and links'}")
    print(f"  in all {kinds.count('file')} files, {kinds.count('link')} links and ", end="")
    print(f"{kinds.count('directory')} directories")
    print("Different, and expected to be:")
    print(f"  /{CHANGED_BY_A_BOOT}   a boot gets a new one")
    print(f"  /{HISTORY[-1]}/   new: what `rocmcfg history` shows")
    for title, paths in (("added", added), ("gone", gone), ("changed", changed)):
        for path in paths:
            print(f"  {title}: /{path}")
    check(not (added or gone or changed), "all else is byte-identical", "the host is not as it was")


def read(root: Path, path: str) -> str:
    return (root / path).read_text() if (root / path).is_file() else ""


# -- how it looks ---------------------------------------------------------------------------------------


def say(text: str) -> None:
    print("\n" + textwrap.fill(text, 80), flush=True)


def step(number: int, text: str) -> None:
    print("\n" + paint(f"== {number}. {text}"))


def prompt(*words: str) -> None:
    print("\n" + paint(f"$ {' '.join(words)}"), flush=True)


def paint(text: str) -> str:
    wanted = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return f"\x1b[1m{text}\x1b[0m" if wanted else text


if __name__ == "__main__":
    sys.exit(main())
