"""Records what an old commit wrote, for test_upgrades.py, which then needs no history:

    python -m tests.upgrades.record 7f737e71d host     # data/host-7f737e71d.tar.xz
    python -m tests.upgrades.record 4e97fac30 tries    # data/tries-4e97fac30.tar.xz

The old code runs, with its own tests' hosts, in a folder of its own. Recorded are whole trees: the host
before rocmcfg, and as each scenario left it. Needs git with the commit, and grub-editenv.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
DATA = Path(__file__).parent / "data"
# Runs in the old tree, with the folder to fill as its argument.
HOST = """
import shutil, sys
from pathlib import Path
from tests.support.boots import enable_unit, reboot
from tests.support.hosts import debian_grub_host
from tests.support.program import rocmcfg

into = Path(sys.argv[1])
extra = {"etc/modprobe.d/own.conf": "options amdgpu vm_size=64\\n"}
plain = debian_grub_host(into / "work", kernels=("6.14.0-37-generic",), extra=extra)
enable_unit(plain)

def keep(name):
    shutil.copytree(plain, into / name, symlinks=True)

def restart():
    shutil.rmtree(plain)
    shutil.copytree(into / "before", plain, symlinks=True)

def run(*words):
    done = rocmcfg(*words, "--root", plain, tools=plain / "none")
    assert done.code == 0, (words, done.out, done.err)

keep("before")
run("apply", "--set", "amdgpu.cwsr_enable=0", "--set", "env.HSA_XNACK=1", "--yes")
reboot(plain)
keep("applied")
run("apply", "--set", "amdgpu.cwsr_enable=0", "--set", "amdgpu.runpm=0", "--via", "modprobe", "--yes")
keep("applied-twice")
restart()
run("apply", "--set", "amdgpu.cwsr_enable=0", "--trial", "--confirm-after", "10m", "--yes")
keep("armed")
reboot(plain)
keep("on-trial")
shutil.rmtree(into / "work")
"""
# Three tries: finished; ended by its limit of runs; interrupted in its fourth run.
TRIES = '''
import os, subprocess, sys

def attempt(*words):
    return subprocess.run([sys.executable, "-m", "rocmcfg", "try", *words], cwd="/").returncode

setting = ("--set", "env.HSA_ENABLE_SDMA=0", "--log", "/dev/null")
program = ("--", "sh", "-c", 'test "$HSA_ENABLE_SDMA" = 0')
assert attempt(*setting, *program) == 0
attempt(*setting, "--runs", "5", *program)
cut = """
cd "$XDG_STATE_HOME"; echo >>runs
test -e go-on || test $(wc -l <runs) -ne 4 || { kill -KILL $PPID; sleep 5; }
test "$HSA_ENABLE_SDMA" = 0
"""
attempt(*setting, "--", "sh", "-c", cut)
os.remove(os.environ["XDG_STATE_HOME"] + "/runs")
'''


def main(commit: str, what: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        old, into = Path(folder, "old"), Path(folder, "into")
        old.mkdir()
        into.mkdir()
        listed = ["rocmcfg", "profiles", "tests/__init__.py", "tests/support"]
        packed = subprocess.run(
            ["git", "-C", REPOSITORY, "archive", commit, *listed], capture_output=True, check=True
        )
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
            archive.extraction_filter = getattr(tarfile, "data_filter", None)
            archive.extractall(old)
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(old), "LC_ALL": "C.UTF-8"}
        environment |= {"XDG_STATE_HOME": str(into), "HOME": "/nonexistent"}
        script = {"host": HOST, "tries": TRIES}[what]
        subprocess.run(
            [sys.executable, "-c", script, str(into)], cwd=old, env=environment, check=True, text=True
        )
        with tarfile.open(DATA / f"{what}-{commit}.tar.xz", "w:xz", format=tarfile.PAX_FORMAT) as archive:
            for path in sorted(into.rglob("*")):
                archive.add(path, str(path.relative_to(into)), recursive=False, filter=_plain)


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    main(*sys.argv[1:])
