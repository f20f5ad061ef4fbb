"""The role `apply` in the boot of a trial, and how that may go wrong: on trees, as in test_roles.

Nothing here may reboot: these hosts are trees, and the machine is this one. The fleet has whole trials.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.boots import BLOCK, next_boot, reboot
from tests.support.tools import require_tool
from tests.support.trees import Tree, tree

from .plays import with_tools
from .test_roles import BOTH, Site

TRIAL = {
    "rocmcfg_profiles": ["auto"],
    "rocmcfg_trial": True,
    "rocmcfg_health_retries": 0,
    "rocmcfg_reboot_ok": False,
}
TOLD = "{{ inventory_hostname }} is {{ rocmcfg_trial_result }}, {{ rocmcfg_reboot_needed }}."
AFTER = [{"name": "Go on", "ansible.builtin.debug": {"msg": TOLD}}]
NAMES = ("good", "ill", "alone", "away", "stuck")


@pytest.fixture
def site(collections: Path, tmp_path: Path) -> Site:
    require_tool("grub-editenv", "grub-common")
    return Site(collections, tmp_path)


def configuration(host: Path) -> Tree:
    left = ("proc", "sys", "var", "run", BLOCK)
    return {path: entry for path, entry in tree(host, times=False).items() if not path.startswith(left)}


@BOTH
def test_how_a_trial_may_end_in_its_boot(site: Site, release: str) -> None:
    hosts = {name: site.add(name) for name in NAMES}
    found = {name: configuration(host) for name, host in hosts.items()}
    armed = site.run({name: {} for name in NAMES}, release=release, variables=TRIAL, post_tasks=AFTER)
    assert armed.status == 0, armed.output
    assert armed.text.count("is armed, True.") == len(NAMES), armed.output
    for host in hosts.values():
        assert "amdgpu.cwsr_enable=0" in reboot(host)

    confirms = f"{with_tools(site.work / 'bin')} confirm --yes --root {hosts['alone']}"
    stuck = with_tools(site.work / "stuck/bin", update_grub="echo no room left >&2; exit 1")
    own: dict[str, dict[str, object]] = {
        "good": {"rocmcfg_health_command": "true"},
        "ill": {"rocmcfg_health_command": "sh -c 'echo too hot; exit 7'"},
        "alone": {"rocmcfg_health_command": confirms},  # as the host's own unit may do at this very moment
        "away": {"rocmcfg_health_command": f"touch {site.work}/away/away", "rocmcfg_reboot_timeout": 2},
        "stuck": {"rocmcfg_health_command": "false", "program": str(stuck)},
    }
    done = site.run(own, release=release, variables=TRIAL, post_tasks=AFTER)
    assert {name: recap.failed for name, recap in done.recap.items()} == {
        "good": 0,
        "ill": 0,
        "alone": 0,
        "away": 1,
        "stuck": 1,
    }, done.output
    for name in ("good", "alone"):
        assert f"{name} is confirmed, False." in done.text, done.output
        assert "amdgpu.cwsr_enable=0" in reboot(hosts[name])
    assert "ill is not_confirmed, True." in done.text, done.output
    assert (
        "Its output: too hot The host was returned to its earlier settings, and needs one more" in done.text
    )
    assert configuration(hosts["ill"]) == found["ill"]
    assert "did not come back within 2 s" in done.said_of("away"), done.output
    said = done.said_of("stuck")
    assert "Ending the trial failed" in said, done.output
    assert "no room left" in said
    for name in ("away", "stuck"):
        assert next_boot(hosts[name]) == ""
        assert "amdgpu.cwsr_enable=0" not in reboot(hosts[name])
