"""The collection's roles over real ssh: install, apply, reboot and verify, then all of it taken back."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from .frozen import Frozen
from .guest import Guest
from .playbook import Controller, free_port
from .test_apply_verify_rollback import snapshot

# The guest has no GPU, and its kernel already carries the fix.
APPLIED = {
    "rocmcfg_profiles": ["gfx1201"],
    "rocmcfg_any_gpu": True,
    "rocmcfg_unconditional": True,
    "rocmcfg_reboot_ok": True,
    "rocmcfg_reboot_timeout": 1800,
}


@pytest.fixture
def sockets() -> Iterator[Path]:
    """A directory with a short path."""
    path = Path(tempfile.mkdtemp(prefix="ssh-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


def test_the_roles_install_apply_reboot_and_take_back(
    installed: Frozen, deb: Path, tmp_path: Path, sockets: Path
) -> None:
    controller = Controller(tmp_path, sockets, free_port())
    with Guest(installed) as guest:
        guest.run("dpkg --purge rocmcfg", 600, check=True)
        controller.admit_to(guest)
        files = snapshot(guest)
        wanted = APPLIED | {"rocmcfg_install_package": str(deb)}

        run = controller.run(["install", "apply"], "--check", "--diff", variables=wanted)
        assert run.status == 0, run.output
        assert snapshot(guest) == files, run.output
        assert guest.run("command -v rocmcfg").rc != 0

        run = controller.run(["install", "apply"], variables=wanted, guest=guest)
        assert (run.status, run.recap["guest"].failed) == (0, 0), run.output
        assert guest.parameter("cwsr_enable") == "0"
        assert guest.run("rocmcfg verify", check=True).rc == 0
        run = controller.run(["install", "apply"], variables=wanted)
        assert (run.status, run.recap["guest"].changed) == (0, 0), run.output

        # Taken back, but the host goes down for its reboot and stays away.
        absent = {"rocmcfg_state": "absent", "rocmcfg_reboot_ok": True, "rocmcfg_reboot_timeout": 20}
        run = controller.run(["apply"], variables=absent)
        assert run.status != 0
        assert "run the play again" in run.said_of("guest"), run.output
        guest.wait_for_boot("the agent after the reboot that the play did not wait for")
        guest.run("systemctl is-system-running --wait", 900)  # its agent answers before ssh does
        assert guest.parameter("cwsr_enable") == "1"
        run = controller.run(["apply"], variables=absent)
        assert (run.status, run.recap["guest"].changed) == (0, 0), run.output
        # what the package itself enables stays, as the package does
        units = ("rocmcfg-recover.service", "rocmcfg-trial.service", "rocmcfg-try.service")
        left = [line for line in snapshot(guest) if not any(unit in line for unit in units)]
        assert left == files
