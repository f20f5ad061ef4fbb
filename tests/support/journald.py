"""Journals that the real systemd-journald wrote, of boots that never were.

It runs in a mount namespace of its own, with a boot id and a kernel log that the test supplies, so that
nothing of this machine's own journal is read or written.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import CommandResult

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
sleep 0.6
number=0
while IFS= read -r line; do
    number=$((number + 1))
    printf '%s,%s,%s000000,-;%s\n' "${line%% *}" $number $number "${line#* }" >&5
    sleep 0.03
done
sleep 0.3
kill -"$3" $daemon
wait $daemon || true
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
            [*run, boot.id, end, _JOURNALD],
            input="".join(f"{line}\n" for line in boot.kernel),
            text=True,
            capture_output=True,
            timeout=60,
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
        done = subprocess.run(call, capture_output=True, text=True, timeout=60, check=False)
        return CommandResult(tuple(argv), done.returncode, done.stdout, done.stderr)

    def stream_query(self, argv: Sequence[str]) -> BinaryIO | None:
        done = self.query(argv)
        return None if done is None else io.BytesIO(done.stdout.encode())
