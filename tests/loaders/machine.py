"""A machine with OVMF, one FAT partition and a serial line: files are put on it, it boots, files are looked
at. Its firmware keeps variables from boot to boot."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.tools import require_tool
from tests.vm import qemu

from .efi_program import BEGIN, END, printing

FIRST = "EFI/BOOT/BOOTX64.EFI"
_SIZE = 64  # MiB
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\r\n]")


class Machine:
    def __init__(self, work: Path) -> None:
        require_tool("qemu-system-x86_64", package="qemu-system-x86")
        for program in ("mmd", "mcopy", "mdir", "mdel"):
            require_tool(program, package="mtools")
        firmware = qemu.firmware()
        if firmware is None:
            pytest.skip("needs ovmf")
        self.work, self.firmware = work, firmware
        self.disk = work / "disk.img"
        with self.disk.open("wb") as file:
            file.truncate(_SIZE << 20)
        subprocess.run([require_tool("mkfs.vfat", package="dosfstools"), self.disk], stdout=-3, check=True)
        shutil.copyfile(firmware.variables, work / "vars.fd")
        self.boots = 0

    def put(self, path: str, content: bytes) -> None:
        """Write a file, with the folders above it."""
        parts = path.split("/")[:-1]
        for end in range(1, len(parts) + 1):
            self._mtools("mmd", "-D", "s", f"::/{'/'.join(parts[:end])}", check=False)
        source = self.work / "put"
        source.write_bytes(content)
        self._mtools("mcopy", "-o", str(source), f"::/{path}")

    def get(self, path: str) -> bytes:
        self._mtools("mcopy", "-n", "-o", f"::/{path}", str(self.work / "got"))
        return (self.work / "got").read_bytes()

    def names(self, folder: str) -> list[str]:
        return sorted(
            Path(line).name for line in self._mtools("mdir", "-b", f"::/{folder}").split("\n") if line
        )

    def remove(self, path: str) -> None:
        self._mtools("mdel", f"::/{path}")

    def _mtools(self, program: str, *arguments: str, check: bool = True) -> str:
        argv = [program, "-i", str(self.disk), *arguments]
        return subprocess.run(
            argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=check
        ).stdout

    def set_variable(self, name: str, value: str) -> None:
        """As Linux would: a boot of its own, whose program sets the variable."""
        first = self.get(FIRST)
        self.put(FIRST, printing("set", name, value))
        assert self.boot() == "set"
        self.put(FIRST, first)

    def boot(self, seconds: float = 120) -> str:
        """What was started, and its options."""
        self.boots += 1
        console = self.work / f"console-{self.boots}"
        line = ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-nic", "none"]
        line += ["-accel", "tcg", "-cpu", "max", "-smp", "1", "-m", "256", "-no-reboot"]
        line += ["-drive", f"if=pflash,format=raw,readonly=on,file={self.firmware.code}"]
        line += ["-drive", f"if=pflash,format=raw,file={self.work / 'vars.fd'}"]
        line += ["-drive", f"if=none,id=esp,format=raw,cache=writethrough,file={self.disk}"]
        line += ["-device", "virtio-blk-pci,drive=esp,bootindex=1", "-serial", f"file:{console}"]
        subprocess.run(line, timeout=qemu.patience(seconds), check=True)
        said = _ESCAPES.sub("", console.read_text(errors="replace"))
        found = re.findall(f"{BEGIN}(.*?){END}", said)
        assert found, f"nothing was started: {said[-800:]}"
        return str(found[-1]).strip()
