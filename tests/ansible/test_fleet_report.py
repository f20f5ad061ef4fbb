"""The roles `report` and `gate` on the fleet, with the real rocmcfg on hosts and controller.

No Slurm, node-problem-detector, node feature discovery or systemd runs there; what their files say does."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from . import support
from .fleet import debian
from .fleet.controller import Controller, Run
from .fleet.host import Host
from .fleet.rollout import APPLY, AUTO, RECORD, NewHost, boot
from .plays import script

REPORT = "rocmcfg.amdgpu.report"
GATE = [{"hosts": "all", "gather_facts": False, "become": True, "roles": ["rocmcfg.amdgpu.gate"]}]
KINDS = ["slurm_prolog", "slurm_health_check", "npd", "nfd"]


def report(controller: Controller, hosts: list[Host], *options: str, **more: Any) -> Run:
    program = {"rocmcfg_report_program": str(support.ROCMCFG)} | more.pop("variables", {})
    return controller.run(hosts, REPORT, *options, variables=program, **more)


def fleet(folder: Path, *options: str) -> Any:
    ran = subprocess.run(
        [support.ROCMCFG, "fleet", folder / "documents", "--json", *options], capture_output=True, check=True
    )
    return json.loads(ran.stdout)


@pytest.mark.parametrize("release", [support.OLDEST, support.NEWEST])
def test_the_page_has_each_host_and_names_those_that_gave_no_answer(
    controller: Controller, new_host: NewHost, tmp_path: Path, release: str
) -> None:
    controller.programs = support.core(release)
    # the first host of a play does the work of all on the controller
    off, bare = new_host("off"), new_host("bare")
    bare.hide("usr/bin/rocmcfg")
    good = [new_host(f"good{n}") for n in range(1, 4)]
    broken = new_host("broken")
    broken.hide("usr/bin/rocmcfg")
    broken.write("usr/local/bin/rocmcfg", "#!/bin/sh\necho 'Traceback: what a day'\nexit 1\n", 0o755)
    hosts = [off, bare, *good, broken]
    boot(bare, *good, broken)
    exact = {host: host.changes() for host in hosts}
    folder = controller.work / "rocmcfg-report"

    rehearsed = report(controller, hosts, "--check")
    assert (rehearsed.status, folder.exists()) == (0, False), rehearsed.output

    first = report(controller, hosts)
    assert first.status == 0, first.output
    assert f"The page: {folder}/fleet.html" in first.text
    assert "1 of 6 hosts cannot be reached: off" in first.text
    assert {host.name for host in hosts if host.changes() != exact[host]} == set(), first.output
    seen = {host["name"]: host for host in fleet(folder)["hosts"]}
    assert set(seen) == {host.name for host in hosts}
    assert [seen[host.name]["state"] for host in good] == ["nothing_applied"] * 3
    assert seen["good1"]["documents"] == ["doctor", "status", "verify"]
    assert seen["off"]["problems"][0].startswith("verify failed: the host cannot be reached: ")
    assert seen["bare"]["problems"] == ["verify failed: rocmcfg is not installed"]
    assert "a document is broken" in seen["broken"]["problems"][0]
    page = (folder / "fleet.html").read_text()
    assert "good3" in page
    assert "rocmcfg is not installed" in page

    assert controller.run(good[:1], APPLY, variables=AUTO).status == 0
    again = report(controller, hosts)
    assert again.status == 0, again.output
    assert "Changed since documents.before" in again.text, again.output
    assert re.search(r"state\s+1\s+nothing applied\s+pending", again.text), again.output


def test_the_readme_leads_from_nothing_to_a_page_of_six_hosts(
    controller: Controller, new_host: NewHost, package: Path
) -> None:
    readme = (support.SOURCE / "README.md").read_text()
    before, _, after = readme.partition("rocmcfg.amdgpu.report -e")
    first = shlex.split("-e" + after.partition("```")[0].replace("\\\n", " "))
    assert first[-1].startswith("rocmcfg_install_package=$PWD/dist/rocmcfg_")
    first[-1] = f"rocmcfg_install_package={package}"
    assert len(before.split()) <= 240, "a minute from the first word to the page"
    hosts = [new_host(f"host{n}", (debian.base(),)) for n in range(1, 7)]
    off = new_host("off", (debian.base(),))
    boot(*hosts)
    # installing on a host that cannot be reached is a failure to Ansible, and the page is built all the same
    done = report(controller, [off, *hosts], *first)
    assert {name for name, recap in done.recap.items() if recap.unreachable} == {"off"}, done.output
    assert "1 of 7 hosts cannot be reached: off" in done.text, done.output
    seen = {host["name"]: host for host in fleet(controller.work / "rocmcfg-report")["hosts"]}
    assert seen["off"]["problems"] == [
        "verify failed: an earlier task of the play failed on this host, or did not reach it"
    ]
    done = report(controller, hosts)
    assert done.status == 0, done.output
    page = fleet(controller.work / "rocmcfg-report")
    assert [row["hosts"] for row in page["gpus"]] == [6]
    assert [host["problems"] for host in page["hosts"]] == [[]] * 6
    exact = {host: host.changes() for host in hosts}
    assert report(controller, hosts).status == 0
    assert {host.name for host in hosts if host.changes() != exact[host]} == set()


def test_a_report_without_a_program_or_with_batches_asks_no_host(
    controller: Controller, new_host: NewHost
) -> None:
    hosts = [new_host("one"), new_host("two")]
    boot(*hosts)
    missing = report(controller, hosts, variables={"rocmcfg_report_program": "/nowhere/rocmcfg"})
    assert "which has no usable /nowhere/rocmcfg" in missing.text, missing.output
    book = {"hosts": "all", "gather_facts": False, "become": True, "serial": 1, "roles": [REPORT]}
    program = {"rocmcfg_report_program": str(support.ROCMCFG)}
    batches = controller.run(hosts, [book], variables=program)
    assert "must have no serial" in batches.text, batches.output
    for run in (missing, batches):
        assert run.status != 0
        assert "Ask the host" not in run.text


def test_a_gate_is_installed_once_answers_its_callers_and_goes_without_a_trace(
    controller: Controller, new_host: NewHost
) -> None:
    host = new_host("node7.example")
    script(host.upper / "usr/bin/scontrol", 'echo "$@" >> /srv/scontrol; echo "NodeName=node7 State=IDLE"')
    boot(host)
    before, exact = host.changes(times=False), host.changes()
    kinds = {"rocmcfg_gate_kinds": KINDS}
    rehearsed = controller.run([host], GATE, "--check", "--diff", variables=kinds)
    assert (rehearsed.status, host.changes() == exact) == (0, True), rehearsed.output

    done = controller.run([host], GATE, variables=kinds)
    assert done.status == 0, done.output
    assert "slurm.conf needs Prolog=/etc/slurm/prolog.d/*" in done.text
    again = controller.run([host], GATE, variables=kinds)
    assert (again.status, again.recap[host.name].changed) == (0, 0), again.output
    assert "/etc/systemd/system/timers.target.wants/rocmcfg-features.timer" in host.changes()
    features = host.read("etc/kubernetes/node-feature-discovery/features.d/rocmcfg")
    assert re.fullmatch(r"(?:[\w./-]+=[\w./-]+\n)+", features), features
    monitor = json.loads(host.read("etc/node-problem-detector/rocmcfg.json"))
    (rule,) = monitor["rules"]
    assert rule["condition"] == monitor["conditions"][0]["type"]

    calls = {
        "npd": [rule["path"], *rule["args"]],
        "prolog": ["env", "-i", "/etc/slurm/prolog.d/50-rocmcfg.sh"],
        "health": ["env", "-i", "/etc/slurm/rocmcfg-health-check.sh"],
    }
    tasks: list[Any] = []
    for name, call in calls.items():
        tasks.append({"ansible.builtin.command": {"argv": call}, "register": name, "failed_when": False})
        message = f"{name} gives {{{{ {name}.rc }}}}: {{{{ {name}.stdout }}}}"
        tasks.append({"ansible.builtin.debug": {"msg": message}})
    book = [{"hosts": "all", "gather_facts": False, "become": True, "tasks": tasks}]
    answers = controller.run([host], book).text
    for name in calls:
        assert f"{name} gives 0: " in answers, answers
    assert host.read("srv/scontrol") == ""
    assert controller.run([host], APPLY, variables=AUTO).status == 0
    answers = controller.run([host], book).text
    for name in ("npd", "prolog"):
        assert f"{name} gives 1: rocmcfg: " in answers, answers
    drained = "update NodeName=node7 State=DRAIN Reason=rocmcfg: 1 of 4 settings wait for a reboot"
    assert drained in host.read("srv/scontrol")
    assert controller.run([host], APPLY, variables={"rocmcfg_state": "absent"}).status == 0

    absent = kinds | {"rocmcfg_gate_state": "absent"}
    exact = host.changes()
    rehearsed = controller.run([host], GATE, "--check", variables=absent)
    assert (rehearsed.status, host.changes() == exact) == (0, True), rehearsed.output
    gone = controller.run([host], GATE, variables=absent)
    assert gone.status == 0, gone.output
    left = {path: entry for path, entry in host.changes(times=False).items() if before.get(path) != entry}
    ours = {path: entry.kind for path, entry in left.items() if not path.startswith(("/srv", RECORD))}
    assert set(ours.values()) <= {"d"}, ours
    twice = controller.run([host], GATE, variables=absent)
    assert (twice.status, twice.recap[host.name].changed) == (0, 0), twice.output


def test_the_timer_for_metrics_is_switched_on_and_off(controller: Controller, new_host: NewHost) -> None:
    host = new_host("host")
    # in place of the package's units
    host.write("usr/lib/systemd/system/rocmcfg-metrics.service", "[Service]\nExecStart=rocmcfg verify\n")
    host.write(
        "usr/lib/systemd/system/rocmcfg-metrics.timer",
        "[Timer]\nOnBootSec=60\n[Install]\nWantedBy=timers.target\n",
    )
    boot(host)
    before = host.changes(times=False)
    link = "/etc/systemd/system/timers.target.wants/rocmcfg-metrics.timer"
    drop_in = "etc/systemd/system/rocmcfg-metrics.service.d/50-rocmcfg-gate.conf"
    kinds = {"rocmcfg_gate_kinds": ["metrics"]}
    golden = controller.work / "golden.json"
    golden.write_text("{}")
    own: dict[str, Any] = {"rocmcfg_gate_kinds": ["metrics", "slurm_prolog"]}
    own |= {"rocmcfg_gate_metrics_file": "/srv/metrics/rocmcfg.prom", "rocmcfg_gate_golden": str(golden)}
    for variables in (own, kinds):
        done = controller.run([host], GATE, variables=variables)
        assert done.status == 0, done.output
        assert link in host.changes()
        again = controller.run([host], GATE, variables=variables)
        assert (again.status, again.recap["host"].changed) == (0, 0), again.output
        for line in ("METRICS=/srv/metrics/rocmcfg.prom", 'OPTIONS=--against /etc/rocmcfg/golden.json"'):
            assert (f"{line}\n" in host.read(drop_in)) == (variables is own)
    assert "verify --against /etc/rocmcfg/golden.json --exit" in host.read("etc/slurm/prolog.d/50-rocmcfg.sh")
    gone = controller.run([host], GATE, variables=own | {"rocmcfg_gate_state": "absent"})
    assert gone.status == 0, gone.output
    left = {path: entry.kind for path, entry in host.changes(times=False).items() if path not in before}
    assert set(left.values()) <= {"d"}, left
