"""A package manager at work is waited for, and its own hooks wait for nobody."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocmcfg.change.transaction.programs import generators
from rocmcfg.host import package_manager
from rocmcfg.host.local import LocalHost
from rocmcfg.host.problems import Locked
from tests.support.hosts import debian_grub_host
from tests.support.program import SOURCE, rocmcfg
from tests.support.tools import HANG, require_root, require_tool
from tests.support.trees import tree

SET = ("--set", "amdgpu.runpm=0", "--any-gpu", "--yes")
_HOLDS = """
import fcntl, sys
opened = open(sys.argv[1], "a+")
fcntl.lockf(opened, fcntl.LOCK_EX)
print(flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _by_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DPKG_MAINTSCRIPT_PACKAGE", "DPKG_FRONTEND_LOCKED"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def host(tmp_path: Path) -> Path:
    return debian_grub_host(tmp_path)


@contextlib.contextmanager
def held(path: Path, program: str = _HOLDS) -> Iterator[subprocess.Popen[str]]:
    path.parent.mkdir(parents=True, exist_ok=True)
    argv = [sys.executable, "-c", program, str(path)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        yield holder
        holder.communicate(timeout=HANG)


LOCKS = (
    "var/lib/dpkg/lock-frontend",
    "var/lib/dpkg/lock",
    "var/lib/rpm/.rpm.lock",
    "usr/lib/sysimage/rpm/.rpm.lock",
)


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_that_another_process_holds_is_named_and_nothing_changes(
    host: Path, lock: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROCMCFG_PACKAGE_TIMEOUT", "0")
    with held(host / lock) as holder:
        before = tree(host)
        for command in (("apply", *SET), ("rollback", "--yes")):
            done = rocmcfg(*command, "--root", host, "--json")
            assert (done.code, done.ids) == (1, ["RC3036"])
            assert f"/{lock} is held by process {holder.pid}" in done.document["diagnostics"][0]["detail"]
        assert tree(host) == before
    assert rocmcfg("apply", *SET, "--root", host).code == 0, "the file alone is no lock"


def test_it_is_waited_for_with_progress(host: Path) -> None:
    lock = host / LOCKS[0]
    told: list[str] = []
    with held(lock) as holder:

        def progress(said: str) -> None:
            told.append(said)
            if len(told) == 2:
                assert holder.stdin is not None
                holder.stdin.close()
                holder.wait(HANG)

        LocalHost(str(host)).wait_for_package_manager(progress)
        holder.stdin = None
    assert len(told) >= 2
    by = "waiting for apt or another frontend of dpkg, which holds /var/lib/dpkg/lock-frontend"
    assert re.fullmatch(rf"\d+ s: {by}", told[0])


def test_a_hook_inside_the_transaction_does_not_wait(host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The holder is its ancestor, or dpkg says so by the environment of its scripts."""
    lock = host / LOCKS[1]
    lock.parent.mkdir(parents=True, exist_ok=True)
    asks = (
        "import sys\nfrom rocmcfg.host.local import LocalHost\n"
        "LocalHost(sys.argv[1]).require_no_package_manager()"
    )
    with lock.open("a+") as stream:
        fcntl.lockf(stream, fcntl.LOCK_EX)
        done = subprocess.run(
            ["sh", "-c", '"$@" || exit', "sh", sys.executable, "-c", asks, str(host)],
            cwd=SOURCE,
            capture_output=True,
            text=True,
            timeout=HANG,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    with held(lock):
        with pytest.raises(package_manager.PackageManagerRunning):
            LocalHost(str(host)).require_no_package_manager()
        monkeypatch.setenv("DPKG_MAINTSCRIPT_PACKAGE", "linux-image")
        LocalHost(str(host)).require_no_package_manager()


def test_the_lock_of_pacman_counts_while_it_is_open_and_not_after_a_crash(host: Path) -> None:
    lock = host / "var/lib/pacman/db.lck"
    opens = "import sys; f = open(sys.argv[1], 'x'); print(flush=True); sys.stdin.read()"
    with held(lock, opens), pytest.raises(package_manager.PackageManagerRunning):
        LocalHost(str(host)).require_no_package_manager()
    assert lock.exists()
    LocalHost(str(host)).require_no_package_manager()


def test_a_link_or_a_pipe_in_the_place_of_a_lock_is_waited_for_by_nobody(host: Path, tmp_path: Path) -> None:
    for number, lock in enumerate(LOCKS):
        path = host / lock
        path.parent.mkdir(parents=True, exist_ok=True)
        if number % 2:
            path.symlink_to(tmp_path / "outside")
        else:
            os.mkfifo(path)
    LocalHost(str(host)).require_no_package_manager()


@pytest.mark.parametrize(
    ("program", "package"), [("dpkg", "dpkg"), ("rpm", "rpm"), ("pacman", "pacman-package-manager")]
)
def test_the_real_package_managers_are_seen(tmp_path: Path, program: str, package: str) -> None:
    """Each asks or unpacks in a root of its own, and waits for us while it holds its lock."""
    require_root()
    tool = require_tool(program, package)
    root = tmp_path / "root"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    if program == "dpkg":
        (root / "var/lib/dpkg/updates").mkdir(parents=True)
        (root / "var/lib/dpkg/info").mkdir()
        (root / "var/lib/dpkg/status").touch()
        control = tmp_path / "deb/DEBIAN"
        control.mkdir(parents=True)
        (control / "control").write_text(
            "Package: a\nVersion: 1\nArchitecture: all\nMaintainer: A <a@localhost>\nDescription: a\n"
        )
        (control / "preinst").write_text(f"#!/bin/sh\ncat {pipe}\n")
        (control / "preinst").chmod(0o755)
        built = tmp_path / "a.deb"
        subprocess.run(["dpkg-deb", "-b", control.parent, built], check=True, capture_output=True)
        argv = [tool, f"--root={root}", "--force-script-chrootless", "--force-depends", "-i", str(built)]
    elif program == "rpm":
        require_tool("rpmbuild", "rpm")
        spec = tmp_path / "a.spec"
        spec.write_text(
            "Name: a\nVersion: 1\nRelease: 1\nSummary: a\nLicense: MIT\nBuildArch: noarch\n"
            f"%description\na\n%pre -p <lua>\nio.open('{pipe}'):read('a')\n%files\n"
        )
        build = ["rpmbuild", "-bb", "--define", f"_topdir {tmp_path}", str(spec)]
        subprocess.run(build, check=True, capture_output=True)
        (built,) = tmp_path.glob("RPMS/noarch/*.rpm")
        database = root / "var/lib/rpm"
        database.mkdir(parents=True)
        lock = [
            "--define",
            f"_rpmlock_path {database}/.rpm.lock",
        ]  # a script runs in --root, without the pipe
        argv = [tool, f"--dbpath={database}", *lock, "--nodeps", "-i", str(built)]
    else:
        (root / "var/lib/pacman").mkdir(parents=True)
        conf = tmp_path / "pacman.conf"
        conf.write_text(
            f"[options]\nArchitecture = auto\nXferCommand = /bin/sh -c 'cat {pipe}'\n"
            "[core]\nServer = http://localhost\n"
        )
        argv = [tool, "--config", str(conf), "--root", str(root), "-Sy"]
    null = subprocess.DEVNULL
    with subprocess.Popen(argv, stdin=null, stdout=null, stderr=null) as at_work:
        with pipe.open("w"):  # opened once the other end is, so in the midst of its work
            with pytest.raises(package_manager.PackageManagerRunning) as refused:
                LocalHost(str(root)).require_no_package_manager()
            assert program in refused.value.diagnostics[0].summary
        at_work.communicate(timeout=HANG)
    LocalHost(str(root)).require_no_package_manager()


@contextlib.contextmanager
def _running(path: Path, *, within: str = "", user: int | None = None) -> Iterator[subprocess.Popen[str]]:
    """A program of this name, by its own first line as update-grub is; `within` it a command runs first."""
    path.write_text(f"#!/bin/sh\n{within}\necho begun\nread answer\n")
    path.chmod(0o755)
    pipe = subprocess.PIPE
    with subprocess.Popen([path], stdin=pipe, stdout=pipe, text=True, user=user) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "begun\n"
        yield program
        program.communicate("\n", timeout=HANG)


# Of this process alone: programs are looked for on the whole machine, where others run this file, too.
MENU, IMAGES = (f"{name}-{os.getpid()}" for name in ("menu", "images"))
GENERATORS = (MENU, IMAGES)


@pytest.mark.parametrize("which", [0, 1])
def test_a_generator_that_somebody_runs_is_waited_for(tmp_path: Path, which: int) -> None:
    """It has read the files of before, and would write its menu after the one of an apply."""
    name = GENERATORS[which]
    with _running(tmp_path / name) as program:
        assert package_manager.running_generator("/", GENERATORS) == (name, "", program.pid)
        assert package_manager.running_generator("/", ("another-program",)) is None
        assert package_manager.running_generator(str(tmp_path), GENERATORS) is None, "it is not of that host"
        with pytest.raises(package_manager.PackageManagerRunning) as raised:
            LocalHost("/").require_no_package_manager(GENERATORS)
        assert raised.value.diagnostics[0].detail == f"it is process {program.pid}"
    assert package_manager.running_generator("/", GENERATORS) is None


def test_a_program_whose_name_is_no_text_ends_no_command() -> None:
    """Everybody may give a process any bytes as a name, and the kernel cuts names within a character."""
    named = r"import ctypes; ctypes.CDLL(None).prctl(15, b'make\xff', 0, 0, 0); print(flush=True); input()"
    argv = [sys.executable, "-c", named]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        program.stdout.readline()
        assert package_manager.running_generator("/", GENERATORS) is None
        program.communicate("\n", timeout=HANG)


def test_nobody_keeps_root_away_with_the_name_of_a_program() -> None:
    require_root()
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    if any(above.stat().st_mode & 0o001 == 0 for above in folder.parents):
        pytest.skip(f"other users cannot get to {folder}")
    with _running(folder / MENU, user=12345):
        assert package_manager.running_generator("/", GENERATORS) is None
    shutil.rmtree(folder)


def test_nobody_keeps_root_away_with_a_lock_for_reading(host: Path) -> None:
    """Of a file that everybody may read, as the lock of rpm."""
    reads = _HOLDS.replace("LOCK_EX", "LOCK_SH")
    with held(host / "var/lib/rpm/.rpm.lock", reads):
        LocalHost(str(host)).require_no_package_manager()


def test_the_generator_of_another_rocmcfg_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That one is at work, and may be for long: who comes second is told so at once."""
    monkeypatch.setenv("ROCMCFG_PACKAGE_TIMEOUT", "0")
    monkeypatch.setattr(LocalHost, "locked_by", lambda _: Locked("/run/rocmcfg.lock", "process 7"))
    with _running(tmp_path / MENU), pytest.raises(Locked):
        LocalHost("/").wait_for_package_manager(print, GENERATORS)


def test_a_hook_of_a_generator_does_not_wait_for_it(tmp_path: Path) -> None:
    script = f"from rocmcfg.host import package_manager as p; print(p.running_generator('/', [{MENU!r}]))"
    said = tmp_path / "said"
    with _running(tmp_path / MENU, within=f'{sys.executable} -c "{script}" >{said}'):
        pass
    assert said.read_text() == "None\n"


# Programs that the cases run, and that write no menu, entry or image by themselves.
_OTHERS = {
    "rocmcfg",
    "env",
    "mv",
    "env-update",
    "bootctl",
    "sbctl",
    "sbsign",
    "grub-editenv",
    "grub2-editenv",
}
_KEEPERS = {"rpm-ostree", "bootc"}  # they keep arguments; rpm-ostree's daemon has that name, idle too


def test_each_generator_that_the_cases_run_is_declared_by_its_loader() -> None:
    files = (SOURCE / "tests/cases").rglob("tools.txt")
    lines = (line for path in files for line in path.read_text().splitlines())
    ran = {line.split()[0] for line in lines if line and not line.startswith(("$", "#", "!"))}
    assert {"update-grub", "dracut"} <= ran
    assert ran - _OTHERS - _KEEPERS <= generators()
