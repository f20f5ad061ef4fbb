"""The roles over real ssh on a fleet of hosts, some broken on purpose; fleet/__init__.py: what is real."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.knowledge.test_drop_ins import ISSUE
from tests.support.program import command, process
from tests.support.tools import HANG

from . import support
from .fleet import debian
from .fleet.controller import Controller, Run
from .fleet.host import Host
from .fleet.rollout import APPLY, AUTO, FILES, INSTALL, RECORD, Installation, NewHost, boot, written

ALL_AT_ONCE = {"rocmcfg_serial": ["100%"], "rocmcfg_max_fail_percentage": 100}
ROLLOUT = "rocmcfg.amdgpu.rollout"
# A generator of the menu that drops what we added, without a word.
DROPS = "#!/bin/sh\n/usr/libexec/10_linux \"$@\" | sed 's/ amdgpu[.][^ ]*//g'\n"


def break_menu(host: Host, script: str) -> None:
    """Put a script in the place of GRUB's own for Linux entries."""
    host.write("usr/libexec/10_linux", (debian.base() / "etc/grub.d/10_linux").read_text(), 0o755)
    host.write("etc/grub.d/10_linux", script, 0o755)


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
    for words in ("is missing amdgpu.cwsr_enable=0", "RC3103", "rolled back to its earlier settings"):
        assert words in said
    assert (plain.boots, plain.changes()) == (1, exact[plain])
    assert "plain is skipped because it has no AMD GPU" in done.text

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
    """On the oldest ansible-core: releases differed in how a rescue counts for max_fail_percentage."""
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
    # host4 is of the batch that failed, and had been done with before the play ended
    assert [written(h, before[h]) for h in hosts[:4]] == [FILES, FILES, set(), FILES], done.output
    assert [host.changes() == exact[host] for host in hosts[4:]] == [True, True]
    assert set(done.recap) == {"host1", "host2", "host3", "host4"}
    assert "no room left" in done.said_of("host3") or "update-grub" in done.said_of("host3"), done.output
    assert [host.boots for host in hosts] == [1] * 6, "rebooted without being allowed to"
    assert "With rocmcfg_reboot_ok: true the role reboots it" in done.text


def test_a_host_that_fails_after_its_reboot_goes_back_and_one_that_stays_away_is_left_alone(
    controller: Controller, new_host: NewHost
) -> None:
    deaf, ill, away = new_host("deaf", deaf=True), new_host("ill"), new_host("away")
    hosts = [deaf, ill, away]
    boot(*hosts)
    away.stays_down = True
    before = {host: host.changes(times=False) for host in hosts}
    settings = AUTO | ALL_AT_ONCE | {"rocmcfg_reboot_ok": True}
    unhealthy = {
        "rocmcfg_health_command": "grep -q amdgpu.cwsr_enable=1 /proc/cmdline",
        "rocmcfg_health_delay": 0,
    }
    # longer than a reboot takes on a busy machine, shorter than anybody likes to wait for one that never ends
    done = controller.run(
        hosts,
        ROLLOUT,
        variables=settings,
        per_host={"ill": unhealthy, "away": {"rocmcfg_reboot_timeout": 15}},
    )
    assert [done.recap[host.name].failed for host in hosts] == [1, 1, 1], done.output
    for host in (deaf, ill):
        assert (host.boots, host.running("cwsr_enable"), written(host, before[host])) == (3, "1", set()), (
            done.output
        )
        assert "rolled back to its earlier settings, and rebooted with them" in done.said_of(host.name), (
            done.output
        )
    assert "configured, but not yet in effect: amdgpu.cwsr_enable" in done.said_of("deaf")
    assert 'failed at "Run the health command"' in done.said_of("ill")
    said = done.said_of("away")
    for words in ("Timed out waiting for last boot time check (timeout=15)", "Check its console"):
        assert words in said
    assert (away.boots, written(away, before[away])) == (1, FILES), (
        "something was done to it while it was away"
    )

    away.start()
    away.wait()
    assert away.running("cwsr_enable") == "0"
    again = controller.run([away], ROLLOUT, variables=settings)
    assert (again.status, again.recap["away"].changed, away.boots) == (0, 0, 2), again.output


