"""Every check status of the contract, where it comes from, and the exit code that follows."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from rocmcfg.workflow.verifying import verify
from tests.support.hosts import debian_grub_host
from tests.support.program import (
    SOURCE,
    Result,
    as_nobody,
    command,
    in_namespace,
    needs_mounts,
    rocmcfg,
    unfolded,
)
from tests.support.tool_host import QuickHost
from tests.support.tools import require_tool
from tests.support.trees import tree
from tests.support.usecases import apply, rollback

LINE = "amdgpu.runpm=0"
ANOTHER_BOOT = "11111111-2222-3333-4444-555555555555"


def booted(root: Path, line: str = LINE, *, boot_id: str = ANOTHER_BOOT, **parameters: str) -> None:
    """The host after a boot with `line`, and parameters as the kernel then shows them."""
    (root / "proc/cmdline").write_text(f"BOOT_IMAGE=/boot/vmlinuz root=UUID=x ro quiet {line}\n")
    (root / "proc/sys/kernel/random/boot_id").write_text(boot_id + "\n")
    for name, value in parameters.items():
        path = root / "sys/module/amdgpu/parameters" / name
        path.write_text(value + "\n")


def status(result: Result, name: str) -> str:
    found = [c["status"] for c in result.document["checks"] if c["name"] == name]
    assert len(found) == 1
    return str(found[0])


def check(root: Path, name: str, wanted: str, code: int, *options: str) -> dict[str, Any]:
    found = rocmcfg("verify", "--root", root, "--json", *options)
    text = rocmcfg("verify", "--root", root, *options)
    assert (status(found, name), found.code, text.code) == (wanted, code, code), found.out
    shown = "unknown" if wanted == "cannot_be_told" else wanted.replace("_", " ")
    assert shown in text.out
    (row,) = [c for c in found.document["checks"] if c["name"] == name]
    return dict(row)


Applied = Callable[..., Path]


@pytest.fixture
def applied(tmp_path: Path) -> Applied:
    """A host on which settings were applied, its menu generated, before any boot."""

    def build(*settings: str, via: str = "", host: dict[str, Any] | None = None) -> Path:
        root = debian_grub_host(tmp_path, **(host or {}))
        apply(QuickHost(str(root)), set=settings or (LINE,), via=via)
        return root

    return build


def test_in_effect(applied: Applied) -> None:
    root = applied()
    booted(root, runpm="0")
    row = check(root, "amdgpu.runpm", "in_effect", 0)
    assert (row["desired"], row["configured"], row["running"]) == ("0", "0", "0")


@pytest.mark.parametrize(
    ("setting", "printed"),
    [
        ("amdgpu.dcdebugmask=0x10", {"dcdebugmask": "16"}),
        ("feature.gfxoff=false", {"ppfeaturemask": "0xfff73fff"}),
        ("amdgpu.hws_gws_support=1", {"hws_gws_support": "Y"}),
        ("amdgpu.noretry=-1", {"noretry": "-1"}),
    ],
)
def test_the_kernel_may_spell_a_value_otherwise(
    applied: Applied, setting: str, printed: dict[str, str]
) -> None:
    root = applied(setting)
    drop_in = (root / "etc/default/grub.d/zz-rocmcfg.cfg").read_text()
    line = drop_in.rpartition("DEFAULT ")[2].strip().strip('"')
    booted(root, line, **printed)
    assert rocmcfg("verify", "--root", root).code == 0


def test_rewritten_by_driver(applied: Applied) -> None:
    """num_kcq is one of the parameters that the driver corrects when it starts (the catalogue says which)."""
    root = applied("amdgpu.num_kcq=99")
    (root / "sys/module/amdgpu/parameters/num_kcq").touch()
    booted(root, "amdgpu.num_kcq=99", num_kcq="8")
    check(root, "amdgpu.num_kcq", "rewritten_by_driver", 0)


def test_pending_reboot_on_the_command_line(applied: Applied) -> None:
    check(applied(), "amdgpu.runpm", "pending_reboot", 6)


def test_pending_reboot_of_modprobe_d_lasts_as_long_as_the_boot(applied: Applied) -> None:
    root = applied(via="modprobe")
    check(root, "amdgpu.runpm", "pending_reboot", 6)
    booted(root, "", runpm="0")
    check(root, "amdgpu.runpm", "in_effect", 0)


def test_pending_activation_of_the_menu(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    assert rocmcfg("apply", "--set", LINE, "--root", root, "--yes").code == 0
    check(root, "amdgpu.runpm", "pending_activation", 6)
    for said in (unfolded(rocmcfg(verb, "--root", root).out) for verb in ("status", "verify")):
        assert "Due: update-grub inside that host, then a reboot." in said
        assert f"Next: sudo rocmcfg apply --set {LINE} --root {root} --chroot" in said.replace("\\ ", "")
    assert "0 is applied, and update-grub has not run" in unfolded(
        rocmcfg("explain", "amdgpu.runpm", "--root", root).out
    )


def test_pending_activation_of_the_initramfs(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, amdgpu_in_initramfs=True)
    assert rocmcfg("apply", "--set", LINE, "--via", "modprobe", "--root", root, "--yes").code == 0
    check(root, "amdgpu.runpm", "pending_activation", 6)
    # a boot that shows the value proves that the user did rebuild it
    booted(root, "", runpm="0")
    check(root, "amdgpu.runpm", "in_effect", 0)


def test_pending_activation_of_an_argument(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    assert rocmcfg("apply", "--set", "karg.iommu=pt", "--root", root, "--yes").code == 0
    check(root, "karg.iommu", "pending_activation", 6)


def test_drift_of_a_file_that_was_edited(applied: Applied) -> None:
    root = applied()
    booted(root, runpm="0")
    with (root / "etc/default/grub.d/zz-rocmcfg.cfg").open("a") as stream:
        stream.write("# mine\n")
    check(root, "amdgpu.runpm", "drift", 3)
    found = rocmcfg("verify", "--root", root, "--json")
    assert found.ids == ["RC5001"]


def test_drift_of_a_file_that_is_gone(applied: Applied) -> None:
    root = applied(via="modprobe")
    booted(root, "", runpm="0")
    (root / "etc/modprobe.d/zz-rocmcfg.conf").unlink()
    check(root, "amdgpu.runpm", "drift", 3)


def test_after_undo_sh_the_way_on_is_to_forget_what_was_applied(applied: Applied) -> None:
    root = applied()
    with (root / "boot/grub/grub.cfg").open("a") as menu:
        menu.write("# an upgrade\n")  # so that the menu from before the apply is not put back
    undo = [require_tool("sh", "dash"), str(SOURCE / "packaging/undo.sh"), "--root", str(root)]
    subprocess.run(undo, check=False, capture_output=True)  # programs of that host are left to its user
    check(root, "amdgpu.runpm", "drift", 3)
    said = rocmcfg("verify", "--root", root, "--json").document["diagnostics"]
    assert {(one["id"], one["detail"]) for one in said} == {("RC5001", "undo.sh removed rocmcfg's changes")}
    assert all("`sudo rocmcfg rollback" in one["hint"] for one in said)
    for text in (rocmcfg(verb, "--root", root).err for verb in ("status", "verify")):
        assert "until update-grub has been run" in unfolded(text), "what undo.sh left to its user is due"
        assert "rocmcfg apply" not in text, "nobody who takes it back wants it written again"
    assert rocmcfg("rollback", "--root", root, "--yes").code == 0
    assert "none applied" in rocmcfg("status", "--root", root).out
    assert rocmcfg("apply", "--set", LINE, "--root", root, "--yes").code == 0
    (root / "etc/default/grub.d/zz-rocmcfg.cfg").unlink()
    assert "it no longer exists" in rocmcfg("verify", "--root", root).err, (
        "an apply ends what undo.sh had begun"
    )


def test_drift_of_the_generated_menu(tmp_path: Path, applied: Applied) -> None:
    root = debian_grub_host(tmp_path, name="copy")
    menu = (root / "boot/grub/grub.cfg").read_bytes()
    root = applied(LINE, "karg.iommu=pt")
    booted(root, LINE + " iommu=pt", runpm="0")
    (root / "boot/grub/grub.cfg").write_bytes(menu)
    check(root, "amdgpu.runpm", "drift", 3)
    check(root, "karg.iommu", "drift", 3)


def test_drift_of_one_entry_of_many(applied: Applied) -> None:
    """Any entry may be the one that boots."""
    root = applied(host={"kernels": ("6.12.107+deb13-amd64", "6.16.3+deb13-amd64")})
    booted(root, runpm="0")
    menu = root / "boot/grub/grub.cfg"
    head, found, tail = menu.read_text().rpartition(LINE)
    assert found
    menu.write_text(head + tail)
    check(root, "amdgpu.runpm", "drift", 3)


def test_drift_of_the_kernel_itself(applied: Applied) -> None:
    root = applied()
    booted(root, runpm="-1")
    row = check(root, "amdgpu.runpm", "drift", 3)
    assert "a reboot resets it" in row["detail"]


@pytest.mark.parametrize(("kernel", "limited"), [("6.14.0-37-generic", True), ("6.17.0-14-generic", False)])
def test_what_this_kernel_reaches_in_part_is_not_just_called_in_effect(
    applied: Applied, kernel: str, limited: bool
) -> None:
    line = "ttm.pages_limit=4096"
    root = applied(line, host={"gfx": "gfx1151", "kernels": (kernel,)})
    booted(root, line)
    parameter = root / "sys/module/ttm/parameters/pages_limit"
    parameter.parent.mkdir(parents=True, exist_ok=True)
    parameter.write_text("4096\n")
    check(root, "ttm.pages_limit", "in_effect", 0)
    said = rocmcfg("verify", "--root", root).err
    assert (f"may not provide all of {line}" in unfolded(said)) is limited


def test_drift_of_a_variable(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    assert rocmcfg("apply", "--set", "env.HSA_XNACK=0", "--root", root, "--yes").code == 0
    check(root, "env.HSA_XNACK", "in_effect", 0)
    (root / "etc/profile.d/zz-rocmcfg.sh").unlink()
    row = check(root, "env.HSA_XNACK", "drift", 3)
    assert row["source"] == "/etc/profile.d/zz-rocmcfg.sh"


def test_overridden_by_a_later_drop_in(applied: Applied) -> None:
    later = 'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT amdgpu.runpm=1"\n'
    root = applied(host={"grub_d": {"zzz.cfg": later}})
    booted(root, "amdgpu.runpm=0 amdgpu.runpm=1", runpm="1")
    row = check(root, "amdgpu.runpm", "overridden", 3)
    assert row["source"].startswith("/etc/default/grub.d/zzz.cfg:")


def test_overridden_by_a_later_modprobe_file(applied: Applied) -> None:
    root = applied(via="modprobe", host={"modprobe_d": {"zzz.conf": "options amdgpu runpm=1\n"}})
    booted(root, "", runpm="1")
    row = check(root, "amdgpu.runpm", "overridden", 3)
    assert row["source"] == "/etc/modprobe.d/zzz.conf:1"


def test_overridden_by_the_command_line(applied: Applied) -> None:
    root = applied(via="modprobe", host={"cmdline": "quiet amdgpu.runpm=1"})
    booted(root, "amdgpu.runpm=1", runpm="1")
    check(root, "amdgpu.runpm", "overridden", 3)


@pytest.mark.parametrize(
    ("setting", "name"), [(LINE, "amdgpu.runpm"), ("karg.pcie_aspm=off", "karg.pcie_aspm")]
)
def test_a_later_argument_with_a_variable_of_grub_cannot_be_told(
    tmp_path: Path, setting: str, name: str
) -> None:
    argument, _, value = setting.removeprefix("karg.").partition("=")
    root = debian_grub_host(tmp_path, cmdline=f"quiet {argument}={value} {argument}=$y")
    rocmcfg("apply", "--set", setting, "--root", root, "--yes")
    row = check(root, name, "cannot_be_told", 3)
    assert (row["configured"], row["desired"]) == (None, value)
    assert rocmcfg("verify", "--root", root, "--json").ids == ["RC3187"]
    assert "unknown: " in rocmcfg("explain", name, "--root", root).out


def test_overridden_variable(tmp_path: Path) -> None:
    extra = {"etc/environment.d/99-mine.conf": "# x\nHSA_XNACK='1'\n"}
    root = debian_grub_host(tmp_path, extra=extra)
    rocmcfg("apply", "--set", "env.HSA_XNACK=0", "--root", root, "--yes")
    row = check(root, "env.HSA_XNACK", "overridden", 3)
    assert row["source"] == "/etc/environment.d/99-mine.conf:2"


@pytest.mark.parametrize(
    ("script", "expected", "code"),
    [
        ("export HSA_XNACK=0 # same\n", "in_effect", 0),
        ("export X=1 HSA_XNACK=1\n", "overridden", 3),
        ("HSA_XNACK=1\n", "overridden", 3),  # it is exported already
        ("unset HSA_XNACK\n", "overridden", 3),
        ("X=1 true\necho HSA_XNACK=1\n", "in_effect", 0),
        ('if [ -n "$Z" ]; then\nexport HSA_XNACK=1\nfi\n', "cannot_be_told", 3),
        ("export HSA_XNACK=$(cat /etc/x)\n", "cannot_be_told", 3),
        ("for i in /opt/*.sh; do . $i; done\n", "cannot_be_told", 3),
        (". /opt/site.sh\n", "overridden", 3),
        ("export HSA_XNACK=0\n[ -d /x ] && export HSA_XNACK=1\n", "cannot_be_told", 3),
    ],
)
def test_a_script_that_login_shells_source_later(
    tmp_path: Path, script: str, expected: str, code: int
) -> None:
    """Peers' finding F5: it was read line by line, as NAME=VALUE."""
    extra = {"etc/profile.d/zzz.sh": script, "opt/site.sh": "export HSA_XNACK=1\n"}
    root = debian_grub_host(tmp_path, extra=extra)
    rocmcfg("apply", "--set", "env.HSA_XNACK=0", "--root", root, "--yes")
    check(root, "env.HSA_XNACK", expected, code)
    found = rocmcfg("verify", "--root", root, "--json")
    assert found.ids == (["RC3307"] if expected == "cannot_be_told" else [])
    planned = rocmcfg("plan", "--set", "env.HSA_XNACK=0", "--root", root, "--json")
    assert ("RC3307" in planned.ids) == (expected == "cannot_be_told")


