"""A tree that another user may write: whatever that user exchanges meanwhile, and whatever stands in its
journals, root's commands put nothing outside of it and hand out no rights."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.model.diagnostic import RocmcfgError
from tests.support.hosts import debian_grub_host
from tests.support.program import Result, rocmcfg
from tests.support.tool_host import QuickHost
from tests.support.trees import tree

from .racing import ByName, exchanging
from .scenarios import done, run

pytestmark = pytest.mark.faults
ROOT = os.geteuid() == 0
needs_root = pytest.mark.skipif(not ROOT, reason="only root's commands are worth a race")
APPLY = ("apply", "--set", "amdgpu.runpm=0", "--set", "env.HSA_ENABLE_SDMA=0", "--yes")
VARIABLES = "/etc/environment.d/90-rocmcfg.conf"
USER = 1234
ENOUGH, MOST = 30, 20_000  # of each outcome; operations until then


class Raced:
    """`folder` of the tree and a link that leads out of it, which is `swap` beside it."""

    def __init__(self, tmp_path: Path, folder: str) -> None:
        self.root = debian_grub_host(tmp_path)
        self.inside = self.root / folder
        folder_of_ours = self.root / "etc/environment.d"
        folder_of_ours.mkdir(parents=True)
        (folder_of_ours / "others").write_text("")  # so that nobody removes it as empty
        self.outside = tmp_path / "outside"
        (self.outside / "environment.d").mkdir(parents=True)
        (self.outside / "environment.d/secret").write_text("outside")
        (self.outside / "secret").write_text("outside")
        self.swap = self.inside.with_name("swap")
        self.swap.symlink_to(self.outside)
        self.before = self.look()

    def look(self) -> dict[str, Any]:
        return {**tree(self.outside), ".": self.outside.stat()[:6], "parent": os.listdir(self.outside.parent)}


@pytest.fixture(params=["etc/environment.d", "etc"])
def raced(request: pytest.FixtureRequest, tmp_path: Path) -> Raced:
    return Raced(tmp_path, request.param)


def _operations(host: LocalHost) -> dict[str, Callable[[], object]]:
    folder = "/etc/environment.d"
    state = host.new_file(b"inside\n", 0o644)

    def write() -> None:
        host.write(f"{folder}/a", state, keep_mtime=False)

    def in_and_out() -> None:
        host.make_dir(f"{folder}/d", 0o755)
        host.remove_dir(f"{folder}/d")

    def read() -> None:
        for path in (f"{folder}/secret", "/etc/secret"):
            assert host.read(path) != b"outside", "what lies outside was read"
        if host.read(f"{folder}/others") is None:
            raise FileNotFoundError

    def write_and_remove() -> None:
        write()
        host.remove(f"{folder}/a")

    return {
        "write": write,
        "append": lambda: host.append(f"{folder}/lines", b"line\n"),
        "remove": write_and_remove,
        "make_dir, remove_dir": in_and_out,
        "discard_temporary": lambda: host.discard_temporary(f"{folder}/secret"),
        "read": read,
    }


def _raced(raced: Raced, kind: type[LocalHost]) -> dict[str, tuple[int, int]]:
    """Each operation until it has met both, directory and link: how often it went well, and did not."""
    found = {}
    host = kind(str(raced.root))
    with exchanging(raced.inside, raced.swap) as racer:
        for name, operation in _operations(host).items():
            well = badly = 0
            began = racer.count
            while (min(well, badly) < ENOUGH or racer.count - began < 10 * ENOUGH) and well + badly < MOST:
                try:
                    operation()
                    well += 1
                except (RocmcfgError, FileExistsError, FileNotFoundError):
                    badly += 1
            found[name] = well, badly
    return found


def test_no_operation_is_led_out_of_the_tree_by_an_exchange(raced: Raced) -> None:
    met = _raced(raced, LocalHost)
    print(met)
    assert raced.look() == raced.before
    assert met["write"][0] >= ENOUGH, met


def test_the_race_shows_a_host_that_looks_first_and_opens_by_name(tmp_path: Path) -> None:
    raced = Raced(tmp_path, "etc/environment.d")
    host = ByName(str(raced.root))
    with exchanging(raced.inside, raced.swap):
        for _ in range(MOST):
            with suppress(RocmcfgError, OSError):
                host.write("/etc/environment.d/a", host.new_file(b"inside\n", 0o644), keep_mtime=False)
            if raced.look() != raced.before:
                return
    pytest.fail("nothing came out")


@needs_root
@pytest.mark.parametrize("owner", [0, USER])
def test_no_apply_writes_outside_whoever_owns_the_folder(tmp_path: Path, owner: int) -> None:
    """As root, over and over. In another user's folder it may refuse; it must not hurt."""
    raced = Raced(tmp_path, "etc/environment.d")
    for path in (raced.inside, raced.inside.parent):
        os.chown(path, owner, owner)
    codes = set[int]()
    with exchanging(raced.inside, raced.swap) as racer:
        for _ in range(25):
            result = run(raced.root, *APPLY)
            codes.add(result.code)
            assert "Traceback" not in result.err, result.err
            assert "RC9000" not in result.err, result.err
            run(raced.root, "recover")
            run(raced.root, "rollback", "--pristine", "--yes", "--force")
        assert racer.count > 25
    print(f"exit codes {codes}")
    assert raced.look() == raced.before
    assert not [p for p in raced.root.rglob("*") if p.is_file() and p.stat().st_mode & 0o6000]


# -- forged journals ------------------------------------------------------------------------------------


