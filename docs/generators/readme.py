"""The parts of README.md between its `<!-- generated: NAME -->` markers: the profiles, the boot loaders that
are recognised, and what commands print on a copy of the sample host."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import dataclass
from pathlib import Path

from generators import knowledge

REPOSITORY = Path(__file__).resolve().parents[2]
DOCS = REPOSITORY / "docs"
SAMPLE = DOCS / "demo" / "sample-host"
CUT = "[…]"


def page() -> str:
    text = (REPOSITORY / "README.md").read_text()
    for name, body in (("profiles", knowledge.profile_list()), ("boot loaders", boot_loaders()), *examples()):
        block = re.compile(rf"(<!-- generated: {re.escape(name)} -->\n).*?(<!-- end -->)", re.S)
        if len(block.findall(text)) != 1:
            sys.exit(f"README.md needs the markers of {name!r} exactly once")
        text = block.sub(lambda found, body=body: f"{found[1]}{body}\n{found[2]}", text)  # type: ignore[misc]
    return text


def boot_loaders() -> str:
    from rocmcfg.backends.boot import recognised

    text = ", ".join(chain.title for chain in recognised.CHAINS) + "."
    return textwrap.fill(text, 110, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)


@dataclass(frozen=True, slots=True)
class Shown:
    """A command, its exit code, and the ranges of lines that are shown: (first, last) by how they begin."""

    words: tuple[str, ...]
    code: int = 0
    ranges: tuple[tuple[str, str], ...] = ()


def examples() -> list[tuple[str, str]]:
    """The console blocks, in the order in which a user would run them on one host."""
    plan = Shown(
        ("plan", "--profile", "gfx1201"),
        ranges=(
            ("System", "Boot"),
            ("Settings", "      cwsr-expert"),
            ("Kernel command line", "  quiet"),
            ("# kernel command line", "@@"),
            ("+GRUB_CMDLINE_LINUX_DEFAULT=", "+GRUB"),
            ("Programs", "  update-grub"),
            ("5 files", "5 files"),
        ),
    )
    lint = Shown(("lint", "docs/demo/advice.md"), 3)
    doctor = Shown(
        ("doctor", "--log", "docs/demo/fault.log"),
        ranges=(
            ("RDNA 4: a hipBLASLt", "           ROCm"),
            ("  cure ", "           env.DISABLE"),
            ("  no help", "           branch"),
        ),
    )
    apply = Shown(("apply", "--profile", "gfx1201", "--yes"), ranges=(("Applied", "Next"),))
    with tempfile.TemporaryDirectory(prefix="rocmcfg-readme-") as temporary:
        root = Path(temporary) / "host"
        shutil.copytree(SAMPLE, root, symlinks=True)
        blocks = [("lint", _console(root, lint)), ("doctor", _console(root, doctor))]
        blocks += [("plan", _console(root, plan)), ("apply", _console(root, apply))]
        reboot = [sys.executable, str(DOCS / "demo" / "reboot.py"), str(root)]
        pending = _console(root, Shown(("verify",), 6, (("Pending", "Pending"),)))
        subprocess.run(reboot, check=True, capture_output=True)
        blocks.append(("verify", pending + "\n" + _console(root, Shown(("verify",)))))
    return [(name, f"```console\n{body}\n```") for name, body in blocks]


def _console(root: Path, shown: Shown) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "rocmcfg", *shown.words, "--root", str(root)],
        stdin=subprocess.DEVNULL,
        cwd=REPOSITORY,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode != shown.code or done.stderr:
        sys.exit(f"{shown}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    lines = _parts(done.stdout.rstrip("\n").split("\n"), shown.ranges)
    return "\n".join([f"$ rocmcfg {' '.join(shown.words)} --root sample", *lines])


def _parts(lines: list[str], ranges: tuple[tuple[str, str], ...]) -> list[str]:
    if not ranges:
        return lines
    kept: list[str] = []
    at = 0
    for first, last in ranges:
        begin = next(i for i in range(at, len(lines)) if lines[i].startswith(first))
        end = next(i for i in range(begin, len(lines)) if lines[i].startswith(last))
        kept += [CUT] * (begin > at) + lines[begin : end + 1]
        at = end + 1
    return kept + [CUT] * (at < len(lines))
