"""What programs wrote is put on the disk, and nothing goes wrong where that is less than asked for."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from unittest import mock

import pytest

from rocmcfg.host import durability
from rocmcfg.host.inside import Place
from rocmcfg.host.local import LocalHost


def place(path: Path) -> Place:
    return Place(None, str(path), str(path))


@pytest.mark.parametrize("number", [errno.EPERM, errno.EACCES, errno.EOPNOTSUPP, errno.ENOSYS])
def test_where_freezing_is_refused_syncing_is_all_there_is(tmp_path: Path, number: int) -> None:
    with mock.patch.object(fcntl, "ioctl", side_effect=OSError(number, "x")):
        durability.settle(place(tmp_path))


def test_a_disk_that_fails_is_told(tmp_path: Path) -> None:
    failing = mock.patch.object(fcntl, "ioctl", side_effect=OSError(errno.EIO, "x"))
    with failing, pytest.raises(OSError, match="error"):
        durability.settle(place(tmp_path))


def test_a_file_without_blocks_has_nothing_to_put_on_a_disk() -> None:
    """Linux refuses fsync(2) in /proc with EINVAL, and so it does for EFI variables."""
    settings = Path("/proc/self/stat")
    with settings.open("rb") as file, pytest.raises(OSError, match="Invalid argument"):
        os.fsync(file.fileno())
    durability.settle(place(settings))


def test_a_defect_in_the_child_stays_in_the_child(tmp_path: Path) -> None:
    ours = os.getpid()
    with mock.patch.object(os, "setsid", side_effect=MemoryError), pytest.raises(OSError, match="error"):
        durability.settle(place(tmp_path))
    assert os.getpid() == ours


def test_a_c_library_without_syncfs_syncs_all(tmp_path: Path) -> None:
    with mock.patch("ctypes.CDLL", side_effect=AttributeError), mock.patch.object(os, "sync") as sync:
        durability.settle(place(tmp_path))
    sync.assert_called_once_with()


def test_a_link_in_a_tree_is_followed_inside_it(tmp_path: Path) -> None:
    (tmp_path / "root/boot").mkdir(parents=True)
    (tmp_path / "root/srv").mkdir()
    (tmp_path / "root/srv/grubenv").write_text("")
    (tmp_path / "root/boot/grubenv").symlink_to("/srv/grubenv")
    with mock.patch.object(durability, "_syncfs") as synced:
        LocalHost(str(tmp_path / "root")).settle(["/boot/grubenv"])
    synced.assert_called_once()
