"""The life of settings on a boot chain, which is the same on all of them: planned, applied, in effect after a
reboot, on a kernel that was installed since as well, and taken back to what was there before.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from .guest import Guest
from .test_apply_verify_rollback import APPLY, parameters, verify

SETTING = "gfx1201"
OTHER = "6.99.0-other"  # a kernel of the same code under another name: what installs one is what counts
LIKE = "$(uname -r)"


class Chain(NamedTuple):
    """`change` are commands that turn Debian's GRUB into this chain, `booted` one whose output holds `name`
    after a reboot. `files` are patterns of all that an apply may touch. `install` and `remove` do so with
    another kernel, and `choose` has the next boot take it, where that is not the default anyway."""

    backend: str
    name: str
    booted: str
    change: Sequence[str]
    files: str
    install: Sequence[str] = ()
    choose: Sequence[str] = ()
    remove: Sequence[str] = ()


def run_all(guest: Guest, commands: Sequence[str]) -> None:
    for command in commands:
        guest.run(command, 900, check=True)


def texts(guest: Guest, files: str) -> str:
    shown = f'for f in $(ls -d {files} 2>/dev/null); do echo "== $f"; cat "$f"; done'
    return guest.run(shown, check=True).stdout


def become(guest: Guest, chain: Chain) -> None:
    """Change the guest's boot chain, and show that it boots by it and that rocmcfg recognises it."""
    run_all(guest, chain.change)
    guest.reboot()
    assert chain.name in guest.run(chain.booted, check=True).stdout
    before = texts(guest, chain.files)
    planned = guest.run(f"rocmcfg plan --profile {SETTING} --any-gpu --json", check=True)
    assert json.loads(planned.stdout)["boot_chain"]["loader"]["name"] == chain.backend
    assert texts(guest, chain.files) == before, "plan changed something"


def in_effect(guest: Guest) -> None:
    assert guest.parameter("cwsr_enable") == "0"
    code, checks = verify(guest)
    assert code == 0, checks


def live(guest: Guest, chain: Chain, how: str = "") -> None:
    """A guest that boots by the chain, from the apply to the reboot after the rollback."""
    before, values = texts(guest, chain.files), parameters(guest)
    guest.run(f"{APPLY} --profile {SETTING} {how}", 900, check=True)
    assert verify(guest)[0] == 6
    again = guest.run(f"{APPLY} --profile {SETTING} {how}", 900, check=True)
    assert "nothing was changed" in again.stdout
    run_all(guest, chain.install)
    guest.reboot()
    in_effect(guest)
    if chain.choose:
        kernel = guest.run("uname -r; cat /proc/cmdline", check=True).stdout
        run_all(guest, chain.choose)
        guest.reboot()
        assert guest.run("uname -r; cat /proc/cmdline", check=True).stdout != kernel
        in_effect(guest)
    guest.run("rocmcfg rollback --yes", 900, check=True)
    assert "rocmcfg" not in texts(guest, chain.files)
    run_all(guest, chain.remove)
    assert texts(guest, chain.files) == before
    guest.reboot()
    assert parameters(guest) == values
