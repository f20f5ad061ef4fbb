"""Every document that a command prints with --json is what `rocmcfg schema` says, and nothing more."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest

from rocmcfg.cli.documents import DOCUMENTS
from tests.support.boots import enable_unit, reboot
from tests.support.hosts import OTHER_HOSTS, debian_grub_host, other_host, partitioned_instinct_host
from tests.support.program import Result, rocmcfg
from tests.support.tools import require_tool

RUNPM = ("--set", "amdgpu.runpm=0")
DOCTOR_LOG = Path(__file__).resolve().parents[1] / "doctor/logs/rdna4-gemm-overread.log"
Run = Callable[[Path], Result]
LINTED = str(Path(__file__).parents[1] / "lint/data/stability.txt")


def _applied(root: Path) -> None:
    assert rocmcfg("apply", "--profile", "rdna4", *RUNPM, "--root", root, "--yes").code == 0


def _command(*arguments: str, applied: bool = True) -> Run:
    def run(root: Path) -> Result:
        if applied:
            _applied(root)
        return rocmcfg(*arguments, "--root", root, "--json")

    return run


def _owned(*arguments: str) -> Run:
    """Where the owner has set parameters, of which one has to stay."""

    def run(root: Path) -> Result:
        options = 'options amdgpu runpm=0\noptions ttm pages_limit="4194304"\n'
        (root / "etc/modprobe.d").mkdir(exist_ok=True)
        (root / "etc/modprobe.d/own.conf").write_text(options)
        return rocmcfg(*arguments, "--root", root, "--json")

    return run


def _tried(boots: int, *arguments: str) -> Run:
    """After `apply --trial` and so many boots; on a tree whose tools can be run."""

    def run(root: Path) -> Result:
        require_tool("grub-editenv", "grub-common")
        enable_unit(root)
        asked = ("--confirm-after", "10m", "--health-check", "true")
        assert rocmcfg("apply", *RUNPM, "--trial", *asked, "--root", root, "--yes", tools=root).code == 0
        for _ in range(boots):
            reboot(root)
        return rocmcfg(*arguments, "--root", root, "--json", tools=root)

    return run


def _reported(root: Path) -> Result:
    """Return the document that `run` writes to a file."""
    file = root / "report.json"
    ended = rocmcfg("run", "--json", file, "--", "true")
    return Result(ended.code, file.read_text(), ended.err)


def _collected(root: Path) -> Result:
    """Return the document about the documents of two hosts, of which one is broken, and an older one."""
    for name in ("new", "old"):
        folder = root.parent / name
        folder.mkdir()
        (folder / "node1.json").write_text(rocmcfg("status", "--root", root, "--json").out)
        (folder / "node2.json").write_text(rocmcfg("doctor", DOCTOR_LOG, "--root", root, "--json").out)
        (folder / "node3.json").write_text("{")
        _applied(root)
    return rocmcfg("fleet", root.parent / "old", "--since", root.parent / "new", "--json")


def _compared(root: Path) -> Result:
    """Return the document about a host that lost a setting at run time."""
    golden = root.parent / "golden.json"
    rocmcfg("facts", "--save", golden, "--root", root)
    (root / "sys/module/amdgpu/parameters/runpm").write_text("1\n")
    return rocmcfg("verify", "--against", golden, "--root", root, "--json")


def _tries(*arguments: str, of: str = "exit 1", ends: bool = True) -> Run:
    """After a try of this user."""

    def run(root: Path) -> Result:
        words = ("--set", "env.HSA_XNACK=1", "--", "sh", "-c", of)
        with mock.patch.dict(os.environ, {"XDG_STATE_HOME": str(root / "state")}):
            made = rocmcfg("try", "--json", "--no-warm-up", "--runs", "9" if ends else "1", *words)
            return rocmcfg(*arguments, "--json") if arguments else made

    return run


RUNS: dict[str, tuple[str, Run]] = {
    "plan": ("plan", _command("plan", "--profile", "auto", "--set", "feature.gfxoff=false", applied=False)),
    "plan of a change": ("plan", _command("plan", "--set", "karg.nomodeset", "--set", "env.HSA_XNACK=1")),
    "plan in sync": ("plan", _command("plan", "--profile", "rdna4", *RUNPM)),
    "apply": ("apply", _command("apply", "--profile", "rdna4", "--via", "modprobe", "--yes", applied=False)),
    "apply in sync": ("apply", _command("apply", "--profile", "rdna4", *RUNPM, "--yes")),
    "apply --dry-run": ("apply", _command("apply", *RUNPM, "--dry-run", applied=False)),
    "take-over": ("take-over", _owned("take-over", "--yes")),
    "take-over --dry-run": ("take-over", _owned("take-over", "--dry-run")),
    "take-over of nothing": ("failure", _command("take-over", "--yes")),
    "verify": ("verify", _command("verify")),
    "verify nothing": ("verify", _command("verify", applied=False)),
    "verify a profile": ("verify", _command("verify", "--profile", "rdna4", applied=False)),
    "rollback": ("rollback", _command("rollback", "--yes")),
    "rollback --dry-run": ("rollback", _command("rollback", "--dry-run")),
    "rollback nothing": ("rollback", _command("rollback", "--yes", applied=False)),
    "recover nothing": ("recover", _command("recover")),
    "history": ("history", _command("history")),
    "history of nothing": ("history", _command("history", applied=False)),
    "status": ("status", _command("status")),
    "status of nothing": ("status", _command("status", applied=False)),
    "profile list": ("profile list", _command("profile", "list", applied=False)),
    "profile show": ("profile show", _command("profile", "show", "rdna4", applied=False)),
    "profile validate": ("profile validate", _command("profile", "validate", "rdna4", applied=False)),
    "profile new": ("profile new", _command("profile", "new", "mine", applied=False)),
    "env": ("env", _command("env", "--profile", "rdna4", applied=False)),
    "render": ("render", _command("render", "--profile", "rdna4", "--format", "nixos", applied=False)),
    "explain": ("explain", _command("explain", "ppfeaturemask=0xfffd3fff", applied=False)),
    "explain a feature": ("explain", _command("explain", "gfxoff")),
    "explain a misnomer": ("explain", _command("explain", "gtt_size", applied=False)),
    "report": ("report", _command("report")),
    "explain an argument": ("explain", _command("explain", "iommu=pt", applied=False)),
    "explain a variable": ("explain", _command("explain", "HSA_XNACK=0", applied=False)),
    "doctor": ("doctor", _command("doctor", "--log", str(DOCTOR_LOG), applied=False)),
    "issues": ("issues", _command("issues")),
    "explain an issue": ("explain", _command("explain", "rdna4-expert-sched-cwsr", applied=False)),
    "explain a GPU": ("explain", _command("explain", "gfx1201", applied=False)),
    "explain a diagnostic": ("explain", _command("explain", "RC3015", applied=False)),
    "doctor without a log": ("doctor", _command("doctor")),
    "lint": ("lint", _command("lint", applied=False)),
    "lint with findings": ("lint", _command("lint", "--fix", LINTED, applied=False)),
    "lint of nothing": ("lint", _command("lint", "/nowhere", applied=False)),
    "issues --export": ("issues --export", _command("issues", "--export", "prometheus", applied=False)),
    "run": ("run", _reported),
    "facts": ("facts", _command("facts", "--name-host", applied=False)),
    "verify --against": ("verify", _compared),
    "verify --name-host": ("verify", _command("verify", "--name-host")),
    "fleet": ("fleet", _collected),
    "try": ("try", _tries()),
    "try without a failure": ("try", _tries(of="exit 0")),
    "tries list": ("tries list", _tries("tries", "list")),
    "tries show": ("tries show", _tries("tries", "show", "1")),
    "tries forget": ("tries forget", _tries("tries", "forget", "1")),
    "tries resume of one that is over": ("failure", _tries("tries", "resume")),
    "check-kernel": ("check-kernel", _command("check-kernel", "6.99.0-none")),
    "watch-trial without one": ("watch-trial", _command("watch-trial")),
    "plan --trial": ("plan", _command("plan", *RUNPM, "--trial", applied=False)),
    "apply --trial": ("failure", _tried(0, "apply", "--set", "karg.iommu=pt", "--trial", "--yes")),
    "apply --trial --dry-run": ("apply", _command("apply", *RUNPM, "--trial", "--dry-run", applied=False)),
    "verify a trial": ("verify", _tried(1, "verify")),
    "status of a trial to come": ("status", _tried(0, "status")),
    "status of a trial": ("status", _tried(1, "status")),
    "status after a trial": ("status", _tried(2, "status")),
    "history of a trial": ("history", _tried(1, "history")),
    "confirm": ("confirm", _tried(1, "confirm", "--yes")),
    "reject": ("reject", _tried(1, "reject", "--yes")),
    "recover after a trial": ("recover", _tried(2, "recover")),
    "a refusal": ("failure", _command("apply", "--profile", "nope", "--yes", applied=False)),
    "a usage error": ("failure", _command("apply", "--set", "runpm", "--yes", applied=False)),
}


@pytest.mark.parametrize("name", RUNS)
def test_the_document(tmp_path: Path, name: str) -> None:
    document, run = RUNS[name]
    found = run(debian_grub_host(tmp_path, kernels=("6.14.0-37-generic",)))
    model = DOCUMENTS[document]
    model.model_validate(found.document)
    assert model.model_config.get("extra") == "forbid"
    assert found.document["command"] == document or document == "failure"
    assert found.err == "", "with --json all that there is to say is in the document"


def test_every_document_of_the_schema_was_seen() -> None:
    seen = {document for document, _ in RUNS.values()}
    seen |= {"tries resume"}  # in tests/experiments
    seen |= {"continue-try"}  # in tests/reboots
    seen |= {
        f"knowledge {verb}" for verb in ("check", "export", "install", "new", "remove")
    }  # in tests/knowledge
    seen |= {
        f"crashes {verb}" for verb in ("on", "off", "list", "show", "report", "forget")
    }  # in tests/crashes
    assert seen == set(DOCUMENTS) - {"profile-file", "known-issue"}


@pytest.mark.parametrize("chain", sorted(OTHER_HOSTS))
def test_status_is_a_document_on_every_host(tmp_path: Path, chain: str) -> None:
    found = rocmcfg("status", "--root", other_host(tmp_path, chain), "--json")
    assert found.code == 0
    DOCUMENTS["status"].model_validate(found.document)
    chain_of = found.document["facts"]["boot_chain"]
    assert (chain_of["loader"] is None) == (chain == "two-boot-chains"), chain_of
    assert chain_of["evidence"] or chain == "two-boot-chains"


def test_status_lists_sixty_four_partitions(tmp_path: Path) -> None:
    found = rocmcfg("status", "--root", partitioned_instinct_host(tmp_path), "--json")
    gpus = found.document["facts"]["gpus"]
    assert len(gpus) == 64
    assert {g["gfx"] for g in gpus} == {"gfx942"}


def test_schema_prints_what_the_models_are() -> None:
    every = json.loads(rocmcfg("schema").out)
    assert set(every["documents"]) == set(DOCUMENTS)
    assert every["schema_version"] == 1
    assert json.loads(rocmcfg("schema", "verify").out) == every["documents"]["verify"]
    wrong = rocmcfg("schema", "verfy")
    assert wrong.code == 2
    assert "known: failure, plan" in wrong.err


def test_an_unknown_schema_is_told_in_a_document() -> None:
    assert rocmcfg("schema", "nosuch", "--json").ids == ["RC0002"]


def test_diagnostics_have_all_fields_of_the_contract(tmp_path: Path) -> None:
    found = rocmcfg("plan", "--profile", "gfx1100", "--root", debian_grub_host(tmp_path), "--json")
    for row in found.document["diagnostics"]:
        assert set(row) == {"id", "severity", "summary", "detail", "location", "hint"}
        assert row["severity"] in ("error", "warning", "info")
