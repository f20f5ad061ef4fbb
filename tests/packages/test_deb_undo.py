"""What the package leaves for who removes it with something applied, and what it finds of another rocmcfg."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import NewRoot
from .roots import Root
from .test_deb_life import ENABLED, JOURNAL, PURGE, REMOVE, STATE

UNDO = f"sh {STATE}/undo.sh"
SAVED = "/var/backups/rocmcfg"
# Ours comes first on the script's PATH: it fails while /root/broken is there, and tells that it ran.
STUB = "#!/bin/sh\necho $(basename $0) $* >>/root/ran\ntest ! -e /root/broken || exit 3\n"
MENU = "grep -c amdgpu.cwsr_enable /boot/grub/grub.cfg || true"


@pytest.fixture
def removed(new_root: NewRoot) -> Callable[[], Root]:
    """Applied, then removed. update-initramfs is a stub, since the sample host's kernels are no kernels."""

    def make() -> Root:
        root = new_root("bookworm", live=True, installed=True)
        root.ok("update-grub")
        root.write("/usr/local/sbin/update-initramfs", STUB, mode="755")
        root.ok("sudo rocmcfg apply --profile gfx1201 --yes")
        assert root.ok(MENU) != "0\n"
        assert f"sudo {UNDO}" in root.ok(REMOVE)
        return root

    return make


def test_it_needs_no_path_and_keeps_what_somebody_added(removed: Callable[[], Root]) -> None:
    root = removed()
    root.ok("echo MINE=1 >>/etc/rocmcfg/env")
    said = root.ok(f"PATH=/usr/bin:/bin {UNDO}")
    assert root.ok(MENU) == "0\n"
    assert SAVED in said
    assert "MINE=1" in root.ok(f"cat {SAVED}/etc/rocmcfg/env")
    assert not root.exists(STATE)
    assert not root.exists("/etc/rocmcfg")
    assert not root.exists("/root/ran"), "no image had anything of rocmcfg"


def test_a_menu_whose_program_is_missing_is_put_back_from_its_copy(removed: Callable[[], Root]) -> None:
    root = removed()
    root.ok("mv /usr/sbin/update-grub /root/")
    said = root.ok(UNDO)
    assert "restored from a copy, because the program that generates it did not run" in said
    assert root.ok(MENU) == "0\n"
    assert not root.exists(STATE)


def test_a_menu_that_was_made_since_needs_its_program(removed: Callable[[], Root]) -> None:
    root = removed()
    root.ok("echo '# a newer kernel' >>/boot/grub/grub.cfg")
    root.ok("mv /usr/sbin/update-grub /root/")
    done = root.run(UNDO)
    assert done.returncode == 1
    assert "update-grub (package grub2-common) is missing" in done.stdout
    assert root.exists("/etc/default/grub.d/zz-rocmcfg.cfg"), "changed although it says otherwise"

    root.ok("mv /root/update-grub /usr/sbin/; touch /root/broken")
    root.write("/usr/local/sbin/update-grub", STUB, mode="755")
    done = root.run(UNDO)
    assert done.returncode == 1
    assert "failed: update-grub." in done.stdout
    assert f"run again: sudo {UNDO}" in done.stdout
    assert f"{STATE} is kept" in root.ok(PURGE)

    root.ok("rm /usr/local/sbin/update-grub")
    root.ok(UNDO)
    assert root.ok(MENU) == "0\n"
    assert not root.exists(STATE)


def test_a_rocmcfg_that_wrote_no_script_since_is_met(removed: Callable[[], Root]) -> None:
    root = removed()
    newer = f"{STATE}/transactions/000099"
    root.ok(f"cp -r $(dirname {JOURNAL}) {newer}")
    done = root.run(UNDO)
    assert done.returncode == 1
    assert f"{newer}/journal.jsonl" in done.stdout
    assert "sudo rocmcfg rollback --pristine" in done.stdout
    assert root.exists("/etc/rocmcfg/env")

    root.ok(f"rm -r {newer}")
    root.ok(UNDO)
    assert not root.exists("/etc/rocmcfg/env")


def test_a_trial_is_told_of_and_the_next_boot_is_not_it(new_root: NewRoot) -> None:
    root = new_root("bookworm", live=True, installed=True)
    root.ok("update-grub")
    root.ok("sudo rocmcfg apply --profile gfx1201 --trial --yes")
    armed = "grub-editenv - list | grep -c ^rocmcfg_next=. || true"
    assert root.ok(armed) == "1\n"
    said = root.ok(REMOVE)
    assert "a trial is on record" in said
    assert "sudo rocmcfg reject" in said
    assert "/etc/grub.d/01_rocmcfg_trial" in said
    root.ok("mv /etc/default/grub.d/zzz-rocmcfg-trial.cfg /root/")  # half of it is enough to know
    root.ok(UNDO)
    assert root.ok(armed) == "0\n"
    assert root.ok("grep -c rocmcfg_trial /boot/grub/grub.cfg || true") == "0\n"
    assert not root.exists("/etc/grub.d/01_rocmcfg_trial")
    assert not root.exists(STATE)


def test_an_apply_at_work_is_not_called_interrupted(new_root: NewRoot) -> None:
    root = new_root("bookworm", installed=True)
    root.ok(f'mkdir -p $(dirname {JOURNAL}); printf \'{{"kind":"begin"\' >{JOURNAL}')
    said = root.ok(f"flock /run/rocmcfg.lock {REMOVE}")
    assert "is running on this host" in said
    assert "interrupted" not in said


UNIT = "/etc/systemd/system/rocmcfg-recover.service"
OTHER = "/opt/rocmcfg/lib/systemd/system/rocmcfg-recover.service"


def test_the_unit_of_another_installation_does_not_hide_the_packages(new_root: NewRoot, deb: Path) -> None:
    """Enabled by the README's line for a virtual environment; that is deleted later, or was before."""
    links = f"ln -sfn {OTHER} {UNIT}; mkdir -p $(dirname {ENABLED}); ln -sfn {OTHER} {ENABLED}"
    install = f"apt install -y --reinstall /root/{deb.name}"
    root = new_root("bookworm", installed=True)
    root.bring(deb, f"/root/{deb.name}")
    root.write(OTHER, "[Unit]\n")
    root.ok(links)
    said = root.ok(install)
    assert f"{UNIT} -> {OTHER}" in said
    assert "sudo systemctl disable rocmcfg-recover.service && sudo systemctl enable" in said
    assert root.exists(UNIT), "it is in use"

    root.ok("rm -r /opt/rocmcfg")
    assert "no longer exists; the package's unit is used instead" in root.ok(install)
    assert root.run(f"test -L {UNIT}").returncode == 1
    assert root.ok(f"readlink -e {ENABLED}").endswith("lib/systemd/system/rocmcfg-recover.service\n")
    assert "the package's unit is used instead" not in root.ok(install)

    clean = new_root("bookworm")
    clean.bring(deb, f"/root/{deb.name}")
    clean.ok(links)
    clean.ok(install)
    assert clean.ok(f"readlink -e {ENABLED}").endswith("lib/systemd/system/rocmcfg-recover.service\n")
