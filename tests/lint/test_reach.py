"""What a shell never runs sets nothing: asked of dash and bash, which run each script here."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.lint.judging import judged, told
from tests.support.tools import HANG, require_tool

SET = "export TORCH_USE_HIPBLASLT=1"
OFF, BEHIND, MAY_RUN = "off", "behind", "may run"

# Each script with what becomes of the setting in it.
SCRIPTS = {
    "a branch that is switched off": ("if false; then\n  SET\nfi\n", OFF),
    "a branch of what is never true": ("if ! true\nthen SET; fi\n", OFF),
    "behind what is always true": ("if true; then :; elif x; then :; else\n  SET\nfi\n", OFF),
    "a loop that is switched off": ("while false; do\n  SET\ndone\n", OFF),
    "a branch in one that is off": ("if false; then\n  if x; then SET; fi\nfi\n", OFF),
    "the other branch": ("if false; then :; else SET; fi\n", MAY_RUN),
    "a test of two commands": ("if false || true; then\n  SET\nfi\n", MAY_RUN),
    "a test of two lines": ("if false\ntrue\nthen\n  SET\nfi\n", MAY_RUN),
    "a test with a pipe": ("if false | true; then\n  SET\nfi\n", MAY_RUN),
    "a text that nobody reads": (": <<'OFF'\nSET\nOFF\n", OFF),
    "behind the end": ("true\nexit 0\nSET\n", BEHIND),
    "behind the end on one line": ("exit; SET\n", BEHIND),
    "behind a program that takes over": ("#!/bin/sh\nexec true x >/dev/null 2>&1\nSET\n", BEHIND),
    "behind a redirection of all": ("#!/bin/sh\nexec 3>&1 >/dev/stderr\nSET\n", MAY_RUN),
    "behind a branch that ends": ("if x; then\n  exit\nfi\nSET\n", MAY_RUN),
    "behind a condition": ("false && exit\nSET\n", MAY_RUN),
    "behind an alternative on two lines": ("true ||\nexit\nSET\n", MAY_RUN),
    "behind the end of a subshell": ("(\ntrue\nexit\n)\nSET\n", MAY_RUN),
    "behind the end of what is substituted": ("A=$(\nexit\n)\nB=`\nexit\n`\nSET\n", MAY_RUN),
    "behind the end of a function": ("f() {\n  exit\n}\nSET\n", MAY_RUN),
    "behind the end of a function in a subshell": ("f() (\n  true\n  exit\n)\nSET\n", MAY_RUN),
    "behind a pattern that closes nothing": ("case a in\nend) x ;;\nb)\nexit\n;;\nesac\nSET\n", MAY_RUN),
    "behind a text with a strange end": ("cat <<'A B' >/dev/null\nexit\nA B\nSET\n", MAY_RUN),
    "behind a quote that is escaped": ("true $'a\\'b\nexit\nc'\nSET\n", MAY_RUN),
    "behind an end in the background": ("exit &\nSET\n", MAY_RUN),
    "behind another branch on the line": ("if x; then :\nelse if y; then :\nfi\nexit\nfi\nSET\n", MAY_RUN),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_what_a_shell_never_runs_sets_nothing(name: str, tmp_path: Path) -> None:
    text, fate = SCRIPTS[name]
    classes = [kind for _, kind in told(judged("a.sh", text.replace("SET", SET)))]
    assert classes == {OFF: [], BEHIND: ["unknown", "conflict"], MAY_RUN: ["unknown"]}[fate]
    script = tmp_path / "a.sh"
    script.write_text(text.replace("SET", "echo reached"))
    for shell in ("dash", "bash"):
        argv = [require_tool(shell, package=shell), str(script)]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=HANG, check=False)
        assert fate is MAY_RUN or "reached" not in done.stdout


@pytest.mark.parametrize(
    ("file", "text", "kinds"),
    [
        ("/etc/profile.d/a.sh", f"return\n{SET}\n", ["unknown", "conflict"]),
        ("a.sh", f"return\n{SET}\n", ["unknown"]),  # bash goes on behind it
        ("/home/u/.bashrc", f"exec fish\n{SET}\n", ["unknown"]),  # an interactive shell goes on if it fails
        ("a.fish", f"exec fish\n{SET}\n", ["unknown"]),
        ("/etc/default/grub", "exit\nGRUB_CMDLINE_LINUX=amdgpu.gfxoff=0\n", ["unknown", "conflict"]),
        ("/etc/default/grub", "if false; then\n  GRUB_CMDLINE_LINUX=quiet amdgpu.gfxoff=0\nfi\n", []),
        ("a.md", f"```sh\nsudo -s\nexit\n{SET}\n```\n", ["unknown"]),  # it leaves another shell
    ],
)
def test_who_reads_a_script_decides_what_ends_it(file: str, text: str, kinds: list[str]) -> None:
    assert [kind for _, kind in told(judged(file, text))] == kinds


def test_what_stands_behind_the_end_overrides_nothing() -> None:
    text = "export ROCBLAS_USE_HIPBLASLT=0\nreturn\nexport ROCBLAS_USE_HIPBLASLT=1\n"
    (finding,) = judged("/etc/profile.d/a.sh", text).findings
    assert (finding.line, "the script ends before it, at line 2" in finding.remark.summary) == (3, True)
