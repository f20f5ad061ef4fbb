"""A machine with OVMF, one FAT partition and a serial line: files are put on it, it boots, files are looked
at. Its firmware keeps variables from boot to boot, and may enforce Secure Boot with the keys of Debian's ovmf
for tests ("snakeoil")."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.vm import qemu, tools

from .efi_program import BEGIN, END, printing
from .packages import unpacked

FIRST = "EFI/BOOT/BOOTX64.EFI"
_SIZE = 64  # MiB
_NEEDED = {
    "qemu-system-x86_64": "qemu-system-x86",
    "mcopy": "mtools",
    "mkfs.vfat": "dosfstools",
    "openssl": "openssl",
}
_SECURE = (Path("/usr/share/OVMF/OVMF_CODE_4M.secboot.fd"), Path("/usr/share/OVMF/OVMF_VARS_4M.snakeoil.fd"))
_KEY = Path("/usr/share/ovmf/PkKek-1-snakeoil.key")  # its passphrase is its name; the .pem lies beside it
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\r\n]")


class Machine:
    def __init__(self, work: Path, *, secure_boot: bool = False, screen: bool = False) -> None:
        tools.require(_NEEDED)
        if tools.install_missing(lambda: [] if qemu.firmware() else ["ovmf"]):
            tools.refuse("needs ovmf")
        firmware = qemu.firmware()
        assert firmware is not None
        if secure_boot and not all(path.exists() for path in (*_SECURE, _KEY)):
            pytest.skip("needs ovmf of Debian or Ubuntu, for its test keys")
        self.work, self.secure_boot, self.screen = work, secure_boot, screen
        self.code, variables = _SECURE if secure_boot else (firmware.code, firmware.variables)
        self.disk = work / "disk.img"
        with self.disk.open("wb") as file:
            file.truncate(_SIZE << 20)
        subprocess.run(["mkfs.vfat", self.disk], stdout=-3, check=True)
        shutil.copyfile(variables, work / "vars.fd")
        self.boots = 0
        self.put("startup.nsh", b"reset -s\r\n")  # for the firmware's shell: nothing was started

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

    def signed(self, program: bytes) -> bytes:
        """With the key that the firmware of such a machine holds."""
        key, file = self.work / "key", self.work / "signed"
        argv = ["openssl", "rsa", "-in", str(_KEY), "-passin", "pass:snakeoil", "-out", str(key)]
        subprocess.run(argv, stderr=-3, check=True)
        file.write_bytes(program)
        sbsign = shutil.which("sbsign") or unpacked("sbsigntool", "bookworm") / "usr/bin/sbsign"
        argv = [str(sbsign), "--key", str(key), "--cert", str(_KEY.with_suffix(".pem")), "--output"]
        subprocess.run([*argv, str(file), str(file)], stderr=-3, check=True)
        return file.read_bytes()

    def set_variable(self, name: str, value: str) -> None:
        """As Linux would: a boot of its own, whose program sets the variable."""
        first = self.get(FIRST)
        program = printing("set", name, value)
        self.put(FIRST, self.signed(program) if self.secure_boot else program)
        assert self.boot() == "set"
        self.put(FIRST, first)

    def boot(self, seconds: float = 300) -> str:
        """What was started, and its options."""
        self.boots += 1
        console = self.work / f"console-{self.boots}"
        line = ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-nic", "none"]
        line += ["-accel", "tcg", "-cpu", "max", "-smp", "1", "-m", "256", "-no-reboot"]
        line += ["-device", "VGA"] if self.screen else []
        if self.secure_boot:  # this OVMF keeps its variables where the system cannot write
            line += ["-machine", "q35,smm=on", "-global", "driver=cfi.pflash01,property=secure,value=on"]
        line += ["-drive", f"if=pflash,format=raw,readonly=on,file={self.code}"]
        line += ["-drive", f"if=pflash,format=raw,file={self.work / 'vars.fd'}"]
        line += ["-drive", f"if=none,id=esp,format=raw,cache=writethrough,file={self.disk}"]
        line += ["-device", "virtio-blk-pci,drive=esp,bootindex=1", "-serial", f"file:{console}"]
        subprocess.run(line, timeout=qemu.patience(seconds), check=True)
        said = _ESCAPES.sub("", console.read_text(errors="replace"))
        found = re.findall(f"{BEGIN}(.*?){END}", said)
        assert found, f"nothing was started: {said[-800:]}"
        return str(found[-1]).strip()
