"""What a hostile or unlucky host once got past us; each was found by hand and must stay mended."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from rocmcfg.change.transaction import programs, recovery
from rocmcfg.change.transaction.undo import Undo
from rocmcfg.host import runner
from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import CommandResult
from rocmcfg.model.diagnostic import ExitCode, RocmcfgError
from rocmcfg.model.request import Request, Via
from rocmcfg.records import journal
from rocmcfg.workflow.applying import apply
from rocmcfg.workflow.planning import plan
from rocmcfg.workflow.undoing import recover, rollback
from rocmcfg.workflow.verifying import verify
from tests.support import fake_tools
from tests.support.hosts import debian_grub_host, initramfs_image
from tests.support.tool_host import QuickHost
from tests.support.tools import HANG

MARK = uuid.uuid4().hex  # another run of the tests may be at work on this machine

ENV = ("env.MIOPEN_DEBUG_CONV_GEMM=0",)


def applied(host: LocalHost, *settings: str, via: Via = "") -> int:
    request = Request(set=settings or ENV, any_gpu=True, via=via)
    done = apply(host, request, lambda _: True, lambda _: None, asks=False)
    assert done is not None
    assert done.transaction is not None
    return done.transaction


def undone(host: LocalHost, *, force: bool = False) -> Undo:
    done = rollback(host, to=None, force=force, confirm=lambda _: True, progress=lambda _: None)
    assert done is not None
    return done


def status(host: LocalHost, name: str) -> str:
    return next(c.status.value for c in verify(host).checks if c.name == name)


def test_a_long_listing_is_read_whole() -> None:
    """lsinitramfs of a default image prints 90 kB, and the driver stands early in it."""
    result = runner.query([sys.executable, "-c", "print('first'); print('x' * 200000)"])
    assert result is not None
    assert result.stdout.startswith("first\n")
    assert len(result.stdout) > 200_000


def test_an_image_that_got_the_driver_after_the_apply_is_rebuilt_by_the_undo(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    host = QuickHost(str(root))
    applied(host, "amdgpu.runpm=0", via="modprobe")
    for image in (root / "boot").glob("initrd.img-*"):
        image.write_bytes(initramfs_image(image.name.partition("-")[2], amdgpu=True))
    fake_tools.update_initramfs(root)
    assert [a.tool for a in undone(host).activations] == ["update-initramfs"]
    for image in (root / "boot").glob("initrd.img-*"):
        assert "etc/modprobe.d/zz-rocmcfg.conf" not in fake_tools.unpacked(image)


def test_a_recovery_waits_for_the_program_of_the_killed_run(tmp_path: Path) -> None:
    mark = {"PATH": os.environ["PATH"], runner.MARK: MARK}
    survivor = subprocess.Popen(["sleep", "600"], env=mark, start_new_session=True, stdout=subprocess.PIPE)

    class Host(LocalHost):
        @property
        def runs_tools(self) -> bool:
            return True

    said: list[str] = []

    def progress(line: str) -> None:
        said.append(line)
        survivor.terminate()

    # in truth its parent is gone: here, too, nobody may keep it as a zombie, until the last look at it
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        programs.wait_for_survivors(Host(str(tmp_path)), MARK, progress)
        assert said, "it saw the program"
        # one that ends has let go of all its files a moment before it is gone
        deadline = time.monotonic() + HANG
        while Path(f"/proc/{survivor.pid}").exists():
            assert time.monotonic() < deadline, "it goes on only when the program has ended"
    finally:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    assert f"waiting for sleep (process {survivor.pid})" in said[0]


def test_a_program_that_never_ends_stops_the_recovery(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Host(QuickHost):
        def survivors(self, mark: str) -> list[str]:
            del mark
            return ["update-initramfs (process 1)"]

    monkeypatch.setenv("ROCMCFG_TOOL_TIMEOUT", "0.1")
    with pytest.raises(RocmcfgError) as stop:
        programs.wait_for_survivors(Host(str(tmp_path)), MARK, lambda _: None)
    assert (stop.value.diagnostics[0].id, stop.value.exit_code) == ("RC4025", ExitCode.RECOVERY_REQUIRED)


@pytest.mark.parametrize("nonsense", ["", "0", "-1", "nan", "inf", "1e300", "soon"])
def test_a_time_limit_that_is_none_is_ignored(monkeypatch: pytest.MonkeyPatch, nonsense: str) -> None:
    monkeypatch.setenv("ROCMCFG_TOOL_TIMEOUT", nonsense)
    assert programs.timeout() == 1800


def test_another_process_root_is_another_host(tmp_path: Path) -> None:
    """/proc/PID/root is a link that reads as "/" and leads elsewhere: here into a directory of its own."""
    link = tmp_path / "root"
    link.symlink_to("/")
    assert not LocalHost(str(link)).offline
    (tmp_path / "other").mkdir()
    assert LocalHost(str(tmp_path / "other")).offline


@pytest.mark.parametrize("folder", ["etc/environment.d", "etc/profile.d", "etc/rocmcfg"])
def test_a_file_where_a_directory_belongs_is_refused_before_anything_is_written(
    tmp_path: Path, folder: str
) -> None:
    root = debian_grub_host(tmp_path)
    shutil.rmtree(root / folder, ignore_errors=True)
    (root / folder).write_text("mine")
    with pytest.raises(RocmcfgError) as stop:
        applied(QuickHost(str(root)))
    assert stop.value.exit_code == ExitCode.ERROR
    assert "is not a directory" in stop.value.diagnostics[0].summary
    assert (root / folder).read_text() == "mine"
    assert journal.ids(LocalHost(str(root))) == ()


def test_an_undo_brings_back_a_file_whose_directory_was_removed(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    host = QuickHost(str(root))
    applied(host)
    before = (root / "etc/rocmcfg/env").read_bytes()
    applied(host, "env.MIOPEN_DEBUG_CONV_GEMM=1")
    shutil.rmtree(root / "etc/rocmcfg")
    assert undone(host).transactions == (2,)
    assert (root / "etc/rocmcfg/env").read_bytes() == before


def test_a_missing_saved_file_stops_an_undo_before_it_begins(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    host = QuickHost(str(root))
    applied(host)
    number = applied(host, "env.MIOPEN_DEBUG_CONV_GEMM=1")
    for saved in (root / journal.folder(number).lstrip("/") / "backups").iterdir():
        saved.unlink()
    with pytest.raises(RocmcfgError):
        undone(host)
    found = journal.read(host, number)
    assert found is not None
    assert found.state == "committed"


def test_a_link_where_our_file_was_is_told_and_goes_with_force(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    host = QuickHost(str(root))
    applied(host)
    ours = root / "etc/rocmcfg/env"
    ours.unlink()
    ours.symlink_to("/etc/hostname")
    with pytest.raises(recovery.ThirdPartyEdit):
        undone(host)
    undone(host, force=True)
    assert not ours.is_symlink()


def test_files_without_a_record_are_not_called_nothing(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    host = QuickHost(str(root))
    applied(host)
    shutil.rmtree(root / "var/lib/rocmcfg")
    with pytest.raises(RocmcfgError) as stop:
        undone(host)
    assert stop.value.diagnostics[0].id == "RC4026"


def test_verify_goes_by_the_argument_that_wins(tmp_path: Path) -> None:
    more = 'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT pcie_aspm=force"\n'
    host = QuickHost(str(debian_grub_host(tmp_path, grub_d={"zzz.cfg": more})))
    applied(host, "karg.pcie_aspm=off")
    assert status(host, "karg.pcie_aspm") == "overridden"


def test_verify_does_not_speak_beside_an_unfinished_transaction(tmp_path: Path) -> None:
    class Dying(QuickHost):
        def execute(
            self, argv: Sequence[str], *, timeout: float, progress: Callable[[], None], mark: str = ""
        ) -> CommandResult:
            del argv, timeout, progress, mark
            os._exit(9)

    root = debian_grub_host(tmp_path)
    child = os.fork()
    if child == 0:
        applied(Dying(str(root)), "amdgpu.runpm=0")
        os._exit(0)
    os.waitpid(child, 0)
    host = QuickHost(str(root))
    with pytest.raises(journal.RecoveryRequired):
        verify(host)
    recover(host, force=False, progress=lambda _: None)
    assert verify(host).checks == ()


@pytest.mark.parametrize(
    "path", ["etc/environment.d/90-rocmcfg.conf", "etc/profile.d/zz-rocmcfg.sh", "etc/rocmcfg/env"]
)
def test_a_line_before_our_variables_is_drift(tmp_path: Path, path: str) -> None:
    """`return 0` as the first line leaves every variable where it was and none of them set."""
    root = debian_grub_host(tmp_path)
    host = QuickHost(str(root))
    applied(host)
    (root / path).write_text("return 0\n" + (root / path).read_text())
    assert status(host, "env.MIOPEN_DEBUG_CONV_GEMM") == "drift"


def test_a_later_profile_script_is_seen(tmp_path: Path) -> None:
    extra = {"etc/profile.d/zzz.sh": "export MIOPEN_DEBUG_CONV_GEMM=1\n"}
    host = QuickHost(str(debian_grub_host(tmp_path, extra=extra)))
    applied(host)
    assert status(host, "env.MIOPEN_DEBUG_CONV_GEMM") == "overridden"


def test_a_bad_value_of_others_is_found_without_modinfo(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, modprobe_d={"user.conf": "options amdgpu runpm=abc\n"})
    with pytest.raises(RocmcfgError) as stop:
        plan(LocalHost(str(root)), Request(set=("amdgpu.cwsr_enable=0",), any_gpu=True))
    assert stop.value.diagnostics[0].id == "RC3017"


def test_what_stands_before_us_on_the_line_does_not_win(tmp_path: Path) -> None:
    """GRUB_CMDLINE_LINUX comes first whatever file sets it last."""
    extra = {"zzz.cfg": 'GRUB_CMDLINE_LINUX="amdgpu.cwsr_enable=1"\n'}
    host = LocalHost(str(debian_grub_host(tmp_path, grub_d=extra)))
    made = plan(host, Request(set=("amdgpu.cwsr_enable=0",), any_gpu=True)).plan
    assert [row.outcome for row in made.rows] == ["applied"]


@pytest.mark.parametrize(
    "text",
    [
        'GRUB_CMDLINE_LINUX_DEFAULT="quiet" # $GRUB_CMDLINE_LINUX_DEFAULT\n',
        'X=1; GRUB_CMDLINE_LINUX_DEFAULT="quiet"\n',
        'GRUB_CMDLINE_LINUX_DEFAULT=""\n',
    ],
)
def test_a_later_drop_in_that_loses_ours_is_refused_or_never_claimed(tmp_path: Path, text: str) -> None:
    host = QuickHost(str(debian_grub_host(tmp_path, grub_d={"zzz.cfg": text})))
    with pytest.raises(RocmcfgError) as stop:
        applied(host, "amdgpu.cwsr_enable=0")
    assert stop.value.diagnostics[0].id in ("RC3105", "RC3103")