def test_unknown_parameter(applied: Applied) -> None:
    root = applied()
    booted(root)
    (root / "sys/module/amdgpu/parameters/runpm").unlink()
    check(root, "amdgpu.runpm", "unknown_parameter", 3)


def test_not_loaded(applied: Applied) -> None:
    root = applied()
    booted(root)
    shutil.rmtree(root / "sys/module/amdgpu")
    check(root, "amdgpu.runpm", "not_loaded", 3)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file that another user may not read")
def test_what_only_root_may_read_is_never_a_pass_for_another_user(applied: Applied, tmp_path: Path) -> None:
    """gttsize is 0600 in sysfs. Nobody sees it, and must not be told that all is well."""
    root = applied("amdgpu.gttsize=8192", LINE)
    booted(root, f"amdgpu.gttsize=8192 {LINE}", gttsize="8192", runpm="0")
    _reachable(root)
    found = as_nobody(command("verify", "--root", root, "--json"))
    assert found.code == 3, found.err
    assert status(found, "amdgpu.gttsize") == "not_readable"
    assert status(found, "amdgpu.runpm") == "in_effect"
    assert rocmcfg("verify", "--root", root).code == 0, "root sees it"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file that another user may not read")
@pytest.mark.parametrize("options", [(), ("--profile", "mine.toml")])
def test_a_menu_that_only_root_may_read_is_unknown_and_not_unset(
    applied: Applied, tmp_path: Path, options: tuple[str, ...]
) -> None:
    """GRUB 2.12 makes grub.cfg with mode 0600."""
    profile = tmp_path / "mine.toml"
    profile.write_text('schema = 1\nsummary = "Mine."\n[module.amdgpu]\nrunpm = 0\n')
    options = tuple(str(profile) if word == profile.name else word for word in options)
    root = applied(LINE, "karg.iommu=pt")
    booted(root, f"{LINE} iommu=pt", runpm="0")
    (root / "boot/grub/grub.cfg").chmod(0o600)
    _reachable(root)
    found = as_nobody(command("verify", "--root", root, *options))
    rows = [line.split() for line in found.out.splitlines()]
    assert ["amdgpu.runpm", "0", "?", "0", "in", "effect"] in rows, found.out + found.err
    assert (["karg.iommu", "pt", "?", "pt", "in", "effect"] in rows) is not bool(options)
    assert f"only root may read it: run `sudo rocmcfg verify --root {root}`" in unfolded(found.err)
    assert found.code == 0
    booted(root, "", runpm="-1")
    assert as_nobody(command("verify", "--root", root, *options)).code == (3 if options else 6)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file that another user may not read")
