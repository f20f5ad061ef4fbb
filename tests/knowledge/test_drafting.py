"""A fault that doctor does not know becomes the file of a known issue, and is known then."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocmcfg.cli.documents import DOCUMENTS
from rocmcfg.knowledge import catalogue, toml
from rocmcfg.knowledge.issue_schema import mistakes
from rocmcfg.workflow import drafting
from rocmcfg.workflow.drafting import HEALTHY, pattern_of
from tests.doctor import samples
from tests.support.hosts import debian_grub_host
from tests.support.program import command, problem, process, rocmcfg

LOG = """\
[    1.0] Linux version 6.17.3-arch1-1 (builder@tower7) #1 SMP
[    3.3] [drm] initializing kernel modesetting (IP DISCOVERY 0x1002:0x744C 0x1002:0x0E3B 0xC8).
[    9.9] amdgpu 0000:03:00.0: amdgpu: [drm] *ERROR* frobnicate: cannot frob 0x1234 of process python3 pid 777
[   10.1] amdgpu 0000:03:00.0: [drm] *ERROR* frob 3 of mallory@example.org failed (-110)
[   10.2] amdgpu 0000:03:00.0: [drm] *ERROR* frob 4 of mallory@example.org failed (-110)
"""
AGAIN = """\
[    8.0] amdgpu 0000:0c:00.0: amdgpu: [drm] *ERROR* frobnicate: cannot frob 0xffff0 of process t.py pid 12
[    8.1] amdgpu 0000:0c:00.0: [drm] *ERROR* frob 17 of somebody failed (-62)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return debian_grub_host(tmp_path, gfx="gfx1100")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    (tmp_path / "fault.log").write_text(LOG)
    return tmp_path / "fault.log"


def test_what_was_drafted_is_known_from_then_on(root: Path, log: Path, tmp_path: Path) -> None:
    made = rocmcfg("issues", "new", "--from-log", log, "--set", "amdgpu.runpm=0", "--root", root)
    assert made.code == 0, made.err
    document = toml.loads(made.out)
    assert mistakes(document, catalogue.load().fixes) == []
    assert document["gfx"] == ["gfx1100"], "by the GPU's id, not by its board's, which is AMD's too"
    assert document["workaround"] == {"settings": ["amdgpu.runpm=0"]}
    assert len(document["signature"]) == 2, "lines that differ in numbers are one"
    assert "mallory" not in made.out
    assert "6.17.3-arch1-1" in made.out
    (root / "etc/rocmcfg/knowledge.d/issues").mkdir(parents=True)
    (root / "etc/rocmcfg/knowledge.d/issues/frob.toml").write_text(made.out)
    (tmp_path / "again.log").write_text(AGAIN)
    told = process(command("doctor", tmp_path / "again.log", "--gfx", "gfx1100", "--root", root, "--json"))
    assert [match["issue"] for match in told.document["matches"]][:1] == ["frob"], told.out


def test_what_is_applied_is_the_cure_where_none_is_named(root: Path, log: Path) -> None:
    assert rocmcfg("apply", "--set", "amdgpu.dcdebugmask=0x10", "--root", root, "--yes").code == 0
    made = rocmcfg("knowledge", "new", log, "--root", root)
    assert toml.loads(made.out)["workaround"] == {"settings": ["amdgpu.dcdebugmask=0x10"]}


def test_a_cure_is_a_setting(root: Path, log: Path) -> None:
    problem(rocmcfg("issues", "new", "--from-log", log, "--set", "foo", "--root", root), "RC2001", 2)


def test_what_healthy_machines_print_is_no_sign(
    root: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafting, "read_own_file", lambda _: b"[drm] *ERROR* frob 99 of nobody failed (-5)")
    made = rocmcfg("issues", "new", log, "--root", root, "--json")
    assert made.code == 0, made.err
    DOCUMENTS["knowledge new"].model_validate(made.document)
    assert made.ids == ["RC8008"]
    assert [pattern[:20] for pattern in made.document["patterns"]] == [r"\*ERROR\* frobnicate:"[:20]]


def test_every_healthy_log_is_held_against_a_draft() -> None:
    assert sorted(path.stem for path in samples.HEALTHY.iterdir()) == sorted(HEALTHY)


def test_a_fault_that_is_known_is_not_drafted_again(root: Path) -> None:
    known = rocmcfg("issues", "new", samples.LOGS / "rdna4-gemm-overread.log", "--root", root)
    assert "rdna4" in problem(known, "RC8009", 1)


@pytest.mark.parametrize(
    ("line", "pattern"),
    [
        ("amdgpu 0000:03:00.0: amdgpu: ring gfx_0.0.0 timeout", r"ring gfx_0\.[0-9]+\.[0-9]+ timeout"),
        ("amdgpu 0000:03:00.0: a (b) [c] d+ {e}", r"a \(b\) \[c\] d\+ \{e\}"),
        ("[drm:foo [amdgpu]] *ERROR* x <host-1> y", r"\*ERROR\* x .* y"),
        ("peer 0000:0a:00.1 gone, 3 left", "peer [0-9a-f:.]+ gone, [0-9]+ left"),
        ("mask 0xdeadBEEF and 12ab", "mask 0x[0-9a-fA-F]+ and 12ab"),
    ],
)
def test_a_pattern_keeps_what_stays_the_same(line: str, pattern: str) -> None:
    assert pattern_of(line) == pattern
