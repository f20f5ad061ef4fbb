"""The real programs that read files of variables: what they make of a text, as NAME to value; None where they
fail and nobody gets anything."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.support.tools import HANG, require_library, require_tool, run

GENERATOR = "/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator"
MANAGER = "/lib/systemd/systemd"


def _environment(output: bytes) -> dict[str, str] | None:
    if not output.endswith(b"\0"):
        return None
    texts = output.decode("utf-8", "replace").split("\0")
    return dict(text.partition("=")[::2] for text in texts if "=" in text)


def _asked(argv: Sequence[str], folder: Path) -> dict[str, str] | None:
    """By a program that prints its environment, with a NUL behind each variable."""
    done = subprocess.run(
        argv,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=HANG,
        cwd=folder,
        check=False,
    )
    return _environment(done.stdout)


def by_shell(shell: str, folder: Path, text: str) -> dict[str, str] | None:
    path = folder / "script.sh"
    path.write_bytes(text.encode())
    script = '. "$1" >/dev/null; env -0'
    return _asked([require_tool(shell, package=shell), "-c", script, "sh", str(path)], folder)


def by_fish(folder: Path, text: str) -> dict[str, str] | None:
    path = folder / "script.fish"
    path.write_bytes(text.encode())
    fish = require_tool("fish", package="fish")
    return _asked([fish, "--no-config", "-c", f"source {path} >/dev/null; env -0"], folder)


def by_generator(folder: Path, text: str) -> dict[str, str]:
    """systemd's for user sessions, which reads ~/.config/environment.d as it reads /etc/environment.d."""
    (folder / "environment.d").mkdir(exist_ok=True)
    (folder / "environment.d/50-test.conf").write_bytes(text.encode())
    environment = {"XDG_CONFIG_HOME": str(folder), "HOME": "/"}
    done = run([require_tool(GENERATOR, package="systemd")], env=environment)
    found: dict[str, str] = {}
    # what it prints is quoted for a shell (src/basic/escape.c, `shell_maybe_quote`)
    pattern = r"""^(\w+)=(\$'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\n]*)$"""
    for name, written in re.findall(pattern, done.stdout, re.MULTILINE | re.DOTALL):
        inside = written[2:-1] if written.startswith("$'") else written[1:-1]
        unescaped = re.sub(r"\\(.)", lambda escape: _ESCAPES.get(escape[1], escape[1]), inside)
        found[name] = unescaped if written.startswith(("$'", '"')) else written
    return found


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


class _Conversation(ctypes.Structure):
    _fields_ = [("call", ctypes.c_void_p), ("data", ctypes.c_void_p)]


def by_pam_env(folder: Path, content: bytes) -> dict[str, str]:
    """What a session gets from pam_env of this machine, whose /etc/environment is another file here."""
    (folder / "environment").write_bytes(content)
    (folder / "service").write_text(
        f"session required pam_env.so conffile=/dev/null readenv=1 envfile={folder}/environment\n"
    )
    pam = require_library("libpam.so.0", package="libpam0g")
    handle, talk = ctypes.c_void_p(), _Conversation(None, None)
    place = str(folder).encode()
    assert pam.pam_start_confdir(b"service", b"root", ctypes.byref(talk), place, ctypes.byref(handle)) == 0
    assert pam.pam_open_session(handle, 0) == 0
    pam.pam_getenvlist.restype = ctypes.POINTER(ctypes.c_char_p)
    found = pam.pam_getenvlist(handle)
    texts: list[str] = []
    while (text := found[len(texts)]) is not None:
        texts.append(text.decode("utf-8", "replace"))
    pam.pam_end(handle, 0)
    return dict(text.partition("=")[::2] for text in texts)


def by_manager(folder: Path, texts: Sequence[str]) -> list[dict[str, str]]:
    """What a manager of systemd has loaded as Environment= of services with these texts."""
    units = folder / "systemd/user"
    units.mkdir(parents=True, exist_ok=True)
    run_dir = folder / "run"
    run_dir.mkdir(exist_ok=True)
    run_dir.chmod(0o777)
    starts = "\n[Service]\nExecStart=/bin/true\n"
    names = [f"u{number}.service" for number in range(len(texts))]
    for name, text in zip(names, texts, strict=True):
        (units / name).write_text(text + starts)
    (units / "all.service").write_text(f"[Unit]\nWants={' '.join(names)}\n{starts}")
    # the manager tests nothing as root
    user = ["setpriv", "--reuid", "65534", "--clear-groups"] if os.geteuid() == 0 else []
    argv = [*user, require_tool(MANAGER, package="systemd"), "--user", "--test", "--unit=all.service"]
    environment = {"XDG_RUNTIME_DIR": str(run_dir), "XDG_CONFIG_HOME": str(folder), "HOME": "/"}
    found: dict[str, dict[str, str]] = {}
    unit = ""
    for line in run(argv, env=environment).stdout.splitlines():
        if began := re.match(r"\s*-> Unit (\S+):", line):
            unit = began[1]
            found[unit] = {}
        elif told := re.match(r"\s*Environment: (\w+)=(.*)$", line):
            found[unit][told[1]] = told[2]
    return [found[name] for name in names]
