"""State directories that rocmcfg 0.1.0 wrote: today's program reads, verifies and undoes each of them."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pytest

from tests.support.boots import next_boot
from tests.support.hosts import debian_grub_host
from tests.support.program import Result, rocmcfg
from tests.support.tool_host import QuickHost
from tests.support.tools import require_tool
from tests.support.trees import Tree
from tests.support.trials import configuration

RECORDED = Path(__file__).parent / "written_by_0_1_0"


@dataclass(frozen=True, slots=True)
class Case:
    """`history` says of each transaction, oldest first, its state and, of a trial, its outcome. The commands
    of `undo` lead back to a host on which rocmcfg never was."""

    name: str
    history: tuple[tuple[str, str | None], ...]
    verify: int
    undo: tuple[str, ...] = ("rollback --pristine --yes",)


APPLIED = ("committed", None)
CASES = (
    Case(
        "long-history",
        (
            APPLIED,
            ("rolled_back", None),
            ("rolled_back", "rejected"),
            ("rolled_back", "not_confirmed"),
            ("committed", "confirmed"),
            APPLIED,
            ("rolled_back", None),
            ("rolled_back", None),
            APPLIED,
        ),
        6,
    ),
    Case("trial-armed", (APPLIED, ("committed", "armed")), 6),
    Case("trial-running", (APPLIED, ("committed", "running")), 0, ("reject --yes", "rollback --yes")),
    Case("trial-over", (APPLIED, ("committed", "over")), 0, ("recover", "rollback --yes")),
    Case("interrupted", (APPLIED, ("unfinished", None)), 5, ("recover", "rollback --yes")),
    Case("interrupted-rollback", (("unfinished", None),) * 3, 5, ("recover",)),
    Case("swept", (APPLIED, APPLIED), 0),
    Case("tools-left-to-user", (APPLIED,), 6),
)


def lay_out(folder: Path, name: str) -> Path:
    root = debian_grub_host(folder, amdgpu_in_initramfs=True)
    for path, file in json.loads((RECORDED / f"{name}.json").read_text()).items():
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        if "link" in file:
            place.symlink_to(file["link"])
            continue
        content = file["text"].encode("utf-8", "surrogateescape")
        place.write_bytes(_of_this_user(content) if place.name == "journal.jsonl" else content)
        place.chmod(int(file["mode"], 8))
    return root


def _of_this_user(journal: bytes) -> bytes:
    """Root wrote it, and who is not root can give no file to root."""
    if os.geteuid() == 0:
        return journal
    lines = []
    for line in journal.decode().splitlines():
        body = line.rpartition(',"sum":')[0] + "}"
        body = body.replace('"uid":0', f'"uid":{os.geteuid()}').replace('"gid":0', f'"gid":{os.getegid()}')
        lines.append(f'{body[:-1]},"sum":"{sha256(body.encode()).hexdigest()[:16]}"}}\n')
    return "".join(lines).encode()


def run(root: Path, command: str) -> Result:
    return rocmcfg(*command.split(), "--root", root, host=QuickHost)


@pytest.fixture(params=CASES, ids=[case.name for case in CASES])
def case(request: pytest.FixtureRequest) -> Case:
    found = request.param
    assert isinstance(found, Case)
    return found


@pytest.fixture
def root(tmp_path: Path, case: Case) -> Path:
    require_tool("grub-editenv", "grub-common")
    return lay_out(tmp_path, case.name)


@pytest.fixture
def untouched(tmp_path: Path) -> Tree:
    (tmp_path / "untouched").mkdir()
    return configuration(debian_grub_host(tmp_path / "untouched", amdgpu_in_initramfs=True))


def test_what_0_1_0_wrote_is_read_and_verified(case: Case, root: Path) -> None:
    rows = run(root, "history --json").document["transactions"]
    found = tuple((row["state"], row["trial"]["outcome"] if row["trial"] else None) for row in rows[::-1])
    assert found == case.history
    verified = run(root, "verify --json")
    assert (verified.code, "RC9000" in verified.err) == (case.verify, False), verified
    assert run(root, "status --json").code == 0
    assert run(root, "check-kernel 6.12.107+deb13-amd64").code in (0, 5)


def test_what_0_1_0_applied_is_undone(case: Case, root: Path, untouched: Tree) -> None:
    for command in case.undo:
        done = run(root, command)
        assert done.code == 0, f"{command}: {done.err}"
    found = configuration(root)
    assert set(found) - _LATER == set(untouched)
    changed = {path for path, entry in found.items() if path not in _LATER and untouched[path] != entry}
    assert all(path.startswith("boot/initrd.img") for path in changed)  # the generator packs it anew
    assert next_boot(root) == ""
    assert "Nothing to roll back" in run(root, "rollback --yes").out


# what these tests add for a trial that confirms itself
_LATER = {
    *("etc/systemd", "etc/systemd/system", "etc/systemd/system/multi-user.target.wants"),
    "etc/systemd/system/multi-user.target.wants/rocmcfg-trial.service",
    *("usr/lib/systemd", "usr/lib/systemd/system", "usr/lib/systemd/system/rocmcfg-trial.service"),
}


def test_a_trial_that_0_1_0_began_is_confirmed(tmp_path: Path) -> None:
    require_tool("grub-editenv", "grub-common")
    root = lay_out(tmp_path, "trial-running")
    done = run(root, "confirm --yes --json")
    assert done.code == 0, done.err
    assert {row["setting"]: row["value"] for row in done.document["settings"]} == {
        "amdgpu.runpm": "0",
        "amdgpu.mes": "1",
        "env.HSA_ENABLE_SDMA": "0",
    }
    assert run(root, "verify").code == 0
