"""rEFInd gives the kernels of a folder the first row of the refind_linux.conf beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.loaders.refind import BACKEND
from rocmcfg.loaders.shared.entry_options import CARRIER

from .efi_program import printing
from .machine import FIRST, Machine
from .packages import unpacked

LOADER = "usr/share/refind/refind/refind_x64.efi"
ROWS = (
    b'"Boot with standard options"  "root=x quiet dyndbg=""file a +p"""\n'
    b'"Boot to single-user mode" "root=x single"\n'
)


@pytest.mark.parametrize("suite", ["bookworm", "trixie"])
def test_our_part_of_a_row_reaches_the_kernel(tmp_path: Path, suite: str) -> None:
    made = Machine(tmp_path)
    made.put(FIRST, (unpacked("refind", suite) / LOADER).read_bytes())
    made.put("EFI/BOOT/refind.conf", b"timeout 1\ntextonly\n")
    made.put(
        "boot/vmlinuz-6.17.9", printing("linux").ljust(1 << 13, b"\0")
    )  # 0.14.2 passes over smaller ones
    made.put("boot/refind_linux.conf", with_arguments(tmp_path / "host", "amdgpu.runpm=0"))
    assert made.boot() == 'linux root=x quiet dyndbg="file a +p" rocmcfg.begin amdgpu.runpm=0 rocmcfg.end'


def with_arguments(root: Path, arguments: str) -> bytes:
    """As the program writes them into the rows of a host."""
    rows, carrier = root / "boot/refind_linux.conf", root / CARRIER.strip("/")
    for path, content in ((rows, ROWS), (carrier, arguments.encode())):
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    BACKEND.write_entries(LocalHost(str(root)))
    return rows.read_bytes()
