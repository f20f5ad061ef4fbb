"""Paths inside a root: what a link means there, and who may change what on the way."""

from __future__ import annotations

import contextlib
import gc
import os
import struct
from pathlib import Path

import pytest

from rocmcfg.host.inside import Root
from tests.support.tools import require_root

NOBODY = 65534


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root/var/lib/rocmcfg").mkdir(parents=True)
    (tmp_path / "root/etc").mkdir()
    (tmp_path / "root").chmod(0o755)
    return tmp_path / "root"


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/", "/"),
        ("/etc", "/etc"),
        ("/etc/..", "/"),
        ("/../../etc/new.", "/etc/new."),
        ("/etc/abs/lib/x", "/var/lib/x"),
        ("/etc/up/lib", "/var/lib"),
        ("/etc/out", "/etc/passwd-of-the-tree"),
    ],
)
def test_a_path_is_where_a_chroot_would_find_it(root: Path, path: str, place: str) -> None:
    (root / "etc/abs").symlink_to("/var")
    (root / "etc/up").symlink_to("../../../../var")
    (root / "etc/out").symlink_to("/../etc/passwd-of-the-tree")
    with Root(str(root)).place(path) as found:
        assert found.path == place


def test_links_in_a_circle_end(root: Path) -> None:
    (root / "etc/a").symlink_to("b")
    (root / "etc/b").symlink_to("a")
    with pytest.raises(OSError, match="too many symbolic links"), Root(str(root)).place("/etc/a/x"):
        pytest.fail("a place")


def weak_part(root: str, path: str) -> str:
    found, _ = Root(root).weakness(path)
    return found.path if found else ""


def test_no_descriptor_is_left_open(root: Path) -> None:
    gc.collect()  # or it closes what another test left, whenever it likes
    before = os.listdir("/proc/self/fd")
    for path in ("/var/lib/rocmcfg/x", "/nothing/x", "/etc/../var"):
        try:
            with Root(str(root)).place(path):
                pass
        except FileNotFoundError:
            pass
        Root(str(root)).weakness(path)
    assert os.listdir("/proc/self/fd") == before


def test_a_root_that_is_renamed_under_us_is_still_the_one_that_was_opened(root: Path) -> None:
    opened = Root(str(root))
    root.rename(root.parent / "away")
    (root.parent / "root/etc").mkdir(parents=True)
    with opened.place("/etc/x") as place:
        os.close(os.open(place.name, os.O_CREAT | os.O_WRONLY, dir_fd=place.directory))
    assert (root.parent / "away/etc/x").exists()


STATE = "/var/lib/rocmcfg/transactions"


def test_what_only_root_may_change_has_no_weak_point(root: Path) -> None:
    require_root()
    assert weak_part(str(root), STATE) == ""
    assert weak_part("/", "/etc/passwd") == ""


@pytest.mark.parametrize("part", ["", "var", "var/lib", "var/lib/rocmcfg"])
@pytest.mark.parametrize("how", ["owner", "group", "others"])
def test_a_part_that_somebody_else_may_change_is_named(root: Path, part: str, how: str) -> None:
    require_root()
    place = root / part
    if how == "owner":
        os.chown(place, NOBODY, 0)
    else:
        os.chown(place, 0, NOBODY)
        place.chmod(0o775 if how == "group" else 0o757)
    assert weak_part(str(root), STATE) == f"/{part}"


def test_an_access_list_lets_others_write_whatever_the_group_is(root: Path) -> None:
    """u:65534:rwx beside group root: a mode of 0775 is all that one sees of it (acl(5))."""
    require_root()
    entries = ((1, 7, 2**32 - 1), (2, 7, NOBODY), (4, 5, 2**32 - 1), (16, 7, 2**32 - 1), (32, 5, 2**32 - 1))
    acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
    with contextlib.suppress(OSError):  # a file system without lists: the bits are the same
        os.setxattr(root / "var", "system.posix_acl_access", acl)
    (root / "var").chmod(0o775)
    assert weak_part(str(root), STATE) == "/var"


def test_where_a_link_leads_to_counts(root: Path) -> None:
    require_root()
    (root / "home").mkdir()
    os.chown(root / "home", NOBODY, NOBODY)
    (root / "etc/rocmcfg").symlink_to("/home/x")
    assert weak_part(str(root), "/etc/rocmcfg/profiles") == "/home"


def test_in_a_directory_of_everybodys_a_name_that_is_not_there_yet_is_weak(root: Path) -> None:
    require_root()
    (root / "tmp").mkdir()
    (root / "tmp").chmod(0o1777)
    (root / "tmp/ours").mkdir(mode=0o755)
    assert weak_part(str(root), "/tmp/ours/x") == ""
    assert weak_part(str(root), "/tmp/theirs") == "/tmp/theirs"


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    require_root()
    for name in ("safe", "theirs", "tmp"):
        (tmp_path / name).mkdir(mode=0o755)
        (tmp_path / name / "file").touch(0o644)
    tmp_path.chmod(0o755)
    (tmp_path / "tmp").chmod(0o1777)
    os.chown(tmp_path / "theirs", NOBODY, NOBODY)
    return tmp_path


def weak(parts: Path, path: str) -> str:
    found, _ = Root(str(parts)).weakness(path)
    return found.words(here=False) if found else ""


def test_what_belongs_to_root_alone_is_strong_also_below_a_folder_such_as_tmp(parts: Path) -> None:
    for path in ("/safe/file", "/tmp/file", "/safe/missing", "/safe/../tmp/file"):
        assert weak(parts, path) == "", path


def test_every_folder_on_the_way_counts_where_it_really_leads(parts: Path) -> None:
    (parts / "safe/link").symlink_to("/theirs/file")
    (parts / "theirs/back").symlink_to("/safe/file")
    for path in ("/theirs/file", "/safe/link", "/theirs/back", "/theirs/../safe/file"):
        assert weak(parts, path) == "/theirs belongs to user 65534, mode 0755", path


def test_a_link_of_another_user_may_be_exchanged_where_all_may_write(parts: Path) -> None:
    link = parts / "tmp/link"
    link.symlink_to("/safe")
    assert weak(parts, "/tmp/link/file") == ""
    os.chown(link, NOBODY, NOBODY, follow_symlinks=False)
    assert weak(parts, "/tmp/link/file") == "/tmp/link belongs to user 65534, mode 0777"


def test_what_is_missing_where_all_may_write_may_be_made_by_anybody(parts: Path) -> None:
    for path in ("/tmp/missing", "/tmp/missing/file"):
        assert weak(parts, path) == "anybody can create /tmp/missing", path


def test_the_modes_that_let_others_write(parts: Path) -> None:
    file = parts / "safe/file"
    for mode, group, said in (
        (0o664, 0, "/safe/file can be written by its group, mode 0664"),
        (0o644, 0, ""),
        (0o664, 100, "/safe/file can be written by its group, mode 0664"),
        (0o646, 0, "/safe/file can be written by everybody, mode 0646"),
    ):
        os.chown(file, 0, group)
        file.chmod(mode)
        assert weak(parts, "/safe/file") == said


def test_what_was_judged_is_told(parts: Path) -> None:
    (parts / "tmp/link").symlink_to("/safe/file")
    _, found = Root(str(parts)).weakness("/tmp/link")
    assert found is not None
    assert os.path.samestat(found, (parts / "safe/file").stat())
    assert Root(str(parts)).weakness("/safe/missing")[1] is None
