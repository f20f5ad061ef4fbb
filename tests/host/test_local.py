"""A host as a directory tree: nothing leaves an offline root, and refusals say why."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import syslog
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest

from rocmcfg.host import local, lock
from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import Locked, Unreadable, Unwritable
from rocmcfg.model.file_state import FileState
from tests.support.hosts import File, Link, Program, make_root
from tests.support.tools import HANG

ROOT = os.geteuid() == 0


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A directory beside the root, which no link of the root may reach."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_text("secret")
    return folder


def host(tmp_path: Path, files: dict[str, File] | None = None) -> LocalHost:
    return LocalHost(str(make_root(tmp_path, files or {"etc/x": "x\n"})))


def test_a_root_is_offline_and_runs_nothing_unless_told_to(tmp_path: Path) -> None:
    offline = host(tmp_path)
    assert (offline.offline, offline.runs_tools) == (True, False)
    assert offline.query(("true",)) is None
    assert LocalHost(offline.root, chroot=True).runs_tools
    running = LocalHost("/", chroot=True)
    assert (running.offline, running.runs_tools, running.root) == (False, True, "/")
    result = running.query(("sh", "-c", "echo a"))
    assert result is not None
    assert result.stdout == "a\n"


def test_a_relative_path_is_a_mistake_of_the_caller(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not a path within a host"):
        host(tmp_path).read("etc/x")


@pytest.mark.parametrize(
    "target",
    [
        "{outside}",
        "../outside",
        "../../../../../../{outside}",
        "../../outside",
        "./../..{outside}",
        "/..{outside}",
    ],
)
def test_a_link_never_leads_out_of_an_offline_root(tmp_path: Path, outside: Path, target: str) -> None:
    found = host(tmp_path, {"etc/x": "x"})
    link = Path(found.root) / "etc/link"
    link.symlink_to(target.format(outside=outside))
    for path in ("/etc/link/secret", "/etc/link/../../outside/secret", "/../outside/secret"):
        assert found.read(path) is None
        assert not found.exists(path)
        assert found.state(path) is None
    assert found.names("/etc/link") == ()
    assert not found.is_dir("/etc/link")


def test_writing_through_a_link_stays_inside_the_root(tmp_path: Path, outside: Path) -> None:
    found = host(tmp_path, {"srv/keep": "", "etc/x": ""})
    (Path(found.root) / "etc/absolute").symlink_to("/srv")
    (Path(found.root) / "etc/away").symlink_to(outside)
    found.write("/etc/absolute/new", found.new_file(b"n", 0o644), keep_mtime=False)
    assert (Path(found.root) / "srv/new").read_bytes() == b"n"
    with pytest.raises(Unwritable):
        found.write("/etc/away/new", found.new_file(b"n", 0o644), keep_mtime=False)
    with pytest.raises(Unwritable):
        found.make_dir("/etc/away/dir", 0o755)
    found.remove("/etc/absolute/new")
    assert os.listdir(outside) == ["secret"]
    assert os.listdir(Path(found.root) / "srv") == ["keep"]


def test_absolute_links_mean_the_root_as_they_would_after_chroot(tmp_path: Path) -> None:
    found = host(tmp_path, {"usr/lib/os-release": "ID=x\n", "etc/keep": ""})
    (Path(found.root) / "etc/os-release").symlink_to("/usr/lib/os-release")
    (Path(found.root) / "lib").symlink_to("/usr/lib")
    assert found.text("/etc/os-release") == "ID=x\n"
    assert found.text("/lib/os-release") == "ID=x\n"
    assert found.is_symlink("/etc/os-release")
    assert not found.is_symlink("/lib/os-release")


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    found = host(tmp_path, {"a": Link("b"), "b": Link("a"), "c": Link("c/c")})
    for path in ("/a", "/a/x", "/c"):
        with pytest.raises(Unreadable, match="too many symbolic links"):
            found.read(path)


def test_a_missing_file_is_none_and_an_unreadable_one_says_why(tmp_path: Path) -> None:
    found = host(tmp_path)
    assert found.read("/nope") is None
    assert found.read("/etc/x/below-a-file") is None
    assert found.state("/etc/x/below-a-file") is None
    assert found.text("/nope") is None
    with pytest.raises(Unreadable, match="directory") as stop:
        found.read("/etc")
    assert stop.value.diagnostics[0].location == "/etc"
    assert stop.value.diagnostics[0].hint


@pytest.mark.skipif(ROOT, reason="root reads everything")
def test_a_file_without_permission_is_unreadable(tmp_path: Path) -> None:
    found = host(tmp_path)
    (Path(found.root) / "etc/x").chmod(0)
    with pytest.raises(Unreadable, match="Permission denied"):
        found.read("/etc/x")
    with pytest.raises(Unreadable, match="Permission denied"):
        found.state("/etc/x")


def test_text_that_is_not_utf8_is_still_text(tmp_path: Path) -> None:
    assert host(tmp_path, {"a": b"\xff\xfeab"}).text("/a") == "\ufffd\ufffdab"


def test_the_state_of_a_file_brings_all_of_it_back(tmp_path: Path) -> None:
    found = host(tmp_path, {"etc/x": Program("x\n")})
    path = Path(found.root) / "etc/x"
    path.chmod(0o640)
    os.utime(path, ns=(5, 1_600_000_000_123_456_789))
    try:
        os.setxattr(path, "user.b", b"2")
        os.setxattr(path, "user.a", b"1")
        attributes: tuple[tuple[str, bytes], ...] = (("user.a", b"1"), ("user.b", b"2"))
    except OSError:
        attributes = ()
    before = found.state("/etc/x")
    assert before == FileState(
        b"x\n", 0o640, os.geteuid(), os.getegid(), 1_600_000_000_123_456_789, attributes
    )
    found.write("/etc/x", found.new_file(b"other", 0o600), keep_mtime=False)
    assert found.state("/etc/x") != before
    assert before is not None
    found.write("/etc/x", before, keep_mtime=True)
    assert found.state("/etc/x") == before


def test_only_regular_files_have_a_state(tmp_path: Path) -> None:
    found = host(tmp_path, {"file": "", "link": Link("file"), "dir/x": ""})
    os.mkfifo(Path(found.root) / "pipe")
    with pytest.raises(Unreadable, match="symbolic link"):
        found.state("/link")
    for path in ("/dir", "/pipe"):
        with pytest.raises(Unreadable, match=r"a directory|not a regular file"):
            found.state(path)


def test_names_are_sorted_and_empty_for_what_is_no_directory(tmp_path: Path) -> None:
    found = host(tmp_path, {"d/b": "", "d/a": "", "d/B": ""})
    assert found.names("/d") == ("B", "a", "b")
    assert found.names("/d/a") == found.names("/nope") == ()


def test_directories_get_their_mode_and_go_when_empty(tmp_path: Path) -> None:
    found = host(tmp_path)
    old = os.umask(0o077)
    try:
        found.make_dir("/etc/d", 0o755)
        found.make_dir("/etc/d", 0o700)  # somebody's already
    finally:
        os.umask(old)
    assert (Path(found.root) / "etc/d").stat().st_mode & 0o777 == 0o755
    found.write("/etc/d/x", found.new_file(b"", 0o644), keep_mtime=False)
    found.remove_dir("/etc/d")
    assert found.is_dir("/etc/d"), "it holds a file"
    found.remove("/etc/d/x")
    found.remove_dir("/etc/d")
    assert not found.exists("/etc/d")
    found.remove_dir("/etc/d")
    found.remove_dir("/etc/x")
    assert found.exists("/etc/x"), "a file where a directory was to be is somebody else's"


def test_what_a_crash_left_beside_a_file_is_discarded_inside_the_root(tmp_path: Path) -> None:
    found = host(tmp_path, {"etc/x": "x", "etc/.x.rocmcfg-new": "half"})
    found.discard_temporary("/etc/x")
    assert found.names("/etc") == ("x",)
    found.append("/etc/log", b"a\n")
    found.append("/etc/log", b"b\n")
    assert found.read("/etc/log") == b"a\nb\n"


@pytest.mark.parametrize(
    ("number", "hint"),
    [
        (30, "read-only"),
        (28, "full"),
        (122, "quota"),
        (13, "as root"),
        (1, "immutable"),
        (5, "fix the problem"),
    ],
)
def test_a_refused_write_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, hint: str
) -> None:
    found = host(tmp_path)

    def refuse(*_: object, **__: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(Unwritable) as stop:
        found.write("/etc/x", FileState(b"", 0o644, 0, 0, 0), keep_mtime=False)
    assert hint in stop.value.diagnostics[0].hint
    assert stop.value.reason == os.strerror(number)
    assert (Path(found.root) / "etc/x").read_text() == "x\n"


def test_a_place_to_write_is_probed_at_its_nearest_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = host(tmp_path)
    assert found.writable_problem("/etc/new/deep/file") == ""
    assert found.writable_problem("/etc/x") == ""
    if not ROOT:
        (Path(found.root) / "etc").chmod(0o555)
        assert "permission" in found.writable_problem("/etc/new")
        (Path(found.root) / "etc").chmod(0o755)
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda *_, **__: False)
        assert "permission" in found.writable_problem("/etc/x")

    class ReadOnly:
        f_flag = os.ST_RDONLY

    with monkeypatch.context() as patch:
        patch.setattr(os, "statvfs", lambda _: ReadOnly())
        assert "read-only" in found.writable_problem("/etc/x")


def test_a_tool_of_an_offline_root_is_looked_for_there_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = host(tmp_path, {"usr/sbin/update-grub": Program(), "usr/bin/plain": "not a program"})
    assert found.has_tool("update-grub")
    assert not found.has_tool("sh")
    (Path(found.root) / "usr/sbin/on-my-path-alone").symlink_to("update-grub")
    monkeypatch.setenv("PATH", f"relative:{found.root}/usr/sbin")
    running = LocalHost("/")
    assert running.has_tool("sh")
    assert running.has_tool("on-my-path-alone") is not ROOT, "root has the system's programs alone"
    assert not running.has_tool("no-such-tool-at-all")


def test_a_chroot_wraps_every_tool(tmp_path: Path) -> None:
    inside = LocalHost(str(make_root(tmp_path, {"etc/x": ""})), chroot=True)
    argv = inside._inside(("update-grub", "-x"))
    assert argv[0] == "unshare"
    assert argv[-3:] == (inside.root, "update-grub", "-x")
    assert "chroot" in argv[argv.index("-c") + 1]
    assert LocalHost("/")._inside(("a",)) == ("a",)


def test_tools_run_and_unpack_into_a_directory_that_goes_away(tmp_path: Path) -> None:
    running = LocalHost("/")
    script = 'mkdir -p "$1/main/etc" "$1/top"; echo "$1" >"$1/main/etc/a"; echo t >"$1/top/b"'
    found = running.unpack(("sh", "-c", script, "sh"), ("etc/a", "top/b", "etc/none"))
    assert found is not None
    assert set(found) == {"etc/a", "top/b"}
    assert found["top/b"] == b"t\n"
    assert not Path(found["etc/a"].decode().strip()).exists()
    assert running.unpack(("false",), ("a",)) is None
    assert running.execute(("true",), timeout=HANG, progress=lambda: None).ok


def test_an_offline_root_unpacks_inside_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = LocalHost(str(make_root(tmp_path, {"var/tmp/keep": ""})), chroot=True)

    def without_chroot(argv: tuple[str, ...]) -> tuple[str, ...]:
        return (*argv[:-1], inside.root + argv[-1])

    monkeypatch.setattr(inside, "_inside", without_chroot)
    found = inside.unpack(("sh", "-c", 'echo "$1" >"$1/a"', "sh"), ("a",))
    assert found is not None
    assert found["a"].decode().startswith(f"{inside.root}/var/tmp/rocmcfg-")
    assert inside.names("/var/tmp") == ("keep",)


# -- the lock --------------------------------------------------------------------------------------------

HOLD = """
import sys
from rocmcfg.host import local, lock
if sys.argv[2]:
    lock.FILE = sys.argv[2]
