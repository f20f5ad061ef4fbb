"""A tree with a GPU that crashed: what the kernel shows of it in /sys and /proc."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, ClassVar

from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import Unwritable
from rocmcfg.model.crash import Crash
from rocmcfg.workflow import crash_saving
from tests.support.hosts import debian_grub_host

ADDRESS = "0000:03:00.0"
HEAD = b"**** AMDGPU Device Coredump ****\n"
TIMEOUT = (
    "2026-11-28T21:06:22+0000 kernel: amdgpu 0000:03:00.0: amdgpu: "
    "ring gfx_0.0.0 timeout, signaled seq=6, emitted seq=8\n"
)
STORE = "var/lib/rocmcfg/crashes"


class CrashedHost(LocalHost):
    """A tree whose journal is `log`. `refused` are names of files for which the disk has no room, `room` are
    the free bytes of the disk."""

    log_lines: ClassVar[str] = TIMEOUT
    refused: ClassVar[tuple[str, ...]] = ()
    room: ClassVar[int] = 1 << 40

    def stream_query(self, argv: object) -> BinaryIO | None:
        del argv
        return io.BytesIO(self.log_lines.encode())

    def free(self, path: str) -> int:
        del path
        return self.room

    def create(self, path: str, pieces: Iterable[bytes]) -> None:
        if path.endswith(self.refused) and self.refused:
            for _ in pieces:
                pass
            raise Unwritable(path, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        super().create(path, pieces)


def crashed_root(tmp_path: Path, *, on: bool = True) -> Path:
    """A host with one GPU of amdgpu, as its card and without a dump."""
    root = debian_grub_host(tmp_path)
    (root / "sys/class/devcoredump").mkdir(parents=True)
    if on:
        (root / STORE).mkdir(parents=True, mode=0o700)
        (root / "var/lib/rocmcfg/crashes.on").touch()
    return root


def dump(root: Path, name: str, content: bytes = HEAD * 10, driver: str = "amdgpu") -> Path:
    """The kernel has a dump of the GPU, or of another device; its file."""
    device = (root / "sys/bus/pci/devices" / ADDRESS).resolve()
    if driver != "amdgpu":
        device = root / "sys/devices/pci0000:00/0000:09:00.0"
        _link(device / "driver", root / "sys/bus/pci/drivers" / driver)
    folder = root / "sys/devices/virtual/devcoredump" / name
    _link(folder / "failing_device", device)
    _link(root / "sys/class/devcoredump" / name, folder)
    (folder / "data").write_bytes(content)
    return folder / "data"


def process(root: Path, pid: int, name: str, fdinfo: str, device: str = "/dev/dri/renderD128") -> None:
    """A process with an open file of a device."""
    folder = root / f"proc/{pid}"
    (folder / "fd").mkdir(parents=True)
    (folder / "fdinfo").mkdir()
    (folder / "comm").write_text(name + "\n")
    (folder / "fd/3").symlink_to(device)
    (folder / "fdinfo/3").write_text(fdinfo)


def save(root: Path, event: str, host: type[CrashedHost] = CrashedHost) -> Crash | None:
    return crash_saving.save(host(str(root)), event, lambda _: None)


def _link(name: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    name.parent.mkdir(parents=True, exist_ok=True)
    name.symlink_to(os.path.relpath(target, name.parent))