OF_ANOTHER_CONTRACT = """#!/bin/sh
case $1 in --version) echo 'rocmcfg 9.0.0' ;; *) echo '{"schema_version": 2, "diagnostics": []}' ;; esac
"""


def test_whatever_is_missing_is_said_once_and_nothing_is_changed(
    controller: Controller, new_host: NewHost, installed: Path
) -> None:
    bare = new_host("bare", layers=(debian.base(),))
    old, odd = new_host("old"), new_host("odd")
    old.write("usr/local/bin/rocmcfg", "#!/bin/sh\necho 'rocmcfg 0.0.1'\n", 0o755)
    odd.write("usr/local/bin/rocmcfg", OF_ANOTHER_CONTRACT, 0o755)
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
        "snakeless": "snakeless showed no Python, which Ansible's modules and rocmcfg need",
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
    host.write(
        "etc/grub.d/09_slow",
        "#!/bin/sh\ntouch /run/slow\nwhile [ ! -e /run/go ]; do sleep 0.1; done\n",
        0o755,
    )
    boot(host)
    first = controller.start([host], APPLY, variables=AUTO, name="first")
    slow = host.await_file("run/slow")
    second = controller.run([host], APPLY, variables=AUTO, name="second")
    slow.with_name("go").touch()
    output, _ = first.communicate(timeout=HANG)
    assert second.status != 0
    assert "another rocmcfg" in second.said_of("busy"), second.output
    assert "Nothing was changed" in second.said_of("busy")
    assert first.returncode == 0, output


def test_the_package_is_installed_without_a_network_and_only_once(installation: Installation) -> None:
    rehearsed, done, again = installation.runs
    assert (rehearsed.status, rehearsed.recap["first"].changed > 0) == (0, True), rehearsed.output
    assert installation.touched == set()
    assert done.status == 0, done.output
    assert (installation.layer / "usr/bin/rocmcfg").exists()
    for unit in ("rocmcfg-recover.service", "rocmcfg-trial.service", "rocmcfg-try.service"):
        assert os.path.lexists(installation.layer / f"etc/systemd/system/multi-user.target.wants/{unit}")
    assert (again.status, again.recap["first"].changed) == (0, 0), again.output


