"""Keep what a try with reboots needs beside its record: that it is under way, and the environment of the
program. Only root may read the environment, since it can hold secrets, and it is removed at the end."""

from __future__ import annotations

import json
from collections.abc import Mapping

from rocmcfg.host.foreign import json_value
from rocmcfg.host.state_dir import STATE_DIR, STATE_MODE
from rocmcfg.host.user_state import UserState
from rocmcfg.host.view import Host, HostView
from rocmcfg.model.diagnostic import Diagnostic, RocmcfgError, error, fail
from rocmcfg.model.experiment import boots_name
from rocmcfg.model.shape import Malformed, exactly
from rocmcfg.records.journal import require_trusted

UNDER_WAY = f"{STATE_DIR}/tries.on"  # exists while a try with reboots is under way: rocmcfg-try.service
TRIES = f"{STATE_DIR}/tries"


class RootTries(UserState):
    """The tries with reboots of a host, which belong to root."""

    of_root = True

    def __init__(self, view: HostView) -> None:
        super().__init__(f"{view.root.rstrip('/')}{TRIES}")


def under_way(view: HostView) -> int | None:
    """Return the number of the try with reboots that is under way, None where there is none. Raises Untrusted
    where others may change that file, or RocmcfgError where it is damaged."""
    require_trusted(view, UNDER_WAY)
    text = view.text(UNDER_WAY)
    if text is None:
        return None
    if not text.strip().isdecimal() or len(text) > 20:
        hint = f"remove the file; then go on with `rocmcfg tries resume`: {UNDER_WAY}"
        raise fail(
            "RC4602", "the file that names the try under way is damaged", location=UNDER_WAY, hint=hint
        )
    return int(text)


def require_none(view: HostView) -> None:
    """Raise RocmcfgError while a try with reboots is under way."""
    number = under_way(view)
    if number is not None:
        raise RocmcfgError(under_way_already(number))


def under_way_already(number: int) -> Diagnostic:
    """Return the error that nothing else may change the host during a try with reboots."""
    name = boots_name(number)
    return error(
        "RC4601",
        f"try {name} is under way: it compares boots of this host, which must not change meanwhile",
        location=UNDER_WAY,
        hint=f"wait for its end (`sudo rocmcfg tries show {name}`), or end it with `sudo rocmcfg reject`",
    )


def begin(host: Host, number: int) -> None:
    """Note that a try is under way. Raises Unwritable."""
    host.make_dirs(STATE_DIR, STATE_MODE)
    host.write(UNDER_WAY, host.new_file(f"{number}\n".encode(), 0o644), keep_mtime=False)


def halt(host: Host) -> None:
    """Note that no try goes on by itself. Raises Unwritable."""
    if host.exists(UNDER_WAY) or host.is_symlink(UNDER_WAY):
        host.remove(UNDER_WAY)


def end(host: Host, number: int) -> None:
    """Note that no try is under way, and remove the environment of its program. Raises Unwritable."""
    path = _environment(number)
    if host.exists(path) or host.is_symlink(path):
        host.remove(path)
    halt(host)


def _environment(number: int) -> str:
    return f"{TRIES}/{number}/environment.json"


def keep_environment(host: Host, number: int, environment: Mapping[str, str]) -> None:
    """Keep the environment of the program, durably. Raises Unwritable."""
    content = json.dumps({**environment}).encode("utf-8", "surrogateescape")
    host.write(_environment(number), host.new_file(content, 0o600), keep_mtime=False)


def environment(view: HostView, number: int) -> dict[str, str]:
    """Return the environment of the program. Raises RocmcfgError where it is missing or damaged, or where
    others may have changed it."""
    path = _environment(number)
    require_trusted(view, path)
    content = view.read(path)
    try:
        table = exactly(dict, json_value((content or b"").decode("utf-8", "surrogateescape")))
        return {exactly(str, name): exactly(str, value) for name, value in table.items()}
    except (ValueError, Malformed) as problem:
        summary = f"the environment of try {boots_name(number)} is missing or damaged"
        hint = f"begin again, and remove this one with `rocmcfg tries forget {boots_name(number)}`"
        raise fail("RC4603", summary, location=path, hint=hint) from problem


BOOT_FILES = "boot-files.json"


def keep_boot_files(host: Host, number: int, files: Mapping[str, str]) -> None:
    """Keep what identifies each boot file at the beginning, durably. Raises Unwritable."""
    content = json.dumps({**files}).encode("utf-8", "surrogateescape")
    host.write(f"{TRIES}/{number}/{BOOT_FILES}", host.new_file(content, 0o600), keep_mtime=False)


def boot_files(view: HostView, number: int) -> dict[str, str] | None:
    """Return what identifies each boot file at the beginning; None where that is lost. Raises Untrusted."""
    path = f"{TRIES}/{number}/{BOOT_FILES}"
    require_trusted(view, path)
    try:
        content = (view.read(path) or b"").decode("utf-8", "surrogateescape")
        return {name: exactly(str, value) for name, value in exactly(dict, json_value(content)).items()}
    except ValueError:
        return None
