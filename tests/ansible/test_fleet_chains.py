"""The roles over real ssh on hosts of other boot chains and distributions than Debian with GRUB's menu."""

from __future__ import annotations

import pytest

from tests.support.hosts import OTHER_HOSTS

from . import support
from .fleet.controller import Controller
from .fleet.distributions import TREES, give_boot_chain, give_distribution
from .fleet.rollout import APPLY, NewHost, boot, written
from .test_fleet_report import fleet, report

CHAINS = {
    "bls": "fedora-bls",
    "systemd-boot": "systemd-boot-kernel-install",
    "uki": "uki-ukify",
    "limine": "limine",
}
SETTING = {"rocmcfg_set": {"amdgpu.cwsr_enable": "0"}, "rocmcfg_reboot_ok": True}


def test_hosts_of_four_chains_take_a_setting_boot_with_it_and_give_it_back(
    controller: Controller, new_host: NewHost
) -> None:
    hosts = [new_host(name) for name in CHAINS]
    for host in hosts:
        give_boot_chain(host, OTHER_HOSTS[CHAINS[host.name]]())
    boot(*hosts)
    before = {host: host.changes(times=False) for host in hosts}
    exact = {host: host.changes() for host in hosts}

    rehearsed = controller.run(hosts, APPLY, "--check", variables=SETTING)
    assert rehearsed.status == 0, rehearsed.output
    assert all(host.changes() == exact[host] for host in hosts), rehearsed.output

    done = controller.run(hosts, APPLY, variables=SETTING)
    assert done.status == 0, done.output
    assert {host.name: (host.boots, host.running("cwsr_enable")) for host in hosts} == dict.fromkeys(
        CHAINS, (2, "0")
    )
    exact = {host: host.changes() for host in hosts}
    again = controller.run(hosts, APPLY, variables=SETTING)
    assert {name for name, recap in again.recap.items() if recap.changed or recap.failed} == set(), (
        again.output
    )
    assert all(host.changes() == exact[host] for host in hosts)

    gone = controller.run(hosts, APPLY, variables=SETTING | {"rocmcfg_state": "absent"})
    assert gone.status == 0, gone.output
    assert {
        host.name: (host.running("cwsr_enable"), written(host, before[host])) for host in hosts
    } == dict.fromkeys(CHAINS, ("1", set()))


@pytest.mark.parametrize("release", [support.OLDEST, support.NEWEST])
def test_fedora_and_rhel_take_a_setting_boot_with_it_show_on_the_page_and_give_it_back(
    controller: Controller, new_host: NewHost, release: str
) -> None:
    controller.programs = support.core(release)
    hosts = [new_host(name) for name in TREES]
    for host in hosts:
        give_distribution(host, TREES[host.name]())
    boot(*hosts)
    before = {host: host.changes(times=False) for host in hosts}
    done = controller.run(hosts, APPLY, variables=SETTING)
    assert done.status == 0, done.output
    for host in hosts:
        assert (host.boots, host.running("cwsr_enable")) == (2, "0"), done.output
        entries = {path for path in written(host, before[host]) if "/loader/entries/" in path}
        assert entries, "no entry of the boot loader was changed"
        assert not [path for path in entries if "rescue" in path]

    assert report(controller, hosts).status == 0
    seen = {host["name"]: host for host in fleet(controller.work / "rocmcfg-report")["hosts"]}
    assert seen["fedora"]["system"] == "Fedora Linux 43"
    assert seen["rhel"]["system"].startswith("Red Hat Enterprise Linux 9.6")
    assert {host["state"] for host in seen.values()} == {"in_effect"}

    gone = controller.run(hosts, APPLY, variables=SETTING | {"rocmcfg_state": "absent"})
    assert gone.status == 0, gone.output
    for host in hosts:
        assert (host.running("cwsr_enable"), written(host, before[host])) == ("1", set())