def test_wheels_are_installed_without_a_network_and_never_beside_another_installation(
    controller: Controller, new_host: NewHost, wheels: Path, package: Path, tmp_path: Path
) -> None:
    only = (debian.base(),)
    wheeled, packaged, bare = new_host("wheeled", only), new_host("packaged"), new_host("bare", only)
    bare.hide("usr/lib/python3.13/ensurepip")
    piped, foreign = new_host("piped", only), new_host("foreign", only)
    piped.write("usr/local/bin/rocmcfg", "#!/bin/sh\necho 'rocmcfg 0.0.1'\n", 0o755)
    hosts = [wheeled, packaged, bare, piped, foreign]
    boot(*hosts)
    exact = {host: host.changes() for host in hosts[1:]}
    from_wheels = {"rocmcfg_install_method": "wheels", "rocmcfg_install_wheels": str(wheels)}
    other = {"rocmcfg_install_package": str(other_machine(tmp_path))}
    fresh = wheeled.changes()
    rehearsed = controller.run([wheeled], INSTALL, "--check", per_host={"wheeled": from_wheels})
    assert (rehearsed.status, wheeled.changes() == fresh) == (0, True), rehearsed.output
    assert rehearsed.recap["wheeled"].changed > 0
    done = controller.run(
        hosts,
        INSTALL,
        variables={},
        per_host={
            "wheeled": from_wheels,
            "packaged": from_wheels,
            "bare": from_wheels,
            "piped": {"rocmcfg_install_package": str(package)},
            "foreign": other,
        },
    )
    assert {name for name, recap in done.recap.items() if not recap.failed} == {"wheeled"}, done.output
    assert "packaged has the package rocmcfg 0.1.0" in done.said_of("packaged"), done.output
    assert "lacks venv. On Debian and Ubuntu: apt-get install python3-venv" in done.said_of("bare")
    assert "piped has another rocmcfg: /usr/local/bin/rocmcfg" in done.said_of("piped")
    assert "is for arm64, but foreign is amd64" in done.said_of("foreign")
    cache = {"/var/cache", "/var/cache/rocmcfg", "/var/cache/rocmcfg/rocmcfg.deb"}
    for host in hosts[1:]:
        touched = {path for path, entry in host.changes().items() if exact[host].get(path) != entry}
        assert touched <= (cache if host is foreign else set())

    again = controller.run([wheeled], INSTALL, per_host={"wheeled": from_wheels})
    assert (again.status, again.recap["wheeled"].changed) == (0, 0), again.output
    for unit in ("rocmcfg-recover.service", "rocmcfg-trial.service", "rocmcfg-try.service"):
        assert f"/etc/systemd/system/multi-user.target.wants/{unit}" in wheeled.changes()
    applied = controller.run([wheeled], APPLY, variables=AUTO)
    assert applied.status == 0, applied.output
    gone = from_wheels | {"rocmcfg_install_state": "absent"}
    refused = controller.run([wheeled], INSTALL, per_host={"wheeled": gone})
    assert "has a configuration of rocmcfg applied" in refused.said_of("wheeled"), refused.output
    before = wheeled.changes(times=False)
    # as -e and inventories in INI give it
    word = gone | {"rocmcfg_install_keep_applied": "false"}
    refused = controller.run([wheeled], INSTALL, per_host={"wheeled": word})
    assert "has a configuration of rocmcfg applied" in refused.said_of("wheeled"), refused.output
    removed = controller.run(
        [wheeled], INSTALL, per_host={"wheeled": gone | {"rocmcfg_install_keep_applied": True}}
    )
    assert removed.status == 0, removed.output
    left = wheeled.changes(times=False)
    assert not {p for p in left if p.startswith("/opt/rocmcfg") or p == "/usr/local/bin/rocmcfg"}
    assert not {p for p in left if p.endswith(".service")}
    # the script takes back without rocmcfg what is kept
    kept = {p for p in before if p.startswith(RECORD)} | {f"{RECORD}/undo.sh"}
    assert {p for p in left if p.startswith(RECORD)} == kept


def test_a_virtual_environment_is_made_in_no_place_of_others_and_repaired_when_broken(
    controller: Controller, new_host: NewHost, wheels: Path
) -> None:
    only = (debian.base(),)
    names = ("taken", "slashed", "emptied", "gone", "blind")
    taken, slashed, emptied, gone, blind = hosts = [new_host(name, only) for name in names]
    taken.write("srv/tools/precious.txt", "years of work")
    boot(*hosts)
    untouched = taken.changes()
    from_wheels = {"rocmcfg_install_method": "wheels", "rocmcfg_install_wheels": str(wheels)}
    own = {
        "slashed": {"rocmcfg_install_prefix": "//opt/rocmcfg/"},
        "taken": {"rocmcfg_install_prefix": "/srv/tools"},
    }
    first = controller.run(hosts, INSTALL, variables=from_wheels, per_host=own)
    assert {name for name, recap in first.recap.items() if recap.failed} == {"taken"}, first.output
    assert "has /srv/tools, which is not empty" in first.said_of("taken")

    breaks = {
        "emptied": "rm -rf /opt/rocmcfg/*",
        "gone": "rm -rf /opt/rocmcfg",
        "blind": "rm /opt/rocmcfg/bin/python*",
    }
    harm = [{"name": "Harm", "ansible.builtin.shell": "{{ harm }}"}]
    harming = [{"hosts": "all", "gather_facts": False, "become": True, "tasks": harm}]
    broken = [emptied, gone, blind]
    each = {name: {"harm": text} for name, text in breaks.items()}
    controller.run(broken, harming, per_host=each)
    again = controller.run([slashed, *broken], INSTALL, variables=from_wheels, per_host=own)
    assert again.status == 0, again.output
    assert [again.recap[h.name].changed > 0 for h in (slashed, *broken)] == [False, True, True, True]

    controller.run(broken, harming, per_host=each)
    away = from_wheels | {"rocmcfg_install_state": "absent", "rocmcfg_install_keep_applied": "true"}
    removed = controller.run(hosts, INSTALL, variables=away, per_host=own)
    assert {name for name, recap in removed.recap.items() if recap.failed} == {"taken"}, removed.output
    for host in (slashed, *broken):
        left = {
            path for path in host.changes(times=False) if "rocmcfg" in path and not path.startswith("/root")
        }
        assert left == set(), host.name
    assert taken.changes() == untouched


