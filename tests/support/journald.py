"""Journals that the real systemd-journald wrote, of boots that never were.

It runs in a mount namespace of its own, with a boot id and a kernel log that the test supplies, so that
nothing of this machine's own journal is read or written.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import CommandResult

from .tools import HANG

_JOURNALD = "/usr/lib/systemd/systemd-journald"
# A record of /dev/kmsg: level, number, microseconds, flags; message (Documentation/ABI/testing/dev-kmsg).
_BOOT = r"""
set -e
mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /var/log
mkdir -p /run/systemd/journal /run/log /var/log/journal
touch /run/systemd/journal/flushed
mount --bind "$1" /var/log/journal
echo "$2" >/run/boot_id && mount --bind /run/boot_id /proc/sys/kernel/random/boot_id
mkfifo /run/kmsg && mount --bind /run/kmsg /dev/kmsg
exec 5<>/run/kmsg
"$4" &
daemon=$!
"$5" -c "$6" $daemon
kill -"$3" $daemon
wait $daemon || true
"""

# Each record is a read of its own, as with the kernel: the next one goes into the pipe when it is empty. What
# has been read is in the journal when journald has done what is asked with this signal (systemd-journald(8)).
_FEED = r"""
import fcntl, os, pathlib, signal, struct, sys, termios, time

daemon, pipe = int(sys.argv[1]), 5
SYNC = signal.SIGRTMIN + 1

def wait(until):
    while not until():
        os.kill(daemon, 0)
        time.sleep(0.005)

def listens():
    status = pathlib.Path(f"/proc/{daemon}/status").read_text()
    blocked = int(status.partition("SigBlk:")[2].split()[0], 16)  # it takes signals from a descriptor
    return blocked >> (SYNC - 1) & 1

def drained():
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4))) == (0,)

for number, line in enumerate(sys.stdin, 1):
    level, _, text = line.rstrip("\n").partition(" ")
    os.write(pipe, f"{level},{number},{number}000000,-;{text}\n".encode())
    wait(drained)
wait(listens)
os.kill(daemon, SYNC)
wait(pathlib.Path("/run/systemd/journal/synced").exists)
"""

usable = pytest.mark.skipif(
    os.environ.get("CI") != "true"  # there it has to run, or to fail
    and (
        os.geteuid() != 0
        or not Path(_JOURNALD).exists()
        or not shutil.which("journalctl")
        or not Path("/etc/machine-id").exists()
        or subprocess.run(
            ["unshare", "-m", "mount", "-t", "tmpfs", "x", "/mnt"], capture_output=True
        ).returncode
        != 0
    ),
    reason="needs systemd-journald, root and mount namespaces",
)


@dataclass(frozen=True)
class Boot:
    """`kernel` is what the kernel says, each line with its level before it. `orderly`: journald was told to
    end, as at a shutdown, and not cut off."""

    id: str
    kernel: Sequence[str]
    orderly: bool = True


def write(folder: Path, *boots: Boot) -> Path:
    """`folder` as journald leaves it after these boots, oldest first."""
    (folder / Path("/etc/machine-id").read_text().strip()).mkdir(parents=True, exist_ok=True)
    for boot in boots:
        end = "TERM" if boot.orderly else "KILL"
        run = ["unshare", "--mount", "--propagation", "private", "sh", "-c", _BOOT, "sh", str(folder)]
        subprocess.run(
            [*run, boot.id, end, _JOURNALD, sys.executable, _FEED],
            input="".join(f"{line}\n" for line in boot.kernel),
            text=True,
            capture_output=True,
            timeout=HANG,
            check=True,
        )
    return folder


class JournalHost(LocalHost):
    """A tree whose journalctl is the real one, on the journal in `journal`."""

    journal: Path

    @property
    def runs_tools(self) -> bool:
        return True

    def query(self, argv: Sequence[str]) -> CommandResult | None:
        if "journalctl" not in argv:
            return None
        place = list(argv).index("journalctl")
        call = [*argv[: place + 1], "-D", str(self.journal), *argv[place + 1 :]]
        done = subprocess.run(call, capture_output=True, text=True, timeout=HANG, check=False)
        return CommandResult(tuple(argv), done.returncode, done.stdout, done.stderr)

    def stream_query(self, argv: Sequence[str]) -> BinaryIO | None:
        done = self.query(argv)
        return None if done is None else io.BytesIO(done.stdout.encode())
