"""Records that somebody else wrote: root carries out none of them, and breaks at none of them."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocmcfg.host.local import LocalHost
from rocmcfg.model.diagnostic import ExitCode, RocmcfgError
from rocmcfg.model.request import Request
from rocmcfg.model.shape import Malformed
from rocmcfg.records import journal
from rocmcfg.records.journal import digest
from rocmcfg.records.steps import document, parse
from rocmcfg.workflow import planning
from rocmcfg.workflow.status import status
from rocmcfg.workflow.verifying import verify
from tests.support import usecases as use
from tests.support.hosts import debian_grub_host
from tests.support.program import rocmcfg
from tests.support.tool_host import QuickHost
from tests.support.tools import require_root
from tests.support.trees import tree

NOBODY = 65534


@pytest.fixture
def root(tmp_path: Path) -> Path:
    found = debian_grub_host(tmp_path, amdgpu_in_initramfs=True)
    use.apply(QuickHost(str(found)), set=("amdgpu.runpm=0",), any_gpu=True, via="modprobe")
    return found


def lines(root: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _file(root).read_text().splitlines()]


def _file(root: Path) -> Path:
    return root / "var/lib/rocmcfg/transactions/000001/journal.jsonl"


def forge(root: Path, change: Callable[[list[dict[str, Any]]], object], *, open: bool = True) -> None:
    """Write the journal anew, with right checksums; without its last line it is unfinished."""
    records = lines(root)
    if open:
        records = [record for record in records if record["kind"] != "commit"]
    change(records)
    text = ""
    for record in records:
        record.pop("sum", None)
        body = json.dumps(record, sort_keys=True, separators=(",", ":"))
        text += f'{body[:-1]},"sum":"{journal._sum(body)}"}}\n'
    _file(root).write_text(text)


def refused(root: Path) -> list[str]:
    """The ids of what recover says, which has to leave all as it is."""
    before = tree(root)
    with pytest.raises(RocmcfgError) as stop:
        use.recover(QuickHost(str(root)))
    assert stop.value.exit_code == ExitCode.RECOVERY_REQUIRED
    assert tree(root) == before
    return [d.id for d in stop.value.diagnostics]


def first(kind: str, records: list[dict[str, Any]]) -> dict[str, Any]:
    return next(record for record in records if record["kind"] == kind)


@pytest.mark.parametrize("path", ["/usr/bin/shell", "/etc/passwd", "/etc/modprobe.d/../../x", "/etc/shadow"])
def test_a_journal_restores_and_removes_only_what_is_ours(root: Path, path: str) -> None:
    forge(root, lambda records: first("file", records).update(path=path))
    assert refused(root) == ["RC4020"]


def test_a_journal_removes_no_directory_of_others(root: Path) -> None:
    empty = root / "srv/empty"
    empty.mkdir(parents=True)
    body = {"v": 1, "kind": "mkdir", "path": "/srv/empty"}
    forge(root, lambda records: records.append(body))
    assert refused(root) == ["RC4020"]
    assert empty.is_dir()


def test_a_journal_names_programs_and_does_not_say_what_they_are(root: Path) -> None:
    forge(root, lambda records: first("activation", records).update(argv=["/tmp/evil"]))
    use.recover(QuickHost(str(root)))
    assert not (root / "etc/modprobe.d/zz-rocmcfg.conf").exists()


def test_a_program_that_we_do_not_run_is_not_run(root: Path) -> None:
    forge(root, lambda records: first("activation", records).update(tool="evil"))
    assert refused(root) == ["RC4020"]


def test_an_output_that_no_program_of_ours_has_is_not_restored(root: Path) -> None:
    saved = first("file", lines(root))["before"]
    forge(root, lambda records: first("activation", records).update(outputs={"/etc/passwd": saved}))
    assert refused(root) == ["RC4020"]


def test_no_file_comes_back_with_more_rights_than_its_owner_has(root: Path) -> None:
    """A shell that runs as root for everybody, saved as what was there before."""
    owner = {"uid": os.geteuid(), "gid": os.getegid()}
    saved = {"mode": 0o6755, **owner, "mtime_ns": 0, "xattrs": [["security.capability", "AAAA"]]}
    content = b"#!/bin/sh\n"
    name = digest(content)
    (_file(root).parent / "backups" / name).write_bytes(content)
    forge(root, lambda records: first("file", records).update(before={"sha256": name, **saved}))
    path = first("file", lines(root))["path"]
    use.recover(QuickHost(str(root)))
    assert (root / path.lstrip("/")).read_bytes() == content
    assert stat.S_IMODE((root / path.lstrip("/")).stat().st_mode) == 0o755


WRONG: list[tuple[str, Callable[[list[dict[str, Any]]], object]]] = [
    ("a path that is a number", lambda r: first("file", r).update(path=1)),
    ("a path that is relative", lambda r: first("file", r).update(path="etc/x")),
    ("no path", lambda r: first("file", r).pop("path")),
    ("a before that is a list", lambda r: first("file", r).update(before=[1])),
    ("a before without a digest", lambda r: first("file", r).update(before={"mode": 1})),
    ("outputs that are a list", lambda r: first("activation", r).update(outputs=[])),
    ("expectations that are none", lambda r: r[0].update(expect=None)),
    ("settings that are numbers", lambda r: r[0].update(settings=[1])),
    ("a kind that is a list", lambda r: r[1].update(kind=[])),
    ("a kind that nobody knows", lambda r: r[1].update(kind="exec")),
    ("no beginning", lambda r: r.pop(0)),
    ("two beginnings", lambda r: r.append(dict(r[0]))),
    ("a before that is a text", lambda r: first("file", r).update(before="x")),
    ("together that is a text", lambda r: r.append({"v": 1, "kind": "undo", "together": "12"})),
]


@pytest.mark.parametrize(("what", "change"), WRONG, ids=[what for what, _ in WRONG])
def test_a_record_of_another_shape_stops_whoever_reads_it(
    root: Path, what: str, change: Callable[[list[dict[str, Any]]], object]
) -> None:
    forge(root, change)
    assert refused(root) == ["RC4020"]
    for command in ("recover", "rollback --yes", "history", "apply --set amdgpu.runpm=1 --any-gpu --yes"):
        found = rocmcfg(*command.split(), "--root", root)
        assert "RC4020" in found.err
        assert "RC9000" not in found.err


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(record=JSON | st.dictionaries(st.sampled_from(["kind", "path", "before", "tool", "outputs"]), JSON))
def test_any_json_has_a_verdict(record: Any) -> None:
    with contextlib.suppress(Malformed):
        assert parse(json.loads(json.dumps(document(parse(record))))) == parse(record)


# -- who could have written them ---------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["", "var", "var/lib", "var/lib/rocmcfg", "var/lib/rocmcfg/transactions"])
def test_root_believes_no_record_that_others_can_write(root: Path, part: str) -> None:
    require_root()
    forge(root, lambda _: None)
    os.chown(root / part, NOBODY, NOBODY)
    before = tree(root)
    for command in (
        "recover",
        "rollback --yes",
        "rollback --yes --pristine",
        "apply --set amdgpu.runpm=1 --any-gpu --yes",
        "confirm --yes",
        "reject --yes",
        "check-kernel 6.12",
        "history",
        "verify",
    ):
        found = rocmcfg(*command.split(), "--root", root)
        assert (found.code, "RC4028" in found.err) == (1, True), f"{command}: {found.err}"
        assert "without sudo" in " ".join(found.err.split())
    assert tree(root) == before


@pytest.mark.parametrize(
    "record", ["transactions/000001", "transactions/000001/journal.jsonl", "receipt.json"]
)
def test_a_record_that_others_can_write_is_not_believed_in_a_folder_of_roots(root: Path, record: str) -> None:
    require_root()
    os.chown(root / "var/lib/rocmcfg" / record, NOBODY, NOBODY)
    found = rocmcfg("rollback", "--dry-run", "--root", root)
    if record == "receipt.json":
        found = rocmcfg("verify", "--root", root)
    assert (found.code, "RC4028" in found.err) == (1, True), found.err
    assert f"chown -R root:root {root}/var/lib/rocmcfg" in " ".join(found.err.split())


def test_who_only_looks_goes_on_without_the_record(root: Path) -> None:
    require_root()
    os.chown(root / "var/lib", NOBODY, NOBODY)
    view = LocalHost(str(root))
    made = planning.plan(view, Request(set=("amdgpu.runpm=1",), any_gpu=True))
    assert "RC4028" in [d.id for d in made.plan.diagnostics]
    assert "RC4028" in [d.id for d in status(view).diagnostics]
    with pytest.raises(RocmcfgError):
        verify(view)


def test_programs_of_a_tree_that_others_can_write_are_not_run_as_root(root: Path) -> None:
    require_root()
    os.chown(root / "usr/sbin", NOBODY, NOBODY)
    found = rocmcfg("apply", "--set", "amdgpu.runpm=1", "--yes", "--chroot", "--root", root)
    assert (found.code, "RC3026" in found.err) == (1, True), found.err
