"""The controller: ansible-playbook with the collection from its tarball, in the network of the fleet."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.tools import HANG

from .debian import USER
from .host import Host

_CONFIG = """[defaults]
host_key_checking = False
forks = 8
interpreter_python = auto_silent
collections_path = {collections}
deprecation_warnings = True
retry_files_enabled = False
local_tmp = {work}/local
[connection]
pipelining = True
[ssh_connection]
control_path_dir = {sockets}
ssh_args = {ssh}
"""
_SSH = (
    "-F none -o ControlMaster=auto -o ControlPersist=60s -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR "
)
_SSH += "-o ConnectTimeout=5 -o IdentitiesOnly=yes"


@dataclass(frozen=True, slots=True)
class Recap:
    ok: int
    changed: int
    unreachable: int
    failed: int
    skipped: int
    rescued: int


@dataclass(frozen=True, slots=True)
class Run:
    """`recap` has no host that the play did not reach."""

    status: int
    output: str

    @property
    def recap(self) -> dict[str, Recap]:
        lines = re.findall(
            r"^(\S+)\s+: ok=(\d+)\s+changed=(\d+)\s+unreachable=(\d+)\s+failed=(\d+)\s+skipped=(\d+)"
            r"\s+rescued=(\d+)",
            self.output,
            re.M,
        )
        return {name: Recap(*map(int, numbers)) for name, *numbers in lines}

    @property
    def text(self) -> str:
        """The output without its line breaks, which fall where they are full, and YAML's quotes."""
        return _joined(self.output)

    def said_of(self, host: str) -> str:
        """The last words about a host that failed, as the user reads them."""
        found = re.findall(rf"^fatal: \[{host}\].*?=> (.*?)(?=^\S|\Z)", self.output, re.M | re.S)
        return _joined(found[-1]) if found else ""


def _joined(text: str) -> str:
    # in a text in single quotes, YAML writes an apostrophe twice
    return " ".join(text.split()).replace("''", "'")


class Controller:
    """`programs` is the bin directory of an ansible-core, `collections` where the collection is installed."""

    def __init__(self, work: Path, programs: Path, collections: Path, namespace: str) -> None:
        self.work, self.programs, self.namespace = work, programs, namespace
        work.mkdir(parents=True, exist_ok=True)
        self.key = work / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.key)], check=True)
        self.public_key = (work / "key.pub").read_text()
        # A socket has at most 107 bytes in its path, too few for a folder of pytest.
        sockets = tempfile.mkdtemp(prefix="ssh-", dir="/tmp")
        weakref.finalize(self, shutil.rmtree, sockets, ignore_errors=True)
        config = _CONFIG.format(collections=collections, work=work, sockets=sockets, ssh=_SSH)
        (work / "ansible.cfg").write_text(config)

    def admit(self, host: Host) -> None:
        host.write("etc/ssh/authorized_keys", self.public_key)

    def start(
        self,
        hosts: Sequence[Host],
        play: Sequence[Mapping[str, Any]] | str,
        *options: str,
        variables: Mapping[str, Any] | None = None,
        per_host: Mapping[str, Mapping[str, Any]] | None = None,
        name: str = "play",
    ) -> subprocess.Popen[str]:
        """`play` is a playbook, or the name of one in the collection."""
        inventory = self.work / f"{name}.inventory.json"
        entries = {
            h.name: {"ansible_host": h.address} | dict((per_host or {}).get(h.name, {})) for h in hosts
        }
        everywhere = {"ansible_user": USER, "ansible_ssh_private_key_file": str(self.key)}
        inventory.write_text(json.dumps({"all": {"hosts": entries, "vars": everywhere}}))
        if not isinstance(play, str):
            book = self.work / f"{name}.json"
            book.write_text(json.dumps(list(play)))
            play = str(book)
        extra = ["--extra-vars", json.dumps(variables)] if variables else []
        return subprocess.Popen(
            [
                *("ip", "netns", "exec", self.namespace, str(self.programs / "ansible-playbook")),
                *("--inventory", str(inventory), *extra, *options, play),
            ],
            cwd=self.work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={
                "PATH": f"{self.programs}:{os.environ.get('PATH', os.defpath)}",
                "HOME": str(self.work),
                "PWD": str(self.work),
                "LC_ALL": "C.UTF-8",
                "ANSIBLE_CONFIG": str(self.work / "ansible.cfg"),
                "ANSIBLE_CALLBACK_RESULT_FORMAT": "yaml",
            },
        )

    def run(
        self, hosts: Sequence[Host], play: Sequence[Mapping[str, Any]] | str, *options: str, **more: Any
    ) -> Run:
        started = self.start(hosts, play, *options, **more)
        output, _ = started.communicate(timeout=HANG)
        return Run(started.returncode, output)
