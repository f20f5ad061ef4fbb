"""The way to a file, judged part by part: who else may change what it leads to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rocmcfg.host.inside import Root

NOBODY = 65534
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("safe", "theirs", "tmp"):
        (tmp_path / name).mkdir(mode=0o755)
        (tmp_path / name / "file").touch(0o644)
    (tmp_path / "tmp").chmod(0o1777)
    os.chown(tmp_path / "theirs", NOBODY, NOBODY)
    return tmp_path


def weak(root: Path, path: str) -> str:
    found, _ = Root(str(root)).judge(path)
    assert Root(str(root)).weak_point(path) == (found.path if found else "")
    return found.words(here=False) if found else ""


def test_what_belongs_to_root_alone_is_strong_also_below_a_folder_such_as_tmp(root: Path) -> None:
    for path in ("/safe/file", "/tmp/file", "/safe/missing", "/safe/../tmp/file"):
        assert weak(root, path) == "", path


def test_every_folder_on_the_way_counts_where_it_really_leads(root: Path) -> None:
    (root / "safe/link").symlink_to("/theirs/file")
    (root / "theirs/back").symlink_to("/safe/file")
    for path in ("/theirs/file", "/safe/link", "/theirs/back", "/theirs/../safe/file"):
        assert weak(root, path) == "/theirs belongs to user 65534, mode 0755", path


def test_a_link_of_another_user_may_be_exchanged_where_all_may_write(root: Path) -> None:
    link = root / "tmp/link"
    link.symlink_to("/safe")
    assert weak(root, "/tmp/link/file") == ""
    os.chown(link, NOBODY, NOBODY, follow_symlinks=False)
    assert weak(root, "/tmp/link/file") == "/tmp/link belongs to user 65534, mode 0777"


def test_what_is_missing_where_all_may_write_may_be_made_by_anybody(root: Path) -> None:
    for path in ("/tmp/missing", "/tmp/missing/file"):
        assert weak(root, path) == "anybody can make /tmp/missing", path


def test_the_modes_that_let_others_write(root: Path) -> None:
    file = root / "safe/file"
    for mode, group, said in (
        (0o664, 0, ""),
        (0o664, 100, "/safe/file can be written by its group, mode 0664"),
        (0o646, 0, "/safe/file can be written by all, mode 0646"),
    ):
        os.chown(file, 0, group)
        file.chmod(mode)
        assert weak(root, "/safe/file") == said


def test_what_was_judged_is_told(root: Path) -> None:
    (root / "tmp/link").symlink_to("/safe/file")
    _, found = Root(str(root)).judge("/tmp/link")
    assert found is not None
    assert os.path.samestat(found, (root / "safe/file").stat())
    assert Root(str(root)).judge("/safe/missing")[1] is None
