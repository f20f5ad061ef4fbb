"""What is saved of a crash, and what becomes of it where something fails."""

from __future__ import annotations

import gzip
import json
import os
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import Unwritable
from rocmcfg.model.diagnostic import RocmcfgError
from rocmcfg.records import crashes as store
from rocmcfg.workflow import crash_judging, crash_saving, reporting
from tests.support import program
from tests.support.tools import HANG

from .crashing import ADDRESS, HEAD, STORE, TIMEOUT, CrashedHost, crashed_root, dump, process, save

FDINFO = (
    "pos:\t0\ndrm-driver:\tamdgpu\ndrm-client-id:\t{client}\n"
    "drm-pdev:\t0000:03:00.0\ndrm-memory-vram:\t{vram}\n"
)


def test_a_dump_is_saved_with_log_processes_settings_and_verdict(tmp_path: Path) -> None:
    root = crashed_root(tmp_path)
    data = dump(root, "devcd3", HEAD * 1000)
    process(root, 4711, "train", FDINFO.format(client=5, vram="3 MiB"))
    record = save(root, "devcd3:812")
    assert record is not None
    folder = root / STORE / record.id
    assert gzip.decompress((folder / "dump.gz").read_bytes()) == HEAD * 1000
    assert (folder / "kernel.log").read_text() == TIMEOUT
    assert [(client.pid, client.name, client.memory) for client in record.processes] == [
        (4711, "train", {"vram": 3 << 20})
    ]
    assert (record.address, record.verdict.id, record.dump.state) == (ADDRESS, "AMD-501", "whole")
    assert "gfx1201" in (folder / "report.md").read_text()
    assert {name.stat().st_mode & 0o777 for name in folder.iterdir()} == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700
    assert data.read_bytes().startswith(b"1"), (
        "until it is freed, the kernel discards further dumps of the GPU"
    )


def test_off_nothing_is_saved_and_the_dump_is_left_alone(tmp_path: Path) -> None:
    root = crashed_root(tmp_path, on=False)
    data = dump(root, "devcd1")
    assert save(root, "devcd1:1") is None
    assert not (root / STORE).exists()
    assert data.read_bytes() == HEAD * 10


def test_the_dump_of_another_driver_is_left_to_others(tmp_path: Path) -> None:
    root = crashed_root(tmp_path)
    data = dump(root, "devcd1", driver="iwlwifi")
    assert save(root, "devcd1:1") is None
    assert list((root / STORE).iterdir()) == []
    assert data.read_bytes() == HEAD * 10


@pytest.mark.parametrize(
    "name",
    [
        "",
        "devcd",
        "devcd1/../../x",
        "../devcd1",
        "card0:1:$(reboot)",
        "devcd1\n",
        "card0:1:none;x",
        "devcd" + "1" * 40,
    ],
)
def test_a_hostile_name_of_an_event_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(RocmcfgError) as refused:
        save(crashed_root(tmp_path), name)
    assert refused.value.diagnostics[0].id == "RC4403"


def test_a_wedged_card_is_saved_without_a_dump(tmp_path: Path) -> None:
    root = crashed_root(tmp_path)
    record = save(root, "card1:44:rebind\\x2cbus-reset")
    assert record is not None
    assert (record.event, record.recovery, record.dump.state) == ("wedged", ("rebind", "bus-reset"), "none")
    assert record.address == ADDRESS


def test_a_reset_with_a_dump_is_one_crash(tmp_path: Path) -> None:
    root = crashed_root(tmp_path)
    dump(root, "devcd1")
    assert save(root, "devcd1:1") is not None
    assert save(root, "card1:2:none") is None
    assert len(store.ids(LocalHost(str(root)))) == 1


def test_a_save_that_was_killed_before_it_freed_the_dump_is_not_repeated(tmp_path: Path) -> None:
    root = crashed_root(tmp_path)
    data = dump(root, "devcd1")
    assert save(root, "devcd1:1") is not None
    data.write_bytes(HEAD)
    assert save(root, "devcd1:1") is None
    assert data.read_bytes().startswith(b"1")


def test_the_rest_of_a_killed_save_is_removed_and_the_dump_saved(tmp_path: Path) -> None:
    root = crashed_root(tmp_path)
    dump(root, "devcd1")

    class Killed(CrashedHost):
        def rename_dir(self, path: str, name: str) -> None:
            del path, name
            os._exit(9)

    child = os.fork()
    if not child:
        save(root, "devcd1:1", Killed)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert [path.name for path in (root / STORE).iterdir() if path.is_dir() and path.name[:5] == ".new-"]
    assert store.ids(LocalHost(str(root))) == ()
    record = save(root, "devcd1:1")
    assert record is not None
    assert sorted(name.name for name in (root / STORE).iterdir()) == [record.id, "lock", "turn"]


def test_a_save_that_goes_on_keeps_what_it_has_while_others_save(tmp_path: Path) -> None:
    root = crashed_root(tmp_path)
    dump(root, "devcd1")
    host = LocalHost(str(root))
    with ExitStack() as held:
        with store.writing(host):
            draft = held.enter_context(store.drafting(host, "20261128-210622-devcd9"))
            draft.add("dump.gz", [HEAD])
        assert save(root, "devcd1:1") is not None
        assert (root / draft.folder[1:] / "dump.gz").read_bytes() == HEAD
    assert not (root / draft.folder[1:]).exists()


