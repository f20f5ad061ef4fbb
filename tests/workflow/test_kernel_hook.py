"""A kernel that is installed after the apply: the hook warns of what it lacks and withdraws what would stop
its driver. The kernels' modules are read by the real modinfo."""

from __future__ import annotations

import shlex
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rocmcfg.change.planning.refusals import request_without
from rocmcfg.change.trial.standing import trial_on_record
from rocmcfg.host import runner
from rocmcfg.host.view import CommandResult
from rocmcfg.model.diagnostic import ExitCode, RocmcfgError
from rocmcfg.model.request import Request
from rocmcfg.records import receipt
from rocmcfg.workflow import undoing
from rocmcfg.workflow.applying import apply, check_kernel
from rocmcfg.workflow.planning import plan
from tests.support.boots import next_boot, reboot
from tests.support.hosts import debian_grub_host
from tests.support.modules import install_kernel
from tests.support.tool_host import QuickHost
from tests.support.tools import HANG, require_tool
from tests.support.usecases import attempt, quiet, rollback

OLD, NEW = "6.12.107+deb13-amd64", "9.9.9-new"
TYPES = {"cwsr_enable": "int", "runpm": "int", "tmz": "int", "ppfeaturemask": "hexint"}
DROP_IN = "etc/default/grub.d/zz-rocmcfg.cfg"
HOOK = "etc/kernel/postinst.d/rocmcfg"


class ModinfoHost(QuickHost):
    """Asks the real modinfo about the modules of the tree (`-b`), as a chroot would."""

    def query(self, argv: Sequence[str]) -> CommandResult | None:
        if argv[0] != "modinfo":
            return super().query(argv)
        return runner.query([require_tool("modinfo", package="kmod"), "-b", self.root, *argv[1:]])


@pytest.fixture
def host(tmp_path: Path) -> ModinfoHost:
    root = debian_grub_host(tmp_path, kernels=(OLD,), driver="missing", loaded=False)
    for folder in (root / "usr/lib/modules").iterdir():
        subprocess.run(["rm", "-r", str(folder)], check=True)
    install_kernel(root, OLD, TYPES)
    (root / "etc/kernel/postinst.d").mkdir(parents=True, exist_ok=True)
    return ModinfoHost(str(root))


def applied(host: ModinfoHost, *settings: str) -> Path:
    request = Request(set=settings, any_gpu=True)
    done = apply(host, request, lambda _: True, lambda _: None, asks=False)
    assert done is not None
    assert done.transaction
    return Path(host.root)


def checked(host: ModinfoHost, release: str = NEW) -> list[str]:
    return [d.id for d in check_kernel(host, release, lambda _: None)]


def test_a_kernel_that_takes_every_value_is_passed_in_silence(host: ModinfoHost) -> None:
    root = applied(host, "amdgpu.cwsr_enable=0")
    install_kernel(root, NEW, TYPES)
    assert checked(host) == []


def test_a_damaged_receipt_is_told(host: ModinfoHost) -> None:
    root = applied(host, "amdgpu.cwsr_enable=0")
    (root / "var/lib/rocmcfg/receipt.json").write_text("{")
    install_kernel(root, NEW, TYPES)
    assert checked(host) == ["RC4030"]


def test_a_parameter_that_the_new_kernel_lacks_is_told(host: ModinfoHost) -> None:
    root = applied(host, "amdgpu.cwsr_enable=0")
    install_kernel(root, NEW, {"runpm": "int"})
    assert checked(host) == ["RC4041"]
    assert "cwsr_enable=0" in (root / DROP_IN).read_text(), "an ignored parameter harms nobody"


@pytest.mark.parametrize("runpm", ["amdgpu.runpm=-2", "karg.amdgpu.runpm=-2"])
def test_a_value_that_would_stop_the_new_kernels_driver_is_withdrawn(host: ModinfoHost, runpm: str) -> None:
    """-2 is a legal runpm for type int and stops a driver whose type is uint."""
    root = applied(host, "amdgpu.cwsr-enable=0", runpm)
    install_kernel(root, NEW, {**TYPES, "runpm": "uint"})
    assert checked(host) == ["RC2104", "RC4042"]
    text = (root / DROP_IN).read_text()
    assert "cwsr_enable=0" in text
    assert "runpm" not in text
    assert checked(host) == [], "the second run has nothing left to do"
    left = receipt.load(host)
    assert left is not None
    assert left.request.set == ("amdgpu.cwsr-enable=0",)
    assert request_without(left, ["amdgpu.cwsr_enable"]).set == ()


