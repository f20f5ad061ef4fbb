"""Which logs are opened: those that a caller names may be pipes, those of a host may not."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocmcfg.advice.doctor.judging.origin import Options
from rocmcfg.host.files import log_from, open_callers_log, open_for_result, replace_callers_file, write_result
from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import Unreadable, Unwritable
from rocmcfg.workflow import diagnosing
from tests.support.hosts import debian_grub_host
from tests.support.tools import require_root

BOOT = "Linux version 6.12.107+deb13-amd64 (b)\n"


def test_a_pipe_among_the_hosts_own_logs_is_passed_over_with_a_remark(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, extra={"var/log/kern.log.1": BOOT})
    os.mkfifo(root / "var/log/kern.log")
    writer = os.open(root / "var/log/kern.log", os.O_RDWR)  # else a defect would show as a test without end
    host = LocalHost(str(root))
    with pytest.raises(Unreadable, match="it is a pipe"):
        host.stream("/var/log/kern.log")
    found = diagnosing.diagnose(host, (), Options(), {})
    os.close(writer)
    assert [log.name for log in found.logs] == ["/var/log/kern.log.1"]
    (told,) = [d for d in found.diagnostics if d.id == "RC8002"]
    assert told.summary == "cannot read /var/log/kern.log: it is a pipe"


@pytest.mark.parametrize("pipes", [True, False])
def test_what_is_no_log_is_refused_whoever_names_it(tmp_path: Path, *, pipes: bool) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(tmp_path / "socket"))
    (tmp_path / "folder").mkdir()
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name, reason in (("socket", "a socket"), ("folder", "a directory"), ("zero", "a device")):
        with pytest.raises(Unreadable, match=reason):
            open_callers_log(str(tmp_path / name))
        if name == "socket":
            continue  # it cannot be opened at all
        descriptor = os.open(tmp_path / name, os.O_RDONLY | os.O_NONBLOCK)
        with pytest.raises(Unreadable, match=reason):
            log_from(descriptor, "x", pipes=pipes)
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)


def test_a_file_of_holes_is_no_log(tmp_path: Path) -> None:
    path = tmp_path / "kern.log"
    path.write_text(BOOT)
    os.truncate(path, 1 << 40)
    with pytest.raises(Unreadable, match="nearly all of them holes"):
        open_callers_log(str(path))
    os.truncate(path, 1 << 20)
    with open_callers_log(str(path)) as stream:
        assert stream.read(5) == b"Linux"


def test_a_callers_pipe_is_waited_for(tmp_path: Path) -> None:
    """Opened without a wait it reads as empty until somebody writes."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_text("a\n" * 100_000))
    writer.start()
    with open_callers_log(str(path)) as stream:
        assert len(b"".join(iter(lambda: stream.read(1 << 20), b""))) == 200_000
    writer.join()


def test_a_writer_that_has_come_and_gone_is_not_missed(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    for text in ("a\n", ""):
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        path.write_text(text)
        with log_from(descriptor, str(path), pipes=True) as stream:
            assert stream.read(9) == text.encode()


def test_a_pipe_that_a_shell_hands_over_by_its_number_is_read() -> None:
    """As `--log <(zcat a.gz)` and /dev/stdin are."""
    ours, theirs = os.pipe()
    os.write(theirs, b"a\n")
    os.close(theirs)
    with open_callers_log(f"/proc/self/fd/{ours}") as stream:
        assert stream.read(9) == b"a\n"
    os.close(ours)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can enter; those of pytest belong to one."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    if any(above.stat().st_mode & 0o001 == 0 for above in folder.parents):
        pytest.skip(f"other users cannot get to {folder}")
    yield folder
    shutil.rmtree(folder)


def test_a_user_writes_through_no_link_of_another_one(open_folder: Path) -> None:
    """In a folder such as /tmp. The kernel refuses such a link (proc(5), protected_symlinks), but to resolve
    it is no use of it."""
    require_root()
    shared, own = open_folder / "shared", open_folder / "own"
    for folder in (shared, own):
        folder.mkdir()
    shared.chmod(0o1777)
    for name in ("precious", "wanted"):
        (own / name).write_text("mine\n")
        os.chown(own / name, 12345, 12345)
    os.chown(own, 12345, 12345)
    (shared / "page").symlink_to(own / "precious")
    os.chown(shared / "page", 23456, 23456, follow_symlinks=False)
    (shared / "mine").symlink_to(own / "wanted")
    os.chown(shared / "mine", 12345, 12345, follow_symlinks=False)
    os.seteuid(12345)
    try:
        with pytest.raises(Unwritable):
            write_result(str(shared / "page"), open_for_result(str(shared / "page")), "result\n")
        with pytest.raises(Unwritable):  # nobody replaces the link of another user in such a folder
            replace_callers_file(str(shared / "page"), "result\n")
        replace_callers_file(str(shared / "mine"), "result\n")
    finally:
        os.seteuid(0)
    assert [(own / name).read_text() for name in ("precious", "wanted")] == ["mine\n", "result\n"]
    assert sorted(path.name for path in shared.iterdir()) == ["mine", "page"]