@pytest.mark.parametrize("verb", [("history",), ("recover",), ("rollback", "--yes")])
def test_journals_that_cannot_be_seen_are_not_called_none(applied: Applied, verb: tuple[str, ...]) -> None:
    root = applied()
    _reachable(root)
    found = as_nobody(command(*verb, "--root", root, "--json"))
    assert (found.code, found.ids) == (1, ["RC3001"])


def _reachable(path: Path) -> None:
    """pytest's own directories are 0700."""
    for parent in path.parents:
        if parent.owner() == "root" and parent not in (Path("/"), Path("/tmp")):
            parent.chmod(parent.stat().st_mode | 0o055)


def test_an_offline_disk_has_no_running_state_and_configured_counts(applied: Applied) -> None:
    root = applied(host={"live": False, "gfx": None})
    row = check(root, "amdgpu.runpm", "in_effect", 0)
    assert row["running"] is None


_LENT = (
    'for d in proc sys; do mkdir -p "$1/$d" && mount --rbind "/$d" "$1/$d" || exit 9; done; shift; exec "$@"'
)
# The first process of the recorded /proc has the very directory for its root that is looked at.
_ITS_OWN = (
    'mount --bind "$1" "$1" && cat /proc/sys/kernel/random/boot_id > "$1/proc/sys/kernel/random/boot_id" && '
    'mkdir -p "$1/proc/1" && awk -v at="$1" \'$5 == at { $1 = 1; $5 = "/"; print }\' /proc/self/mountinfo '
    '> "$1/proc/1/mountinfo" && [ -s "$1/proc/1/mountinfo" ] || exit 9; shift; exec "$@"'
)