def _forged(root: Path, change: Callable[[list[dict[str, Any]], Path], None]) -> None:
    """A transaction of ours with its lines changed, and a checksum for each: those prove no author."""
    journal = root / "var/lib/rocmcfg/transactions/000001/journal.jsonl"
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    change(records, journal.parent)
    text = ""
    for record in records:
        record.pop("sum", None)
        body = json.dumps(record, sort_keys=True, separators=(",", ":"))
        text += f'{body[:-1]},"sum":"{hashlib.sha256(body.encode()).hexdigest()[:16]}"}}\n'
    journal.write_text(text)


def _shell(folder: Path) -> dict[str, Any]:
    """A saved file: a shell that is root's and runs as root."""
    content = b"#!/bin/sh\nexec sh\n"
    name = hashlib.sha256(content).hexdigest()
    (folder / "backups" / name).write_bytes(content)
    return {"sha256": name, "mode": 0o4755, "uid": 0, "gid": 0, "mtime_ns": 0, "xattrs": []}


def _open(records: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Without its end, so that recover undoes it; its first record of each kind."""
    records[:] = [record for record in records if record["kind"] not in ("commit", "undo", "undone")]
    return {record["kind"]: record for record in reversed(records)}


def _cut_off(records: list[dict[str, Any]], folder: Path) -> None:
    _open(records)


def _setuid(records: list[dict[str, Any]], folder: Path) -> None:
    step = next(r for r in records if r["kind"] == "file" and r["path"] == VARIABLES)
    _open(records)
    step["before"] = _shell(folder)


def _foreign(records: list[dict[str, Any]], folder: Path) -> None:
    step = _open(records)["file"]
    step |= {"path": "/usr/local/bin/shell", "before": _shell(folder), "after": None}


def _deletes(records: list[dict[str, Any]], folder: Path) -> None:
    step = _open(records)["file"]
    step |= {"path": "/etc/hostname", "before": None, "after": None}


def _climbs(records: list[dict[str, Any]], folder: Path) -> None:
    step = _open(records)["file"]
    step |= {"path": "/../../climbed", "before": _shell(folder), "after": None}


def _runs(records: list[dict[str, Any]], folder: Path) -> None:
    _open(records)["activation"] |= {"tool": "touch", "argv": ["touch", str(folder / "ran")]}


def _runs_as_ours(records: list[dict[str, Any]], folder: Path) -> None:
    _open(records)["activation"] |= {"argv": ["touch", str(folder / "ran")]}


def _output(records: list[dict[str, Any]], folder: Path) -> None:
    _open(records)["activation"]["outputs"] = {"/etc/shadow": _shell(folder)}


def _block(records: list[dict[str, Any]], folder: Path) -> None:
    records.insert(1, {"v": 1, "kind": "mkdir", "path": "/etc"})
    _open(records)


class Spy(QuickHost):
    """`ran` is what it was asked to run."""

    ran: list[tuple[str, ...]]

    def execute(self, argv: Any, **options: Any) -> Any:
        Spy.ran.append(tuple(argv))
        if argv[0] in ("update-grub", "update-initramfs", "grub-editenv"):
            return super().execute(argv, **options)
        raise AssertionError(f"it ran {argv}")


FORGERIES = (_setuid, _foreign, _deletes, _climbs, _runs, _runs_as_ours, _output, _block)


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda f: f.__name__.strip("_"))
@pytest.mark.parametrize("command", [("recover", "--force"), ("rollback", "--pristine", "--yes", "--force")])
def test_a_forged_journal_installs_removes_and_runs_nothing(
    tmp_path: Path, forgery: Callable[[list[dict[str, Any]], Path], None], command: tuple[str, ...]
) -> None:
    root = debian_grub_host(tmp_path)
    done(root, APPLY)
    _forged(root, forgery)
    before = tree(root, state=False, times=False)
    Spy.ran = []
    result = rocmcfg(*command, "--root", root, host=Spy)
    _harmless(root, result, before, tmp_path)


def test_a_journal_that_is_believed_does_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the look at what it names, the forgeries work: they are no straw men."""
    monkeypatch.setattr("rocmcfg.change.transaction.recovery.require_ours", lambda *_: None)
    root = debian_grub_host(tmp_path)
    done(root, APPLY)
    _forged(root, _deletes)
    rocmcfg("recover", "--force", "--root", root, host=QuickHost)
    assert not (root / "etc/hostname").exists()


@needs_root
@pytest.mark.parametrize("place", ["var/lib/rocmcfg", "var/lib/rocmcfg/transactions", "var"])
def test_a_journal_that_another_user_could_have_written_is_not_believed(tmp_path: Path, place: str) -> None:
    root = debian_grub_host(tmp_path)
    done(root, APPLY)
    _forged(root, _cut_off)
    os.chown(root / place, USER, USER)
    before = tree(root)
    for command in (("recover", "--force"), ("rollback", "--yes", "--force"), APPLY):
        result = run(root, *command)
        assert result.code in (1, 5), result.out + result.err
        assert "error[RC" in result.err
        assert "RC9000" not in result.err
    assert tree(root) == before


def _harmless(root: Path, result: Result, before: dict[str, Any], outside: Path) -> None:
    said = f"exit {result.code}: {result.err}"
    assert "RC9000" not in said, said
    assert "Traceback" not in said, said
    after = tree(root, state=False, times=False)
    ours = [p for p in {*before, *after} if before.get(p) != after.get(p)]
    strange = [p for p in ours if "rocmcfg" not in p and not p.startswith("boot/")]
    # directories of ours go with the last of our files
    assert not [p for p in strange if p in after], (said, strange)
    assert not [
        p for p in strange if not p.startswith(("etc/environment.d", "etc/profile.d", "etc/default"))
    ], said
    assert not [p for p in root.rglob("*") if not p.is_symlink() and p.stat().st_mode & 0o6000], said
    assert sorted(os.listdir(outside)) == ["root"], said
    assert not list(root.glob("var/lib/rocmcfg/transactions/*/ran")), said
