"""Makes of each text in/NUMBER an image by ukify, and out/NUMBER.cmdline of what objcopy finds in it.

It runs in the Debian system, with that system's Python. One process for all: ukify is a module as well.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

STUB = "/usr/lib/systemd/boot/efi/linuxx64.efi.stub"


def build(number: int) -> None:
    image, section = f"out/{number}.efi", f"out/{number}.cmdline"
    given = ["--linux=linux", "--uname=6.12.0", f"--stub={STUB}", "--os-release=NAME=Debian\nID=debian\n"]
    sys.argv = ["ukify", "build", *given, f"--cmdline=@in/{number}", f"--output={image}"]
    with contextlib.suppress(Exception, SystemExit):
        ukify.main()
    subprocess.run(
        ["objcopy", "-O", "binary", f"--dump-section=.cmdline={section}", image, "/dev/null"], check=False
    )


if __name__ == "__main__":
    loader = SourceFileLoader("ukify", "/usr/bin/ukify")
    spec = spec_from_loader("ukify", loader)
    assert spec
    ukify = module_from_spec(spec)
    loader.exec_module(ukify)
    Path("linux").write_bytes(Path(STUB).read_bytes())  # an EFI program, as a kernel is one
    for one in range(int(sys.argv[1])):
        build(one)