def test_what_was_added_with_an_option_is_withdrawn_like_the_rest(host: ModinfoHost) -> None:
    """--with and --without of one setting would contradict each other."""
    local = Path(host.root, "etc/rocmcfg/profiles/p.toml")
    local.parent.mkdir(parents=True)
    local.write_text(
        'schema = 1\nsummary = "x"\n[module.amdgpu]\ncwsr_enable = 0\n'
        "[module.amdgpu.runpm]\nvalue = -2\noptional = true\n"
    )
    request = Request(profiles=("p",), with_=("runpm",))
    assert apply(host, request, lambda _: True, lambda _: None, asks=False) is not None
    install_kernel(Path(host.root), NEW, {**TYPES, "runpm": "uint"})
    assert checked(host) == ["RC2104", "RC4042"]
    text = Path(host.root, DROP_IN).read_text()
    assert "cwsr_enable=0" in text
    assert "runpm" not in text


def test_a_withdrawal_takes_away_and_applies_nothing_that_a_profile_says_by_then(
    host: ModinfoHost, tmp_path: Path
) -> None:
    """The file belongs to whoever wrote it: what they put there after root agreed is nobody's wish."""
    profile = tmp_path / "my.toml"
    profile.write_text('schema = 1\nsummary = "x"\n[module.amdgpu]\ncwsr_enable = 0\nrunpm = -2\n')
    request = Request(profiles=(str(profile),), any_gpu=True)
    assert apply(host, request, lambda _: True, lambda _: None, asks=False) is not None
    with profile.open("a") as stream:
        stream.write('[cmdline]\ninit = "/tmp/evil"\n[env]\nLD_PRELOAD = "/tmp/evil.so"\n')
    root = Path(host.root)
    install_kernel(root, NEW, {**TYPES, "runpm": "uint"})
    assert checked(host) == ["RC2104", "RC4042"]
    text = (root / DROP_IN).read_text()
    assert "cwsr_enable=0" in text
    assert "runpm" not in text
    written = [path for path in root.rglob("*") if path.is_file() and b"evil" in path.read_bytes()]
    assert written == []


def test_a_withdrawal_needs_no_profile_any_more(host: ModinfoHost, tmp_path: Path) -> None:
    profile = tmp_path / "my.toml"
    profile.write_text('schema = 1\nsummary = "x"\n[module.amdgpu]\ncwsr_enable = 0\nrunpm = -2\n')
    request = Request(profiles=(str(profile),), any_gpu=True)
    assert apply(host, request, lambda _: True, lambda _: None, asks=False) is not None
    profile.unlink()
    install_kernel(Path(host.root), NEW, {**TYPES, "runpm": "uint"})
    assert checked(host) == ["RC2104", "RC4042"]


def test_a_plan_asks_every_installed_kernel(host: ModinfoHost) -> None:
    install_kernel(Path(host.root), NEW, {**TYPES, "runpm": "uint"})
    with pytest.raises(RocmcfgError) as stop:
        plan(host, Request(set=("amdgpu.runpm=-1",), any_gpu=True))
    assert stop.value.diagnostics[0].id == "RC2104"
    assert NEW in stop.value.diagnostics[0].summary
    assert OLD not in stop.value.diagnostics[0].summary


def test_nothing_applied_and_an_unknown_release_are_no_failure(host: ModinfoHost) -> None:
    assert checked(host) == []
    applied(host, "amdgpu.cwsr_enable=0")
    assert checked(host, "1.2.3-none") == ["RC4040"]


def test_the_hook_passes_the_release_on_and_never_fails_an_installation(
    host: ModinfoHost, tmp_path: Path
) -> None:
    root = applied(host, "amdgpu.cwsr_enable=0")
    hook = root / HOOK
    assert hook.stat().st_mode & 0o777 == 0o755
    tools = tmp_path / "bin"
    tools.mkdir()
    seen = tmp_path / "seen"
    program = tools / "rocmcfg"
    program.write_text(f'#!/bin/sh\necho "$@" > {shlex.quote(str(seen))}\nexit 4\n')
    program.chmod(0o755)
    found = tmp_path / "hook"  # with the folder of the test as the first of the system's
    found.write_text(hook.read_text().replace("\nPATH=", f"\nPATH={tools}:"))
    found.chmod(0o755)
    subprocess.run([str(found), NEW, f"/boot/vmlinuz-{NEW}"], env={"PATH": "/usr/bin:/bin"}, check=True)
    assert seen.read_text() == f"check-kernel {NEW}\n"
    subprocess.run([str(hook), NEW], env={"PATH": "/usr/bin:/bin"}, check=True)


