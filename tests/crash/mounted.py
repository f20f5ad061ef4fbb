"""A file system of a host that takes nothing, or hardly anything: a real one, which is full or read-only from
the begin, for rocmcfg and for the programs that it runs alike; and one that becomes so at some call.
Afterwards there is room again, and `recover` runs."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from tests.support.program import in_namespace

from .calls import FAULTS, Calls, Fault
from .chains import Chain, ChainBench
from .faulting import Ended, command
from .planted import planted

# $1 is what is mounted, $2 a folder elsewhere, $3 how many KiB are left, or nothing of all for a read-only
# one; the command is the rest.
_SCRIPT = """place=$1 work=$2 left=$3
shift 3
mv "$place" "$work/saved" && mkdir "$place" || exit 70
size=$(du -sk --apparent-size "$work/saved") files=$(find "$work/saved" | wc -l)
kib=$((${size%%[!0-9]*} + 8 * files + 1024))
mount -t tmpfs -o size="${kib}k",mode=0755 tmpfs "$place" && cp -a "$work/saved/." "$place/" || exit 70
if [ -n "$left" ]; then
  cat /dev/zero > "$place/filler" 2> "$work/ignored"
  truncate -s -"$left"K "$place/filler"
else
  mount -o remount,ro "$place"
fi
"$@"
code=$?
mount -o remount,rw "$place"
rm -rf "$place/filler" "$work/saved"
cp -a "$place" "$work/saved" && umount "$place" && rmdir "$place" && mv "$work/saved" "$place" || exit 70
exit $code
"""


@dataclass(frozen=True, slots=True)
class FileSystem(Fault):
    """`left`: KiB that are free; None: read-only. `whole`: all of the host, else what it boots from."""

    left: int | None = None
    whole: bool = False


FILE_SYSTEMS = tuple(
    FileSystem(
        f"{place} {'read-only' if left is None else f'with {left} KiB'}",
        error=errno.EROFS if left is None else errno.ENOSPC,
        for_ever=True,
        left=left,
        whole=place == "host",
    )
    for place in ("boot", "host")
    for left in (None, 0, 4, 16, 64)
)


class MountedBench(ChainBench):
    faults: ClassVar[tuple[Fault, ...]] = FILE_SYSTEMS
    chain: ClassVar[Chain]
    bugs: ClassVar[tuple[str, ...]] = ()  # see `planted`

    def points(self, fault: Fault, stride: int = 1) -> list[int]:
        del fault, stride
        return [1]  # it is so from the first call on

    def faulted(self, root: Path, arguments: Sequence[str], fault: Fault, at: int) -> Ended:
        assert isinstance(fault, FileSystem)
        assert at == 1
        work = root.with_name(f"{root.name}-work")
        work.mkdir()
        place = root if fault.whole else root / self.chain.boot
        argv = planted(self.bugs, self.chain.tools, *arguments, "--root", root)
        left = "" if fault.left is None else str(fault.left)
        result = in_namespace(_SCRIPT, place, work, left, *argv)
        assert result.code != 70, result
        return Ended(0, result)


class LaterBench(ChainBench):
    """The same from some call of rocmcfg on: of its calls for what the host boots from, or of all, and then
    of its programs too."""

    faults: ClassVar[tuple[Fault, ...]] = tuple(
        fault for fault in FAULTS if fault.name in ("EIO", "ENOSPC on", "EROFS on")
    )
    within: ClassVar[str] = ""

    def counted(self, root: Path) -> Ended:
        calls = Calls(names=True, within=f"{root}/{self.within}" if self.within else "")
        return command(self.scenario, root, self.scenario.act, calls)

    def faulted(self, root: Path, arguments: Sequence[str], fault: Fault, at: int) -> Ended:
        within = f"{root}/{self.within}" if self.within else ""
        return command(self.scenario, root, arguments, Calls(fault, at, within=within))


def later(chain: Chain, act: str, folder: Path, *, whole: bool) -> LaterBench:
    within = "" if whole else chain.boot
    kind = type("Bench", (LaterBench,), {"loader": chain.keeps, "within": within})
    bench: LaterBench = kind(chain.scenario(act), folder)
    return bench


def mounted(chain: Chain, act: str, folder: Path, bugs: tuple[str, ...] = ()) -> MountedBench:
    kind = type("Bench", (MountedBench,), {"loader": chain.keeps, "chain": chain, "bugs": bugs})
    bench: MountedBench = kind(chain.scenario(act), folder)
    return bench
