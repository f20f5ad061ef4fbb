"""A try with reboots on a real machine: it finds a cure, names one that is none, survives a panic and a power
cut, and leaves the host as it was. Some twenty-five boots take too long for continuous integration. Before a
release, and after a change of tries: ROCMCFG_TEST_LONG=1 make vm TESTS=tests/vm/test_try_reboots.py"""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from .guest import Guest, GuestError, MachineStopped
from .trials import assert_no_trial, is_marked, look, wait_for_logins

HOME = "/home/alice"
# Fails unless the running kernel has the cure, in all boots of the control but the third.
PROGRAM = """#!/bin/sh
{ id -un; pwd; ulimit -n; echo "$SECRET"; } > seen
if [ -e hold ]; then touch held; sync; sleep 600; fi
[ "$(cat /sys/module/amdgpu/parameters/cwsr_enable)" = 0 ] && exit 0
echo x >> failures
[ "$(wc -l < failures)" != 3 ] || exit 0
kill -SEGV $$
"""
# Panics once, in a boot of a trial, before anything of rocmcfg runs.
PANICS = """[Unit]
DefaultDependencies=no
After=local-fs.target
Before=rocmcfg-recover.service sysinit.target
ConditionPathExists=/root/panics
ConditionKernelCommandLine=amdgpu.runpm=0

[Service]
Type=oneshot
ExecStart=/bin/sh -c 'rm /root/panics; sync; echo c > /proc/sysrq-trigger; sleep 60'

[Install]
WantedBy=sysinit.target
"""
TRY = "try --reboots 5 --any-gpu --unconditional --user alice --yes"


@pytest.mark.skipif(
    not os.environ.get("ROCMCFG_TEST_LONG"), reason="takes over an hour: ROCMCFG_TEST_LONG=1 runs it"
)
def test_boots_find_a_cure_and_a_setting_that_is_none(guest: Guest) -> None:
    guest.run("useradd --create-home alice", check=True)
    guest.write(f"{HOME}/crash", PROGRAM, 0o755)
    guest.run(f"chown alice: {HOME}/crash", check=True)
    guest.write("/etc/systemd/system/panics.service", PANICS)
    guest.run("systemctl enable panics.service && sync", check=True)
    before = look(guest)

    # The power is cut during the first run, which no arm explains.
    guest.run(f"touch {HOME}/hold", user="alice", check=True)
    made = tried(guest, "amdgpu.cwsr_enable=0", cut=True)
    print(json.dumps(made, indent=1))
    assert made["verdict"] == "cures", made
    assert (made["runs"], made["failures"]) == (
        {"control": 5, "treatment": 5},
        {"control": 4, "treatment": 0},
    )
    assert made["boots"] == {
        "of_each_arm": 5,
        "came_not_up": 0,
        "lost": {"went-down": 1},
        "restored": True,
    }
    assert made["arms"][0]["reasons"] == {"signal": 4}
    assert guest.read(f"{HOME}/seen").decode().split("\n")[:4] == ["alice", HOME, "4321", 'a "b" $c']
    assert_no_trial(guest, before)
    assert guest.parameter("cwsr_enable") == "1"

    # A setting without effect, one boot of which panics.
    guest.run("touch /root/panics && sync", check=True)
    guest.run(f"rm {HOME}/failures", check=True)
    made = tried(guest, "amdgpu.runpm=0")
    print(json.dumps(made, indent=1))
    assert made["verdict"] == "no-effect", made
    assert made["boots"]["came_not_up"] == 1
    assert made["boots"]["restored"]
    assert "did not come up" in made["sentence"]
    assert_no_trial(guest, before)


def tried(guest: Guest, setting: str, *, cut: bool = False) -> dict[str, Any]:
    """Begin a try, follow its boots to its end, and return what it found."""
    begin = f"cd {HOME} && ulimit -n 4321 && rocmcfg {TRY} --set {setting} -- ./crash"
    running = guest.begin(begin, 300, env={"SECRET": 'a "b" $c'})
    try:
        begun = guest.finish(running)
        assert begun.rc == 0, begun
    except GuestError as stopped:
        print(f"the shutdown came first: {stopped!s:.200}")
    boot = 0
    while True:
        boot += 1
        seconds = guest.wait_for_boot(f"boot {boot} of the try", 900)
        print(f"boot {boot} after {seconds:.0f} s", flush=True)
        try:
            if cut and boot == 1:
                guest.run(f"while ! test -e {HOME}/held; do sleep 1; done", 600, check=True)
                guest.run(f"rm {HOME}/hold && sync", check=True)
                guest.power_cut()
                guest.power_on()
                continue
            guest.run("while test -e /var/lib/rocmcfg/tries.on; do sleep 1; done", 1200, check=True)
            if not is_marked(guest):  # or else one more boot follows, without the setting
                break
        except MachineStopped:
            pass
        assert boot < 20
    wait_for_logins(guest)
    print(guest.run("journalctl -b -u rocmcfg-try.service -o cat", check=True).stdout)
    shown = guest.run("rocmcfg tries list --json", check=True).stdout
    newest = max(row["try"] for row in json.loads(shown)["tries"])
    print(guest.run(f"rocmcfg tries show R{newest}", check=True).stdout)
    made: dict[str, Any] = json.loads(guest.run(f"rocmcfg tries show R{newest} --json", check=True).stdout)
    return made