def test_on_a_full_disk_the_small_parts_are_kept(tmp_path: Path) -> None:
    root = crashed_root(tmp_path)
    data = dump(root, "devcd1", os.urandom(1 << 20))

    class Full(CrashedHost):
        refused = ("dump.gz",)

    record = save(root, "devcd1:1", Full)
    assert record is not None
    assert record.dump.state == "dropped"
    assert "full" in record.dump.problem or "No space" in record.dump.problem
    assert sorted(record.files) == ["kernel.log", "report.md"]
    assert len(data.read_bytes()) == 1 << 20, "while the kernel has it, somebody may copy it elsewhere"


def test_a_dump_does_not_take_the_last_of_the_disk(tmp_path: Path) -> None:
    root = crashed_root(tmp_path)
    dump(root, "devcd1")

    class Nearly(CrashedHost):
        room = crash_saving.RESERVE - 1

    record = save(root, "devcd1:1", Nearly)
    assert record is not None
    assert (record.dump.state, "dump.gz" in record.files) == ("dropped", False)


def test_what_cannot_be_saved_at_all_is_counted(tmp_path: Path) -> None:
    root = crashed_root(tmp_path)
    dump(root, "devcd1")

    class Full(CrashedHost):
        refused = ("record.json",)

    for number in (1, 2):
        with pytest.raises(Unwritable):
            save(root, "devcd1:1", Full)
        assert store.unsaved(LocalHost(str(root))).number == number
    assert sorted(name.name for name in (root / STORE).iterdir()) == ["lock", "turn", "unsaved.json"]


def test_a_dump_that_is_too_large_keeps_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crash_saving, "MOST_DUMP", 1 << 20)
    root = crashed_root(tmp_path)
    content = os.urandom(3 << 20)
    dump(root, "devcd1", content)
    record = save(root, "devcd1:1")
    assert record is not None
    assert record.dump.state == "cut"
    kept = gzip.decompress((root / STORE / record.id / "dump.gz").read_bytes())
    assert 1 << 20 <= len(kept) < 2 << 20
    assert content.startswith(kept)


def test_a_dump_that_the_kernel_gives_too_slowly_keeps_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crash_saving, "READING", -1.0)
    root = crashed_root(tmp_path)
    dump(root, "devcd1", os.urandom(1 << 20))
    record = save(root, "devcd1:1")
    assert record is not None
    assert (record.dump.state, "too long" in record.dump.problem) == ("cut", True)


@pytest.mark.parametrize("step", [-3600.0, 3600.0])
def test_a_clock_that_is_set_meanwhile_neither_delays_nor_cuts_a_save(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: float
) -> None:
    """Early in a boot it is, by hours where it runs in the time of its zone."""
    real, steps = time.time, [0.0]
    monkeypatch.setattr(time, "time", lambda: real() + (steps.pop() if steps else step))
    root = crashed_root(tmp_path)
    dump(root, "devcd1")
    pauses: list[float] = []
    record = crash_saving.save(CrashedHost(str(root)), "devcd1:1", pauses.append)
    assert record is not None
    assert record.dump.state == "whole"
    assert pauses
    assert max(pauses) <= crash_saving.SETTLE


def test_processes_that_the_kernel_does_not_tell_of_hold_nothing_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crash_saving, "_PATIENCE", 0.05)
    over = threading.Event()
    monkeypatch.setattr(crash_saving, "read_clients", lambda _: over.wait(HANG))
    root = crashed_root(tmp_path)
    dump(root, "devcd1")
    record = save(root, "devcd1:1")
    over.set()
    assert record is not None
    assert record.dump.state == "whole"
    assert any("processes" in problem for problem in record.problems)


def test_a_defect_of_the_judging_does_not_lose_the_dump(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr(reporting, "gather", broken)
    root = crashed_root(tmp_path)
    dump(root, "devcd1")
    record = save(root, "devcd1:1")
    assert record is not None
    assert (record.dump.state, record.verdict.id) == ("whole", "")
    assert any("KeyError" in problem for problem in record.problems)


ADDED = """\
schema = 1
kind = "fault"
title = "A fault of our cluster"
summary = "Seen on node 7."
evidence = ["https://tracker.example.com/7"]
confidence = "reported"
cost = "None."

[[signature]]
pattern = "frobnicator [0-9]+ wedged"
strength = "specific"
samples = ["amdgpu 0000:03:00.0: frobnicator 7 wedged"]
"""


# a process of its own, as knowledge is read once
SAVED = """
import sys
from rocmcfg.knowledge import drop_ins
from tests.crashes.crashing import CrashedHost, save
CrashedHost.log_lines = sys.argv[2]
drop_ins.look_in(CrashedHost(sys.argv[1]))
record = save(sys.argv[1], "devcd1:1")
print(record.verdict.id, *record.problems)
"""


def test_an_issue_that_the_host_added_is_named(tmp_path: Path) -> None:
    """Its patterns have a limited time, which a signal ends: in a thread there is none."""
    root = crashed_root(tmp_path)
    file = root / "etc/rocmcfg/knowledge.d/issues/our-fault.toml"
    file.parent.mkdir(parents=True)
    file.write_text(ADDED)
    dump(root, "devcd1")
    line = "2026-11-28T21:06:22+0000 kernel: amdgpu 0000:03:00.0: frobnicator 9 wedged\n"
    saved = program.process([sys.executable, "-c", SAVED, str(root), line])
    assert (saved.out, saved.err) == ("our-fault\n", "")


def test_the_log_is_the_end_of_a_long_one_in_whole_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crash_saving, "MOST_LOG", 1000)

    class Flooded(CrashedHost):
        log_lines = "noise\n" * 5000 + "x" * 100_000 + "\n" + TIMEOUT

    root = crashed_root(tmp_path)
    dump(root, "devcd1")
    record = save(root, "devcd1:1", Flooded)
    assert record is not None
    assert (root / STORE / record.id / "kernel.log").read_text() == TIMEOUT


