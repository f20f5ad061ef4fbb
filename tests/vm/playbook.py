"""ansible-playbook on this machine against one guest, over ssh on a port of the loopback interface."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.ansible import support
from tests.ansible.fleet.controller import Run

from . import qemu
from .guest import Guest

# Time limits fit a guest under TCG on a busy machine; the control path is short, as a socket's must be.
_SSH = (
    "-F none -o ControlMaster=auto -o ControlPersist=60s "
    "-o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o IdentitiesOnly=yes"
)
_CONFIG = """[defaults]
host_key_checking = False
interpreter_python = /usr/bin/python3
collections_path = {collections}
timeout = 300
local_tmp = {work}/local
[connection]
pipelining = True
[ssh_connection]
control_path_dir = {sockets}
ssh_args = {ssh}
"""


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


class Controller:
    """The collection, installed from its tarball, and the key that opens one guest."""

    def __init__(self, work: Path, sockets: Path, port: int) -> None:
        self._work, self._port = work, port
        self._programs = support.core(support.NEWEST)
        (work / "build").mkdir()
        tarball = support.build(support.NEWEST, work / "build")
        collections = support.install(support.NEWEST, tarball, work / "collections")
        self._key = work / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self._key)], check=True)
        (work / "ansible.cfg").write_text(
            _CONFIG.format(collections=collections, work=work, sockets=sockets, ssh=_SSH)
        )

    def admit_to(self, guest: Guest) -> None:
        """Give the guest its network card and let the controller in as root."""
        guest.plug_in_network(self._port)
        guest.run("mkdir -p -m 700 /root/.ssh", check=True)
        guest.put(self._key.with_suffix(".pub"), "/root/.ssh/authorized_keys", 0o600)
        guest.run("systemctl --quiet enable --now ssh systemd-networkd", 600, check=True)

    def start(
        self, roles: Sequence[str], *options: str, variables: Mapping[str, object]
    ) -> tuple[subprocess.Popen[bytes], Path]:
        """Start a play of these roles of the collection; returns it, and the file that it writes to."""
        host = {
            "ansible_host": "127.0.0.1",
            "ansible_port": self._port,
            "ansible_user": "root",
            "ansible_ssh_private_key_file": str(self._key),
        }
        inventory, play, output = (self._work / name for name in ("inventory.json", "play.json", "output"))
        inventory.write_text(json.dumps({"all": {"hosts": {"guest": host}}}))
        names = [f"rocmcfg.amdgpu.{role}" for role in roles]
        play.write_text(json.dumps([{"hosts": "all", "gather_facts": False, "become": True, "roles": names}]))
        extra = ["--extra-vars", json.dumps(variables)]
        program = self._programs / "ansible-playbook"
        with output.open("wb") as file:
            process = subprocess.Popen(
                [program, "--inventory", inventory, *extra, *options, play],
                cwd=self._work,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                env={
                    "PATH": f"{self._programs}:{os.environ.get('PATH', os.defpath)}",
                    "HOME": str(self._work),
                    "LC_ALL": "C.UTF-8",
                    "ANSIBLE_CONFIG": str(self._work / "ansible.cfg"),
                    "ANSIBLE_CALLBACK_RESULT_FORMAT": "yaml",
                },
            )
        return process, output

    def run(
        self,
        roles: Sequence[str],
        *options: str,
        variables: Mapping[str, object],
        guest: Guest | None = None,
    ) -> Run:
        """Run a play to its end; a `guest` that is given is switched on again after each reset meanwhile."""
        process, output = self.start(roles, *options, variables=variables)
        try:
            if guest is not None:
                guest.stay_up_while(lambda: process.poll() is None)
            process.wait(qemu.patience(1200))
        finally:
            process.kill()
        return Run(process.returncode, output.read_text())
