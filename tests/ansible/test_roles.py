"""The role `apply` where a play of it goes wrong, on trees of hosts here; the fleet has the rest."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.packages.conftest import DEB
from tests.support.hosts import debian_grub_host
from tests.support.trees import tree

from . import support
from .fleet.controller import Run
from .plays import with_tools

BOTH = pytest.mark.parametrize("release", [support.OLDEST, support.NEWEST])
# What needs no reboot, so that the gate asks the health command at once.
SETTING = {"rocmcfg_set": {"env.HSA_XNACK": "0"}}
# A connection that breaks as soon as the host has a file named `away`.
_BREAKS = '''
DOCUMENTATION = """
name: breaks
short_description: breaks
description: breaks
options:
  away:
    description: the file
    vars: [{name: away}]
"""

import os
from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.connection.local import Connection as Local

class Connection(Local):
    transport = "breaks"

    def exec_command(self, *args, **kwargs):
        done = super().exec_command(*args, **kwargs)
        if os.path.exists(self.get_option("away")):
            raise AnsibleConnectionFailure("no route to host")
        return done
'''


@dataclass(frozen=True, slots=True)
class Site:
    """Some hosts of which nothing is real but their trees."""

    collections: Path
    work: Path

    def add(self, name: str) -> Path:
        return debian_grub_host(self.work / name)

    def run(
        self,
        hosts: Mapping[str, Mapping[str, Any]],
        *options: str,
        release: str = support.NEWEST,
        variables: Mapping[str, Any] | None = None,
        **play: Any,
    ) -> Run:
        inventory = {
            name: {"tree": str(self.work / name / "root"), "away": str(self.work / name / "away"), **own}
            for name, own in hosts.items()
        }
        everywhere = {"ansible_connection": "breaks", "ansible_python_interpreter": sys.executable}
        everywhere["program"] = str(with_tools(self.work / "bin"))
        shared = {"hosts": inventory, "vars": {**everywhere, **(variables or {})}}
        (self.work / "hosts.json").write_text(json.dumps({"all": shared}))
        group = {"root": "{{ tree }}", "executable": "{{ program }}"}
        book = {
            "hosts": "all",
            "gather_facts": False,
            "module_defaults": {"group/rocmcfg.amdgpu.rocmcfg": group},
            "roles": ["rocmcfg.amdgpu.apply"],
            **play,
        }
        (self.work / "play.json").write_text(json.dumps([book]))
        (self.work / "connection_plugins").mkdir(exist_ok=True)
        (self.work / "connection_plugins/breaks.py").write_text(_BREAKS)
        programs = support.core(release)
        ran = support.run(
            [
                programs / "ansible-playbook",
                "--inventory",
                self.work / "hosts.json",
                *options,
                self.work / "play.json",
            ],
            cwd=self.work,
            home=self.work / "home",
            programs=programs,
            ANSIBLE_COLLECTIONS_PATH=str(self.collections),
            ANSIBLE_NOCOLOR="1",
            ANSIBLE_CALLBACK_RESULT_FORMAT="yaml",
        )
        return Run(ran.status, ran.output)


def test_the_readme_has_its_first_play_within_four_minutes_and_it_works(site: Site) -> None:
    """The hosts here are trees, so the role that installs is left out: the fleet runs it."""
    readme = (support.SOURCE / "README.md").read_text()
    blocks = re.search(r"```yaml\n([^`]*apply\]\n)```\n\n```sh\n(.*?)```\n", readme, re.S)
    assert blocks is not None
    assert len((blocks[1] + blocks[2]).splitlines()) == 8
    words_a_minute = 240
    assert len(readme[: readme.index(blocks[0])].split()) <= 2 * words_a_minute
    assert len(readme[: readme.index("# Reference")].split()) <= 4 * words_a_minute
    (play,) = yaml.safe_load(blocks[1])
    assert play["roles"] == ["rocmcfg.amdgpu.install", "rocmcfg.amdgpu.apply"]
    assert play["hosts"] == "gpus"
    known = yaml.safe_load((support.SOURCE / "roles/apply/meta/argument_specs.yml").read_text())
    asked = re.findall(r"gpus\.yml(?: -e (.*))?$", readme, re.M)
    extra = {name for line in asked for name in re.findall(r"(rocmcfg_\w+)=", line)}
    assert len(extra) > 3
    assert extra <= {*known["argument_specs"]["main"]["options"]}
    (back,) = (line for line in asked if "rocmcfg_state=absent" in line)
    assert play["vars"].pop("rocmcfg_install_package") == f"dist/{DEB}"
    trees = {name: site.add(name) for name in ("first", "second", "third")}
    before = {name: tree(root, times=False) for name, root in trees.items()}
    clean = {name: tree(root, state=False, times=False) for name, root in trees.items()}
    hosts: dict[str, dict[str, object]] = {name: {} for name in trees}
    del play["hosts"], play["become"]  # all of them, and by who runs this test
    own = play | {"roles": play["roles"][1:]}

    rehearsed = site.run(hosts, "--check", "--diff", **own)
    assert rehearsed.status == 0, rehearsed.output
    assert {name: tree(root, times=False) for name, root in trees.items()} == before

    done = site.run(hosts, **own)
    assert done.status == 0, done.output
    assert all((root / "var/lib/rocmcfg/receipt.json").exists() for root in trees.values())
    assert done.output.count("needs a reboot") >= len(trees)

    # nothing here may reboot
    left = back.replace("rocmcfg_reboot_ok=true", "rocmcfg_reboot_ok=false")
    undone = site.run(hosts, *f"-e {left}".split(), **own)
    assert undone.status == 0, undone.output
    assert {name: tree(root, state=False, times=False) for name, root in trees.items()} == clean


def test_what_needs_no_trial_is_applied_without_one(site: Site) -> None:
    """A fleet is mixed: some of its hosts need variables alone, which a trial has no part in."""
    root = site.add("variables")
    trial = SETTING | {"rocmcfg_trial": True, "rocmcfg_trial_must_hold": True}
    rehearsed = site.run({"variables": {}}, "--check", variables=trial)
    assert rehearsed.recap["variables"].failed == 0, rehearsed.output
    done = site.run({"variables": {}}, variables=trial)
    assert done.recap["variables"].failed == 0, done.output
    assert "RC4311" in done.output, "a trial was asked for"
    assert (root / "etc/environment.d/90-rocmcfg.conf").exists()
    again = site.run({"variables": {}}, variables=trial)
    assert again.recap["variables"].failed + again.recap["variables"].changed == 0, again.output


@pytest.fixture
def site(collections: Path, tmp_path: Path) -> Site:
    return Site(collections, tmp_path)


@pytest.mark.parametrize(
    ("release", "fatal"),
    [(support.OLDEST, True), (support.NEWEST, True), (support.NEWEST, "{{ false }}")],
)
def test_a_failed_host_is_taken_back_also_where_any_error_is_fatal(
    site: Site, release: str, fatal: bool | str
) -> None:
    """ansible-core 2.18 and newer end the rescues of a play with any_errors_fatal, also a templated one."""
    good, bad, _ = (site.add(name) for name in ("good", "bad", "refused"))
    found = tree(bad, state=False, times=False)
    hosts: dict[str, dict[str, object]] = {
        "good": {"rocmcfg_health_command": "true"},
        "bad": {"rocmcfg_health_command": "sh -c 'echo too hot; exit 7'", "rocmcfg_health_retries": 0},
        "refused": {"rocmcfg_with": ["env.NOSUCH"]},
    }
    done = site.run(hosts, release=release, variables=SETTING, any_errors_fatal=fatal)
    assert [done.recap[name].failed for name in hosts] == [0, 1, 1], done.output
    assert tree(bad, state=False, times=False) == found
    assert (good / "etc/environment.d/90-rocmcfg.conf").exists(), "a good host is left as it is"
    assert "too hot" in done.said_of("bad"), done.output
    assert "rolled back to its earlier settings" in done.said_of("bad")
    assert "Nothing was changed" in done.said_of("refused")
    assert "ansible_failed_task" not in done.output


@BOTH
def test_a_host_that_dies_in_the_gate_counts_as_failed_and_the_rollout_stops(
    site: Site, release: str
) -> None:
    """Ansible counts only failed hosts for max_fail_percentage, not those that went away."""
    site.add("checked"), site.add("undone"), site.add("next")
    away = {name: f"touch {site.work / name / 'away'}" for name in ("checked", "undone")}
    # the second one goes when it is asked to take its settings back
    back = with_tools(site.work / "undone/bin").read_text()
    program = site.work / "undone/bin/rocmcfg"
    program.write_text(back.replace("\n", f'\n[ "$1" != rollback ] || {away["undone"]}\n', 1))
    hosts: dict[str, dict[str, object]] = {
        "checked": {"rocmcfg_health_command": away["checked"], "rocmcfg_health_delay": 0},
        "undone": {"rocmcfg_health_command": "false", "program": str(program), "rocmcfg_health_retries": 0},
        "next": {},
    }
    done = site.run(hosts, release=release, variables=SETTING, serial=[2, 1], max_fail_percentage=0)
    assert done.status != 0
    assert set(done.recap) == {"checked", "undone"}, done.output
    assert [recap.failed for recap in done.recap.values()] == [1, 1], done.output
    said = done.said_of("checked")
    assert 'failed at "Run the health command"' in said
    # 2.16 takes it for a failure where only the removal of its files meets it; the next step meets it too
    told = ("its settings stay applied as transaction 1", "The rollback failed")
    assert any(words in said for words in told), said
    assert told[1] in done.said_of("undone")
    assert "no route to host" in said


@BOTH
def test_truth_values_may_be_words(site: Site, release: str) -> None:
    """As -e NAME=false and inventories in INI give them."""
    site.add("one")
    done = site.run(
        {"one": {}},
        "-e",
        "rocmcfg_reboot_ok=false",
        release=release,
        variables={"rocmcfg_profiles": ["auto"]},
    )
    assert (done.status, done.recap["one"].failed) == (0, 0), done.output
    assert "one needs a reboot" in done.text
    assert "is rebooted now" not in done.text
    shutil.rmtree(site.work / "one")
    bare = debian_grub_host(site.work / "one", gfx=None)
    found = tree(bare)
    done = site.run(
        {"one": {}},
        "-e",
        "rocmcfg_any_gpu=false",
        release=release,
        variables={"rocmcfg_profiles": ["gfx1201"]},
    )
    assert done.status == 0, done.output
    assert "one is skipped because it has no AMD GPU" in done.text
    assert tree(bare) == found


@BOTH
def test_absent_takes_everything_back_whatever_a_group_wants(site: Site, release: str) -> None:
    host = site.add("one")
    found = tree(host, state=False, times=False)
    assert site.run({"one": {}}, release=release, variables=SETTING).status == 0
    group = {"rocmcfg_profiles": ["auto"], "rocmcfg_set": {"env.HSA_XNACK": None}, "rocmcfg_via": "modprobe"}
    done = site.run({"one": {}}, release=release, variables=group | {"rocmcfg_state": "absent"})
    assert (done.status, done.recap["one"].changed) == (0, 1), done.output
    assert tree(host, state=False, times=False) == found
    ill = {"rocmcfg_state": "absent", "rocmcfg_health_command": "false", "rocmcfg_health_retries": 0}
    done = site.run({"one": {}}, release=release, variables=group | ill)
    assert "This run changed nothing there" in done.said_of("one"), done.output