@needs_mounts
def test_the_kernel_of_a_rescue_system_is_not_taken_for_that_of_the_host_it_mends(applied: Applied) -> None:
    """Who runs update-grub in a chroot binds /proc and /sys first."""
    root = applied(host={"live": False, "gfx": None})
    found = in_namespace(_LENT, root, *command("status", "--root", root, "--json"))
    assert found.code == 0, found.err
    said = found.document
    assert (said["facts"]["running_kernel"], said["status"], said["reboot_required"]) == (
        "",
        "in_effect",
        False,
    )
    assert [one["running"] for one in said["parameters"]] == [None]
    assert found.ids == ["RC5005"]
    found = in_namespace(_LENT, root, *command("verify", "--root", root))
    assert found.code == 0, found.err
    assert "Configured: the one setting. The running values of an offline host cannot be seen." in unfolded(
        found.out
    )
    assert "note[RC5005]: the running kernel belongs to another system" in unfolded(found.err)


@needs_mounts
def test_a_container_that_has_the_hosts_root_sees_what_the_host_runs(applied: Applied) -> None:
    root = applied()
    found = in_namespace(_ITS_OWN, root, *command("verify", "--root", root, "--json"))
    assert (status(found, LINE.partition("=")[0]), found.code, found.ids) == ("pending_reboot", 6, [])
    mounts = (root / "proc/1/mountinfo").read_text()
    (root / "proc/1/mountinfo").write_text(mounts.replace(" / ", " /another ", 1))
    found = rocmcfg("verify", "--root", root, "--json")
    assert (status(found, LINE.partition("=")[0]), found.code, found.ids) == ("in_effect", 0, ["RC5005"])


