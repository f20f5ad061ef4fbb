"""A program of the guest that stops after its work, so that the plug can be pulled at a known step."""

from __future__ import annotations

import time

from .guest import Guest, GuestError

_HELD = "/run/held"  # forgotten by the next boot
# In place of the real one by its folder alone: programs are looked for in /usr/local first.
_SCRIPT = """#!/bin/sh
{program} "$@" || exit
{condition} || exit 0
touch {held}
exec sleep 3600
"""
ON_REQUEST = "test -e /run/hold-{name}"  # see `request`; the next boot knows nothing of it
# It says so in the journal, durably, before it changes anything.
FIRST_UNDO = 'test $(cat /var/lib/rocmcfg/transactions/*/journal.jsonl | grep -c \'"kind":"undo"\') = 1'


def stand_in(guest: Guest, program: str, condition: str) -> None:
    """Let this program (a path) do its work, and then never end while the condition, shell code, holds."""
    name = program.rpartition("/")[2]
    script = _SCRIPT.format(program=program, condition=condition.format(name=name), held=_HELD)
    guest.write(f"/usr/local/sbin/{name}", script, 0o755)


def request(guest: Guest, name: str) -> None:
    """Hold this program when it runs next."""
    guest.run(["touch", f"/run/hold-{name}"], check=True)


def wait(guest: Guest, seconds: float = 300) -> None:
    """Wait until a program is held."""
    deadline = time.monotonic() + seconds
    while guest.run(["test", "-e", _HELD]).rc != 0:
        if time.monotonic() > deadline:
            raise GuestError(f"no program was held in {seconds:.0f} s")
        time.sleep(0.5)
