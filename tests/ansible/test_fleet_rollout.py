"""Rolling out on a fleet with work: drains, reboot windows, one host first, and one that never comes back.

scontrol and kubectl are stand-ins that answer as their documentation says; no Slurm, no Kubernetes runs."""

from __future__ import annotations

import datetime
import json
import shutil
import zoneinfo
from pathlib import Path
from typing import Any

from .fleet.controller import Controller
from .fleet.host import Host
from .fleet.rollout import APPLY, AUTO, NewHost, boot
from .plays import script
from .test_fleet import ALL_AT_ONCE, ROLLOUT

REBOOT = AUTO | {"rocmcfg_reboot_ok": True}
SLURM = {"rocmcfg_drain_tasks": "drain_slurm.yml", "rocmcfg_resume_tasks": "resume_slurm.yml"}
KUBERNETES = {"rocmcfg_drain_tasks": "drain_kubernetes.yml", "rocmcfg_resume_tasks": "resume_kubernetes.yml"}
# A node in /var/lib/slurm: `drained` and `reason`; `jobs` counts down, one for each look at it. `slurmd` is
# the boot of the slurmd that has registered: after a reboot the first look at the node shows the one before,
# and Slurm takes down a node that is resumed then.
_SCONTROL = r"""
cd /var/lib/slurm
echo "$(cat /proc/sys/kernel/random/boot_id) $*" >> log
case "$*" in
*State=DRAIN*) echo DRAIN > drained; for word; do echo "${word#Reason=}" > reason; done ;;
*State=RESUME*) ! cmp -s slurmd /proc/sys/kernel/random/boot_id || rm -f drained reason ;;
*"show node"*)
    jobs=$(cat jobs)
    if [ "$jobs" -gt 0 ]; then state=MIXED; echo $((jobs - 1)) > jobs; else state=IDLE; fi
    [ ! -e drained ] || state=$state+DRAIN
    [ -e slurmd ] || cat /proc/sys/kernel/random/boot_id > slurmd
    echo "NodeName=$4 State=$state SlurmdStartTime=$(cat slurmd) Reason=$(cat reason 2>/dev/null) [root@now]"
    cat /proc/sys/kernel/random/boot_id > slurmd
    ;;
esac"""
# Nodes in the directory of the stand-in: NODE.cordoned and NODE.mark; NODE.pods cannot be moved.
_KUBECTL = r"""
cd "$(dirname "$0")"
echo "$*" >> log
node=$2
case $1 in
get) node=$3; [ ! -e "$node.cordoned" ] || printf true; printf ,; cat "$node.mark" 2>/dev/null || : ;;
annotate)
    case "$*" in
    *rocmcfg-drained=true) printf true > "$3.mark" ;;
    *rocmcfg-drained-) rm "$3.mark" ;;
    esac
    ;;
drain) touch "$node.cordoned"; [ ! -e "$node.pods" ] || { echo 'error: cannot evict pod' >&2; exit 1; } ;;
uncordon) rm "$node.cordoned" ;;
esac"""


def slurm(host: Host, *, jobs: int = 0, reason: str = "") -> None:
    """Make a node of Slurm of a host; before it is started. A `reason` drains it."""
    script(host.upper / "usr/bin/scontrol", _SCONTROL)
    host.write("var/lib/slurm/jobs", str(jobs))
    if reason:
        host.write("var/lib/slurm/drained", "DRAIN\n")
        host.write("var/lib/slurm/reason", f"{reason}\n")


def calls(host: Host) -> list[tuple[str, str]]:
    """The boot and the words of each call of scontrol that changed the node."""
    rows = (line.partition(" ") for line in host.read("var/lib/slurm/log").splitlines())
    return [(boot_id, words) for boot_id, _, words in rows if words.startswith("update")]