def other_machine(work: Path) -> Path:
    """A package for another machine than this one."""
    tree = work / "arm64"
    (tree / "DEBIAN").mkdir(parents=True)
    control = "Package: rocmcfg\nVersion: 0.1.0\nArchitecture: arm64\nMaintainer: nobody\nDescription: x\n"
    (tree / "DEBIAN/control").write_text(control)
    debian.quietly(["dpkg-deb", "--build", str(tree), str(work / "rocmcfg_0.1.0_arm64.deb")])
    return work / "rocmcfg_0.1.0_arm64.deb"


KNOWLEDGE = [{"hosts": "all", "gather_facts": False, "become": True, "roles": ["rocmcfg.amdgpu.knowledge"]}]


def test_a_signed_bundle_of_knowledge_reaches_hosts_and_a_foreign_one_does_not(
    controller: Controller, new_host: NewHost, tmp_path: Path
) -> None:
    """Exported and signed on the controller; proved by each host, by the signers that it was given."""
    keys = tmp_path / "keys"
    keys.mkdir()
    for name in ("ours", "theirs"):
        key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(keys / name)]
        subprocess.run(key, check=True)
    own = tmp_path / "site/etc/rocmcfg/knowledge.d/issues/our-fault.toml"
    own.parent.mkdir(parents=True)
    own.write_text(ISSUE)
    bundles = {name: tmp_path / f"{name}.json" for name in ("ours", "theirs")}
    for name, bundle in bundles.items():
        assert process(command("knowledge", "export", bundle, "--root", tmp_path / "site")).code == 0
        sign = [
            "ssh-keygen",
            "-q",
            "-Y",
            "sign",
            "-f",
            str(keys / name),
            "-n",
            "rocmcfg-knowledge",
            str(bundle),
        ]
        subprocess.run(sign, check=True)
    signers = tmp_path / "signers"
    signers.write_text(f"site {(keys / 'ours.pub').read_text()}")
    host = new_host("learner")
    boot(host)

    def run(bundle: str, *options: str) -> Run:
        given = {"rocmcfg_knowledge_bundle": str(bundles[bundle]), "rocmcfg_knowledge_signers": str(signers)}
        return controller.run([host], KNOWLEDGE, *options, variables=given)

    before = host.changes()
    rehearsed = run("ours", "--check")
    assert (rehearsed.status, host.changes() == before) == (0, True), rehearsed.output
    done = run("ours")
    assert (done.status, done.recap["learner"].changed > 0) == (0, True), done.output
    assert "/etc/rocmcfg/knowledge.d/bundles/site.json" in written(host, before)
    again = run("ours")
    assert (again.status, again.recap["learner"].changed) == (0, 0), again.output
    refused = run("theirs")
    assert refused.status != 0
    assert "refused" in refused.said_of("learner"), refused.output
    assert "It keeps using what it knew before" in refused.said_of("learner")
