"""undo.sh, run by root for a tree that somebody else has a hand in: nothing outside of it is touched, and no
program of it is run."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from rocmcfg.change.transaction import undo_script
from rocmcfg.loaders.shared import loader_entries
from tests.support.program import SOURCE
from tests.support.tools import HANG, require_root, require_tool
from tests.support.trees import tree

SCRIPT = SOURCE / "packaging/undo.sh"
ANOTHER_USER = 12345
SHELLS = pytest.mark.parametrize("shell", [("dash",), ("busybox", "sh")], ids=" ".join)
OURS = "# Written by rocmcfg\n"
FACTS = (
    ("file", "/etc/profile.d/zz-rocmcfg.sh"),
    ("file", "/etc/rocmcfg/env"),
    ("file", "/etc/modprobe.d/zz-rocmcfg.conf"),
    ("entries", *loader_entries.PATTERNS),
)
MENU = (
    *FACTS,
    ("file", "/etc/default/grub.d/zz-rocmcfg.cfg"),
    ("maker", "update-grub", "grub2-common"),
    ("needs", "update-grub"),
    ("runs", "update-grub"),
    ("makes", "/boot/grub/grub.cfg"),
)


def undo(root: Path, *arguments: str, shell: tuple[str, ...] = ("sh",)) -> subprocess.CompletedProcess[str]:
    if shell != ("sh",):
        require_tool(shell[0], shell[0])
    return subprocess.run(
        [*shell, str(SCRIPT), "--root", str(root), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG,
    )


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """A tree with two files of rocmcfg that no program makes anything of."""
    root = tmp_path / "host"
    for name in ("etc/profile.d/zz-rocmcfg.sh", "etc/rocmcfg/env"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(OURS)
    for name in (undo_script.PATH, undo_script.COPY):
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(undo_script.script(FACTS))
        path.chmod(0o700)
    return root


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """What is not in the tree: with files of the names that undo.sh looks for."""
    place = tmp_path / "outside"
    for name in ("modprobe.d/zz-rocmcfg.conf", "rocmcfg/receipt.json", "profile.d/others.sh"):
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(OURS)
    return place


def _give_away(root: Path) -> None:
    for folder, folders, files in os.walk(root):
        for name in (".", *folders, *files):
            os.chown(Path(folder) / name, ANOTHER_USER, ANOTHER_USER, follow_symlinks=False)


def _linked(place: Path, target: Path) -> None:
    if place.is_dir():
        shutil.rmtree(place)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)


LINKS = pytest.mark.parametrize(
    ("link", "target"),
    [
        ("var/backups/rocmcfg", "."),
        ("var/backups/rocmcfg/etc/profile.d", "profile.d"),
        ("etc/modprobe.d", "modprobe.d"),
        ("var/lib", "."),
    ],
)


@LINKS
@SHELLS
def test_a_tree_that_others_can_write_is_refused_and_nothing_changes(
    host: Path, outside: Path, link: str, target: str, shell: tuple[str, ...]
) -> None:
    require_root()
    _linked(host / link, outside / target)
    _give_away(host)
    before = tree(host), tree(outside)
    done = undo(host, shell=shell)
    assert done.returncode == 1, done.stdout
    assert "users other than root can change" in done.stderr
    assert f"{host} (of user {ANOTHER_USER}, d" in done.stderr
    assert (tree(host), tree(outside)) == before


@LINKS
@SHELLS
def test_no_link_leads_out_of_a_tree(
    host: Path, outside: Path, link: str, target: str, shell: tuple[str, ...]
) -> None:
    """A tree may be root's by its numbers alone: an archive that root unpacked."""
    _linked(host / link, outside / target)
    before = tree(outside)
    done = undo(host, shell=shell)
    assert tree(outside) == before, done.stderr
    assert not (host / "etc/profile.d/zz-rocmcfg.sh").exists(), done.stderr


@pytest.mark.parametrize(
    "place", ["etc", "etc/profile.d", "etc/profile.d/zz-rocmcfg.sh", "var/lib/rocmcfg", "var/backups", "."]
)
@pytest.mark.parametrize("how", ["owner", "group", "all"])
def test_every_folder_on_the_way_is_roots_alone(host: Path, place: str, how: str) -> None:
    require_root()
    path = host / place
    if how == "owner":
        os.chown(path, ANOTHER_USER, 0)
    else:
        path.chmod(path.stat().st_mode | {"group": 0o020, "all": 0o002}[how])
    before = tree(host)
    done = undo(host, "--force")
    assert done.returncode == 1
    assert f"{host.joinpath(place)} (" in done.stderr
    assert tree(host) == before


