"""A Debian root with Python 3.14, rpm 6, makepkg and pacman 7, where the rpm and the Arch package are built,
installed and run. What happens in it has no network and sees no mount and no process of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.vm import cache

REPOSITORY = Path(__file__).parents[2]
VERSION = "0.1.0"
STATE = "/var/lib/rocmcfg"
SUITE = "forky"
MIRROR = os.environ.get("ROCMCFG_MIRROR", "http://deb.debian.org/debian")
PACKAGES = (
    "python3",
    "python-is-python3",
    "rpm",
    "makepkg",
    "pacman-package-manager",
    "libarchive-tools",
    "systemd",
    "rpmlint",
    "shellcheck",
)
EXCLUDED = ("/usr/share/man/*", "/usr/share/doc/*", "/usr/share/locale/*")
# Bound onto itself: rpm gives its scriptlets a mount namespace, which asks for a root that is a mount point.
_ENTER = """
root=$1; shift
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
exec chroot "$@"
"""


def require_tools() -> None:
    """Installs what is missing where that is possible; skips, or fails with CI=true, where it is not."""
    missing = [name for name in ("mmdebstrap", "unshare") if shutil.which(name) is None]
    said = ""
    if os.geteuid() != 0:
        said = "making a Debian root takes root"
    elif missing and shutil.which("apt-get") is None:
        said = f"missing: {', '.join(missing)}"
    elif missing:
        install = ["apt-get", "install", "--yes", "--no-install-recommends", "mmdebstrap", "util-linux"]
        done = subprocess.run(install, capture_output=True, text=True, check=False)
        said = "" if done.returncode == 0 else f"{' '.join(install)}\n{done.stdout}{done.stderr}"
    if said:
        stop = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        raise stop.Exception(said)


@dataclass(frozen=True, slots=True)
class Root:
    path: Path

    def run(
        self, *argv: str, check: bool = True, user: str = "root", cwd: str = "/", root: str = "/"
    ) -> subprocess.CompletedProcess[str]:
        """Run a program in it. `root` is a further tree below this one."""
        home = "/tmp" if user != "root" else "/root"
        enter = [str(self.path), f"--userspec={user}", str(self.path / root.lstrip("/"))]
        program = ["env", "-i", "-C", cwd, f"HOME={home}", "PATH=/usr/sbin:/usr/bin", "LC_ALL=C.UTF-8", *argv]
        apart = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child"]
        done = subprocess.run(
            [*apart, "sh", "-euc", _ENTER, "sh", *enter, *program],
            capture_output=True,
            text=True,
            check=False,
        )
        if check and done.returncode != 0:
            raise AssertionError(f"{' '.join(argv)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def inside(self, path: str) -> Path:
        return self.path / path.lstrip("/")

    def files_below(self, path: str) -> set[str]:
        """What is there and no directory, as paths of the root."""
        top = self.inside(path)
        found = (top.rglob("*") if top.is_dir() else iter((top,))) if top.exists() else iter(())
        return {f"/{one.relative_to(self.path)}" for one in found if one.is_symlink() or not one.is_dir()}


def fresh_root(into: Path) -> Root:
    """Its own copy of the root, with the sources in /src: the sdist, unpacked beside, and the wheels."""
    require_tools()
    key = cache.key_of([Path(__file__)], SUITE, *PACKAGES)
    image = cache.directory(f"packages-{SUITE}-{key}", _debootstrap) / "root.tar"
    subprocess.run(["tar", "--numeric-owner", "-xf", str(image), "-C", str(into)], check=True)
    root = Root(into)
    shutil.copytree(wheels(), root.inside("/src/wheels"))
    sdist = make_sdist(root.inside("/src"))
    with tarfile.open(sdist) as archive:
        archive.extractall(root.inside("/src"), filter="data")
    return root


def _debootstrap(into: Path) -> None:
    options = [
        "--variant=minbase",
        f"--include={','.join(PACKAGES)}",
        '--aptopt=APT::Install-Recommends "false"',
    ]
    # A mirror that lags behind is good enough for a test.
    options += [
        '--aptopt=Acquire::Check-Valid-Until "false"',
        *(f"--dpkgopt=path-exclude={p}" for p in EXCLUDED),
    ]
    command = ["mmdebstrap", *options, SUITE, str(into / "root.tar"), MIRROR]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout


def wheels() -> Path:
    """What `tree.py fetch` brings, fetched once for each lock."""
    tree = REPOSITORY / "packaging/tree.py"
    key = cache.key_of([REPOSITORY / "requirements.lock", tree])
    return (
        cache.directory(f"packages-wheels-{key}", lambda into: _run(tree, "fetch", "--into", into / "wheels"))
        / "wheels"
    )


def make_sdist(into: Path) -> Path:
    _run("-m", "build", "--sdist", "--no-isolation", "--outdir", into, REPOSITORY)
    return into / f"rocmcfg-{VERSION}.tar.gz"


def laid_out(root: Root, wheels: str = "/src/wheels") -> dict[str, int]:
    """What tree.py itself installs from the same sources: path to mode."""
    into = "/src/expected"
    tree = f"/src/rocmcfg-{VERSION}/packaging/tree.py"
    options = ["--wheels", wheels, "--zsh", "usr/share/zsh/site-functions"]
    root.run("python3", tree, "install", "--destdir", into, *options)
    top = root.inside(into)
    return {f"/{one.relative_to(top)}": one.lstat().st_mode for one in top.rglob("*")}


def with_state(root: Root) -> dict[str, bytes]:
    """State as a real apply leaves it, on the sample host, put where this root's own would be; its files."""
    sample = "/src/sample"
    root.run("cp", "-a", f"/src/rocmcfg-{VERSION}/docs/demo/sample-host", sample)
    root.run("rocmcfg", "apply", "--profile", "gfx1201", "--yes", "--root", sample)
    root.run("cp", "-a", f"{sample}{STATE}", "/var/lib/")
    held = state_of(root)
    assert f"{STATE}/receipt.json" in held
    return held


def state_of(root: Root) -> dict[str, bytes]:
    return {path: root.inside(path).read_bytes() for path in root.files_below(STATE)}


def _run(*argv: str | Path) -> None:
    command = [sys.executable, *map(str, argv)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout
