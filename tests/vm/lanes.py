"""Which scenarios share a worker when guests run side by side.

Each worker of pytest-xdist has one guest at a time. xdist's own schedulers hand a worker its next tests
before it is done with the present one, which with a dozen tests of minutes each leaves a worker idle at the
end. So all scenarios are dealt out in advance.

Not with marks and `--dist loadgroup`: xdist 3.8 ignores groups under pytest 9.2 (pytest-xdist issue 1386).
"""

from __future__ import annotations

from collections.abc import Mapping

from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]  # it ships no types

# Roughly, with a core for each guest; only the proportions matter.
SECONDS = {
    "test_the_roles_install_apply_reboot_and_take_back": 330,
    "test_modprobe_d_with_amdgpu_in_the_initramfs": 420,
    "test_there_is_no_trial_or_a_whole_one_after_a_power_cut": 300,
    "test_the_second_entry_of_systemd_boot_is_booted_once": 260,
    "test_grub_fills_the_word_in_the_entries_in_once": 330,
    "test_an_image_is_started_once_with_the_line_of_an_entry": 300,
    "test_entries_of_a_newer_systemd_that_follow_the_running_line": 500,
    "test_grub_with_entries_on_a_boot_of_its_own": 450,
    "test_addons_beside_images_of_ukify": 400,
    "test_signed_addons_under_secure_boot": 420,
    "test_a_boot_that_never_ends_takes_one_power_cycle": 220,
    "test_boot_on_btrfs_or_lvm_is_refused_before_anything_is_written": 60,
    "test_boots_find_a_cure_and_a_setting_that_is_none": 1800,
    "test_the_name_of_a_device_is_only_text": 600,  # all of its file, of which it is the last
    "test_a_trial_that_is_rejected_before_its_boot_leaves_nothing": 30,
}
USUAL_SECONDS = 150.0
# Their tests share a guest and count as one.
ONE_GUEST = ("test_harness.py", "test_crashes.py")


def balanced(seconds: Mapping[str, float], lanes: int) -> dict[str, int]:
    """Deal groups of tests out to lanes: the longest first, each to the lane that has least so far."""
    load = [0.0] * lanes
    lane_of = {}
    for group, cost in sorted(seconds.items(), key=lambda item: -item[1]):
        lane_of[group] = load.index(min(load))
        load[lane_of[group]] += cost
    return lane_of


class Lanes(LoadScopeScheduling):  # type: ignore[misc]
    """One lane for each worker, all of it handed out at the start."""

    def _split_scope(self, nodeid: str) -> str:
        everything = {_group(other): _seconds(other) for other in self.collection or ()}
        # Not the workers of this moment: one that is done leaves, and the others keep their lanes.
        return f"lane {balanced(everything, self.numnodes)[_group(nodeid)]}"


def _group(nodeid: str) -> str:
    file, _, _ = nodeid.partition("::")
    return file if file.endswith(ONE_GUEST) else nodeid


def _seconds(nodeid: str) -> float:
    name = nodeid.rpartition("::")[2].partition("[")[0]
    return SECONDS.get(name, USUAL_SECONDS)
