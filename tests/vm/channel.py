"""The host's end of the line to the agent in a guest (see agent.py for the protocol)."""

from __future__ import annotations

import json
import select
import socket
import time
from collections.abc import Callable, Mapping
from typing import Any

Message = dict[str, Any]


class Channel:
    """One connection to one QEMU process; it survives reboots of the guest, not the end of QEMU.

    Not thread-safe: a scenario is one thread that starts commands and waits for them in any order.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._torn = b""
        self._unclaimed: list[Message] = []

    def close(self) -> None:
        self._socket.close()

    def send(self, message: Mapping[str, object], timeout: float) -> None:
        """Send one message; raises TimeoutError or OSError when the guest does not take it."""
        self._socket.settimeout(timeout)
        self._socket.sendall(json.dumps(message).encode() + b"\n")

    def wait_for(self, wanted: Callable[[Message], bool], seconds: float) -> Message | None:
        """Return the first message that is wanted, or None when it does not come in time.

        Messages that nobody asked for yet are kept: they answer commands that are still to be waited for.
        Raises ConnectionError when QEMU has closed the line.
        """
        deadline = time.monotonic() + seconds
        while True:
            for index, message in enumerate(self._unclaimed):
                if wanted(message):
                    return self._unclaimed.pop(index)
            remaining = deadline - time.monotonic()
            if remaining <= 0 or not select.select([self._socket], [], [], remaining)[0]:
                return None
            self._read()

    def forget(self) -> None:
        """Drop what an earlier boot has said."""
        self._unclaimed.clear()

    def _read(self) -> None:
        data = self._socket.recv(1 << 20)
        if not data:
            raise ConnectionError
        *lines, self._torn = (self._torn + data).split(b"\n")
        for line in lines:
            try:
                message = json.loads(line)
            except ValueError:
                continue  # the rest of a message that a crash tore
            if isinstance(message, dict):
                self._unclaimed.append(message)
