"""The roles over real ssh on a fleet of hosts, some of them broken on purpose. See fleet/__init__.py for what is real."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from . import support
from .fleet import debian
from .fleet.controller import Controller, Run
from .fleet.host import Host
from .fleet.network import Network

# What applying `auto` to the sample's GPU and ROCm writes, beside the record in /var/lib/rocmcfg.
FILES = {
    "/boot/grub/grub.cfg",
    "/etc/default/grub.d/zz-rocmcfg.cfg",
    "/etc/environment.d",
    "/etc/environment.d/90-rocmcfg.conf",
    "/etc/kernel/postinst.d/rocmcfg",
    "/etc/profile.d/zz-rocmcfg.sh",
    "/etc/rocmcfg",
    "/etc/rocmcfg/env",
}
RECORD = "/var/lib/rocmcfg"
AUTO = {"rocmcfg_profiles": ["auto"]}
ALL_AT_ONCE = {"rocmcfg_serial": ["100%"], "rocmcfg_max_fail_percentage": 100}
ROLLOUT = "rocmcfg.amdgpu.rollout"
# A generator of the menu that drops what we added, without a word.
DROPS = "#!/bin/sh\n/usr/libexec/10_linux \"$@\" | sed 's/ amdgpu[.][^ ]*//g'\n"

NewHost = Callable[..., Host]


def why_not() -> str | None:
    if os.geteuid() != 0:
        return "the fleet needs root, for its namespaces"
    missing = [name for name in ("ip", "unshare", "ssh", "mmdebstrap") if shutil.which(name) is None]
    return (
        f"missing {', '.join(missing)}: apt-get install iproute2 util-linux openssh-client mmdebstrap"
        if missing
        else None
    )


@pytest.fixture(scope="module", autouse=True)
def possible() -> None:
    if why := why_not():
        stop = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        stop(why)


@pytest.fixture(scope="module")
def installed() -> Path:
    return Path("/tmp/fleet/layer")


@pytest.fixture
def network(possible: None) -> Iterator[Network]:
    with Network() as made:
        yield made


@pytest.fixture
def controller(network: Network, collections: Path, tmp_path: Path) -> Controller:
    return Controller(tmp_path / "controller", support.core(support.NEWEST), collections, network.controller)


@pytest.fixture
def new_host(network: Network, controller: Controller, installed: Path, tmp_path: Path) -> Iterator[NewHost]:
    """Makes a host with rocmcfg, to be started by `boot`; all of them are ended with the test."""
    made: list[Host] = []

    def make(name: str, layers: tuple[Path, ...] = (), **machine: bool) -> Host:
        namespace, address = network.join(len(made) + 1)
        below = layers or (installed, debian.base())
        host = Host(name, tmp_path / name, below, namespace, address, **machine)
        controller.admit(host)
        made.append(host)
        return host

    yield make
    for host in made:
        host.stop()


def boot(*hosts: Host) -> None:
    for host in hosts:
        host.start()
    for host in hosts:
        host.wait()


def break_menu(host: Host, script: str) -> None:
    """Put a script in the place of GRUB's own for Linux entries."""
    host.write("usr/libexec/10_linux", (debian.base() / "etc/grub.d/10_linux").read_text(), 0o755)
    host.write("etc/grub.d/10_linux", script, 0o755)


def written(host: Host, before: dict[str, object]) -> set[str]:
    """What differs from before, but for times and rocmcfg's record."""
    after = host.changes(times=False)
    paths = {p for p in {*after, *before} if after.get(p) != before.get(p)}
    return {path for path in paths if not path.startswith(RECORD)}


