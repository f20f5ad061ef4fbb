#!/usr/bin/env python3
"""A guided tour of rocmcfg on a copy of the sample host: `make demo`.

Needs no root and no Radeon, and changes nothing of this computer: everything happens in a temporary copy of
docs/demo/sample-host, which goes away at the end. The commands of rocmcfg are real and so is their output;
`update-grub` and the reboots are played by reboot.py. Exits with 1 as soon as a step gives anything else
than it should.
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
PARAMETER = "sys/module/amdgpu/parameters/cwsr_enable"
DROP_IN = "etc/default/grub.d/zz-rocmcfg.cfg"
MEANING = {0: "nothing differs", 6: "the files are right, the running kernel does not have it yet"}
# A boot gives itself a new id; rocmcfg keeps the history of what it did.
CHANGED_BY_A_BOOT = "proc/sys/kernel/random/boot_id"
HISTORY = ("var", "var/lib", "var/lib/rocmcfg")


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
        "a temporary copy of docs/demo/sample-host; nothing of this computer changes."
    )
    print(f"\n$ ROOT={root}")
    before = snapshot(root)

    step(1, "What is this host, and is there a profile for its GPU?")
    rocmcfg(root, "status", expect=("gfx1201", "none applied", f"plan --profile {PROFILE}"))

    step(2, "What would change? The plan says what, where and why, and writes nothing.")
    plan = rocmcfg(root, "plan", "--profile", PROFILE, expect=("amdgpu.cwsr_enable", "5 files to change"))
    check(snapshot(root) == before, "the plan left every file as it was")

    step(3, "Apply it: one transaction, all of it or nothing.")
    rocmcfg(root, "apply", "--profile", PROFILE, "--yes", expect=("Applied as transaction 1.",), shown=plan)
    check("amdgpu.cwsr_enable=0" in read(root, DROP_IN), f"/{DROP_IN} is there")

    step(4, "Is it in effect? Not yet, and verify does not pretend.")
    rocmcfg(root, "verify", code=6, expect=("amdgpu.cwsr_enable", "pending activation", "Pending: 1 of 4"))

    step(5, "update-grub and a reboot. THIS IS A SIMULATION: it edits the copy's files.")
    reboot(root)
    check(read(root, PARAMETER) == "0\n", "the simulated kernel shows cwsr_enable 0")
    rocmcfg(root, "verify", expect=("In effect: all 4 settings.",))

    step(6, "Take it back.")
    rocmcfg(root, "rollback", "--yes", expect=("Undone: transaction 1.",))

    step(7, "update-grub and a reboot, SIMULATED as before.")
    reboot(root)
    check(read(root, PARAMETER) == "1\n", "the simulated kernel shows cwsr_enable 1, its default")
    rocmcfg(root, "verify", expect=("nothing is applied on this host",))

    step(8, "The proof: this host against how it was before step 1.")
    prove(before, snapshot(root))

    step(9, "Advice from a blog: what would each of its lines do on this host?")
    rocmcfg(root, "lint", str(HERE / "advice.md"), code=3, expect=("unknown", "inverted", "presence only"))

    step(10, "A kernel log of a crash: what was it, and what cures it?")
    rocmcfg(root, "doctor", "--log", str(HERE / "fault.log"), expect=("rdna4-hipblaslt-gltr-overread",))


# -- what was asked for and what came of it -------------------------------------------------------------


def rocmcfg(root: Path, *words: str, code: int = 0, expect: tuple[str, ...], shown: str = "") -> str:
    """Run and show one command. What `shown` showed already, at the start, is not shown again."""
    prompt("rocmcfg", *words, "--root", '"$ROOT"')
    output = run([sys.executable, "-m", "rocmcfg", *words, "--root", str(root)], code)
    same = common_start(shown.splitlines(), output.splitlines())
    if same:
        print(f"[the plan again: the same {same} lines as in step 2]")
    print("\n".join(output.splitlines()[same:]))
    missing = [text for text in expect if text not in output]
    if missing:
        stop(f"the output lacks: {', '.join(missing)}")
    if words[0] == "verify":
        print(f"[exit code {code}: {MEANING[code]}]")
    return output


def common_start(one: list[str], other: list[str]) -> int:
    """How many lines two texts begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def reboot(root: Path) -> None:
    prompt("docs/demo/reboot.py", '"$ROOT"')
    print(run([sys.executable, str(HERE / "reboot.py"), str(root)], 0), end="")


def run(command: list[str], code: int) -> str:
    """What a program printed, both streams in order. It cannot see a terminal, so it prints no colour."""
    done = subprocess.run(
        command,
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