def test_nothing_applied_is_said_and_is_no_failure(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    found = rocmcfg("verify", "--root", root, "--json")
    assert (found.code, found.document["status"], found.ids) == (0, "nothing_applied", ["RC5002"])


def test_a_profile_that_rocmcfg_did_not_apply_can_be_checked(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, kernels=("6.14.0-37-generic",), rocm="7.0.0")
    before = tree(root)
    found = rocmcfg("verify", "--profile", "rdna4", "--root", root, "--json")
    assert (found.code, status(found, "amdgpu.cwsr_enable")) == (3, "not_set")
    by_hand = debian_grub_host(
        tmp_path,
        kernels=("6.14.0-37-generic",),
        rocm="7.0.0",
        cmdline="quiet amdgpu.cwsr_enable=0",
        parameters={"cwsr_enable": "0"},
        name="by-hand",
    )
    assert rocmcfg("verify", "--profile", "auto", "--root", by_hand).code == 0
    assert tree(root) == before


def test_of_a_profile_that_is_not_applied_each_row_names_what_is_there_instead(tmp_path: Path) -> None:
    """Nothing drifted, and neither update-grub nor another apply brings what nobody applied."""
    others = "quiet amdgpu.tmz=1 iommu=soft"
    root = debian_grub_host(tmp_path, gfx="gfx1100", kernels=("6.14.0-37-generic",), cmdline=others)
    rows = {
        c["name"]: c for c in rocmcfg("verify", "-p", "gfx1100", "--root", root, "--json").document["checks"]
    }
    stands = {name: row["status"] for name, row in rows.items()}
    assert stands == {
        "amdgpu.runpm": "not_set",
        "amdgpu.tmz": "overridden",
        "karg.iommu": "overridden",
        "feature.gfxoff": "not_set",
    }
    assert rows["karg.iommu"]["source"] == rows["amdgpu.tmz"]["source"] == "/etc/default/grub:7"
    bare = debian_grub_host(tmp_path, gfx="gfx1100", kernels=("6.14.0-37-generic",), name="bare")
    found = rocmcfg("verify", "-p", "gfx1100", "--root", bare)
    assert "Not set on this host: 4 of 4 settings." in found.out
    assert f"Next: sudo rocmcfg apply --profile gfx1100 --root {bare}" in unfolded(found.out)
    assert not any(word in found.out for word in ("drift", "update-grub", "again"))


def test_variables_of_a_profile_that_is_not_applied(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, rocm="7.1.0", extra={"etc/environment": "DISABLE_ADDMM_CUDA_LT=0\n"})
    found = rocmcfg("verify", "-p", "gfx1201", "--root", root, "--json")
    assert status(found, "env.ROCBLAS_USE_HIPBLASLT") == "not_set"
    assert status(found, "env.DISABLE_ADDMM_CUDA_LT") == "overridden"


def test_an_adopted_argument_is_verified_where_the_user_wrote_it(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, cmdline="quiet iommu=pt")
    apply(QuickHost(str(root)), set=("karg.iommu=pt", LINE))
    booted(root, "iommu=pt amdgpu.runpm=0", runpm="0")
    check(root, "karg.iommu", "in_effect", 0)


def test_an_adopted_argument_that_the_menu_lacks_is_put_into_it(tmp_path: Path) -> None:
    """Whoever edits /etc/default/grub and does not run update-grub gets nothing at the next boot."""
    root = debian_grub_host(tmp_path)
    defaults = root / "etc/default/grub"
    defaults.write_text(defaults.read_text().replace('"quiet', '"amdgpu.cwsr_enable=0x0 quiet'))
    planned = rocmcfg("plan", "--set", "amdgpu.cwsr_enable=0", "--root", root, "--json").document
    assert [row["outcome"] for row in planned["settings"]] == ["adopted"]
    assert [step["tool"] for step in planned["activations"]] == ["update-grub"]
    apply(QuickHost(str(root)), set=("amdgpu.cwsr_enable=0",))
    assert "amdgpu.cwsr_enable=0x0" in (root / "boot/grub/grub.cfg").read_text()
    check(root, "amdgpu.cwsr_enable", "pending_reboot", 6)
    again = rocmcfg("plan", "--set", "amdgpu.cwsr_enable=0", "--root", root, "--json").document
    assert again["activations"] == [], "it is done once"


def test_an_adopted_argument_that_its_owner_deleted_is_added_by_another_apply(tmp_path: Path) -> None:
    """The generator of the menu cannot bring it back."""
    root = debian_grub_host(tmp_path, cmdline="quiet iommu=pt")
    apply(QuickHost(str(root)), set=("karg.iommu=pt", LINE))
    booted(root, f"iommu=pt {LINE}", runpm="0")
    defaults = root / "etc/default/grub"
    defaults.write_text(defaults.read_text().replace(" iommu=pt", ""))
    QuickHost(str(root)).execute(["update-grub"], timeout=60, progress=lambda: None)
    detail = check(root, "karg.iommu", "drift", 3)["detail"]
    again = f"sudo rocmcfg apply --set karg.iommu=pt --set amdgpu.runpm=0 --root {root}"
    assert detail.startswith(f"/etc/default/grub no longer has it; to add it again: {again}")
    apply(QuickHost(str(root)), set=("karg.iommu=pt", LINE))
    check(root, "karg.iommu", "in_effect", 0)


def test_what_is_left_to_the_user_stays_due(tmp_path: Path) -> None:
    """No boot loader is known: the arguments are the user's to add, and are checked as the others are."""
    root = debian_grub_host(tmp_path, gfx=("gfx1201",), rocm="7.1.0")
    for name in ("boot/grub", "etc/default/grub.d", "sys/firmware"):
        shutil.rmtree(root / name, ignore_errors=True)
    for name in ("etc/default/grub", "usr/sbin/update-grub"):
        (root / name).unlink(missing_ok=True)
    assert rocmcfg("apply", "-p", "gfx1201", "--root", root, "--yes").code == 0
    (root / "sys/module/amdgpu/parameters/cwsr_enable").write_text("1\n")
    row = check(root, "amdgpu.cwsr_enable", "left_to_you", 3)
    assert (row["desired"], row["configured"], row["running"]) == ("0", None, "1")
    assert "amdgpu.cwsr_enable=0" in row["detail"]
    assert "amdgpu.cwsr_enable (left to you)" in unfolded(rocmcfg("status", "--root", root).out)
    booted(root, "amdgpu.cwsr_enable=0", cwsr_enable="0")
    check(root, "amdgpu.cwsr_enable", "in_effect", 0)


def test_after_a_rollback_the_reboot_is_due_until_it_was_made(applied: Applied) -> None:
    root = applied()
    booted(root, runpm="0")
    check(root, "amdgpu.runpm", "in_effect", 0)
    rollback(QuickHost(str(root)))
    found = rocmcfg("verify", "--root", root)
    assert found.code == 6
    assert "a reboot is due: the running kernel still has values that were rolled back" in unfolded(found.err)
    assert rocmcfg("verify", "--root", root, "--json").document["status"] == "pending"
    assert "A reboot is due" in rocmcfg("status", "--root", root).out
    booted(root, "", boot_id=ANOTHER_BOOT.replace("1", "2"), runpm="-1")
    assert rocmcfg("verify", "--root", root).code == 0
    assert "reboot" not in rocmcfg("status", "--root", root).out


def test_an_argument_that_is_spelt_otherwise_is_found_in_the_menu(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, cmdline="quiet amdgpu.cwsr_enable=0x0")
    apply(QuickHost(str(root)), set=("amdgpu.cwsr_enable=0", LINE))
    booted(root, "amdgpu.cwsr_enable=0x0 amdgpu.runpm=0", runpm="0", cwsr_enable="0")
    check(root, "amdgpu.cwsr_enable", "in_effect", 0)


def test_a_bare_argument_is_present_or_not(applied: Applied) -> None:
    root = applied("karg.nomodeset")
    row = check(root, "karg.nomodeset", "pending_reboot", 6)
    assert (row["desired"], row["configured"], row["running"]) == ("present", "present", None)
    booted(root, "nomodeset")
    check(root, "karg.nomodeset", "in_effect", 0)


def test_a_running_process_is_looked_at(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    rocmcfg("apply", "--set", "env.HSA_XNACK=0", "--root", root, "--yes")
    environ = root / "proc/7/environ"
    environ.parent.mkdir()
    environ.write_bytes(b"PATH=/bin\0HSA_XNACK=1\0")
    check(root, "env.HSA_XNACK", "drift", 3, "--pid", "7")
    environ.write_bytes(b"PATH=/bin\0HSA_XNACK=0\0")
    check(root, "env.HSA_XNACK", "in_effect", 0, "--pid", "7")
    found = rocmcfg("verify", "--root", root, "--pid", "8", "--json")
    assert (found.code, found.ids) == (1, ["RC3001"])


def _statuses_of(names: Sequence[str]) -> set[str]:
    return {name for name in names if f'"{name}"' in Path(__file__).read_text()}


def test_this_file_has_every_status_of_the_contract() -> None:
    from rocmcfg.model.checks import CheckStatus

    every = [s.value for s in CheckStatus]
    assert _statuses_of(every) == set(every)


def test_a_live_host_without_proc_is_not_taken_for_an_offline_one(tmp_path: Path) -> None:
    """A rescue shell: what cannot be asked is no pass."""

    class Live(QuickHost):
        offline = False

    root = debian_grub_host(tmp_path, live=False)
    apply(QuickHost(str(root)), set=("amdgpu.runpm=0", "karg.iommu=pt"))
    assert verify(QuickHost(str(root))).status == "in_effect"
    report = verify(Live(str(root)))
    assert {check.status.value for check in report.checks} == {"not_readable"}
    assert report.status == "differences"


@pytest.mark.parametrize(
    "edit", [Path.unlink, lambda path: path.write_text("GRUB_TIMEOUT=9\n")], ids=["gone", "edited"]
)
def test_the_way_that_is_named_for_a_changed_file_of_ours_is_one_that_works(
    tmp_path: Path, edit: Callable[[Path], object]
) -> None:
    root = debian_grub_host(tmp_path)
    assert rocmcfg("apply", "--set", "amdgpu.runpm=0", "--root", root, "--yes").code == 0
    edit(root / "etc/default/grub.d/zz-rocmcfg.cfg")
    found = rocmcfg("status", "--root", root, "--json").document["diagnostics"]
    (hint,) = [one["hint"] for one in found if one["id"] == "RC5001"]
    command = hint.split("`")[1].split()[2:]
    assert rocmcfg(*command, "--yes").code == 0, command


def test_status_names_an_applied_profile_that_can_no_longer_be_read(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    mine = root / "etc/rocmcfg/profiles/mine.toml"
    mine.parent.mkdir(parents=True)
    mine.write_text((SOURCE / "profiles/rdna4.toml").read_text().replace('name = "rdna4"', 'name = "mine"'))
    assert rocmcfg("apply", "--profile", "mine", "--root", root, "--yes").code == 0
    assert "RC1015" not in rocmcfg("status", "--root", root).err
    mine.write_text("[profile")
    said = unfolded(rocmcfg("status", "--root", root).err)
    assert "warning[RC1015]: profile mine is applied, but can no longer be read" in said