with local.LocalHost(sys.argv[1]).lock():
    print("held", flush=True)
    sys.stdin.read()
"""


def hold(root: str, lock_file: str = "") -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, root, lock_file],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(local.__file__).parents[2],
    )
    assert process.stdout
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_process_is_refused_until_the_first_ends(tmp_path: Path) -> None:
    found = host(tmp_path)
    process = hold(found.root)
    with pytest.raises(Locked, match="another rocmcfg"), found.lock():
        pytest.fail("two writers")
    process.kill()  # as a crash: the lock goes with the process
    process.communicate()
    with found.lock():
        pass
    assert found.names("/run") == ()


def test_the_holder_of_a_running_hosts_lock_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock_file = tmp_path / "lock/rocmcfg.lock"
    monkeypatch.setattr(lock, "FILE", str(lock_file))
    process = hold("/", str(lock_file))
    with pytest.raises(Locked) as stop, LocalHost("/").lock():
        pytest.fail("two writers")
    assert f"process {process.pid}" in stop.value.diagnostics[0].detail
    process.communicate("")
    with LocalHost("/").lock():
        assert lock_file.read_text() == f"{os.getpid()}\n"


def test_nobody_but_root_can_get_at_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever may open it could hold it, and so keep every apply away."""
    assert os.path.dirname(lock.FILE) == "/run", "which only root may write to"
    lock_file = tmp_path / "rocmcfg.lock"
    lock_file.touch(0o666)
    lock_file.chmod(0o666)
    monkeypatch.setattr(lock, "FILE", str(lock_file))
    with LocalHost("/").lock():
        assert lock_file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, lambda path: os.symlink("/dev/null", path)])
