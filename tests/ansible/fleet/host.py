"""One host of the fleet: its layers, its boots, and what differs in its tree from the layers below."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.tools import HANG

from .debian import REPOSITORY

# What logging in leaves behind, and Ansible's own directory for modules in transit.
UNSEEN = ("/var/log/", "/home/admin/", "/home/guest/", "/root/.ansible/")


@dataclass(frozen=True, slots=True)
class Entry:
    """What a tree holds at one path. `content` is a hash, a link's target or, of a directory, empty."""

    kind: str
    mode: int
    owner: tuple[int, int]
    mtime_ns: int
    content: str


class Host:
    """`layers` are read-only trees, the topmost first; what the host writes goes to a layer of its own.

    It boots whenever its init ends, unless it `stays_down`. `machine` is what `boot.simulate` takes.
    """

    def __init__(
        self, name: str, work: Path, layers: Sequence[Path], namespace: str, address: str, **machine: bool
    ) -> None:
        self.name, self.work, self.layers = name, work, tuple(layers)
        self.namespace, self.address = namespace, address
        self.machine = machine
        self.upper = work / "upper"
        self.boots = 0
        self.stays_down = False
        self._ending = False
        self._init: subprocess.Popen[bytes] | None = None
        self._supervisor = threading.Thread(target=self._supervise, daemon=True)
        for part in (self.upper, work / "work", work / "root"):
            part.mkdir(parents=True)
        self.upper.chmod(0o755)

    def hide(self, path: str) -> None:
        """Take away a file of the layers below: overlayfs's whiteout. Before it is started."""
        place = self.upper / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        os.mknod(place, 0o020000, os.makedev(0, 0))

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        """Put a file into the host's own layer; before it is started."""
        place = self.upper / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        place.chmod(mode)

    def read(self, path: str) -> str:
        """The text of a file as the host sees it."""
        found = next((p for p in self._places(path.lstrip("/")) if p.is_file()), None)
        return found.read_text() if found else ""

    def start(self) -> None:
        layers = ":".join(str(layer) for layer in self.layers)
        overlay = f"lowerdir={layers},upperdir={self.upper},workdir={self.work / 'work'}"
        told = {"name": self.name, "overlay": overlay, **self.machine}
        (self.work / "host.json").write_text(json.dumps(told))
        self.stays_down = False
        self._boot()
        self._supervisor = threading.Thread(target=self._supervise, daemon=True)
        self._supervisor.start()

    def wait(self, seconds: float = HANG) -> None:
        """Until its sshd listens; a boot that failed raises what it said."""
        end = time.monotonic() + seconds
        while not self._listens():
            if time.monotonic() > end or not self._supervisor.is_alive():
                raise RuntimeError(f"{self.name} did not boot:\n{(self.work / 'console.log').read_text()}")
            time.sleep(0.05)

    def _listens(self) -> bool:
        assert self._init is not None
        try:
            sockets = Path(f"/proc/{self._init.pid}/net/tcp").read_text()
        except OSError:
            return False
        return ":0016 00000000:0000 0A" in sockets and (self.work / "booted").exists()  # port 22, LISTEN

    def await_file(self, path: str, seconds: float = HANG) -> Path:
        """Until a file is there in the running host; returns where it can be reached from outside."""
        assert self._init is not None
        end = time.monotonic() + seconds
        while True:
            children = Path(f"/proc/{self._init.pid}/task/{self._init.pid}/children").read_text().split()
            place = Path(f"/proc/{children[0]}/root/{path}") if children else None
            if place is not None and place.exists():
                return place
            if time.monotonic() > end:
                raise TimeoutError(f"{self.name} has no {path}")
            time.sleep(0.05)

    def running(self, name: str) -> str:
        """A parameter of amdgpu as its kernel shows it."""
        return (self.work / "machine/sys/module/amdgpu/parameters" / name).read_text().strip()

    @property
    def panics(self) -> int:
        """How often its kernel has panicked, and rebooted."""
        noted = self.work / "panics"
        return len(noted.read_text().splitlines()) if noted.exists() else 0

    def stop(self) -> None:
        """End it for good, and all that runs in it."""
        self._ending = True
        if self._init is not None:
            self._init.kill()  # unshare, whose --kill-child ends the init and so the whole namespace
            self._init.wait()
        if self._supervisor.is_alive():
            self._supervisor.join()

    def _boot(self) -> None:
        self.boots += 1
        unshare = ["unshare", "--mount", "--pid", "--uts", "--ipc", "--fork", "--kill-child"]
        with (self.work / "console.log").open("ab") as console:
            self._init = subprocess.Popen(
                [
                    # a test run that is killed takes its hosts along
                    *(
                        "setpriv",
                        "--pdeathsig=KILL",
                        "ip",
                        "netns",
                        "exec",
                        self.namespace,
                        *unshare,
                        "--propagation=private",
                    ),
                    *(sys.executable, "-m", "tests.ansible.fleet.boot", str(self.work)),
                ],
                cwd=REPOSITORY,
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=subprocess.STDOUT,
                env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"},
            )

    def _supervise(self) -> None:
        while True:
            assert self._init is not None
            self._init.wait()
            booted = self.work / "booted"
            if self._ending or self.stays_down or not booted.exists():
                return
            booted.unlink()
            self._boot()

    # -- what is different from the layers below ------------------------------------------------------

    def changes(self, *, times: bool = True) -> dict[str, Entry]:
        """What the host's tree has otherwise than its layers, by path; of kind "removed" where it is gone.

        With `times` also what was written anew as it was, and directories in which something came and went.
        """
        found: dict[str, Entry] = {}
        for path in _walk(self.upper):
            seen = "/" + path
            if (seen + "/").startswith(UNSEEN):
                continue
            entry = _entry(self.upper / path, times)
            below = next((p for p in self._places(path)[1:] if os.path.lexists(p)), None)
            if below is None or _entry(below, times) != entry:
                found[seen] = entry
        return found

    def _places(self, path: str) -> list[Path]:
        return [layer / path for layer in (self.upper, *self.layers)]


def _walk(root: Path) -> Iterator[str]:
    for folder, directories, files in os.walk(root):
        for name in (*directories, *files):
            yield os.path.relpath(os.path.join(folder, name), root)


def _entry(path: Path, times: bool) -> Entry:
    found = path.lstat()
    kind = stat.filemode(found.st_mode)[0]
    content = ""
    if kind == "l":
        content = os.readlink(path)
    elif kind == "-":
        content = hashlib.sha256(path.read_bytes()).hexdigest()
    elif kind == "c" and found.st_rdev == 0:
        kind = "removed"  # overlayfs's whiteout
    mode = stat.S_IMODE(found.st_mode)
    return Entry(kind, mode, (found.st_uid, found.st_gid), found.st_mtime_ns if times else 0, content)