def test_a_folder_above_the_tree_that_others_can_exchange_is_named(host: Path, tmp_path: Path) -> None:
    require_root()
    os.chown(tmp_path, ANOTHER_USER, ANOTHER_USER)
    done = undo(host)
    assert done.returncode == 1
    assert f"{tmp_path} (of user {ANOTHER_USER}, " in done.stderr


@SHELLS
def test_a_proc_that_lies_in_the_tree_lets_no_program_run(host: Path, shell: tuple[str, ...]) -> None:
    require_root()
    drop_in = host / "etc/default/grub.d/zz-rocmcfg.cfg"
    drop_in.parent.mkdir(parents=True)
    drop_in.write_text(OURS)
    (host / "proc/self").mkdir(parents=True)
    (host / "var/lib/rocmcfg/undo.sh").write_text(undo_script.script(MENU))
    program = host / "usr/sbin/update-grub"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho run >/ran\n")
    program.chmod(0o755)
    done = undo(host, shell=shell)
    assert "which needs the host's /proc" in done.stderr
    assert not (host / "ran").exists()


@pytest.mark.parametrize("mode", [(), ("left",), ("removal",)], ids=" ".join)
@pytest.mark.parametrize("who", ["script", "folder", "above", "copy", "writable"])
@SHELLS
def test_a_script_that_others_can_write_is_not_run(
    host: Path, tmp_path: Path, who: str, mode: tuple[str, ...], shell: tuple[str, ...]
) -> None:
    require_root()
    script, ran = host / "var/lib/rocmcfg/undo.sh", tmp_path / "ran"
    if who == "copy":
        script.unlink()
        script = host / "var/backups/rocmcfg/undo.sh"
    script.write_text(f"#!/bin/sh\necho x >{ran}\n")
    theirs = {"folder": script.parent, "above": script.parents[1]}.get(who, script)
    if who == "writable":
        script.chmod(0o757)
    else:
        os.chown(theirs, ANOTHER_USER, ANOTHER_USER)
    done = undo(host, *mode, shell=shell)
    assert not ran.exists(), "root ran what somebody else wrote"
    assert f"{theirs} (" in done.stderr
    assert done.returncode == {(): 1, ("left",): 2, ("removal",): 0}[mode]


def test_nothing_left_is_no_fault(host: Path) -> None:
    (host / "var/lib/rocmcfg/undo.sh").write_text(undo_script.script([("file", "/etc/none-of-rocmcfg")]))
    done = undo(host, "left")
    assert (done.returncode, done.stdout) == (1, "")


@pytest.mark.parametrize("link", ["/data/boot", "data/boot", "../data/boot"])
@SHELLS
def test_a_link_inside_the_tree_is_followed_there(host: Path, link: str, shell: tuple[str, ...]) -> None:
    entry = host / "data/boot/loader/entries/a.conf"
    entry.parent.mkdir(parents=True)
    entry.write_text("title A\noptions quiet rocmcfg.begin amdgpu.runpm=0 rocmcfg.end\n")
    (host / "boot").symlink_to(link)
    (host / "etc/profile.d").rename(host / "data/profile.d")
    (host / "etc/profile.d").symlink_to("/data/profile.d")
    done = undo(host, shell=shell)
    assert done.returncode == 0, done.stderr
    assert entry.read_text() == "title A\noptions quiet\n"
    assert not (host / "data/profile.d/zz-rocmcfg.sh").exists()
    assert (host / "var/backups/rocmcfg/etc/profile.d/zz-rocmcfg.sh").read_text() == OURS


def test_on_the_running_host_links_are_the_kernels(host: Path) -> None:
    """As somebody runs it on the host itself: in a root of its own, with the programs of this machine."""
    require_root()
    require_tool("unshare", "util-linux")
    (host / "data").mkdir()
    (host / "etc/profile.d").rename(host / "data/profile.d")
    (host / "etc/profile.d").symlink_to("/data/profile.d")
    (host / "undo.sh").write_text(SCRIPT.read_text())
    inside = """
        cd "$1" && mkdir usr proc dev && mount --rbind /usr usr && mount -t proc proc proc &&
        mount --rbind /dev dev &&
        for name in bin sbin lib lib64; do
          if [ -L "/$name" ]; then ln -s "$(readlink "/$name")" "$name"; continue; fi
          mkdir "$name" && mount --rbind "/$name" "$name"
        done && exec chroot . /bin/sh /undo.sh
    """
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", inside, "sh", str(host)],
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG,
    )
    assert done.returncode == 0, done.stderr
    assert not (host / "data/profile.d/zz-rocmcfg.sh").exists()
    assert (host / "var/backups/rocmcfg/etc/profile.d/zz-rocmcfg.sh").read_text() == OURS


def test_a_chain_of_links_without_end_leads_nowhere(host: Path, outside: Path) -> None:
    for number in range(45):
        (host / f"link{number}").symlink_to(f"/link{number + 1}")
    (host / "link45").symlink_to(outside)
    (host / "etc/modprobe.d").symlink_to("/link0")
    before = tree(outside)
    undo(host)
    assert tree(outside) == before


@SHELLS
def test_a_program_of_the_callers_path_is_not_run_by_root(
    host: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: tuple[str, ...]
) -> None:
    require_root()
    ran = tmp_path / "ran"
    for name in ("sed", "id", "ls", "mv", "grep", "flock"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\necho {name} >>{ran}\n")
        program.chmod(0o755)
    command = [require_tool(shell[0], shell[0]), *shell[1:]]
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    done = undo(host, shell=(command[0], *command[1:]))
    assert done.returncode == 0, done.stderr
    assert not ran.exists(), ran.read_text()


@SHELLS
def test_it_stops_while_rocmcfg_is_at_work_on_the_tree(host: Path, shell: tuple[str, ...]) -> None:
    from rocmcfg.host.local import LocalHost

    before = tree(host)
    with LocalHost(str(host)).lock():
        done = undo(host, shell=shell)
    assert done.returncode == 1
    assert "rocmcfg is running on this host" in done.stderr
    assert tree(host) == before
    done = undo(host, shell=shell)
    assert done.returncode == 0, "a lock that nobody holds is in nobody's way"


def test_rocmcfg_stops_while_it_is_at_work(host: Path, tmp_path: Path) -> None:
    from rocmcfg.host.local import LocalHost
    from rocmcfg.host.problems import Locked

    require_tool("flock", "util-linux")
    waits = "\nundo() { hold && echo held && read -r _; exit; }\nunused() {\n"
    holds = undo_script.script(FACTS).replace("\nundo() {\n", waits)
    script = tmp_path / "undo.sh"
    script.write_text(holds)
    with subprocess.Popen(
        ["sh", script, "--root", host], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as at_work:
        assert at_work.stdout is not None
        assert at_work.stdout.readline() == "held\n"
        with pytest.raises(Locked), LocalHost(str(host)).lock():
            pass
        at_work.communicate("\n", timeout=HANG)
    with LocalHost(str(host)).lock():
        pass
    assert not (host / "var/lib/rocmcfg/lock").exists()


@pytest.mark.parametrize(
    "path",
    [
        "packaging/undo.sh",
        *(f"packaging/debian/rocmcfg.{name}" for name in ("postinst", "prerm", "postrm")),
        "packaging/ansible/roles/install/files/look.sh",
        "packaging/ansible/roles/report/files/gather.sh",
    ],
)
def test_what_root_runs_is_a_script_as_shellcheck_wants_it(path: str) -> None:
    shellcheck = require_tool("shellcheck", "shellcheck")
    done = subprocess.run(
        [shellcheck, "--shell=sh", SOURCE / path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_so_is_the_one_that_a_transaction_writes(tmp_path: Path) -> None:
    shellcheck = require_tool("shellcheck", "shellcheck")
    script = tmp_path / "undo.sh"
    script.write_text(undo_script.script(MENU))
    done = subprocess.run([shellcheck, "--shell=sh", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_script_that_packages_bring_is_made_of_its_template() -> None:
    assert SCRIPT.read_text() == undo_script.script(None), "python docs/generate.py packaging/undo.sh"
