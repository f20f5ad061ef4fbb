"""What the scenarios of trial boots share: a guest whose next boot is the trial, and questions to a guest."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import cache
from .frozen import Frozen
from .guest import Guest
from .test_apply_verify_rollback import APPLY, snapshot

TRY = f"{APPLY} --trial"
TRY_GFX1201 = f"{TRY} --profile gfx1201"
PERMANENT = "/etc/default/grub.d/zz-rocmcfg.cfg"
RECORD = "/var/lib/rocmcfg/trial.json"
PLUMBING = ("/etc/default/grub.d/zzz-rocmcfg-trial.cfg", "/etc/grub.d/01_rocmcfg_trial", RECORD)
# What stands around the arguments of a trial, and in the boot after it around none.
MARKS = ("rocmcfg.begin", "rocmcfg.end")
# An image that was built anew is another file.
IMAGES = "stat -c '%n %i %Y %s' /boot/initrd.img-*"


@dataclass(frozen=True, slots=True)
class Before:
    """A guest as it was before the trial."""

    files: list[str]
    images: str


@dataclass(frozen=True, slots=True)
class Armed:
    """A frozen guest that has just run `apply --trial`, and what that said."""

    frozen: Frozen
    before: Before
    applied: dict[str, Any]


def armed(installed: Frozen) -> Armed:
    """Freeze a guest right after `apply --trial`; cached, since most scenarios begin there."""
    key = cache.key_of([Path(__file__)], str(installed.folder))

    def build(work: Path) -> None:
        with Guest(installed) as guest:
            before = look(guest)
            applied = document(guest, TRY_GFX1201)
            told = {"files": before.files, "images": before.images, "applied": applied}
            (work / "told.json").write_text(json.dumps(told))
            guest.freeze(work)

    folder = cache.directory(f"armed-{key}", build)
    cache.forget_older_than(folder, "armed-*", keep=2)
    told = json.loads((folder / "told.json").read_text())
    return Armed(Frozen(folder), Before(told["files"], told["images"]), told["applied"])


def look(guest: Guest) -> Before:
    return Before(snapshot(guest), guest.run(IMAGES, check=True).stdout)


def document(guest: Guest, command: str, timeout: float = 300) -> dict[str, Any]:
    """What a command of rocmcfg that has to succeed says with --json."""
    found: dict[str, Any] = json.loads(guest.run(f"{command} --json", timeout, check=True).stdout)
    return found


def trial(guest: Guest) -> dict[str, Any] | None:
    """The trial that `status` shows."""
    found: dict[str, Any] | None = document(guest, "rocmcfg status")["trial"]
    return found


def newest(guest: Guest) -> dict[str, Any]:
    """The newest transaction of `history`."""
    found: dict[str, Any] = document(guest, "rocmcfg history")["transactions"][0]
    return found


def arguments(guest: Guest) -> list[str]:
    return guest.read("/proc/cmdline").decode().split()


def is_marked(guest: Guest) -> bool:
    """Whether the kernel was told that this boot is a trial."""
    return any(argument.startswith("rocmcfg.trial=") for argument in arguments(guest))


def for_the_next_boot(guest: Guest) -> str:
    """What GRUB would add; empty also where the environment block does not name it."""
    lines = guest.run("/usr/bin/grub-editenv - list", check=True).stdout.splitlines()
    found = (line.partition("=")[2] for line in lines if line.startswith("rocmcfg_next="))
    return next(found, "")


def wait_for_logins(guest: Guest) -> str:
    """Wait until anybody could log in, so until rocmcfg-recover.service is done; returns what that said."""
    guest.run("systemctl start systemd-user-sessions.service", 900, check=True)
    return guest.run("journalctl -b -u rocmcfg-recover.service -o cat", check=True).stdout


def assert_unchanged(guest: Guest, before: Before) -> None:
    after = look(guest)
    different = sorted({*before.files} ^ {*after.files})
    assert not different, different
    assert after.images == before.images


def assert_no_trial(guest: Guest, before: Before) -> None:
    """No trial is on record or in GRUB's hands, and every file is as it was before there was one."""
    left = guest.run(f"ls {' '.join(PLUMBING)}").stdout + for_the_next_boot(guest)
    assert not left, left
    assert_unchanged(guest, before)
    shown = trial(guest)
    assert shown is None, shown


def panic_in_the_trial(guest: Guest) -> None:
    """Begin a trial whose boot panics, and wait for the boot after it, which is as before."""
    line = arguments(guest)
    # The kernel panics when the first process ends; long before anything could be noted on disk.
    guest.run(f"{TRY} --set karg.init=/bin/false", 300, check=True)
    guest.begin("systemctl reboot")
    guest.wait_for_boot("the boot after the panic", 600)
    said = wait_for_logins(guest)
    assert "Kernel panic - not syncing: Attempted to kill init!" in guest.console.read_text(errors="replace")
    assert [word for word in arguments(guest) if word not in MARKS] == line
    tried = newest(guest)["trial"]
    assert (tried["outcome"], tried["evidence"]["source"]) == ("not_confirmed", "none"), said
