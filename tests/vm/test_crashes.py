"""The black box on a real kernel: its devcoredump, udev and systemd, with devices of a module that crash on
demand.

One guest for the whole file; the tests build on each other in this order.
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from rocmcfg.workflow import crash_saving

from .frozen import Frozen
from .guest import Guest

MODULE = "/srv/modules/rocmcfg_crash.ko"
CRASH = "/sys/module/rocmcfg_crash/parameters/crash"
STORE = "/var/lib/rocmcfg/crashes"
RULE = "/usr/lib/udev/rules.d/70-rocmcfg-crash.rules"
LEFT = f"ls -A {STORE} | grep -v -e '^[0-9]' -e '^lock$' -e '^turn$'; true"  # what is no record
KEPT = 300  # seconds; the kernel frees a dump then, however busy this machine is
HOSTILE = "x;touch$IFS!p|`id`"


@pytest.fixture(scope="module")
def box(installed: Frozen) -> Iterator[Guest]:
    with Guest(installed) as guest:
        guest.run(f"insmod {MODULE} devices=10", check=True)
        yield guest


def crash(guest: Guest, what: str) -> None:
    guest.run(["sh", "-c", f'printf %s "$1" > {CRASH}', "sh", what], check=True)


def records(guest: Guest) -> list[dict[str, Any]]:
    """The saved crashes, newest first."""
    crashes = json.loads(guest.run("rocmcfg crashes list --json", 120, check=True).stdout)["crashes"]
    assert isinstance(crashes, list)
    return crashes


def wait_for(guest: Guest, condition: str, seconds: float = 240) -> None:
    guest.run(f"while ! {{ {condition}; }}; do sleep 0.5; done", seconds, check=True)


def wait_until_saved(guest: Guest, number: int, seconds: float = 240) -> list[dict[str, Any]]:
    wait_for(guest, f"test $(ls {STORE} | grep -c '^[0-9]') -ge {number}", seconds)
    idle = "! systemctl list-units --all --plain --no-legend 'rocmcfg-crash@*' | grep -qw activating"
    wait_for(guest, idle, seconds)
    return records(guest)


def forget(guest: Guest) -> None:
    guest.run("rocmcfg crashes forget --all", 60, check=True)


def test_udev_takes_the_rule_as_it_stands(box: Guest) -> None:
    verified = box.run(f"udevadm verify {RULE}")
    assert (verified.rc, "0 warnings" in verified.stdout or "Success: 1" in verified.stdout) == (0, True), (
        verified
    )


def test_it_is_off_and_does_nothing_until_it_is_turned_on(box: Guest) -> None:
    crash(box, "dump 0 1 4096")
    box.run("udevadm settle", 60, check=True)
    shown = box.run("udevadm info --query=all /sys/class/devcoredump/devcd1", check=True).stdout
    assert "SYSTEMD_WANTS" not in shown
    assert box.run("journalctl -q -u 'rocmcfg-crash@*'").stdout == ""
    assert box.run("rocmcfg crashes list", user="nobody").rc == 1


def test_turning_it_on_saves_the_dump_that_the_kernel_still_has(box: Guest) -> None:
    box.run("rocmcfg crashes on", 60, check=True)
    (record,) = wait_until_saved(box, 1)
    assert (record["device"], record["dump"]["state"]) == ("devcd1", "whole")
    forget(box)


def test_a_dump_is_saved_with_what_a_tracker_asks_for(box: Guest) -> None:
    program = "/tmp/gpu-program 1000 < /dev/dri/renderD200 > /dev/null 2>&1"
    box.run(f"cp /bin/sleep /tmp/gpu-program; setsid {program} &", check=True)
    crash(box, "dump 0 1 1000000")
    (record,) = wait_until_saved(box, 1)
    assert (record["dump"]["state"], record["dump"]["size"]) == ("whole", 1_000_000), record
    assert record["address"] == "crashing.0"
    assert record["processes"] == [
        {
            "pid": record["processes"][0]["pid"],
            "name": "gpu-program",
            "device": "0000:03:00.0",
            "memory": {"vram": 2 << 20, "gtt": 16 << 10},
        }
    ]
    assert record["verdict"]["id"].startswith("AMD-5"), record
    folder = f"{STORE}/{record['id']}"
    dump = gzip.decompress(box.read(f"{folder}/dump.gz"))
    assert dump.startswith(b"**** AMDGPU Device Coredump ****\n")
    assert len(dump) == 1_000_000
    assert b"ring gfx_0.0.0 timeout" in box.read(f"{folder}/kernel.log")
    modes = box.run(f"stat -c '%U %a' {STORE} {folder} {folder}/*").stdout.splitlines()
    assert set(modes) == {"root 700", "root 600"}
    assert box.run("ls /sys/class/devcoredump").stdout == "disabled\n", (
        "the kernel would discard the next one"
    )
    shown = box.run("rocmcfg crashes show", 60, check=True).stdout
    assert "gpu-program" in shown
    report = box.run("rocmcfg crashes report", 60, check=True).stdout
    assert "ring gfx_0.0.0 timeout" in report
    assert "`dump.gz`" in report


def test_ten_dumps_in_a_second_are_all_saved(box: Guest) -> None:
    forget(box)
    started = time.monotonic()
    crash(box, "dump 0 10 100000")
    saved = wait_until_saved(box, 10, 600)
    assert {record["address"] for record in saved} == {f"crashing.{number}" for number in range(10)}
    states = {record["dump"]["state"] for record in saved}
    assert states == {"whole"} or time.monotonic() - started > KEPT, saved
    assert box.run(LEFT).stdout == ""


def test_the_store_keeps_to_its_bound_and_the_oldest_goes_first(box: Guest) -> None:
    oldest = "20200101-000001-devcd1"
    box.run(
        f"cd {STORE} && for n in 1 2 3 4 5 6; do cp -a $(ls -d 2* | tail -1) 20200101-00000$n-devcd1; done",
        check=True,
    )
    crash(box, "dump 0 1 100000")
    wait_for(box, f"! test -e {STORE}/{oldest}")
    names = box.run(f"ls {STORE} | grep '^[0-9]'").stdout.split()
    assert len(names) == 16
    assert names[0] == "20200101-000002-devcd1"


def test_a_wedged_device_is_saved_once_with_its_dump_or_without(box: Guest) -> None:
    forget(box)
    crash(box, "wedged rebind,bus-reset")
    (record,) = wait_until_saved(box, 1)
    assert (record["event"], record["device"]) == ("wedged", "card9")
    assert record["recovery"] == ["rebind", "bus-reset"]
    assert (record["dump"]["state"], record["address"]) == ("none", "crashing.0")
    forget(box)
    crash(box, "dump 0 1 4096")
    crash(box, "wedged none")
    wait_until_saved(box, 1)
    box.run("sleep 8", 60)
    (record,) = wait_until_saved(box, 1)
    assert record["event"] == "dump"
    assert box.run("test -e /pwned").rc == 1


def test_a_save_that_is_killed_is_made_again_and_leaves_nothing(box: Guest) -> None:
    forget(box)
    started = time.monotonic()
    crash(box, f"dump 0 1 {500 << 20}")
    wait_for(box, f"test -s {STORE}/.new-*/dump.gz")
    box.run("systemctl kill --signal=KILL 'rocmcfg-crash@*'", check=True)
    assert box.run(f"ls {STORE} | grep -c '^[0-9]'").stdout == "0\n"
    assert box.run(LEFT).stdout.startswith(".new-")
    (record,) = wait_until_saved(box, 1, 600)
    print(f"a dump of 500 MiB, killed once: {time.monotonic() - started:.0f} s; {record['dump']}")
    peak = box.run("journalctl -q -b -u 'rocmcfg-crash@*' | grep -o '[0-9.]*M memory peak' | tail -1")
    print(f"the most memory: {peak.stdout.strip()}")
    if record["dump"]["state"] == "cut":
        assert time.monotonic() - started > crash_saving.READING, record
    else:
        assert (record["dump"]["state"], record["dump"]["size"]) == ("whole", 500 << 20), record
    assert box.run(LEFT).stdout == ""


def test_on_a_full_disk_the_small_parts_are_saved(box: Guest) -> None:
    forget(box)
    box.run("fallocate -l $(($(stat -f -c '%a * %S' /) - (64 << 20))) /fill", check=True)
    crash(box, "dump 0 1 50000000")
    (record,) = wait_until_saved(box, 1)
    box.run("rm /fill", check=True)
    assert record["dump"]["state"] == "dropped"
    assert "256 MiB" in record["dump"]["problem"]
    assert {"kernel.log", "report.md"} <= set(record["files"])
    assert "dump.gz" not in record["files"]
    assert "devcd" in box.run("ls /sys/class/devcoredump").stdout, "somebody may copy it elsewhere"
    box.run("for data in /sys/class/devcoredump/devcd*/data; do echo 1 > $data; done", check=True)


def test_the_name_of_a_device_is_only_text(box: Guest) -> None:
    forget(box)
    box.run("pkill gpu-program; rmmod rocmcfg_crash", check=True)
    box.run(["insmod", MODULE, f"name={HOSTILE}"], check=True)
    crash(box, "dump 0 1 4096")
    crash(box, "wedged none")
    (record,) = wait_until_saved(box, 1)
    assert record["address"] == f"{HOSTILE}.0"
    assert box.run("rocmcfg crashes show", 60, check=True).rc == 0
    (row,) = [line for line in box.run("rocmcfg crashes report", 60).stdout.splitlines() if "| GPU |" in line]
    assert row.count("|") - row.count("\\|") == 3, row
    assert box.run("ls /pwned /p 'x;touch'").rc != 0