def test_four_of_six_take_the_profile_while_a_broken_one_is_rolled_back_and_one_has_no_gpu(
    controller: Controller, new_host: NewHost
) -> None:
    good = [new_host(f"good{n}") for n in range(1, 5)]
    broken, plain = new_host("broken"), new_host("plain", gpu=False)
    break_menu(broken, DROPS)
    hosts = [*good, broken, plain]
    boot(*hosts)
    exact = {host: host.changes() for host in hosts}
    before = {host: host.changes(times=False) for host in hosts}

    rehearsed = controller.run(hosts, ROLLOUT, "--check", "--diff", variables=AUTO | ALL_AT_ONCE)
    assert rehearsed.status == 0, rehearsed.output
    assert {host.name for host in hosts if host.changes() != exact[host]} == set(), rehearsed.output
    assert (
        rehearsed.output.count(
            '+GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT amdgpu.cwsr_enable=0"'
        )
        == 5
    )
    assert [rehearsed.recap[host.name].changed for host in hosts] == [1, 1, 1, 1, 1, 0]

    settings = AUTO | ALL_AT_ONCE | {"rocmcfg_reboot_ok": True}
    done = controller.run(hosts, ROLLOUT, variables=settings)
    assert {name for name, recap in done.recap.items() if recap.failed} == {"broken"}, done.output
    for host in good:
        assert (host.boots, host.running("cwsr_enable")) == (2, "0"), done.output
        assert written(host, before[host]) == FILES
    assert (broken.boots, written(broken, before[broken])) == (1, set()), done.output
    said = done.said_of("broken")
    assert (
        "misses amdgpu.cwsr_enable=0" in said
        and "RC3103" in said
        and "rolled back to what was before" in said
    )
    assert (plain.boots, plain.changes()) == (1, exact[plain])
    assert "plain is skipped: it has no AMD GPU" in done.output

    exact = {host: host.changes() for host in good}
    again = controller.run([*good, plain], ROLLOUT, variables=settings)
    assert again.status == 0, again.output
    assert {name: recap.changed for name, recap in again.recap.items() if recap.changed} == {}, again.output
    assert all(host.changes() == exact[host] and host.boots == 2 for host in good)

    gone = controller.run(good[:2], ROLLOUT, variables=settings | {"rocmcfg_state": "absent"})
    assert gone.status == 0, gone.output
    for host in good[:2]:
        assert (host.boots, host.running("cwsr_enable"), written(host, before[host])) == (3, "1", set())


def test_no_host_of_a_later_batch_is_touched_after_one_failed(
    controller: Controller, new_host: NewHost
) -> None:
    """On the oldest ansible-core: how a rescue and max_fail_percentage go together differed between releases."""
    controller.programs = support.core(support.OLDEST)
    hosts = [new_host(f"host{n}") for n in range(1, 7)]
    break_menu(hosts[2], "#!/bin/sh\necho 'no room left' >&2\nexit 1\n")
    boot(*hosts)
    exact = {host: host.changes() for host in hosts}
    before = {host: host.changes(times=False) for host in hosts}

    done = controller.run(
        hosts, ROLLOUT, variables=AUTO | {"rocmcfg_serial": 2, "rocmcfg_max_fail_percentage": 0}
    )
    assert done.status != 0
    # A play ends when its percentage is exceeded, for the good host of that batch as well: what it had done by then stays.
    left_by_grub = {"/boot/grub/grub.cfg.new"}  # grub-mkconfig removes it when it begins anew
    assert [written(h, before[h]) for h in hosts[:4]] == [FILES, FILES, left_by_grub, FILES], done.output
    assert [host.changes() == exact[host] for host in hosts[4:]] == [True, True]
    assert set(done.recap) == {"host1", "host2", "host3", "host4"}
    assert "no room left" in done.said_of("host3") or "update-grub" in done.said_of("host3"), done.output
    assert [host.boots for host in hosts] == [1] * 6, "rebooted without being allowed to"
    assert "With rocmcfg_reboot_ok: true the role does that" in done.output


