"""The job of the how-to annotates a run whose GPU failed, and no other."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.program import SOURCE
from tests.support.tools import require_tool

from .test_verdicts import ECC, PAGE_FAULT, watched

HOW_TO = SOURCE / "docs/how-to/failing-programs.md"


@pytest.mark.parametrize(
    ("lines", "annotation"),
    [
        ((), ""),
        ((PAGE_FAULT,), "::error title=AMD GPU: fault AMD-401::sh ended with exit code 3, and the kernel "),
        ((ECC,), "::error title=AMD GPU: hardware AMD-"),
    ],
)
def test_a_job_is_annotated(tmp_path: Path, lines: tuple[str, ...], annotation: str) -> None:
    require_tool("jq", "jq")
    step = HOW_TO.read_text().partition("        run: |\n")[2].partition("```")[0]
    assert "jq" in step
    watched(tmp_path, "exit 3", *lines)
    (tmp_path / "report.json").rename(tmp_path / "gpu.json")
    shown = subprocess.run(
        ["bash", "-ec", step], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    assert shown.startswith(annotation)
    assert shown.count("\n") == bool(annotation)
