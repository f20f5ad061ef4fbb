"""The line to QEMU itself (QMP, its machine protocol): what is done to a guest from outside."""

from __future__ import annotations

import shlex
import socket
import time
from pathlib import Path

from . import qemu
from .channel import Channel, Message

_UNLIMITED = 1 << 40  # bytes/s; QEMU would write no faster than over a network
Argument = str | int | dict[str, str] | list[dict[str, str]]


class MonitorError(Exception):
    """QEMU refused a command, or failed at it."""


class Monitor:
    """The monitor of one QEMU process. What QEMU reports unasked is not looked at."""

    def __init__(self, sock: socket.socket) -> None:
        self._channel = Channel(sock)
        self._negotiated = False

    def close(self) -> None:
        self._channel.close()

    def write_memory(self, target: Path) -> None:
        """Stop the machine and write all of it but its disks to a file."""
        self._execute("migrate-set-parameters", {"max-bandwidth": _UNLIMITED})
        self._execute("migrate", {"uri": f"exec:cat > {shlex.quote(str(target))}"})
        deadline = time.monotonic() + qemu.patience(180)
        while (progress := self._execute("query-migrate")).get("status") != "completed":
            if progress.get("status") in ("failed", "cancelled") or time.monotonic() > deadline:
                raise MonitorError(f"writing the guest's memory: {progress}")
            time.sleep(0.2)

    def plug_in(self, disk: Path) -> None:
        """Add a disk in qcow2 format to the running machine."""
        file = {"driver": "file", "filename": str(disk)}
        self._execute("blockdev-add", {"driver": "qcow2", "node-name": "extra", "file": file})
        self._execute("device_add", {"driver": "virtio-blk-pci", "id": "extra-disk", "drive": "extra"})

    def plug_in_network(self, port: int) -> None:
        """Add the network card of qemu.network() to the running machine."""
        forward: Argument = [{"str": f"tcp:127.0.0.1:{port}-:22"}]
        network: dict[str, Argument] = {"type": "user", "id": "network", "restrict": True, "hostfwd": forward}
        self._execute("netdev_add", network)
        self._execute("device_add", {"driver": "virtio-net-pci", "id": "card", "netdev": "network"})

    def _execute(self, command: str, arguments: dict[str, Argument] | None = None) -> Message:
        if not self._negotiated:
            self._negotiated = True
            self._execute("qmp_capabilities")
        request = {"execute": command, "id": command} | ({"arguments": arguments} if arguments else {})
        limit = qemu.patience(60)
        self._channel.send(request, limit)
        reply = self._channel.wait_for(lambda message: message.get("id") == command, limit)
        if reply is None or "error" in reply:
            raise MonitorError(f"{command}: {reply or 'no answer'}")
        answer: Message = reply["return"]
        return answer
