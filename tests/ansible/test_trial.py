"""A trial by the modules, on a tree that boots as GRUB would boot it; the fleet has the role."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.boots import BLOCK, enable_unit, next_boot, reboot
from tests.support.hosts import debian_grub_host
from tests.support.tools import require_tool
from tests.support.trees import Tree, tree, with_directory_times

from .plays import Play, Task, play, with_tools
from .test_modules import _documented

TRY: Task = {"profile": {"profiles": ["auto"], "trial": True}}
CONFIRM: Task = {"trial": {"state": "confirmed"}}
REJECT: Task = {"trial": {"state": "rejected"}}
ARGUMENT = "amdgpu.cwsr_enable=0"


class Site:
    def __init__(self, collections: Path, work: Path) -> None:
        require_tool("grub-editenv", "grub-common")
        self.collections, self.work = collections, work
        self.host = debian_grub_host(work)
        self.program = with_tools(work / "bin")
        self._plays = 0

    def play(self, tasks: Sequence[Task], *options: str) -> Play:
        self._plays += 1
        work = self.work / f"play{self._plays}"
        return play(self.collections, work, tasks, *options, root=self.host, executable=self.program)

    def configuration(self) -> Tree:
        left = ("proc", "sys", "var", BLOCK, "run")
        found = tree(self.host, times=False).items()
        return {path: entry for path, entry in found if not path.startswith(left)}


@pytest.fixture
def site(collections: Path, tmp_path: Path) -> Site:
    return Site(collections, tmp_path)


def test_a_health_check_is_no_secret_and_not_masked(site: Site) -> None:
    """Masked, this one would put asterisks for every "true" in the results."""
    enable_unit(site.host)
    task: Task = {"profile": {**TRY["profile"], "confirm_after": "10m", "health_check": "true"}}
    begun, again = site.play([task, task]).results
    assert begun["trial"]["health_check"] == "true"
    assert (again["changed"], again["trial"]) == (False, begun["trial"])
    record = site.host / "var/lib/rocmcfg/trial.json"
    assert '"true"' in record.read_text()
    assert record.stat().st_mode & 0o004


def test_a_trial_is_shown_begun_once_and_kept_without_a_second_reboot(site: Site) -> None:
    found = with_directory_times(site.host)
    planned = site.play([TRY], "--check", "--diff")
    assert with_directory_times(site.host) == found
    assert planned.results[0]["changed"]
    assert "+++ after: by grub-editenv" in planned.output
    assert f"+rocmcfg_next={ARGUMENT} " in planned.output

    begun, again = site.play([TRY, TRY]).results
    assert (begun["changed"], begun["reboot_required"], begun["transaction"]) == (True, True, 1)
    assert begun["trial"]["arguments"][0] == ARGUMENT
    assert [c.get("path") or c["tool"] for c in begun["changes"]][-1] == "grub-editenv"
    assert (again["changed"], again["reboot_required"], again["trial"]) == (False, True, begun["trial"])
    assert next_boot(site.host).startswith(ARGUMENT)

    reboot(site.host)
    armed = with_directory_times(site.host)
    rehearsed = site.play([TRY, CONFIRM, REJECT], "--check", "--diff").results
    assert with_directory_times(site.host) == armed
    assert [r["changed"] for r in rehearsed] == [False, True, True]
    assert rehearsed[2]["last_trial"]["outcome"] == "running"

    running, held, kept, no_more = site.play([TRY, {"settings_info": {}}, CONFIRM, CONFIRM]).results
    assert (running["changed"], running["reboot_required"]) == (False, False)
    assert (held["status"], held["trial"]) == ("in_effect", 1)
    assert (kept["changed"], kept["reboot_required"], kept["transaction"]) == (True, False, 2)
    assert (no_more["failed"], "there is no trial to confirm" in no_more["msg"]) == (True, True)
    assert ARGUMENT in reboot(site.host)
    once_more, proof = site.play([TRY, {"settings_info": {}}]).results
    assert (once_more["changed"], once_more["trial"]) == (False, None), "what is applied needs no trial"
    assert (proof["status"], proof["trial"], proof["transaction"]) == ("in_effect", None, 2)


def test_a_trial_is_rejected_once_and_leaves_the_host_as_it_was(site: Site) -> None:
    found = site.configuration()
    nothing, _, early, rejected, again = site.play([REJECT, TRY, CONFIRM, REJECT, REJECT]).results
    assert (nothing["changed"], nothing["last_trial"]) == (False, None)
    assert (early["failed"], "has not begun" in early["msg"]) == (True, True)
    assert (rejected["changed"], rejected["transactions"]) == (True, [1])
    assert rejected["last_trial"]["outcome"] == "rejected"
    assert (again["changed"], again["last_trial"]["transaction"]) == (False, 1)
    assert (site.configuration(), next_boot(site.host)) == (found, "")

    site.play([TRY])
    reboot(site.host)
    running = site.play([REJECT]).results[0]
    assert (running["changed"], running["reboot_required"]) == (True, True)

    reboot(site.host)
    site.play([TRY])
    reboot(site.host), reboot(site.host)  # the second one is what a panic or a power cycle brings
    refused, over = site.play([TRY, REJECT]).results
    assert (refused["failed"], "is over, and nothing else" in refused["msg"]) == (True, True)
    assert (over["changed"], over["reboot_required"]) == (True, False)
    assert site.configuration() == found


def test_absent_ends_a_trial_and_takes_back_what_was_applied_before(site: Site) -> None:
    """What is in force is both, so that one of them is no more taken back alone than without a trial."""
    found = site.configuration()
    both = ["debug-gemm", "gfx1201"]
    tasks: list[Task] = [
        {"profile": {"profiles": ["debug-gemm"]}},
        {"profile": {"profiles": both, "trial": True}},
        {"profile": {"profiles": ["gfx1201"], "state": "absent"}},
        {"profile": {"state": "absent"}},
    ]
    applied, tried, part, everything = site.play(tasks).results
    assert (applied["changed"], tried["changed"]) == (True, True)
    assert (part["failed"], "is applied together with debug-gemm" in part["msg"]) == (True, True)
    assert (sorted(everything["profiles"]), sorted(everything["transactions"])) == (both, [1, 2])
    assert (site.configuration(), next_boot(site.host)) == (found, "")


WAITS = "a trial (transaction 1) is armed"
REFUSED: dict[str, dict[str, Any]] = {
    f"{WAITS}, and nothing else": {"set": {"amdgpu.runpm": "0"}},
    f"{WAITS}, and nothing else can be applied": {"confirm_after": "10m"},
    WAITS: {"trial": False},
    "specify a time such as": {"confirm_after": "soon"},
    "needs trial: true": {"trial": False, "confirm_after": "10m"},
    "rocmcfg.amdgpu.trial with state: rejected": {"state": "absent"},
}


def test_what_is_another_trial_or_none_is_refused_with_what_to_do(site: Site) -> None:
    site.play([TRY])
    armed = next_boot(site.host)
    each = [{"profile": {"profiles": ["auto"], "trial": True, **options}} for options in REFUSED.values()]
    for said, refused in zip(REFUSED, site.play(each).results, strict=True):
        assert (refused["failed"], said in refused["msg"]) == (True, True), refused["msg"]
    assert next_boot(site.host) == armed


def test_what_a_trial_returns_is_what_is_documented(site: Site) -> None:
    begun, facts = site.play([TRY, {"host_facts": {}}]).results
    reboot(site.host)
    confirmed, rejected = site.play([CONFIRM, REJECT]).results
    common = {"changed", "failed", "msg", "invocation", "warnings", "deprecations"}
    failure = {"rc", "rolled_back", "recovery_required"}

    def keys(result: Any) -> set[str]:
        return set(result) - common

    documented = _documented(site.collections, "trial")
    of_rejected = {"transactions", "last_trial"}
    of_confirmed = {"transaction", "trial", "settings", "skipped_settings", "profiles"}
    assert keys(begun) == set(_documented(site.collections, "profile")) - failure - {"transactions"}
    assert keys(confirmed) == set(documented) - failure - of_rejected
    assert keys(rejected) == set(documented) - failure - of_confirmed
    stage = facts["ansible_facts"]["rocmcfg"]["trial"]
    assert (stage["transaction"], stage["stage"], stage["profiles"]) == (1, "armed", ["gfx1201"])
