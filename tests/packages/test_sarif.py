"""`rocmcfg lint --sarif`, read by the validator of SARIF's authors: the schema of 2.1.0, and what code
scanning on GitHub asks for besides."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.packages.npm import npm_packages
from tests.support.hosts import debian_grub_host
from tests.support.program import rocmcfg
from tests.support.tools import HANG

FOLDER = Path(__file__).parent / "sarif"
PASTED = """amdgpu.gfxoff=0 amdgpu.noretry=0 amdgpu.runpm=7
export TORCH_USE_HIPBLASLT=0 HSA_OVERRIDE_GFX_VERSION=11.0.0
"""


@pytest.fixture(scope="module")
def validator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    packed = npm_packages(FOLDER) / "@microsoft/sarif-multitool-linux/Sarif.Multitool"
    program = tmp_path_factory.mktemp("validator") / packed.name
    shutil.copy(packed, program)
    program.chmod(0o755)  # the package leaves that to a script, and no script of a package is run
    return program


def complaints(validator: Path, log: str, folder: Path) -> list[str]:
    file = folder / "rocmcfg.sarif"
    file.write_text(log)
    done = subprocess.run(
        [str(validator), "validate", str(file), "--rule-kind", "Sarif;Ghas"],
        env={**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"},
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    assert "Done. 1 files scanned." in done.stdout, done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if ": error " in line or ": warning " in line]


def test_the_validator_has_nothing_to_say(
    validator: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pasted.sh").write_text(PASTED)
    Path("binary").write_bytes(b"\0" * 64)
    root = debian_grub_host(tmp_path, cmdline="amdgpu.gfxoff=0 amd_iommu=pt")
    for arguments in (("pasted.sh", "--gfx", "9070xt"), ("pasted.sh", "binary"), ("--root", root)):
        assert complaints(validator, rocmcfg("lint", "--sarif", *arguments).out, tmp_path) == [], arguments


def test_the_validator_would_see_a_result_without_a_message(
    validator: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pasted.sh").write_text(PASTED)
    log = json.loads(rocmcfg("lint", "--sarif", "pasted.sh").out)
    del log["runs"][0]["results"][0]["message"]
    (complaint,) = complaints(validator, json.dumps(log), tmp_path)
    assert "'message' is missing" in complaint
