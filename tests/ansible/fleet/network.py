"""A bridge in a namespace of its own, and one for each host; this machine's network is not touched."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path
from types import TracebackType

from .debian import quietly


class Network:
    """Use it as a context. Addresses are 10.77.0.N; from the namespace `controller` all can be reached."""

    def __init__(self) -> None:
        self._prefix = f"rocmcfg-{os.getpid()}"
        self.controller = f"{self._prefix}-0"
        self._namespaces: list[str] = []

    def __enter__(self) -> Network:
        self._sweep()
        self._add(self.controller)
        inside = ["ip", "-n", self.controller]
        quietly([*inside, "link", "add", "bridge", "type", "bridge"])
        quietly([*inside, "address", "add", "10.77.0.254/24", "dev", "bridge"])
        quietly([*inside, "link", "set", "bridge", "up"])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for namespace in self._namespaces:
            self._remove(namespace)

    def _sweep(self) -> None:
        """What a test run left behind that was killed."""
        for left in Path("/run/netns").glob("rocmcfg-*-*"):
            if not Path("/proc", left.name.split("-")[1]).exists():
                self._remove(left.name)

    def _remove(self, namespace: str) -> None:
        self._end_processes(namespace)
        subprocess.run(["ip", "netns", "delete", namespace], check=False, capture_output=True)

    def _end_processes(self, namespace: str) -> None:
        """ssh keeps its shared connections open for a minute after the last play."""
        listed = subprocess.run(
            ["ip", "netns", "pids", namespace], capture_output=True, text=True, check=False
        )
        for pid in listed.stdout.split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)

    def _add(self, namespace: str) -> None:
        quietly(["ip", "netns", "add", namespace])
        self._namespaces.append(namespace)
        quietly(["ip", "-n", namespace, "link", "set", "lo", "up"])

    def join(self, number: int) -> tuple[str, str]:
        """Connect one more host; returns its namespace and its address."""
        namespace, address = f"{self._prefix}-{number}", f"10.77.0.{number}"
        self._add(namespace)
        port = f"port{number}"
        quietly(
            [
                *("ip", "link", "add", port, "netns", self.controller, "type", "veth"),
                *("peer", "name", "eth0", "netns", namespace),
            ]
        )
        quietly(["ip", "-n", self.controller, "link", "set", port, "master", "bridge", "up"])
        quietly(["ip", "-n", namespace, "address", "add", f"{address}/24", "dev", "eth0"])
        quietly(["ip", "-n", namespace, "link", "set", "eth0", "up"])
        return namespace, address