def test_a_judging_that_hangs_does_not_lose_the_dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crash_saving, "_JUDGING", 0.05)
    monkeypatch.setattr(crash_judging, "judged", lambda *_: time.sleep(HANG))
    root = crashed_root(tmp_path)
    dump(root, "devcd1")
    record = save(root, "devcd1:1")
    assert record is not None
    assert (record.dump.state, record.verdict.id) == ("whole", "")
    assert any("verdict" in problem for problem in record.problems)


def test_the_list_of_firmware_is_that_of_the_gpu(tmp_path: Path) -> None:
    root = crashed_root(tmp_path)
    dump(root, "devcd1")
    for number, address in enumerate(("0000:99:00.0", ADDRESS)):
        folder = root / f"sys/kernel/debug/dri/{number}"
        folder.mkdir(parents=True)
        (folder / "name").write_text(f"amdgpu dev={address} unique={address}\n")
        (folder / "amdgpu_firmware_info").write_text(f"VCE feature version: 0, {address}\n")
    versions = root / "sys/bus/pci/devices" / ADDRESS / "fw_version"
    versions.mkdir()
    (versions / "mes_fw_version").write_text("0x0000004b\n")
    record = save(root, "devcd1:1")
    assert record is not None
    assert record.firmware == {"mes": "0x0000004b"}
    assert ADDRESS in (root / STORE / record.id / "firmware.txt").read_text()


def test_files_that_share_a_client_count_once(tmp_path: Path) -> None:
    root = crashed_root(tmp_path)
    dump(root, "devcd1")
    process(root, 7, "a\n\x1b[31m|b", FDINFO.format(client=5, vram="2048 KiB"))
    (root / "proc/7/fd/4").symlink_to("/dev/dri/card1")
    (root / "proc/7/fdinfo/4").write_text(FDINFO.format(client=5, vram="2048 KiB"))
    (root / "proc/7/fd/5").symlink_to("/dev/dri/renderD129")
    (root / "proc/7/fdinfo/5").write_text(FDINFO.format(client=6, vram="1024 KiB"))
    kfd = root / "sys/class/kfd/kfd/proc/7"
    kfd.mkdir(parents=True)
    (kfd / "vram_55012").write_text("4096\n")
    record = save(root, "devcd1:1")
    assert record is not None
    assert [(client.device, client.memory) for client in record.processes] == [
        ("0000:03:00.0", {"vram": 3 << 20}),
        ("KFD 55012", {"vram": 4096}),
    ]
    assert record.processes[0].name == "a\n\x1b[31m|b"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_root_writes_into_no_store_that_others_can_change(tmp_path: Path) -> None:
    root = crashed_root(tmp_path)
    dump(root, "devcd1")
    (root / STORE).rmdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    os.chown(elsewhere, 1000, 1000)
    (root / STORE).symlink_to(elsewhere)
    with pytest.raises(RocmcfgError):
        save(root, "devcd1:1")
    (root / STORE).unlink()
    (root / STORE).mkdir()
    os.chown(root / STORE, 1000, 1000)
    with pytest.raises(RocmcfgError):
        save(root, "devcd1:1")
    assert list(elsewhere.iterdir()) == []
    assert list((root / STORE).iterdir()) == []


def test_a_record_is_what_its_schema_says(tmp_path: Path) -> None:
    root = crashed_root(tmp_path)
    dump(root, "devcd1")
    record = save(root, "devcd1:1")
    assert record is not None
    assert store.load(LocalHost(str(root)), record.id) == record
    path = root / STORE / record.id / "record.json"
    document = json.loads(path.read_text())
    damaged: list[object] = [{**document, "event": "x"}, {**document, "dump": 3}, []]
    for content in (*damaged, {**document, "schema_version": 9}):
        path.write_text(json.dumps(content))
        with pytest.raises(RocmcfgError):
            store.load(LocalHost(str(root)), record.id)
    crashes, problems = store.load_all(LocalHost(str(root)))
    assert (crashes, problems[0].id) == ((), "RC4402")