def test_what_is_no_file_in_the_locks_place_is_said_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[str], None]
) -> None:
    monkeypatch.setattr(lock, "FILE", str(tmp_path / "rocmcfg.lock"))
    make(lock.FILE)
    assert LocalHost("/").locked_by() is None
    with pytest.raises(Unwritable), LocalHost("/").lock():
        pytest.fail("no lock")


def test_to_ask_whether_it_is_held_keeps_nobody_away(tmp_path: Path) -> None:
    """A shared lock, however short, would refuse an apply that comes just then."""
    found = host(tmp_path)
    with found.lock():
        pass
    asked = LocalHost(found.root)
    taken: list[int] = []
    real = fcntl.fcntl

    def watched(descriptor: int, command: int, argument: bytes) -> object:
        taken.append(command)
        return real(descriptor, command, argument)

    with found.lock(), mock.patch.object(fcntl, "fcntl", watched), mock.patch.object(fcntl, "flock") as flock:
        assert asked.locked_by() is not None
        assert found.locked_by() is None, "our own is no hindrance to us"
    assert taken == [fcntl.F_OFD_GETLK]
    flock.assert_not_called()


def test_a_lock_file_that_is_taken_away_is_noticed(tmp_path: Path) -> None:
    found = host(tmp_path)
    with found.lock():
        found.require_lock()
        (Path(found.root) / "var/lib/rocmcfg/lock").unlink()
        with LocalHost(found.root).lock(), pytest.raises(Locked):
            found.require_lock()
    with pytest.raises(Locked):
        found.require_lock()


