"""The root agent inside a guest: runs what the host asks for over a virtio-serial port.

This file is copied into the guest image and runs there alone, so it imports nothing but the standard library.
Each message is one line of JSON; bytes travel as base64. A line that does not parse is dropped: it is the
torn rest of a message from before a reset. Requests name the boot they are meant for, so that a command sent
to a guest that went down is not run by the next boot.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import pwd
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from typing import Any

PORT = "/dev/virtio-ports/org.rocmcfg.agent"
BOOT_ID = "/proc/sys/kernel/random/boot_id"
TIMED_OUT = 124  # what timeout(1) returns

_write_lock = threading.Lock()


def main() -> None:
    """Announce this boot, then serve requests until the machine goes down."""
    with open(BOOT_ID, encoding="ascii") as file:
        boot = file.read().strip()
    port = os.open(PORT, os.O_RDWR)
    _send(port, {"hello": boot})
    for line in _lines(port):
        with contextlib.suppress(ValueError, KeyError, TypeError):
            request = json.loads(line)
            if request["boot"] == boot:
                # One thread for each request: a scenario may start a command and look at the guest meanwhile.
                threading.Thread(target=_serve, args=(port, request), daemon=True).start()


def _lines(port: int) -> Iterator[bytes]:
    pending = b""
    while True:
        data = os.read(port, 1 << 20)
        if not data:  # no host at the other end
            time.sleep(0.2)
            continue
        *lines, pending = (pending + data).split(b"\n")
        yield from lines


def _send(port: int, message: dict[str, Any]) -> None:
    data = memoryview(json.dumps(message).encode() + b"\n")
    with _write_lock:
        while data:
            data = data[os.write(port, data) :]


def _serve(port: int, request: dict[str, Any]) -> None:
    try:
        reply = _OPERATIONS[request["op"]](request)
    except Exception as error:  # the host must hear of every failure, or it waits for its time limit
        reply = {"error": f"{type(error).__name__}: {error}"}
    _send(port, {"id": request["id"], **reply})


def _exec(request: dict[str, Any]) -> dict[str, Any]:
    user = request["user"]
    identity: dict[str, Any] = {}
    if user != "root":
        identity = {"user": user, "group": _group_of(user), "extra_groups": []}
    process = subprocess.Popen(
        request["argv"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd="/",
        env=_environment(user) | request["env"],
        start_new_session=True,
        **identity,
    )
    timed_out = False
    try:
        out, err = process.communicate(base64.b64decode(request["stdin"]), timeout=request["timeout"])
    except subprocess.TimeoutExpired:
        timed_out = True
        os.killpg(process.pid, signal.SIGKILL)
        out, err = _what_was_said(process)
    return {
        "rc": TIMED_OUT if timed_out else process.returncode,
        "timed_out": timed_out,
        "stdout": _text(out),
        "stderr": _text(err),
    }


def _what_was_said(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """Return the output of a killed command, without waiting for a daemon that still holds the pipes."""
    try:
        return process.communicate(timeout=5)
    except subprocess.TimeoutExpired as error:
        return error.stdout or b"", error.stderr or b""


def _environment(user: str) -> dict[str, str]:
    return {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": pwd.getpwnam(user).pw_dir,
        "USER": user,
        "LANG": "C.UTF-8",
    }


def _group_of(user: str) -> int:
    return pwd.getpwnam(user).pw_gid


def _put(request: dict[str, Any]) -> dict[str, Any]:
    flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if request["append"] else os.O_TRUNC)
    fd = os.open(request["path"], flags, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(base64.b64decode(request["data"]))
        os.fchmod(file.fileno(), request["mode"])
    return {}


def _get(request: dict[str, Any]) -> dict[str, Any]:
    with open(request["path"], "rb") as file:
        file.seek(request["offset"])
        return {"data": _text(file.read(request["size"]))}


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


_OPERATIONS = {"exec": _exec, "put": _put, "get": _get}

if __name__ == "__main__":
    main()
