"""The harness itself: a guest is a real Debian, and what scenarios rely on is real in it.

One guest for the whole file; the tests build on each other in this order and say how long things took (-s).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from . import wheelhouse
from .guest import CommandFailed, Guest, GuestError

DROP_IN = "/etc/default/grub.d/zz-harness.cfg"


@pytest.fixture(scope="module")
def plain(image: Path) -> Iterator[Guest]:
    """A guest without rocmcfg."""
    started = time.monotonic()
    with Guest(image) as guest:
        print(f"power-on to agent: {time.monotonic() - started:.1f} s")
        yield guest


def test_a_guest_is_a_debian_booted_by_grub_with_amdgpu_loaded(plain: Guest) -> None:
    assert plain.run("cat /proc/cmdline").stdout.split()[0].startswith("BOOT_IMAGE=/boot/vmlinuz-")
    assert plain.run("cat /proc/cmdline").stdout.split()[-2:] == ["console=ttyS0", "quiet"]
    assert plain.run("test -d /sys/firmware/efi").rc == 0
    assert "recovery mode" in plain.run("cat /boot/grub/grub.cfg").stdout
    assert plain.parameter("cwsr_enable") == "1"


def test_modprobe_sets_a_parameter_of_the_real_module(plain: Guest) -> None:
    plain.run("modprobe -r amdgpu && modprobe amdgpu cwsr_enable=0", check=True)
    assert plain.parameter("cwsr_enable") == "0"


def test_commands_report_status_streams_user_and_time_limit(plain: Guest) -> None:
    result = plain.run("id -un; cat; echo err >&2; exit 3", user="nobody", stdin="in\n")
    assert (result.rc, result.stdout, result.stderr) == (3, "nobody\nin\n", "err\n")
    assert plain.run(["printf", "%s", "$HOME 'a b'"]).stdout == "$HOME 'a b'"
    with pytest.raises(CommandFailed, match="exit status 1"):
        plain.run("false", check=True)
    with pytest.raises(GuestError, match=r"waited 1 s for the command: sleep 60[^$]*end of its console:"):
        plain.run("sleep 60", timeout=1)


def test_files_travel_whole_in_both_directions(plain: Guest, tmp_path: Path) -> None:
    content = bytes(range(256)) * 5000  # more than one message
    (tmp_path / "sent").write_bytes(content)
    plain.put(tmp_path / "sent", "/root/file", mode=0o640)
    plain.get("/root/file", tmp_path / "received")
    assert (tmp_path / "received").read_bytes() == content
    assert plain.run("stat -c %a /root/file").stdout == "640\n"


def test_a_grub_drop_in_takes_effect_through_update_grub_and_a_reboot(plain: Guest) -> None:
    plain.run("mkdir -p /etc/default/grub.d", check=True)
    plain.write(DROP_IN, 'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT amdgpu.cwsr_enable=0"\n')
    print(f"update-grub: {plain.run('update-grub', 300, check=True).seconds:.1f} s")
    print(f"reboot to agent: {plain.reboot():.1f} s")
    assert plain.parameter("cwsr_enable") == "0"
    assert plain.run("cat /proc/cmdline").stdout.split()[-1] == "amdgpu.cwsr_enable=0"


def test_a_power_cut_loses_what_was_not_synced_and_keeps_what_was(plain: Guest) -> None:
    # ext4 keeps data back for 5 s and more: the cut comes long before
    plain.run("echo kept > /root/synced; sync; echo lost > /root/unsynced", check=True)
    running = plain.begin("while :; do date > /root/busy; done")
    plain.power_cut()
    with pytest.raises(GuestError, match="not running"):
        plain.finish(running)
    print(f"power-on after the cut to agent: {plain.start():.1f} s")
    assert plain.read("/root/synced") == b"kept\n"
    assert plain.run("cat /root/unsynced").stdout == ""
    assert plain.parameter("cwsr_enable") == "0"


def test_rocmcfg_installs_offline(plain: Guest, wheels: Path) -> None:
    print(f"installing the wheelhouse: {wheelhouse.install(plain, wheels):.1f} s")
    assert plain.run("rocmcfg --version", user="nobody", check=True).stdout.strip()
