"""Rules of the plan that need more than one look at a host."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from rocmcfg.change.planning import combine
from rocmcfg.change.planning.resolve import resolve
from rocmcfg.host.local import LocalHost
from rocmcfg.host.view import CommandResult, HostView
from rocmcfg.model import spelling
from rocmcfg.model.activation import ActivationState
from rocmcfg.model.diagnostic import Diagnostic
from rocmcfg.model.plan import ChangeKind
from rocmcfg.model.spelling import ProfileValue, Spelling
from tests.support.hosts import debian_grub_host
from tests.support.program import rocmcfg
from tests.support.tool_host import QuickHost
from tests.support.trees import tree, with_directory_times
from tests.support.usecases import apply, plan

WRITERS = (
    "write",
    "remove",
    "discard_temporary",
    "make_dir",
    "remove_dir",
    "append",
    "execute",
    "lock",
    "log",
)


class ReadOnly:
    """A view that is only a view: whatever could change the host is not even there."""

    def __init__(self, host: LocalHost) -> None:
        self._host = host

    def __getattr__(self, name: str) -> Any:
        if name in WRITERS:
            raise AssertionError(f"a planner asked for {name}")
        return getattr(self._host, name)


def test_planning_touches_nothing(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, amdgpu_in_initramfs=True, kernels=("6.14.0-37-generic",))
    before = with_directory_times(root)
    view = cast(HostView, ReadOnly(QuickHost(str(root))))
    made = plan(view, profiles=("rdna4",), set=("feature.gfxoff=false",), via="modprobe")
    assert made.changes
    assert with_directory_times(root) == before


def test_a_resolution_is_a_pure_function() -> None:
    """It is handed everything it looks at: no view of a host is among its arguments."""
    import inspect

    assert list(inspect.signature(resolve).parameters) == [
        "profiles",
        "request",
        "facts",
        "catalogue",
        "base",
    ]


def test_the_same_request_gives_the_same_bytes_on_another_day(tmp_path: Path) -> None:
    contents = []
    for name in ("one", "two"):
        root = debian_grub_host(tmp_path, name=name)
        made = plan(LocalHost(str(root)), profiles=("rdna4",), set=("feature.gfxoff=false",))
        contents.append({c.path: c.after for c in made.changes})
    assert contents[0] == contents[1]


# -- replacing ----------------------------------------------------------------------------------------


def test_another_profile_takes_away_what_the_old_one_set_and_nothing_else(tmp_path: Path) -> None:
    users = {"modprobe_d": {"mine.conf": "options amdgpu runpm=1\n"}, "grub_d": {"mine.cfg": "# mine\n"}}
    root = debian_grub_host(tmp_path, kernels=("6.14.0-37-generic",), **users)  # type: ignore[arg-type]
    host = QuickHost(str(root))
    apply(host, profiles=("rdna4",), set=("amdgpu.noretry=0",), via="modprobe")
    foreign = {
        p: e for p, e in tree(root, state=False).items() if "rocmcfg" not in p and not p.startswith("boot")
    }
    made = plan(host, set=("karg.iommu=pt",))
    kinds = {c.path: c.kind for c in made.changes}
    assert kinds == {
        "/etc/default/grub.d/zz-rocmcfg.cfg": ChangeKind.CREATE,
        "/etc/modprobe.d/zz-rocmcfg.conf": ChangeKind.REMOVE,
        "/etc/environment.d/90-rocmcfg.conf": ChangeKind.REMOVE,
        "/etc/profile.d/zz-rocmcfg.sh": ChangeKind.REMOVE,
        "/etc/rocmcfg/env": ChangeKind.REMOVE,
        "/etc/kernel/postinst.d/rocmcfg": ChangeKind.REMOVE,
    }
    apply(host, set=("karg.iommu=pt",))
    now = {
        p: e for p, e in tree(root, state=False).items() if "rocmcfg" not in p and not p.startswith("boot")
    }
    assert now == foreign


def test_applying_again_changes_nothing(tmp_path: Path) -> None:
    host = QuickHost(str(debian_grub_host(tmp_path, amdgpu_in_initramfs=True)))
    for via in ("cmdline", "modprobe"):
        apply(host, profiles=("rdna4",), set=("amdgpu.runpm=0",), via=via)
        made = plan(host, profiles=("rdna4",), set=("amdgpu.runpm=0",), via=via)
        assert made.empty


def test_a_mask_of_ours_is_not_the_one_that_the_next_is_composed_onto(tmp_path: Path) -> None:
    """Else GFXOFF, once off, would stay off after the profile that wanted it is replaced."""
    host = QuickHost(str(debian_grub_host(tmp_path)))
    apply(host, set=("feature.gfxoff=false",))
    made = plan(host, set=("feature.stutter=false",))
    assert [r.setting.text for r in made.rows] == ["0xfff5bfff"]


def test_a_menu_that_lost_our_arguments_is_generated_again(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path)
    shutil.copy(root / "boot/grub/grub.cfg", tmp_path / "old.cfg")
    host = QuickHost(str(root))
    apply(host, set=("amdgpu.runpm=0",))
    shutil.copy(tmp_path / "old.cfg", root / "boot/grub/grub.cfg")
    made = plan(host, set=("amdgpu.runpm=0",))
    assert not made.changes
    assert [a.tool for a in made.due] == ["update-grub"]
    assert "does not match" in made.due[0].reason


# -- the initramfs -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("carried", "state", "reason"),
    [
        (True, ActivationState.PLANNED, "contains amdgpu"),
        (False, ActivationState.SKIPPED, "no image contains"),
    ],
)
def test_the_initramfs_is_rebuilt_only_where_it_carries_the_driver(
    tmp_path: Path, carried: bool, state: ActivationState, reason: str
) -> None:
    host = QuickHost(str(debian_grub_host(tmp_path, amdgpu_in_initramfs=carried)))
    made = plan(host, set=("amdgpu.runpm=0",), via="modprobe")
    (found,) = made.activations
    assert (found.tool, found.state) == ("update-initramfs", state)
    assert reason in found.reason
    assert found.argv == ("update-initramfs", "-u", "-k", "all")


def test_an_image_that_cannot_be_looked_into_is_rebuilt(tmp_path: Path) -> None:
    made = plan(LocalHost(str(debian_grub_host(tmp_path))), set=("amdgpu.runpm=0",), via="modprobe")
    (found,) = made.due
    assert "could not be determined" in found.reason


@pytest.mark.parametrize("ending", [".ko", ".ko.gz", ".ko.zst"])
def test_the_driver_is_found_in_an_image_however_it_is_packed(tmp_path: Path, ending: str) -> None:
    class Listing(QuickHost):
        def query(self, argv: Sequence[str]) -> CommandResult | None:
            if argv[0] != "lsinitramfs":
                return None
            path = f"lib/modules/6.14.0-37-generic/updates/dkms/amdgpu{ending}\nusr/bin/true\n"
            return CommandResult(tuple(argv), 0, path, "")

    made = plan(Listing(str(debian_grub_host(tmp_path))), set=("amdgpu.runpm=0",), via="modprobe")
    assert [a.tool for a in made.due] == ["update-initramfs"]


def test_settings_on_the_command_line_leave_the_initramfs_alone(tmp_path: Path) -> None:
    host = QuickHost(str(debian_grub_host(tmp_path, amdgpu_in_initramfs=True)))
    assert [a.tool for a in plan(host, set=("amdgpu.runpm=0",)).activations] == ["update-grub"]


# -- conditions ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("when", "host", "outcome"),
    [
        ('kernel = "<6.13"', {}, "applied"),
        ('kernel = ">=6.13"', {}, "kernel 6.12.107+deb13-amd64 is not >=6.13"),
        ('kernel = "==6.12.107"', {}, "applied"),
        ('kernel = "<6.13"', {"kernels": ("6.14.0-37-generic", "6.12.43+deb13-amd64")}, "applied"),
        ('gfx = ["gfx1200", "gfx1201"]', {}, "applied"),
        ('gfx = ["gfx1100"]', {}, "none of gfx1100 is present"),
        ('gfx = ["gfx1100"]', {"gfx": None}, "said"),
        ('rocm = ">=7.0"', {"rocm": None}, "said"),
        ('rocm = ">=7.0", gfx = ["gfx1100"]', {"rocm": None}, "none of gfx1100 is present"),
        ('rocm = ">7.0.2"', {"rocm": "7.0.2"}, "ROCm 7.0.2 is not >7.0.2"),
        ('rocm = "<=7.1"', {"rocm": "7.1.0"}, "applied"),
        ('lacks-fix = "cwsr-expert-scheduling"', {"driver": "dkms", "live": False, "gfx": None}, "said"),
    ],
)
def test_a_condition_holds_or_not_or_cannot_be_told(
    tmp_path: Path, when: str, host: dict[str, Any], outcome: str
) -> None:
    text = f'schema = 1\nsummary = "x"\n[module.amdgpu.runpm]\nvalue = 0\nwhen = {{ {when} }}\n'
    root = debian_grub_host(tmp_path, extra={"etc/rocmcfg/profiles/p.toml": text}, **host)
    made = plan(LocalHost(str(root)), profiles=("p",))
    if outcome in ("applied", "said"):
        assert [r.setting.id for r in made.rows] == ["amdgpu.runpm"]
        assert ("RC2012" in [d.id for d in made.diagnostics]) == (outcome == "said")
    else:
        assert not made.rows
        assert outcome in made.skipped[0].reason


def test_the_default_mask_of_the_newest_kernel_counts_where_they_differ(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, kernels=("5.10.0-35-amd64", "6.12.107+deb13-amd64"))
    made = plan(LocalHost(str(root)), set=("feature.gfxoff=false",))
    assert [r.setting.text for r in made.rows] == ["0xfff73fff"]
    (found,) = [d for d in made.diagnostics if d.id == "RC2023"]
    assert "0xffffbfff on 5.10.0-35-amd64" in found.detail


def test_without_any_kernel_the_newest_known_default_is_taken_and_that_is_said(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, live=False, gfx=None)
    shutil.rmtree(root / "usr/lib/modules")
    for path in (root / "boot").glob("vmlinuz-*"):
        path.unlink()
    made = plan(LocalHost(str(root)), set=("feature.gfxoff=false",))
    assert [r.setting.text for r in made.rows] == ["0xfff73fff"]
    assert "RC3012" in [d.id for d in made.diagnostics]


@pytest.mark.parametrize(
    ("kernels", "running", "newer"),
    [
        (("6.8.0-90-generic", "6.8.0-101-generic"), "6.8.0-90-generic", "6.8.0-101-generic"),
        (("6.8.0-90-generic", "6.8.0-101-generic"), "6.8.0-101-generic", ""),
        (("6.14.0-rc3", "6.14.0"), "6.14.0-rc3", "6.14.0"),
        (("6.14.0-rc3", "6.14.0"), "6.14.0", ""),
        (("6.19.1-amd64",), "6.19.1-amd64", ""),
    ],
)
def test_a_newer_kernel_that_was_not_booted_is_said_in_plan_and_trial(
    tmp_path: Path, kernels: tuple[str, ...], running: str, newer: str
) -> None:
    root = debian_grub_host(tmp_path, kernels=kernels, running=running)
    for options in ((), ("--trial",)):
        found = rocmcfg("plan", "--set", "amdgpu.runpm=0", *options, "--root", root)
        said = " ".join(found.err.split())
        assert ("[RC3027]" in said and newer in said) if newer else "RC3027" not in said
    without_a_reboot = rocmcfg("plan", "--set", "env.HSA_XNACK=1", "--root", root, "--json")
    assert "RC3027" not in without_a_reboot.ids


def test_a_word_of_set_is_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check of the words needs it, and each of the two plans of an apply that asks."""
    words, parse = ("amdgpu.runpm=0", "karg.iommu=pt"), spelling.parse
    parsed: list[str] = []

    def counting(text: str) -> ProfileValue | Spelling | Diagnostic:
        parsed.append(text)
        return parse(text)

    monkeypatch.setattr(combine, "parse", counting)
    combine.parse_set.cache_clear()
    root = debian_grub_host(tmp_path)
    asked = [word for text in words for word in ("--set", text)]
    assert rocmcfg("apply", *asked, "--root", root, answer="y\n").code == 0
    assert sorted(parsed) == sorted(words)