def test_a_host_that_never_comes_back_ends_the_rollout_and_the_hosts_behind_it_are_untouched(
    controller: Controller, new_host: NewHost
) -> None:
    hosts = [new_host(f"host{n}") for n in range(1, 8)]
    first, gone, beside, rest = *hosts[:3], hosts[3:]
    slurm(gone)
    boot(*hosts)
    gone.stays_down = True
    exact = {host: host.changes() for host in rest}
    each: dict[str, dict[str, Any]] = {"host2": SLURM | {"rocmcfg_reboot_timeout": 15}}
    # two in the second batch: a batch of which no host is left ends every play
    batches = REBOOT | {"rocmcfg_serial": [1, 2, "100%"]}
    done = controller.run(hosts, ROLLOUT, variables=batches, per_host=each)
    assert done.status != 0
    for host in (first, beside):
        assert (host.boots, host.running("cwsr_enable")) == (2, "0"), done.output
    assert set(done.recap) == {"host1", "host2", "host3"}, done.output
    messages = done.said_of("host2")
    for words in (
        'host2 failed at "Reboot"',
        "(timeout=15)",
        "Check its console",
        "run the play again",
        "choose the recovery entry of its boot menu",
        "It gets no work until a later run of this play finds it in order",
        "Not begun: host4, host5, host6, host7.",
    ):
        assert words in messages, messages
    assert [host.changes() == exact[host] for host in rest] == [True] * 4
    assert [host.boots for host in rest] == [1] * 4
    assert gone.read("var/lib/slurm/drained"), "jobs may start on a host that has gone"

    gone.start()
    gone.wait()
    again = controller.run([gone], ROLLOUT, variables=REBOOT, per_host=each)
    assert (again.status, gone.boots) == (0, 2), again.output
    assert not gone.read("var/lib/slurm/drained"), again.output


def test_a_host_is_drained_before_its_reboot_and_gets_work_again_only_when_it_is_in_order(
    controller: Controller, new_host: NewHost, tmp_path: Path
) -> None:
    node, busy, theirs, ill, idle = (new_host(name) for name in ("node", "busy", "theirs", "ill", "idle"))
    pods, stuck = new_host("pods.example"), new_host("stuck.example")
    hosts = [node, busy, theirs, ill, idle, pods, stuck]
    slurm(node, jobs=2)
    slurm(busy, jobs=99)
    slurm(ill)
    slurm(idle)
    slurm(theirs, reason="fan 3 is loud")
    kubectl = script(tmp_path / "kubernetes/kubectl", _KUBECTL)
    (tmp_path / "kubernetes/stuck.pods").touch()
    boot(*hosts)
    each: dict[str, dict[str, Any]] = {
        host.name: SLURM | {"rocmcfg_drain_timeout": 20} for host in (node, busy, theirs, ill, idle)
    }
    each["ill"] |= {"rocmcfg_health_command": "false", "rocmcfg_health_retries": 0}
    # nothing of it needs a reboot
    each["idle"] |= {"rocmcfg_profiles": [], "rocmcfg_set": {"env.HSA_XNACK": "0"}}
    for host in (pods, stuck):
        each[host.name] = KUBERNETES | {"rocmcfg_kubectl": [str(kubectl)]}
    each = {name: AUTO | own for name, own in each.items()}

    everywhere = ALL_AT_ONCE | {"rocmcfg_reboot_ok": True}
    rehearsed = controller.run(hosts, ROLLOUT, "--check", variables=everywhere, per_host=each)
    assert rehearsed.status == 0, rehearsed.output
    assert [calls(host) for host in hosts] == [[]] * 7

    done = controller.run(hosts, ROLLOUT, variables=everywhere, per_host=each)
    failed = {name for name, recap in done.recap.items() if recap.failed}
    assert failed == {"busy", "ill", "stuck.example"}, done.output
    assert (node.boots, node.running("cwsr_enable")) == (2, "0"), done.output
    before, after = calls(node)
    assert "State=DRAIN Reason=rocmcfg: reboot for amdgpu settings" in before[1]
    assert "State=RESUME" in after[1]
    assert before[0] != after[0], "drained and resumed in different boots"
    assert (theirs.boots, calls(theirs)) == (2, []), "a drain of somebody else stays theirs"
    assert theirs.read("var/lib/slurm/reason") == "fan 3 is loud\n"
    assert (idle.boots, calls(idle)) == (1, []), "drained without a reboot"

    assert busy.boots == 1, done.output
    messages = done.said_of("busy")
    for words in (
        "still has work after 20 s: State=MIXED+DRAIN",
        "It was not rebooted",
        "run the play again",
    ):
        assert words in messages, messages
    assert (ill.boots, ill.running("cwsr_enable")) == (3, "1"), done.output
    assert [words.split()[2] for _, words in calls(ill)] == ["State=DRAIN"], "an ill host gets no work"
    assert "It gets no work until" in done.said_of("ill")

    assert (pods.boots, stuck.boots) == (2, 1), done.output
    log = (kubectl.parent / "log").read_text().splitlines()
    changes = [line.split()[0] for line in log if "pods" in line and not line.startswith("get")]
    assert changes == ["annotate", "drain", "wait", "uncordon", "annotate"]
    assert {path.name for path in kubectl.parent.glob("*.*")} == {
        "stuck.pods",
        "stuck.cordoned",
        "stuck.mark",
    }
    assert "kubectl drain stuck failed: error: cannot evict pod" in done.said_of("stuck.example")


