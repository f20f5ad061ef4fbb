"""A byte order mark at the beginning of a file: lint reports it where the file's program does not skip it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rocmcfg.advice.lint.source import decode
from tests.languages import oracles
from tests.lint.judging import judged, told

NAME = "TORCH_BLAS_PREFER_HIPBLASLT"
FIRST, SECOND = f"{NAME}=0", "ROCBLAS_USE_HIPBLASLT=0"


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that pam_env reads for whoever runs the tests."""
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        Path(made).chmod(0o755)
        yield Path(made)


def _by(shell: str) -> Callable[[Path, str], dict[str, str] | None]:
    return lambda folder, text: oracles.by_shell(shell, folder, text)


# The file, its text, whether its program sets the variable of the first line, and that program.
FILES: dict[str, tuple[str, str, bool, Callable[[Path, str], dict[str, str] | None]]] = {
    "dash": ("a.sh", f"export {FIRST}\nexport {SECOND}\n", False, _by("dash")),
    "bash": ("/home/u/.bashrc", f"export {FIRST}\nexport {SECOND}\n", False, _by("bash")),
    "a comment above": ("a.sh", f"#!/bin/sh\nexport {FIRST}\nexport {SECOND}\n", True, _by("dash")),
    "an empty line above": ("a.sh", f"\nexport {FIRST}\nexport {SECOND}\n", True, _by("bash")),
    "one line": ("a.sh", f"export {FIRST}; export {SECOND}\n", False, _by("dash")),
    "fish": (
        "/etc/fish/conf.d/a.fish",
        f"set -gx {NAME} 0\nset -gx ROCBLAS_USE_HIPBLASLT 0\n",
        True,
        oracles.by_fish,
    ),
    "environment.d": ("/etc/environment.d/a.conf", f"{FIRST}\n{SECOND}\n", False, oracles.by_generator),
    "pam_env": (
        "/etc/environment",
        f"{FIRST}\n{SECOND}\n",
        False,
        lambda folder, text: oracles.by_pam_env(folder, text.encode()),
    ),
    "a unit": (
        "/etc/systemd/system/a.service",
        f"[Service]\nEnvironment={FIRST} {SECOND}\n",
        True,
        lambda folder, text: oracles.by_manager(folder, [text])[0],
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_mark_that_a_program_does_not_skip_is_reported(name: str, public: Path) -> None:
    file, text, skipped, program = FILES[name]
    marked = decode(b"\xef\xbb\xbf" + text.encode())
    checked = judged(file, marked)
    assert [f.line for f in checked.findings if "byte order mark" in f.remark.summary] == [1] * (not skipped)
    assert [each.name for each in checked.assignments] == [NAME] * skipped + ["ROCBLAS_USE_HIPBLASLT"]
    environment = program(public, marked)
    assert environment is not None
    assert (NAME in environment, environment.get("ROCBLAS_USE_HIPBLASLT")) == (skipped, "0")


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        # what `modprobe -c` shows: the first line is no line of options
        (
            "/etc/modprobe.d/a.conf",
            "options amdgpu \\\n gfxoff=0\noptions amdgpu gfxoff=1\n",
            [(2, 2), (3, 16)],
        ),
        # what TuneD logs: "Cannot parse"; it loads nothing of the profile
        ("/etc/tuned/a/tuned.conf", "[main]\n[bootloader]\ncmdline=amdgpu.runpm=0\n", [(1, 1)]),
        ("/etc/default/grub", "# defaults\nGRUB_TIMEOUT=5\n", [(1, 1)]),  # sh -e stops there
        ("/etc/kernel/cmdline", "amdgpu.runpm=0 amdgpu.cwsr_enable=0\n", [(1, 1)]),
        ("/srv/app/.env", f"{FIRST}\n", [(1, 1)]),  # readers differ
        ("/boot/loader/entries/a.conf", "options amdgpu.runpm=0\nlinux /vmlinuz\n", [(1, 9)]),
        ("/boot/loader/entries/a.conf", "title a\noptions amdgpu.runpm=0\n", []),
        ("env.list", f"{FIRST}\n", []),
        ("Dockerfile", f"FROM x\nENV {FIRST}\n", []),
        ("a.py", "import os\n", []),
        ("compose.yaml", f"environment:\n  - {FIRST}\n", []),
        ("a.sh", "echo\nexport A=b\n", []),
    ],
)
def test_a_mark_at_the_beginning_of_other_files(
    file: str, text: str, expected: list[tuple[int, int]]
) -> None:
    findings = judged(file, decode(b"\xef\xbb\xbf" + text.encode())).findings
    assert [(f.line, f.column) for f in findings] == expected


def test_what_the_first_line_sets_overrides_nothing() -> None:
    text = decode(b"\xef\xbb\xbf" + f"{SECOND}\n{SECOND}\n".encode())
    assert [kind for _, kind in told(judged("/etc/environment.d/a.conf", text))] == ["syntax"]
