"""The role `apply` with `rocmcfg_trial: true` on the fleet; fleet/grub.py: what of GRUB is real there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .fleet.controller import Controller, Run
from .fleet.host import Host
from .fleet.rollout import APPLY, AUTO, FILES, NewHost, boot, written

# As on a real host, which has the block from its installation on; the fleet's Debian has none.
BLOCK = {"/boot/grub/grubenv"}
TRIAL = AUTO | {"rocmcfg_trial": True}
AT_ONCE = TRIAL | {"rocmcfg_reboot_ok": True}


def play(controller: Controller, hosts: list[Host], *words: str, serial: int = 9, **options: Any) -> Run:
    """The role, and a task after it that says what the role has told of each host."""
    told = "{{ inventory_hostname }} is {{ rocmcfg_trial_result | default('gone', true) }}."
    book: Mapping[str, Any] = {
        "hosts": "all",
        "gather_facts": False,
        "become": True,
        "serial": serial,
        "max_fail_percentage": 0,
        "roles": ["rocmcfg.amdgpu.apply"],
        "post_tasks": [{"name": "Go on", "ansible.builtin.debug": {"msg": told}}],
    }
    return controller.run(hosts, [book], *words, **options)


def reboot(controller: Controller, host: Host) -> None:
    tasks = [{"name": "Reboot", "ansible.builtin.reboot": {}}]
    book = {"hosts": "all", "gather_facts": False, "become": True, "tasks": tasks}
    done = controller.run([host], [book])
    assert done.status == 0, done.output


def test_what_holds_is_kept_and_what_panics_is_reported_and_the_play_goes_on(
    controller: Controller, new_host: NewHost
) -> None:
    bad, good, plain = new_host("bad", panics=True), new_host("good"), new_host("plain", gpu=False)
    hosts = [bad, good, plain]
    boot(*hosts)
    exact = plain.changes()
    before = {host: host.changes(times=False) for host in hosts}

    done = play(controller, hosts, serial=1, variables=AT_ONCE)
    assert done.status == 0, done.output
    assert "good is confirmed." in done.text
    assert (good.boots, good.running("cwsr_enable")) == (2, "0"), done.output
    assert written(good, before[good]) == FILES | BLOCK
    # the shutdown, and the panic with which the trial ended
    assert (bad.boots, bad.panics, bad.running("cwsr_enable")) == (2, 1, "1"), done.output
    assert written(bad, before[bad]) == BLOCK
    assert "bad: the trial is not confirmed: the trial is over, and the host is back" in done.text
    assert "The host is as it was before." in done.text
    assert "bad is not_confirmed." in done.text
    assert (plain.boots, plain.changes()) == (1, exact)

    reboot(controller, good)
    assert (good.boots, good.running("cwsr_enable")) == (3, "0")
    again = play(controller, [good], variables=AT_ONCE)
    assert (again.status, again.recap["good"].changed, good.boots) == (0, 0, 3), again.output
    assert "good is gone." in again.text, "nothing is left to try where all is applied"

    # what was applied before is in effect again, and must not be taken for the trial
    variable = {"rocmcfg_set": {"env.HSA_XNACK": "0"}}
    assert controller.run([bad], APPLY, variables=variable).status == 0
    applied = bad.changes(times=False)
    must = AT_ONCE | {"rocmcfg_trial_must_hold": True}
    held = play(controller, [bad, plain], serial=1, variables=must)
    assert held.status != 0
    assert set(held.recap) == {"bad"}, held.output
    assert "bad: the trial is not confirmed: the trial is over" in held.said_of("bad"), held.output
    assert (bad.panics, written(bad, applied)) == (2, set()), held.output


def test_what_does_not_hold_in_the_trial_is_taken_back(controller: Controller, new_host: NewHost) -> None:
    """Of each kind one: not in effect, not healthy, gone while it was asked; each host is as before."""
    deaf, ill, late = new_host("deaf", deaf=True), new_host("ill"), new_host("late")
    hosts = [deaf, ill, late]
    boot(*hosts)
    before = {host: host.changes(times=False) for host in hosts}
    health = {
        "ill": "sh -c 'echo too hot; exit 7'",
        # the first boot that carries the setting dies under the command
        "late": "sh -c 'kill -TERM 1; sleep 600'",
    }
    each = {
        name: {"rocmcfg_health_command": command, "rocmcfg_health_retries": 0}
        for name, command in health.items()
    }
    done = play(controller, hosts, variables=AT_ONCE, per_host=each)
    assert done.status == 0, done.output
    for host in hosts:
        assert (host.boots, host.running("cwsr_enable"), written(host, before[host])) == (3, "1", BLOCK), (
            f"{host.name}\n{done.output}"
        )
        assert f"{host.name} is not_confirmed." in done.text
    assert "deaf: the trial is not confirmed: rocmcfg: not in effect: amdgpu.cwsr_enable" in done.text
    assert "ill: the trial is not confirmed: the health command exited with code 7" in done.text
    assert "Its output: too hot" in done.text
    assert "late: the trial is not confirmed: the connection was lost" in done.text


def test_a_trial_waits_for_the_reboot_and_a_later_play_confirms_it(
    controller: Controller, new_host: NewHost
) -> None:
    patient, allowed = new_host("patient"), new_host("allowed")
    hosts = [patient, allowed]
    boot(*hosts)
    exact = {host: host.changes() for host in hosts}
    rehearsed = play(controller, hosts, "--check", "--diff", variables=AT_ONCE)
    assert rehearsed.status == 0, rehearsed.output
    assert {host.name for host in hosts if host.changes() != exact[host]} == set(), rehearsed.output
    assert "patient would need a reboot to try this for one boot. It would be rebooted now." in rehearsed.text
    first = play(controller, hosts, variables=TRIAL)
    assert first.status == 0, first.output
    for host in hosts:
        assert f"{host.name} is armed." in first.text, first.output
        assert host.boots == 1
    again = play(controller, hosts, variables=TRIAL)
    assert {name: recap.changed for name, recap in again.recap.items()} == {"patient": 0, "allowed": 0}
    other = play(controller, [patient], variables=TRIAL | {"rocmcfg_set": {"amdgpu.runpm": "0"}})
    assert other.status != 0, "another trial was begun while one was on record"
    assert "a trial" in other.said_of("patient"), other.output

    reboot(controller, patient)
    later = play(controller, hosts, variables=TRIAL, per_host={"allowed": {"rocmcfg_reboot_ok": True}})
    assert later.status == 0, later.output
    for host in hosts:
        assert f"{host.name} is confirmed." in later.text, later.output
        assert (host.boots, host.running("cwsr_enable")) == (2, "0"), later.output
