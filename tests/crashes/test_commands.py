"""`rocmcfg crashes …` as a user meets it."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from rocmcfg.cli.documents import DOCUMENTS
from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import CommandResult
from rocmcfg.model.diagnostic import RocmcfgError
from rocmcfg.records import crashes as store
from rocmcfg.workflow import crashes
from tests.support.program import rocmcfg, unfolded
from tests.support.tools import HANG

from .crashing import HEAD, STORE, CrashedHost, crashed_root, dump, process, save

INSTALLED = ("usr/lib/udev/rules.d/70-rocmcfg-crash.rules", "usr/lib/systemd/system/rocmcfg-crash@.service")


def installed_root(tmp_path: Path, *, on: bool = True) -> Path:
    root = crashed_root(tmp_path, on=on)
    for name in INSTALLED:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    return root


def saved(root: Path, *names: str) -> list[str]:
    """The ids of crashes that were saved, one for each dump of these names."""
    ids = []
    for name in names:
        dump(root, name)
        record = save(root, f"{name}:1")
        assert record is not None
        ids.append(record.id)
    return ids


def test_it_is_turned_on_and_off_and_keeps_what_was_saved(tmp_path: Path) -> None:
    root = installed_root(tmp_path, on=False)
    assert "is on." in rocmcfg("crashes", "on", "--root", root).out
    assert "was on already" in rocmcfg("crashes", "on", "--root", root).out
    assert (root / STORE).stat().st_mode & 0o777 == 0o700
    assert "Crashes" in rocmcfg("status", "--root", root).out
    (id,) = saved(root, "devcd1")
    off = rocmcfg("crashes", "off", "--root", root)
    assert "1 saved crash is kept" in off.out
    assert not store.is_on(LocalHost(str(root)))
    assert store.ids(LocalHost(str(root))) == (id,)
    assert "Crashes" not in rocmcfg("status", "--root", root).out
    assert "was off already" in rocmcfg("crashes", "off", "--root", root).out


@pytest.mark.parametrize("missing", INSTALLED)
def test_it_is_not_said_to_be_on_where_nothing_would_start_it(tmp_path: Path, missing: str) -> None:
    root = installed_root(tmp_path, on=False)
    (root / missing).unlink()
    refused = rocmcfg("crashes", "on", "--root", root, "--json")
    assert (refused.code, refused.ids) == (1, ["RC4405"])
    assert missing.rpartition("/")[2] in refused.out
    assert not store.is_on(LocalHost(str(root)))


def test_in_a_virtual_environment_the_commands_that_install_it_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = crashed_root(tmp_path, on=False)
    for name in INSTALLED:
        file = tmp_path / "venv" / name.removeprefix("usr/")
        file.parent.mkdir(parents=True)
        file.touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    refused = rocmcfg("crashes", "on", "--root", root, "--json").document["diagnostics"][0]
    commands = refused["hint"].removeprefix("run: ").split(" && ")
    assert [command.split()[-1] for command in commands] == [
        "/etc/udev/rules.d/",
        "/etc/systemd/system/",
        "daemon-reload",
    ]
    assert all(Path(command.split()[2]).is_file() for command in commands[:2])


def test_without_systemd_it_is_not_said_to_be_on(tmp_path: Path) -> None:
    class Running(LocalHost):
        @property
        def offline(self) -> bool:
            return False

    root = installed_root(tmp_path, on=False)
    with pytest.raises(RocmcfgError) as refused:
        crashes.turn_on(Running(str(root)))
    assert refused.value.diagnostics[0].id == "RC4408"
    (root / "run/systemd/system").mkdir(parents=True)
    _, problems = crashes.turn_on(Running(str(root)))
    assert problems == ()
    (root / "sys/class/devcoredump/disabled").write_text("1\n")
    assert [problem.id for problem in crashes.turn_on(Running(str(root)))[1]] == ["RC4407"]
    shutil.rmtree(root / "sys/class/devcoredump")
    assert [problem.id for problem in crashes.turn_on(Running(str(root)))[1]] == ["RC4406"]


def test_turning_it_on_saves_the_dump_that_the_kernel_still_has(tmp_path: Path) -> None:
    started: list[Sequence[str]] = []

    class Running(LocalHost):
        @property
        def offline(self) -> bool:
            return False

        def execute(self, argv: Sequence[str], **_: object) -> CommandResult:
            started.append(argv)
            return CommandResult(tuple(argv), 0, "", "")

    root = installed_root(tmp_path, on=False)
    (root / "run/systemd/system").mkdir(parents=True)
    assert crashes.turn_on(Running(str(root)))[0].waiting == 0
    assert started == []
    dump(root, "devcd1")
    assert crashes.turn_on(Running(str(root)))[0].waiting == 1
    assert [argv[:2] for argv in started] == [("udevadm", "trigger")]


def test_the_list_is_newest_first_and_says_what_was_not_saved(tmp_path: Path) -> None:
    root = installed_root(tmp_path)
    first, second = saved(root, "devcd1", "devcd2")
    listed = rocmcfg("crashes", "list", "--root", root)
    assert listed.code == 0
    assert listed.out.index(second) < listed.out.index(first)
    assert "AMD-501" in listed.out
    host = LocalHost(str(root))
    with store.writing(host):
        store.count_unsaved(host, "2026-11-28T21:06:22Z", "the disk is full")
    assert "Not saved: 1" in rocmcfg("crashes", "list", "--root", root).out
    document = rocmcfg("crashes", "list", "--root", root, "--json").document
    assert [crash["id"] for crash in document["crashes"]] == [second, first]
    assert document["unsaved"]["number"] == 1


def test_a_crash_is_shown_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    root = installed_root(tmp_path)
    first, second = saved(root, "devcd1", "devcd2")
    assert second in rocmcfg("crashes", "show", "--root", root).out
    assert first in rocmcfg("crashes", "show", first, "--root", root).out
    for wrong in ("2", "x", "../lock"):
        refused = rocmcfg("crashes", "show", wrong, "--root", root, "--json")
        assert (refused.code, refused.ids) == (1, ["RC4404"])


def test_a_hostile_process_prints_no_control_characters(tmp_path: Path) -> None:
    root = installed_root(tmp_path)
    process(root, 7, "a\n\x1b[31m|`b`<i>", "drm-driver: amdgpu\ndrm-memory-vram: 5 KiB\n")
    saved(root, "devcd1")
    for command in (("show",), ("report",), ("show", "--json")):
        printed = rocmcfg("crashes", *command, "--root", root)
        assert printed.code == 0
        assert "\x1b" not in printed.out
    (row,) = (
        line
        for line in rocmcfg("crashes", "report", "--root", root).out.splitlines()
        if "of a process" in line
    )
    assert "<i>" not in row
    assert "\\|" in row


def test_a_report_is_redacted_and_has_what_the_tracker_asks_for(tmp_path: Path) -> None:
    root = installed_root(tmp_path)
    (root / "etc/hostname").write_text("secretbox\n")

    class Named(CrashedHost):
        log_lines = CrashedHost.log_lines + "2026-11-28T21:06:22+0000 kernel: secretbox: Comm: train\n"

    dump(root, "devcd1")
    assert save(root, "devcd1:1", Named) is not None
    into = tmp_path / "out"
    written = rocmcfg("crashes", "report", "--into", into, "--root", root)
    assert written.code == 0, written.err
    assert sorted(path.name for path in into.iterdir()) == ["kernel.log", "report.md"]
    texts = [path.read_text() for path in into.iterdir()]
    assert not [text for text in texts if "secretbox" in text]
    assert all("ring gfx_0.0.0 timeout" in text for text in texts)
    report = (into / "report.md").read_text()
    assert "AMD-501" in report
    assert "`dump.gz`" in report
    assert "gitlab.freedesktop.org/drm/amd" in unfolded(written.out)
    assert "/.new-" not in report
    assert "<!-- Post it at https://gitlab.freedesktop.org/drm/amd/-/issues -->" in report
    assert into.stat().st_mode & 0o777 == 0o700


def test_the_dump_is_added_only_where_it_is_asked_for(tmp_path: Path) -> None:
    root = installed_root(tmp_path)
    saved(root, "devcd1")
    into = tmp_path / "out"
    assert rocmcfg("crashes", "report", "--dump", "--root", root).code == 2
    assert rocmcfg("crashes", "report", "--dump", "--into", into, "--root", root).code == 0
    assert gzip.decompress((into / "dump.gz").read_bytes()) == HEAD * 10
    again = rocmcfg("crashes", "report", "--into", into, "--root", root)
    assert (again.code, "it exists" in unfolded(again.err)) == (1, True), "nothing is overwritten"


def test_forgotten_crashes_are_gone_and_no_others(tmp_path: Path) -> None:
    root = installed_root(tmp_path)
    first, second, third = saved(root, "devcd1", "devcd2", "devcd3")
    assert rocmcfg("crashes", "forget", "--root", root).code == 2
    assert rocmcfg("crashes", "forget", first, "--all", "--root", root).code == 2
    assert f"Removed: {first}" in rocmcfg("crashes", "forget", first, "--root", root).out
    assert store.ids(LocalHost(str(root))) == (second, third)
    assert rocmcfg("crashes", "forget", second, "x", "--root", root).code == 1
    assert store.ids(LocalHost(str(root))) == (second, third), "all or none"
    assert rocmcfg("crashes", "forget", "--all", "--root", root).code == 0
    assert sorted(path.name for path in (root / STORE).iterdir()) == ["lock", "turn"]


def test_a_damaged_record_is_named_and_can_be_forgotten(tmp_path: Path) -> None:
    root = installed_root(tmp_path)
    first, second = saved(root, "devcd1", "devcd2")
    (root / STORE / first / "record.json").write_text("{")
    listed = rocmcfg("crashes", "list", "--root", root)
    assert (listed.code, second in listed.out) == (0, True)
    assert "RC4402" in listed.err
    assert rocmcfg("crashes", "show", first, "--root", root, "--json").ids == ["RC4401"]
    assert rocmcfg("crashes", "forget", first, "--root", root).code == 0
    assert store.ids(LocalHost(str(root))) == (second,)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_report_goes_into_no_folder_that_somebody_else_put_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = installed_root(tmp_path)
    saved(root, "devcd1")
    into, elsewhere, mkdir = tmp_path / "out", tmp_path / "elsewhere", os.mkdir
    elsewhere.mkdir()

    def exchanged(path: str, mode: int) -> None:
        mkdir(path, mode)
        os.rmdir(path)
        os.symlink(elsewhere, path)

    monkeypatch.setattr(os, "mkdir", exchanged)
    assert rocmcfg("crashes", "report", "--into", into, "--root", root).code == 1
    assert list(elsewhere.iterdir()) == []


def test_the_oldest_goes_first_and_the_newest_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MOST", 2)
    root = installed_root(tmp_path)
    ids = saved(root, "devcd1", "devcd2", "devcd3")
    assert store.ids(LocalHost(str(root))) == tuple(ids[1:])
    monkeypatch.setattr(store, "MOST_BYTES", 1)
    last = saved(root, "devcd4")
    assert store.ids(LocalHost(str(root))) == tuple(last)


def test_the_documents_are_what_their_schemas_say(tmp_path: Path) -> None:
    root = installed_root(tmp_path, on=False)
    commands: dict[str, tuple[str | Path, ...]] = {
        "on": (),
        "list": (),
        "show": (),
        "report": ("--into", tmp_path / "out"),
        "forget": ("--all",),
        "off": (),
    }
    for name, words in commands.items():
        printed = rocmcfg("crashes", name, *words, "--root", root, "--json")
        DOCUMENTS[f"crashes {name}"].model_validate(printed.document)
        assert (printed.err, printed.document["command"]) == ("", f"crashes {name}")
        if name == "on":
            process(root, 7, "train", "drm-driver: amdgpu\ndrm-memory-vram: 5 KiB\n")
            saved(root, "devcd1")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be another user")
@pytest.mark.parametrize("command", ["list", "show", "report", "on", "off", "forget --all"])
def test_another_user_is_told_to_use_sudo(command: str) -> None:
    program = "import sys; from rocmcfg.cli.app import main; sys.argv = ['rocmcfg', *sys.argv[1:]]; main()"
    words = ["setpriv", "--reuid=65534", "--clear-groups", sys.executable, "-c", program]
    done = subprocess.run(
        [*words, "crashes", *command.split(), "--json"],
        capture_output=True,
        text=True,
        timeout=HANG,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 1, done.stderr
    (problem,) = json.loads(done.stdout)["diagnostics"]
    assert problem["id"] in ("RC4400", "RC3023")
    assert "sudo rocmcfg crashes" in problem["hint"]


def test_a_hint_names_the_root_that_was_asked_about(tmp_path: Path) -> None:
    """Without it the next command would change the running host."""
    root = crashed_root(tmp_path)
    shown = rocmcfg("crashes", "show", "--root", root)
    assert f"`sudo rocmcfg crashes on --root {root}`" in unfolded(shown.err)