def test_a_kernel_that_is_installed_while_an_apply_runs_stops_it(host: ModinfoHost) -> None:
    """Its own hook finds the lock held and no receipt."""
    root = Path(host.root)

    class Installing(ModinfoHost):
        def execute(self, argv: Sequence[str], **how: Any) -> CommandResult:
            if not (root / "usr/lib/modules" / NEW).exists():
                install_kernel(root, NEW, {**TYPES, "runpm": "uint"})
            return super().execute(argv, **how)

    with pytest.raises(RocmcfgError) as stop:
        applied(Installing(host.root), "amdgpu.runpm=-2")
    assert [d.id for d in stop.value.diagnostics][:2] == ["RC4035", "RC2104"]
    assert stop.value.exit_code is ExitCode.ROLLED_BACK
    assert receipt.load(host) is None
    assert not (root / DROP_IN).exists()
    with pytest.raises(RocmcfgError) as again:
        applied(host, "amdgpu.runpm=-2")
    assert again.value.exit_code is ExitCode.ERROR, "its plan knows the kernel"


def test_a_kernel_that_takes_every_value_may_come_while_an_apply_runs(host: ModinfoHost) -> None:
    class Installing(ModinfoHost):
        def execute(self, argv: Sequence[str], **how: Any) -> CommandResult:
            if not Path(host.root, "usr/lib/modules", NEW).exists():
                install_kernel(Path(host.root), NEW, TYPES)
            return super().execute(argv, **how)

    applied(Installing(host.root), "amdgpu.runpm=-2")


def test_the_hook_waits_for_the_transaction_at_work(host: ModinfoHost) -> None:
    root = applied(host, "amdgpu.cwsr_enable=0")
    install_kernel(root, NEW, {**TYPES, "runpm": "uint"})
    held, checked_it = threading.Event(), []
    other = ModinfoHost(host.root)
    hook = threading.Thread(
        target=lambda: checked_it.extend(check_kernel(host, NEW, lambda _: held.set())), daemon=True
    )
    with other.lock():
        hook.start()
        assert held.wait(HANG)
        assert not checked_it
        (root / "var/lib/rocmcfg/receipt.json").write_text("{")  # as if the transaction had left this one
    hook.join(HANG)
    assert [d.id for d in checked_it] == ["RC4030"]


def test_the_hook_does_not_wait_for_somebodys_answer(host: ModinfoHost) -> None:
    """The plan is made again after the answer, and knows the kernel then."""
    root = applied(host, "amdgpu.cwsr_enable=0")
    install_kernel(root, NEW, TYPES)
    other = ModinfoHost(host.root)
    with other.lock(), other.asking():
        (told,) = check_kernel(host, NEW, lambda _: None)
    assert told.id == "RC4036"
    assert "which waits for an answer" in told.summary


def test_a_rollback_brings_back_nothing_that_a_new_kernel_refuses(host: ModinfoHost) -> None:
    root = applied(host, "amdgpu.runpm=-2", "amdgpu.cwsr_enable=0")
    install_kernel(root, NEW, {**TYPES, "runpm": "uint"})
    assert checked(host) == ["RC2104", "RC4042"]
    with pytest.raises(RocmcfgError) as stop:
        rollback(host)
    assert [d.id for d in stop.value.diagnostics] == ["RC4037", "RC2104"]
    assert "runpm" not in (root / DROP_IN).read_text()
    undone = undoing.rollback(host, to=0, force=False, confirm=lambda _: True, progress=quiet)
    assert undone is not None
    assert not (root / DROP_IN).exists()


def test_a_trial_ends_where_what_it_falls_back_to_would_stop_a_new_kernel(host: ModinfoHost) -> None:
    """The boot after the trial has the settings that were applied before it: a harmful one goes at once."""
    require_tool("grub-editenv", "grub-common")
    root = applied(host, "amdgpu.cwsr_enable=0", "amdgpu.runpm=-2")
    reboot(root)
    attempt(host, set=("amdgpu.tmz=0",))
    install_kernel(root, NEW, {**TYPES, "runpm": "uint"})
    assert checked(host) == ["RC2104", "RC4043", "RC4042"]
    assert trial_on_record(host) is None
    assert next_boot(root) == ""
    text = (root / DROP_IN).read_text()
    assert "cwsr_enable=0" in text
    assert "runpm" not in text
    assert checked(host) == []