def test_tasks_of_ones_own_stand_beside_the_playbook(controller: Controller, new_host: NewHost) -> None:
    host = new_host("host")
    boot(host)
    for name in ("mine_drain", "mine_resume"):
        tasks = [{"name": name, "ansible.builtin.command": {"argv": ["touch", f"/srv/{name}"]}}]
        (controller.work / f"{name}.yml").write_text(json.dumps(tasks))
    own = {"rocmcfg_drain_tasks": "mine_drain.yml", "rocmcfg_resume_tasks": "mine_resume.yml"}
    done = controller.run([host], APPLY, variables=REBOOT | own)
    assert (done.status, host.boots) == (0, 2), done.output
    assert {"/srv/mine_drain", "/srv/mine_resume"} <= set(host.changes())


def test_outside_of_its_window_in_its_own_time_zone_a_host_is_not_rebooted(
    controller: Controller, new_host: NewHost
) -> None:
    """The two hosts have one window and two time zones, 14 hours apart."""
    near, far = new_host("near"), new_host("far")
    zone = zoneinfo.ZoneInfo("Pacific/Kiritimati")
    for host, name in ((near, "Etc/UTC"), (far, zone.key)):
        host.hide("/etc/localtime")
        (host.upper / "etc/localtime").unlink()
        shutil.copy(f"/usr/share/zoneinfo/{name}", host.upper / "etc/localtime")
    slurm(near)
    slurm(far)
    boot(near, far)
    there = datetime.datetime.now(zone)
    begin, end = there - datetime.timedelta(hours=1), there + datetime.timedelta(hours=2)
    window = {"days": [f"{begin:%a}".lower()], "from": f"{begin:%H:%M}", "to": f"{end:%H:%M}"}
    settings = REBOOT | {"rocmcfg_reboot_window": [window]} | SLURM
    misread = {"rocmcfg_reboot_window": [{"days": ["sat"], "from": 22, "to": "05:00"}]}
    refused = controller.run([near], APPLY, variables=settings | misread)
    assert "from: 22 is not a time: write '22:00', in quotes" in refused.text, refused.output

    days = {f"{datetime.datetime.now(datetime.UTC):%a}"}
    done = controller.run([near, far], APPLY, variables=settings)
    days.add(f"{datetime.datetime.now(datetime.UTC):%a}")  # of two at midnight
    assert done.status == 0, done.output
    assert (far.boots, far.running("cwsr_enable")) == (2, "0"), done.output
    assert (near.boots, calls(near)) == (1, []), done.output
    assert "near needs a reboot to put this into effect. It is not rebooted now, outside of its" in done.text
    assert any(f"clock shows {day}" in done.text for day in days)
    assert "UTC). Run the play again in the window." in done.text
