"""`python -m tests.vm`: build the image, or look into a guest by hand. See README.md."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from . import image, qemu
from .guest import Guest


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.vm")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("image", help="build the image if needed and print its path")
    run = commands.add_parser("run", help="run commands in a fresh guest, each in its own sh")
    run.add_argument("commands", nargs="+", metavar="COMMAND", help="a shell command, or the word reboot")
    console = commands.add_parser("console", help="the serial console of a kept guest (root, no password)")
    console.add_argument("work", type=Path, help="the directory that the guest's error named")
    arguments = parser.parse_args()
    if arguments.command == "console":
        return subprocess.run(qemu.command(arguments.work, console=None), check=False).returncode
    disk = image.base()
    print(disk)
    return _run(disk, arguments.commands) if arguments.command == "run" else 0


def _run(disk: Path, commands: list[str]) -> int:
    with Guest(disk) as guest:
        for command in commands:
            if command == "reboot":
                print(f"$ reboot   # {guest.reboot():.0f} s")
                continue
            result = guest.run(command, 900)
            print(f"$ {command}   # {result.seconds:.1f} s, exit status {result.rc}")
            print(result.stdout, result.stderr, sep="", end="")
            if result.rc != 0:
                return result.rc
    return 0


if __name__ == "__main__":
    sys.exit(main())
