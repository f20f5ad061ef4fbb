"""The role `apply` over real ssh on hosts of other boot chains than GRUB's generated menu."""

from __future__ import annotations

from tests.support.hosts import OTHER_HOSTS, make_root

from .fleet.controller import Controller
from .fleet.host import Host
from .fleet.rollout import APPLY, NewHost, boot, written

CHAINS = {
    "bls": "fedora-bls",
    "systemd-boot": "systemd-boot-kernel-install",
    "uki": "uki-ukify",
    "limine": "limine",
}
# What of a recorded host its boot chain is; the rest, kernels and all, is the fleet's.
_ITS_CHAIN = (
    *(
        "boot/",
        "etc/machine-id",
        "etc/kernel/cmdline",
        "etc/kernel/install",
        "etc/default/",
        "usr/lib/systemd/boot/",
    ),
    *("usr/bin/grubby", "usr/bin/limine-", "usr/bin/bootctl", "usr/bin/kernel-install", "etc/limine-"),
)
SETTING = {"rocmcfg_set": {"amdgpu.cwsr_enable": "0"}, "rocmcfg_reboot_ok": True}


def chain(host: Host, kind: str) -> None:
    """Give a host the boot files of a recorded one, in place of GRUB's menu; before it is started."""
    host.hide("/boot/grub/grub.cfg")
    files = OTHER_HOSTS[kind]()
    make_root(
        host.work, {path: file for path, file in files.items() if path.startswith(_ITS_CHAIN)}, name="upper"
    )
    of_firmware = {p.removeprefix("sys/"): f for p, f in files.items() if p.startswith("sys/firmware/")}
    make_root(host.work, of_firmware, name=".")


def test_hosts_of_four_chains_take_a_setting_boot_with_it_and_give_it_back(
    controller: Controller, new_host: NewHost
) -> None:
    hosts = [new_host(name) for name in CHAINS]
    for host in hosts:
        chain(host, CHAINS[host.name])
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
