"""The script that takes everything back where no Python can be run, on hosts of cases that changed since.
test_cases.py has it take back every case."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.program import rocmcfg
from tests.support.stage import empty_folder
from tests.support.tools import require_tool
from tests.support.trees import STATE, Tree, tree

from .by_script import SCRIPT, compared, run, taken_back
from .case import Case, cases, pristine, read, stage_of, tree_of

pytestmark = pytest.mark.bulk
FOLDERS = cases()


@pytest.mark.faults
@pytest.mark.parametrize("shell", [("busybox", "sh"), ("bash", "--posix")], ids=" ".join)
@pytest.mark.parametrize("loader", ["grub-bls", "limine", "proxmox-boot-tool", "refind", "rpm-ostree", "uki"])
def test_the_shells_of_rescue_systems_take_all_back_as_dash_does(shell: tuple[str, ...], loader: str) -> None:
    require_tool(shell[0], shell[0])
    _undone(f"{loader}/edited-by-others", shell)


def _undone(name: str, shell: tuple[str, ...]) -> None:
    case = read(FOLDERS[name])
    with empty_folder() as place:
        stage = stage_of(case, place)
        for typed in case.commands:
            stage.run(typed)
        done = taken_back(case, place / "host", shell)
    left = done.differs(pristine(case))
    assert not done.code, done.said
    assert left.keys() <= case.stays.keys(), f"{left}\n{done.said}"


class Applied(NamedTuple):
    """A case played to its end, on a host that is mounted at `host`."""

    case: Case
    place: Path
    host: Path
    pristine: Tree

    def undo(self, *arguments: str) -> str:
        """What it says; fails the test where it does not end well."""
        done = run(self.case, self.place, *arguments)
        assert not done.returncode, done.stderr
        return done.stdout

    def refused(self, *arguments: str) -> str:
        """What it says, once it has refused and changed nothing."""
        before = tree(self.host)
        done = run(self.case, self.place, *arguments)
        assert done.returncode == 1, done.stdout
        assert tree(self.host) == before, "changed although it refused"
        return done.stderr

    @property
    def differs(self) -> set[str]:
        now = compared(tree_of(self.host))
        return {path for path in now.keys() | self.pristine if now.get(path) != self.pristine.get(path)}


@pytest.fixture
def applied(request: pytest.FixtureRequest) -> Iterator[Applied]:
    require_tool("dash", "dash")
    case = read(FOLDERS[request.param])
    with empty_folder() as place:
        stage = stage_of(case, place)
        before = compared(tree_of(place / "host"))
        for typed in case.commands[:1]:
            stage.run(typed)
        (place / "host/proc/self").mkdir(parents=True, exist_ok=True)
        yield Applied(case, place, place / "host", before)


def on(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("applied", [name], indirect=True, ids=[name])


@on("grub-bls/fedora")
def test_lines_that_somebody_altered_stop_it_before_anything_else(applied: Applied) -> None:
    path = applied.host / "etc/default/grub"
    path.write_text(path.read_text().replace("amdgpu.runpm=0", "amdgpu.runpm=1"))
    said = applied.refused()
    assert "rocmcfg's lines were altered in /etc/default/grub (" in said
    assert "--force" in said
    applied.undo("--force")
    assert not applied.differs
    kept = applied.host / "var/backups/rocmcfg/etc/default/grub"
    assert "amdgpu.runpm=1" in kept.read_text(), "what somebody wrote is lost"


@pytest.mark.parametrize("mark", ["rocmcfg.begin ", " rocmcfg.end"])
@on("grub-bls/fedora")
def test_one_mark_alone_stops_it_since_nobody_can_tell_what_is_ours(applied: Applied, mark: str) -> None:
    entry = next((applied.host / "boot/loader/entries").glob("*-6.17*.conf"))
    for path in (applied.host / "etc/kernel/cmdline", entry):
        before = path.read_text()
        path.write_text(before.replace(mark, ""))
        assert f" in /{path.relative_to(applied.host)} (" in applied.refused()
        path.write_text(before)


@on("grub-bls/fedora")
def test_what_others_wrote_since_stays(applied: Applied) -> None:
    paths = ["etc/default/grub", "etc/kernel/cmdline"]
    entry = next(
        path for path in (applied.host / "boot/loader/entries").glob("*.conf") if "rescue" not in path.name
    )
    (applied.host / paths[0]).write_text((applied.host / paths[0]).read_text() + "GRUB_TIMEOUT=9")
    (applied.host / paths[1]).write_text((applied.host / paths[1]).read_text().strip() + " quiet mine=1\n")
    entry.write_text("# mine\n" + entry.read_text())
    applied.undo()
    assert applied.differs == {*paths, str(entry.relative_to(applied.host))}
    assert (applied.host / paths[0]).read_text().endswith("\nGRUB_TIMEOUT=9")
    assert (applied.host / paths[1]).read_text().endswith(" quiet mine=1\n")
    assert entry.read_text().startswith("# mine\n")
    for path in (*(applied.host / path for path in paths), entry):
        assert "rocmcfg" not in path.read_text()


@on("grub-bls/fedora")
def test_an_entry_that_was_made_since_is_met(applied: Applied) -> None:
    """Of a kernel whose installation copied the marked arguments, whether or not the hook ran for it."""
    folder = applied.host / "boot/loader/entries"
    entry = next(path for path in folder.glob("*-6.17*.conf"))
    later = folder / entry.name.replace("6.17", "6.99")
    later.write_text(entry.read_text())
    applied.undo()
    assert later.read_text() == entry.read_text()
    assert "rocmcfg" not in later.read_text()


@on("grub-bls/fedora")
def test_the_hook_of_a_later_kernel_makes_the_script_anew(applied: Applied) -> None:
    script = applied.host / "var/lib/rocmcfg/undo.sh"
    written = script.read_text()
    script.write_text("# of before\n")
    release = next((applied.host / "lib/modules").iterdir()).name
    assert rocmcfg("check-kernel", release, "--root", applied.host).code == 0
    assert script.read_text() == written


@on("systemd-boot/arch")
def test_a_partition_that_is_not_mounted_is_named_and_not_mounted(applied: Applied) -> None:
    (applied.host / "etc/fstab").write_text("UUID=1234-ABCD /boot vfat umask=0077 0 2\n")
    (applied.host / "boot").rename(applied.host / "elsewhere")
    (applied.host / "boot").mkdir()
    assert "/boot is empty and not mounted" in applied.refused()
    (applied.host / "etc/fstab").unlink()
    assert "no boot entry of systemd-boot was found" in applied.refused()


@on("limine/cachyos")
def test_a_limine_conf_whose_checksum_its_program_holds_is_not_changed(applied: Applied) -> None:
    program = applied.host / "boot/EFI/other/limine_x64.efi"
    program.parent.mkdir(parents=True)
    program.write_bytes(b"MZ\0\0++CONFIG_B2SUM_SIGNATURE++" + b"a" * 128 + b"\0\n")
    assert "would not boot after a change of that file" in applied.refused()
    program.write_bytes(program.read_bytes().replace(b"a" * 128, b"0" * 128))
    applied.undo()
    assert applied.differs == {"boot/EFI", "boot/EFI/other", "boot/EFI/other/limine_x64.efi"}


@on("proxmox-boot-tool/systemd-boot")
def test_where_no_program_can_be_run_it_names_what_is_due_and_goes_on_later(applied: Applied) -> None:
    (applied.host / "proc/self").rmdir()
    done = run(applied.case, applied.place)
    assert done.returncode == 1
    assert "proxmox-boot-tool" in done.stderr
    assert "rocmcfg" not in (applied.host / "etc/kernel/cmdline").read_text()
    assert (applied.host / STATE).exists(), "the record of what is due"
    (applied.host / "proc/self").mkdir()
    applied.undo()
    assert not applied.differs
    assert not (applied.host / STATE).exists()


@on("rpm-ostree/silverblue")
def test_arguments_that_a_program_keeps_wait_for_that_program(applied: Applied) -> None:
    (applied.host / "proc/self").rmdir()
    said = applied.refused()
    assert "can only be run on the host itself" in said
    assert "rpm-ostree kargs --delete-if-present=amdgpu.runpm=0 --delete-if-present=iommu=pt" in said


@on("sdbootutil/grub2-bls")
def test_a_program_that_is_missing_is_named_before_anything_changes(applied: Applied) -> None:
    (applied.host / "usr/bin/sdbootutil").unlink()
    for entry in (applied.host / "boot").rglob("*.conf"):
        entry.write_text(entry.read_text() + "# written since\n")  # so the copies are not put back
    assert "sdbootutil (package sdbootutil) is missing" in applied.refused()


@on("grub/debian-12")
def test_what_a_missing_program_made_is_put_back_from_its_copies(applied: Applied) -> None:
    (applied.host / "usr/sbin/update-grub").unlink()
    applied.undo()
    assert applied.differs == {"usr/sbin/update-grub"}


@on("grub/debian-12")
def test_what_a_failing_program_makes_is_put_back_from_its_copies(applied: Applied) -> None:
    program = applied.place / "tools/update-grub"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho cannot find a device for / >&2\nexit 1\n")
    program.chmod(0o755)
    done = run(applied.case._replace(folder=applied.place / "case"), applied.place)
    assert done.returncode == 0, done.stderr
    assert "restored from a copy" in done.stderr
    assert not applied.differs


@on("uki/mkinitcpio")
def test_what_is_left_is_listed_until_nothing_is(applied: Applied) -> None:
    left = applied.undo("left").splitlines()
    assert "/etc/rocmcfg/kernel-arguments" in left
    assert any(path.endswith(".efi.extra.d/rocmcfg.addon.efi") for path in left)
    applied.undo()
    assert run(applied.case, applied.place, "left").returncode == 1
    assert "Nothing that rocmcfg applied was found" in applied.undo()


@pytest.mark.parametrize("applied", ["grub/debian-12", "grub-mkconfig/two-kernels"], indirect=True)
def test_a_rollback_that_could_run_no_programs_is_finished(applied: Applied) -> None:
    menu = applied.host / "boot/grub/grub.cfg"
    with menu.open("a") as written_again:  # so that the one from before the apply is not put back
        written_again.write("# an upgrade\n")
    rolled_back = rocmcfg("rollback", "--yes", "--root", applied.host)
    assert rolled_back.code == 0, rolled_back.err
    assert "amdgpu." in menu.read_text()
    applied.undo()
    assert "amdgpu." not in menu.read_text()
    assert applied.differs <= {"boot/grub/grub.cfg"}
    assert "Nothing that rocmcfg applied was found" in applied.undo()


@on("grub/debian-12")
def test_after_a_rollback_it_asks_for_no_partition_that_its_loader_does_not_have(applied: Applied) -> None:
    (applied.host / "etc/fstab").write_text("UUID=1234-ABCD /boot/efi vfat umask=0077 0 2\n")
    (applied.host / "boot/efi").mkdir(exist_ok=True)
    (applied.host / "proc/self").rmdir()
    with (applied.host / "boot/grub/grub.cfg").open("a") as written_again:
        written_again.write("# an upgrade\n")
    assert "update-grub" in run(applied.case, applied.place).stderr
    assert rocmcfg("rollback", "--yes", "--root", applied.host).code == 0
    assert run(applied.case, applied.place).returncode == 1, "the menu has it still"
    (applied.host / "proc/self").mkdir()
    applied.undo()
    assert "amdgpu." not in (applied.host / "boot/grub/grub.cfg").read_text()


@on("grub/debian-12")
def test_what_a_rollback_ended_meanwhile_is_not_due_any_more(applied: Applied) -> None:
    (applied.host / "proc/self").rmdir()
    script = applied.host / "var/lib/rocmcfg/undo.sh"
    script.write_text(script.read_text().replace("  facts put_back\n", "  exit 1\n"))  # it is cut off there
    assert run(applied.case, applied.place).returncode == 1
    assert rocmcfg("rollback", "--yes", "--root", applied.host).code == 0  # with the saved menu
    applied.undo()
    assert not applied.differs
    assert not (applied.host / STATE).exists()


def test_a_folder_that_is_no_host_is_not_called_clean(tmp_path: Path) -> None:
    done = subprocess.run(["sh", SCRIPT, "--root", tmp_path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"there is no host at {tmp_path}" in done.stderr


@on("grub/debian-12")
def test_an_argument_that_the_owner_asks_for_since_is_not_ours_to_take_back(applied: Applied) -> None:
    assert rocmcfg("rollback", "--yes", "--root", applied.host).code == 0
    for name in ("etc/default/grub", "boot/grub/grub.cfg"):
        path = applied.host / name
        path.write_text(path.read_text().replace("quiet", "quiet iommu=pt"))
    assert "iommu=pt" in (applied.host / "boot/grub/grub.cfg").read_text()
    assert "Nothing that rocmcfg applied was found" in applied.undo()


@on("kernelstub/edited-by-others")
def test_a_shown_command_does_what_it_says_when_it_is_pasted(applied: Applied) -> None:
    """kernelstub's -d takes all options as one word."""
    (applied.host / "proc/self").rmdir()
    said = applied.refused()
    shown = said.partition("(or: ")[2].partition(")")[0]
    words = shlex.split(shown)
    assert words[:2] == ["kernelstub", "-d"], said
    assert len(words) == 3, shown
    kept = (applied.host / "etc/rocmcfg/kernel-arguments").read_text().splitlines()
    asked = {word for line in kept if not line.startswith("#") for word in line.split()}
    assert set(words[2].split()) == asked