def test_a_lock_that_cannot_be_made_is_a_refused_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(lock, "FILE", str(tmp_path / "file/rocmcfg.lock"))
    with pytest.raises(Unwritable), LocalHost("/").lock():
        pytest.fail("no lock")


def test_the_lock_of_an_offline_root_leaves_nothing_in_it(tmp_path: Path) -> None:
    found = host(tmp_path)
    with found.lock():
        pass
    assert found.names("/") == ("etc",)
    assert found.names("/etc") == ("x",)


# -- who -------------------------------------------------------------------------------------------------


def test_the_account_behind_sudo_counts_only_for_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = host(tmp_path)
    monkeypatch.setenv("SUDO_USER", "alice")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert found.user() == "alice"
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert found.user() != "alice"
    monkeypatch.delenv("SUDO_USER")
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_123)
    assert found.user() == "4000000123"


def test_only_a_running_host_is_written_to_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import syslog

    lines: list[str] = []
    monkeypatch.setattr(syslog, "syslog", lambda _, message: lines.append(message))
    host(tmp_path).log("offline")
    LocalHost("/").log("running")
    assert lines == ["running"]


def test_a_name_that_is_no_text_is_still_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    monkeypatch.setattr(syslog, "syslog", lambda _, line: lines.append(line))
    LocalHost("/").log("profile b\udcff\nrocmcfg[1]: forged")
    assert lines == ["profile b\\udcff\\nrocmcfg[1]: forged"]


def test_a_directory_that_is_removed_is_gone_from_the_disk_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = host(tmp_path, {"etc/d/x": ""})
    found.remove("/etc/d/x")
    synced: list[int] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        synced.append(os.fstat(descriptor).st_ino)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    found.remove_dir("/etc/d")
    assert synced == [(Path(found.root) / "etc").stat().st_ino]


def test_what_programs_wrote_is_synced_with_its_file_system(tmp_path: Path) -> None:
    found = host(tmp_path, {"boot/grub/grub.cfg": ""})
    settled: list[str] = []
    with mock.patch("rocmcfg.host.durability.settle", lambda place: settled.append(place.path)):
        found.settle(["/boot/grub", "/boot/efi/new"])
    assert settled == ["/boot/grub", "/boot"]
    found.settle(["/boot/grub"])


def test_a_pipe_among_the_files_is_not_waited_on(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.conf")
    with pytest.raises(Unreadable, match="not a regular file"):
        LocalHost(str(tmp_path)).read("/pipe.conf")


def test_a_file_without_end_is_not_read_whole(tmp_path: Path) -> None:
    with open(tmp_path / "sparse", "wb") as stream:
        stream.truncate(1 << 40)
    with pytest.raises(Unreadable, match="larger than 16 MiB"):
        LocalHost(str(tmp_path)).read("/sparse")


def test_no_single_read_asks_the_kernel_for_more_than_it_will_buffer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """/proc/sys/kernel/random/boot_id answers ENOMEM to a read of 4 MiB or more (seen on Linux 6.12)."""
    asked: list[int] = []
    content = b"".join(b"%07d\n" % line for line in range(50_000))
    real_read = os.read

    def read(descriptor: int, size: int) -> bytes:
        asked.append(size)
        return real_read(descriptor, size)

    found = host(tmp_path, {})
    (Path(found.root) / "big").write_bytes(content)
    monkeypatch.setattr(os, "read", read)
    assert found.read("/big") == content
    assert max(asked) < 1 << 20
