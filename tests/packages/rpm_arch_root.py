"""A Debian system with Python 3.14, rpm 6, makepkg and pacman 7, where the rpm and the Arch package are
built, installed and run: without a network, and from the source distribution alone."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import rocmcfg
from tests.support import hosts
from tests.vm import tools

from . import roots

VERSION = rocmcfg.__version__
SOURCE = f"/src/rocmcfg-{VERSION}"
STATE = "/var/lib/rocmcfg"
SUITE = "forky"
PACKAGES = (
    *("python3", "python-is-python3", "systemd"),
    *("rpm", "rpmlint", "makepkg", "pacman-package-manager", "libarchive-tools", "shellcheck"),
)


def require_tools() -> None:
    """Installs what is missing where that is possible; skips, or fails with CI=true, where it is not."""
    if os.geteuid() != 0:
        tools.refuse("making a Debian system takes root")
    tools.require({"mmdebstrap": "mmdebstrap"})


@dataclass(frozen=True, slots=True)
class Root:
    """A new system for each module of tests. What is written in it lies in `upper`."""

    system: roots.Root

    @property
    def upper(self) -> Path:
        return self.system.work / "upper"

    def run(
        self, *argv: str, check: bool = True, user: str = "root", cwd: str = "/"
    ) -> subprocess.CompletedProcess[str]:
        """Run a program; stdout and stderr come in one. makepkg reads from /dev/fd."""
        command = shlex.join(argv)
        if user != "root":
            command = f"setpriv --reuid={user} --regid=nogroup --clear-groups env HOME=/tmp {command}"
        command = f"ln -s /proc/self/fd /dev/fd; cd {cwd}; {command}"
        if check:
            return subprocess.CompletedProcess(argv, 0, self.system.ok(command))
        return self.system.run(command)

    def inside(self, path: str) -> Path:
        return self.upper / path.lstrip("/")

    def files_below(self, path: str) -> set[str]:
        """What this system was given there that is no directory."""
        return {
            f"/{one.relative_to(self.upper)}"
            for one in self.inside(path).rglob("*")
            if one.is_symlink() or not one.is_dir()
        }


def new_root(wheels: Path | None, work: Path) -> Root:
    """With the sources in /src: the sdist, the same unpacked, and wheels."""
    require_tools()

    def build(into: Path) -> None:
        roots.debootstrap(SUITE, PACKAGES, into)

    root = Root(roots.Root(roots.cached("root-rpm-arch", f"{SUITE}{PACKAGES}", build), work))
    if wheels is None:
        root.inside("/src").mkdir(parents=True)
    else:
        shutil.copytree(wheels, root.inside("/src/wheels"))
    sdist = [sys.executable, "-m", "build", "--sdist", "--no-isolation", str(roots.REPOSITORY)]
    roots.must([*sdist, "--outdir", str(root.inside("/src"))])
    root.run("tar", "-xf", f"{SOURCE}.tar.gz", "-C", "/src", "--no-same-owner")
    root.run("tar", "-xf", "recorded-hosts.tar", "--no-same-owner", cwd=SOURCE)
    return root


def laid_out(root: Root, wheels: str = "/src/wheels") -> dict[str, int]:
    """What tree.py itself installs from the same sources: path to mode, without directories."""
    into = "/src/expected"
    options = ["--wheels", wheels, "--zsh", "usr/share/zsh/site-functions"]
    root.run("python3", f"{SOURCE}/packaging/tree.py", "install", "--destdir", into, *options)
    top = root.inside(into)
    found = {f"/{one.relative_to(top)}": one.lstat().st_mode for one in top.rglob("*")}
    return {path: mode for path, mode in found.items() if not stat.S_ISDIR(mode)}


def with_state(root: Root) -> dict[str, bytes]:
    """State as a real apply leaves it on the sample host, with the variables for containers, put where this
    system would have it; its files."""
    sample = "/src/sample"
    root.run("cp", "-a", f"{SOURCE}/docs/demo/sample-host", sample)
    root.run("rocmcfg", "apply", "--profile", "gfx1201", "--yes", "--root", sample)
    root.run("cp", "-a", f"{sample}{STATE}", "/var/lib/")
    root.run("cp", "-a", f"{sample}/etc/rocmcfg", "/etc/")
    held = state_of(root)
    assert f"{STATE}/receipt.json" in held
    return held


def with_chain(root: Root, kind: str) -> dict[str, bytes | None]:
    """A setting, applied by the installed program to a host of `tests.support.hosts`; then its boot files are
    put where this system would have them. By path what each was before; None for one that was not there."""
    root.run("rm", "-rf", f"/src/{kind}")
    hosts.other_host(root.inside("/src"), kind, name=kind)
    place = root.inside(f"/src/{kind}")
    before = _boot_files(place)
    root.run("rocmcfg", "apply", "--set", "amdgpu.runpm=0", "--yes", "--root", f"/src/{kind}")
    after = _boot_files(place)
    changed = {
        path: before.get(path) for path in before.keys() | after if before.get(path) != after.get(path)
    }
    kept = {path: before.get(path) for path in after if path.startswith(("boot/", "efi/"))}
    for folder in sorted({*changed, *kept, "var/lib/rocmcfg"}):
        root.run("cp", "-a", "--parents", folder, "/", cwd=f"/src/{kind}")
    return {f"/{path}": content for path, content in {**kept, **changed}.items()}


def _boot_files(place: Path) -> dict[str, bytes]:
    found = (path for name in ("boot", "efi", "etc") for path in (place / name).rglob("*"))
    return {str(path.relative_to(place)): path.read_bytes() for path in found if path.is_file()}


def now(root: Root, paths: Iterable[str]) -> dict[str, bytes | None]:
    """What these files of the system are."""
    found = {path: root.inside(path) for path in paths}
    return {path: file.read_bytes() if file.is_file() else None for path, file in found.items()}


def state_of(root: Root) -> dict[str, bytes]:
    return {path: root.inside(path).read_bytes() for path in root.files_below(STATE)}