def test_a_host_that_fails_after_its_reboot_goes_back_and_one_that_stays_away_is_left_alone(
    controller: Controller, new_host: NewHost
) -> None:
    deaf, ill, away = new_host("deaf", deaf=True), new_host("ill"), new_host("away")
    hosts = [deaf, ill, away]
    boot(*hosts)
    away.stays_down = True
    before = {host: host.changes(times=False) for host in hosts}
    settings = AUTO | ALL_AT_ONCE | {"rocmcfg_reboot_ok": True}
    unhealthy = {"rocmcfg_health_command": "grep -q amdgpu.cwsr_enable=1 /proc/cmdline", "rocmcfg_health_delay": 0}
    # longer than a reboot takes on a busy machine, shorter than anybody likes to wait for one that never ends
    done = controller.run(
        hosts, ROLLOUT, variables=settings, per_host={"ill": unhealthy, "away": {"rocmcfg_reboot_timeout": 15}}
    )
    assert [done.recap[host.name].failed for host in hosts] == [1, 1, 1], done.output
    for host in (deaf, ill):
        assert (host.boots, host.running("cwsr_enable"), written(host, before[host])) == (3, "1", set()), done.output
        assert "rolled back to what was before, and rebooted into it" in done.said_of(host.name), done.output
    assert "configured, not yet in effect: amdgpu.cwsr_enable" in done.said_of("deaf")
    assert "failed at “Ask the health command”" in done.said_of("ill")
    said = done.said_of("away")
    assert "Timed out waiting for last boot time check (timeout=15)" in said and "Look at its console" in said
    assert (away.boots, written(away, before[away])) == (1, FILES), "something was done to it while it was away"

    away.start()
    away.wait()
    assert away.running("cwsr_enable") == "0"
    again = controller.run([away], ROLLOUT, variables=settings)
    assert (again.status, again.recap["away"].changed, away.boots) == (0, 0, 2), again.output


def test_whatever_is_missing_is_said_once_and_nothing_is_changed(
    controller: Controller, new_host: NewHost, installed: Path
) -> None:
    bare = new_host("bare", layers=(debian.base(),))
    old, odd = new_host("old"), new_host("odd")
    old.write("usr/local/bin/rocmcfg", "#!/bin/sh\necho 'rocmcfg 0.0.1'\n", 0o755)
    odd.write("usr/local/bin/rocmcfg", '#!/bin/sh\necho \'{"schema_version": 2, "diagnostics": []}\'\n', 0o755)
    snakeless = new_host("snakeless")
    for path in sorted((debian.base() / "usr/bin").glob("python3*")):
        snakeless.hide(f"usr/bin/{path.name}")
    humble, unknown = new_host("humble"), new_host("unknown")
    hosts = [bare, old, odd, snakeless, humble, unknown]
    boot(*hosts)
    exact = {host: host.changes() for host in hosts}

    done = controller.run(
        hosts,
        ROLLOUT,
        variables=AUTO | ALL_AT_ONCE,
        per_host={
            "humble": {"ansible_become": False},
            "unknown": {"rocmcfg_with": ["no-such-setting"], "rocmcfg_set": {"amdgpu.runpm": "0"}},
        },
    )
    assert [done.recap[host.name].failed for host in hosts] == [1] * 6, done.output
    for name, words in {
        "bare": "rocmcfg is not installed on bare. Run the role rocmcfg.amdgpu.install before this one",
        "old": "0.0.1",
        "odd": "schema_version 2",
        "snakeless": "snakeless has no Python, which Ansible's modules and rocmcfg need",
        "humble": "become: true",
        "unknown": "no-such-setting",
    }.items():
        assert words in done.said_of(name), f"{name}: {done.said_of(name)}\n{done.output}"
    assert "Traceback" not in done.output
    assert {host.name for host in hosts if host.changes() != exact[host]} == set()


def test_of_two_plays_at_once_one_waits_for_nothing_and_says_who_is_at_work(
    controller: Controller, new_host: NewHost
) -> None:
    host = new_host("busy")
    host.write("etc/grub.d/09_slow", "#!/bin/sh\ntouch /run/slow\nsleep 25\n", 0o755)
    boot(host)
    apply = [{"hosts": "all", "gather_facts": False, "become": True, "roles": ["rocmcfg.amdgpu.apply"]}]
    first = controller.start([host], apply, variables=AUTO, name="first")
    host.await_file("run/slow")
    second = controller.run([host], apply, variables=AUTO, name="second")
    output, _ = first.communicate(timeout=120)
    assert second.status != 0 and "another rocmcfg" in second.said_of("busy"), second.output
    assert "Nothing was changed" in second.said_of("busy")
    assert first.returncode == 0, output
