"""GRUB as Arch, Gentoo and openSUSE have it: one file with the defaults, which is edited in place.

The guest's GRUB is Debian's less the loop over /etc/default/grub.d that Debian patches into grub-mkconfig,
and less update-grub. Their own builds of GRUB are not shown.
"""

from __future__ import annotations

import json

from .guest import Guest
from .test_apply_verify_rollback import APPLY, parameters, snapshot, verify

DEFAULTS = "/etc/default/grub"
GENERATE = "grub-mkconfig -o /boot/grub/grub.cfg"
UPSTREAM = (
    r"sed -i '/^for x in .*default\/grub\.d/,/^done/d' /usr/sbin/grub-mkconfig && "
    "! grep -q 'default/grub.d' /usr/sbin/grub-mkconfig && "
    "rm -rf /etc/default/grub.d /usr/sbin/update-grub /usr/sbin/update-grub2 && "
    f'printf %s "$(cat {DEFAULTS})" > {DEFAULTS} && {GENERATE}'  # and no line break at its end
)


def defaults(guest: Guest) -> str:
    return guest.run(f"cat {DEFAULTS}", check=True).stdout


def test_the_defaults_are_edited_in_place_and_given_back(guest: Guest) -> None:
    guest.run(UPSTREAM, 300, check=True)
    files, values, before = snapshot(guest), parameters(guest), defaults(guest)
    guest.run("rocmcfg plan --profile gfx1201 --any-gpu --unconditional", user="nobody", check=True)
    assert snapshot(guest) == files, "plan changed something"

    applied = json.loads(guest.run(f"{APPLY} --profile gfx1201 --json", 300, check=True).stdout)
    assert [(a["tool"], a["state"]) for a in applied["activations"]] == [("grub-mkconfig", "done")]
    ours = defaults(guest).removeprefix(before)
    assert ours.startswith("\n# Written by rocmcfg")
    assert ours.endswith(' }amdgpu.cwsr_enable=0"\n')
    assert guest.run("ls /etc/default/grub.d").rc != 0
    assert verify(guest)[0] == 6
    guest.reboot()
    assert guest.parameter("cwsr_enable") == "0"
    code, checks = verify(guest, user="nobody")
    assert code == 0, checks

    guest.run("rocmcfg rollback --yes", 300, check=True)
    assert snapshot(guest) == files
    guest.run(f"{APPLY} --profile gfx1201", 300, check=True)
    guest.run(f"sed -i s/cwsr_enable=0/cwsr_enable=1/ {DEFAULTS}", check=True)
    refused = guest.run("rocmcfg rollback --yes --json")
    assert (refused.rc, json.loads(refused.stdout)["diagnostics"][0]["id"]) == (1, "RC4022")
    guest.run(f"sed -i s/cwsr_enable=1/cwsr_enable=0/ {DEFAULTS}", check=True)
    guest.run(f"echo GRUB_TIMEOUT=2 >> {DEFAULTS}", check=True)
    guest.run("rocmcfg rollback --yes", 300, check=True)
    assert defaults(guest) == f"{before}\nGRUB_TIMEOUT=2\n"
    menu = guest.run("cat /boot/grub/grub.cfg", check=True).stdout
    assert "cwsr_enable" not in menu
    guest.reboot()
    assert parameters(guest) == values
