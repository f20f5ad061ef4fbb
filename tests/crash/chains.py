"""Every boot chain that an apply changes: a host of it, by a case of tests/cases, with its programs.

To add a chain, add it to CHAINS. The tables of programs that do not work, of file systems that take nothing
and of failing system calls then have it.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from rocmcfg.loaders import registry
from tests.cases import case
from tests.support import boots, fake_tools
from tests.support.program import SOURCE
from tests.support.trees import Tree

from .calls import FAULTS, Calls, CountedHost
from .crashing import copy
from .faulting import Bench, command, differences, whole
from .scenarios import Scenario, done

SET = ("--set", "amdgpu.runpm=0", "--any-gpu", "--yes")
AGAIN = ("--set", "amdgpu.runpm=1", "--any-gpu", "--yes")


@dataclass(frozen=True)
class Chain:
    """`host` is LOADER/CASE below tests/cases. `boot`: the folder with what the host boots from, as /boot or
    the EFI partition is. `made`: patterns of what its programs make. `keeps`: a program keeps arguments in a
    form of its own, so that the entries as the loader reads them stand for its files. `trial`: a trial can
    be made. `first`: what is typed before the first apply. `settings`: what is applied first."""

    name: str
    host: str
    boot: str
    made: tuple[str, ...] = ()
    keeps: str = ""
    trial: bool = False
    first: tuple[str, ...] = ()
    settings: tuple[str, ...] = SET
    later: tuple[str, ...] = AGAIN

    @property
    def tools(self) -> Path:
        return SOURCE / "tests/cases" / self.host.partition("/")[0] / "tools"

    def make(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        case.lay_out(case.read(SOURCE / "tests/cases" / self.host), folder)
        root = folder / "host"
        for line in self.first:
            host = self.of(CountedHost)(str(root))
            assert host.execute(shlex.split(line), timeout=60, progress=lambda: None).status == 0
        return root

    def of(self, kind: type[CountedHost]) -> type[CountedHost]:
        """The host, with its programs."""
        return type(kind.__name__, (kind,), {"tools": self.tools})

    def reboot(self, root: Path) -> None:
        own = self.tools / "reboot"
        if own.exists():
            said = subprocess.run([own, root], capture_output=True, text=True, check=True)
            line = said.stdout.strip()
        else:
            line = boots.grub_line(root)
        boots.boot(root, line, str(uuid.uuid4()))

    def acts(self) -> tuple[str, ...]:
        """The names of the acts that it has."""
        return (*ACTS, *(TRIALS if self.trial else ()))

    def scenario(self, act: str, kind: type[CountedHost] = CountedHost) -> Scenario:
        """One of `acts`."""
        host = self.of(kind)
        apply = ("apply", *self.settings)
        attempt = ("apply", *self.later[:-1], "--trial", "--yes")

        def prepare(folder: Path) -> Path:
            root = self.make(folder)
            if act == "apply":
                return root
            plain = self.of(CountedHost)
            if act == "recover":
                self._cut_off(root, folder)
                return root
            done(root, apply, host=plain)
            if act in TRIALS:
                self.reboot(root)
            if act in ("confirm", "reject"):
                done(root, attempt, host=plain)
                self.reboot(root)
            return root

        commands = {
            "apply": apply,
            "again": ("apply", *self.later),
            "rollback": ("rollback", "--yes"),
            "recover": ("recover",),
            "trial": attempt,
            "confirm": ("confirm", "--yes"),
            "reject": ("reject", "--yes"),
        }
        return Scenario(f"{self.name} {act}", prepare, commands[act], host=host, whole=act != "recover")

    def _cut_off(self, root: Path, folder: Path) -> None:
        """An apply, killed when its last program has run; where it runs none, when it has written the last
        time to what the host boots from."""
        apply = ("apply", *self.settings)
        scenario = Scenario("", lambda place: place, apply, host=self.of(CountedHost))
        counted = copy(root, folder / "counted")
        taken = command(scenario, counted, apply, Calls(names=True)).taken
        shutil.rmtree(counted)
        runs = [at for at, name in enumerate(taken, 1) if name.startswith("run ")]
        writes = [
            at
            for at, name in enumerate(taken, 1)
            if name.startswith(("rename ", "replace ")) and f"/{self.boot}/" in name
        ]
        last = max(runs or writes)
        ended = command(scenario, root, apply, Calls(FAULTS[2], last))
        assert ended.signal, ended.result


ACTS = ("apply", "again", "rollback", "recover")
TRIALS = ("trial", "confirm", "reject")
_ENV = ("--set", "env.HSA_ENABLE_SDMA={}", "--env-target", "gentoo", "--yes")
_MODPROBE = (*SET[:-1], "--via", "modprobe", "--yes")
_MODPROBE_AGAIN = (*AGAIN[:-1], "--via", "modprobe", "--yes")
_IOMMU = ("--set", "karg.iommu=pt", "--any-gpu", "--yes")
_MENU = ("boot/grub/grub.cfg",)
_UKI = "kernel-install add 6.12.107+deb13-amd64 /boot/vmlinuz-6.12.107+deb13-amd64"
CHAINS = (
    Chain("grub", "grub/debian-12", "boot", _MENU, trial=True),
    Chain("grub-mkconfig", "grub-mkconfig/arch", "boot", _MENU, trial=True),
    Chain("grub-bls", "grub-bls/fedora", "boot", trial=True),
    Chain("systemd-boot", "systemd-boot/arch", "boot", trial=True),
    Chain("limine", "limine/trial", "boot", trial=True),
    Chain("refind", "refind/arch", "boot"),
    Chain(
        "uki",
        "uki/trial",
        "boot/efi",
        trial=True,
        settings=_IOMMU,
        later=("--set", "karg.iommu=pt", *SET),  # an addon that sets a parameter would win over the trial's
    ),
    Chain("uki-mkinitcpio", "uki/old-stub", "efi", ("efi/EFI/Linux/*.efi",), first=("mkinitcpio -P",)),
    Chain(
        "uki-dracut",
        "uki/old-stub-dracut",
        "efi",
        ("efi/EFI/Linux/*.efi",),
        first=("dracut --regenerate-all --force",),
    ),
    Chain("uki-ukify", "uki/old-stub-ukify", "boot/efi", ("boot/efi/EFI/Linux/*.efi",), first=(_UKI,)),
    Chain("sdboot-manage", "sdboot-manage/trial", "boot", trial=True),
    Chain("sdbootutil", "sdbootutil/trial", "boot/efi", keeps="sdbootutil", trial=True),
    Chain("proxmox-boot-tool", "proxmox-boot-tool/systemd-boot", "esps", keeps="proxmox-boot-tool"),
    Chain("kernelstub", "kernelstub/trial", "boot/efi", keeps="kernelstub", trial=True),
    Chain("rpm-ostree", "rpm-ostree/silverblue", "boot", keeps="rpm-ostree"),
    Chain("bootc", "bootc/bazzite", "boot", keeps="bootc"),
    Chain(
        "initramfs-tools",
        "grub/modprobe",
        "boot",
        ("boot/initrd.img-*",),
        settings=_MODPROBE,
        later=_MODPROBE_AGAIN,
    ),
    Chain(
        "mkinitcpio",
        "grub-mkconfig/arch-modprobe",
        "boot",
        ("boot/initramfs-*.img",),
        settings=_MODPROBE,
        later=_MODPROBE_AGAIN,
    ),
    Chain(
        "env-update",
        "grub-mkconfig/gentoo-env",
        "boot",
        ("etc/profile.env", "etc/csh.env", "etc/environment.d/10-gentoo-env.conf"),
        first=("env-update --no-ldconfig",),
        settings=tuple(word.format(0) for word in _ENV),
        later=tuple(word.format(1) for word in _ENV),
    ),
)


class ChainBench(Bench):
    """Entries that are written again have the bytes that they had, and another time. Where a program keeps
    its state in a form of its own, the entries as they are read stand for it."""

    loader: ClassVar[str] = ""

    def state(self, root: Path) -> str:
        now, wanted = self._of(root), {"before": self._of(self.start), "after": self._of(self._after)}
        found = next((name for name, tree in wanted.items() if tree == now), "")
        return found or "neither; " + "; ".join(
            f"unlike {name}: {differences(tree, now)}" for name, tree in wanted.items()
        )

    @property
    def _after(self) -> Path:
        return self.folder / "done"

    def _of(self, root: Path) -> Tree:
        found = whole(root, times=False)
        for path in root.glob("boot/initramfs-*.img"):  # one that is made anew packs them in another order
            files = fake_tools.unpacked(path) if path.stat().st_size else {}
            packed = {name: text for name, text in files.items() if not any(f"{name}/" in n for n in files)}
            found[str(path.relative_to(root))] = tuple(sorted(packed.items()))
        if self.loader:
            reader = registry.reader(self.loader)
            assert reader is not None
            kept = ("boot", "ostree", "run", "esps", "etc/kernelstub")
            found = {path: entry for path, entry in found.items() if path.split("/")[0] not in kept}
            found = {path: entry for path, entry in found.items() if not path.startswith(kept[-1])}
            entries = reader.read(self.scenario.host(str(root))).normal[:1]
            found["entries"] = tuple(
                tuple(sorted(karg.text for karg in one.kargs if karg.name != "ostree")) for one in entries
            )
        return found
