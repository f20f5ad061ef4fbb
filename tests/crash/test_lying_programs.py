"""What becomes of a host whose own programs lie: they remove, empty, halve or replace what they are there to
make, and end with status 0 or 1. Whatever they do, what the host boots can be used afterwards, and nothing is
said of it that is not so.

A chain is a host, a program of it, and what that program makes; a lie is what becomes of each such file. To
add one of either, add it to the table.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support import fake_tools
from tests.support.hosts import cpio_archive, debian_grub_host, other_host
from tests.support.program import SOURCE, Result, rocmcfg
from tests.support.tool_host import ToolHost

from .calls import FAULTS, CountedHost
from .faulting import at_call

MENU = ("apply", "--set", "amdgpu.runpm=0", "--yes")
IMAGES = ("apply", "--set", "amdgpu.runpm=0", "--via", "modprobe", "--yes")
ROLLBACK = ("rollback", "--yes")
FOREIGN = cpio_archive({"init": b"", "usr/lib/modules/5.5.5-other/kernel/amdgpu.ko.xz": b""})


@dataclass(frozen=True)
class Chain:
    """`program` makes the files that match `made`; `of` are the stand-ins of the host's other programs."""

    name: str
    make: Callable[[Path], Path]
    program: str
    made: tuple[str, ...]
    act: tuple[str, ...]
    of: str = ""

    def files(self, root: Path) -> list[Path]:
        return sorted({path for pattern in self.made for path in root.glob(pattern)})


def _proxmox(folder: Path) -> Path:
    trees = SOURCE / "tests/cases/proxmox-boot-tool/trees/two-partitions"
    root = other_host(folder, "proxmox-systemd-boot")
    shutil.copytree(trees, root, symlinks=True, dirs_exist_ok=True)
    return root


def _debian(folder: Path) -> Path:
    return debian_grub_host(folder, amdgpu_in_initramfs=True, modprobe_d={"blacklist.conf": "# none\n"})


def _opensuse(folder: Path) -> Path:
    root = other_host(folder, "opensuse-systemd-boot")
    entry = next((root / "boot/efi/loader/entries").iterdir()).read_text()
    for line in entry.splitlines():
        if line.startswith(("linux ", "initrd ")):
            place = root / "boot/efi" / line.split()[1].lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(b"")
    return root


_GRUB = ("boot/grub/grub.cfg",)
MENUS = (
    Chain("grub", debian_grub_host, "update-grub", _GRUB, MENU),
    Chain("grub-mkconfig", lambda f: other_host(f, "arch-grub"), "grub-mkconfig", _GRUB, MENU),
    Chain(
        "sdbootutil",
        _opensuse,
        "sdbootutil",
        ("boot/efi/loader/entries/*.conf",),
        MENU,
        of="sdbootutil",
    ),
)
GENERATORS = (
    Chain("initramfs-tools", _debian, "update-initramfs", ("boot/initrd.img-*",), IMAGES),
    Chain("dracut", lambda f: other_host(f, "fedora-bls"), "dracut", ("boot/initramfs-6*.img",), IMAGES),
    Chain(
        "mkinitcpio", lambda f: other_host(f, "arch-grub"), "mkinitcpio", ("boot/initramfs-*.img",), IMAGES
    ),
)
# What is done to each file, as a line of Python: `path` is its path, `text` what it held.
LIES = {
    "removes": "os.path.lexists(path) and os.remove(path)",
    "empties": "open(path, 'wb')",
    "half": "open(path, 'wb').write(text[:len(text) // 2])",
    "rubbish": "open(path, 'wb').write(bytes(range(256)) * 400)",
    # relative, so that a stand-in, which runs outside of the tree, never writes through it to this machine
    "link": "os.path.lexists(path) and os.remove(path); "
    "os.symlink(os.path.relpath(f'{root}/etc/fstab', os.path.dirname(path)), path)",
}
# What each may become that is no file.
NO_FILE = {
    "directory": "os.path.isfile(path) and os.remove(path); os.makedirs(path, exist_ok=True)",
    "pipe": "os.path.lexists(path) and os.remove(path); os.mkfifo(path)",
}
# What a menu, or an entry, may become beside these.
ONLY_MENUS = {
    **NO_FILE,
    "endless": "os.truncate(path, 200 << 20)",
}
ONLY_IMAGES = {
    **NO_FILE,
    "another-kernel": f"open(path, 'wb').write({FOREIGN!r})",
    "a-module-less": "open(path, 'wb').write(text.replace(b'amdgpu.ko', b'amdgpu.xx'))",
}
EVERY_LIE = {**LIES, **ONLY_MENUS, **ONLY_IMAGES}


class Liar:
    """The programs of a host, one of which works as the stand-in does until it is called the `at`-th time,
    counted from 1, and lies from then on. Before that it fails with status 1 where it `fails_first`."""

    def __init__(self, chain: Chain, folder: Path) -> None:
        self.chain, self.folder = chain, folder / "programs"
        self.folder.mkdir()
        self.honest = folder / "honest"
        self.honest.mkdir()
        for place in (self.folder, self.honest) if chain.of else ():
            shutil.copytree(SOURCE / "tests/cases" / chain.of / "tools", place, dirs_exist_ok=True)

    def lies(self, lie: str, status: int, *, at: int = 1, fails_first: bool = False) -> Path:
        real = str(self.honest / self.chain.program) if self.chain.of else ""
        counter = self.folder.parent / "calls"
        counter.write_text("0")
        program = self.folder / self.chain.program
        program.unlink(missing_ok=True)
        program.write_text(
            f"""#!/usr/bin/env python3
import glob, os, subprocess, sys
root, name = sys.argv[1], {self.chain.program!r}
count = int(open({str(counter)!r}).read()) + 1
open({str(counter)!r}, "w").write(str(count))
if count < {at}:
    if {fails_first}:
        sys.exit(1)
    real = {real!r}
    honest = [real] if real else [sys.executable, "-IS", {fake_tools.__file__!r}, name]
    sys.exit(subprocess.run([*honest, *sys.argv[1:]]).returncode)
for pattern in {self.chain.made!r}:
    for path in glob.glob(os.path.join(root, pattern)):
        text = open(path, "rb").read() if os.path.isfile(path) else b""
        {EVERY_LIE[lie]}
if name == "dracut":  # what is renamed into the place of the old one
    text = open(root + sys.argv[-3], "rb").read() if os.path.isfile(root + sys.argv[-3]) else b""
    path = root + sys.argv[-2]
    if os.path.isfile(path) or not os.path.lexists(path):
        open(path, "wb").write(text)
    if {lie!r} not in ("half", "a-module-less"):
        {EVERY_LIE[lie]}
sys.exit({status})
"""
        )
        program.chmod(0o755)
        return self.folder


def bytes_of(chain: Chain, root: Path) -> dict[str, bytes]:
    """What the host boots from, by name; a link is no file."""
    found = {}
    for path in chain.files(root):
        assert stat.S_ISREG(path.lstat().st_mode), f"{path.name} is no file of its own"
        found[path.name] = path.read_bytes()
    return found


def unpacked(chain: Chain, root: Path) -> dict[str, object]:
    """The same, of images the files that they hold: one that is made anew packs them in another order."""
    if chain in MENUS:
        return {name: text.split() for name, text in bytes_of(chain, root).items()}
    images = {path.name: fake_tools.unpacked(path) for path in chain.files(root)}
    return {
        name: {path: text for path, text in files.items() if not any(f"{path}/" in other for other in files)}
        for name, files in images.items()
    }


def says(result: Result, code: int) -> str:
    said = result.out + result.err
    assert result.code == code, said
    assert "Traceback" not in said
    assert "RC9000" not in said, said
    return " ".join(said.split())


def left_open(root: Path) -> bool:
    journal = sorted(root.glob("var/lib/rocmcfg/transactions/*/journal.jsonl"))[-1]
    kinds = [json.loads(line)["kind"] for line in journal.read_text().splitlines()]
    return bool([kind for kind in kinds if kind in ("commit", "undo", "undone")][-1] == "undo")


def _lying(sample: int) -> pytest.MarkDecorator:
    """Every lie of every chain: the `sample`-th of twelve for `make test`, the others for `make faults`."""
    every = [
        (chain, lie, status)
        for chains, lies in ((MENUS, LIES), (MENUS, ONLY_MENUS), (GENERATORS, {**LIES, **ONLY_IMAGES}))
        for chain in chains
        for lie in lies
        for status in (0, 1)
    ]
    return pytest.mark.parametrize(
        ("chain", "lie", "status"),
        [
            pytest.param(
                *case,
                id=f"{case[0].name}-{case[1]}-{case[2]}",
                marks=() if number % _SAMPLED == sample else pytest.mark.faults,
            )
            for number, case in enumerate(every)
        ],
    )


_SAMPLED = 12


@pytest.fixture(autouse=True)
def _without_fsync(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


@_lying(0)
def test_an_apply_by_a_lying_program_leaves_the_host_as_it_was(
    tmp_path: Path, chain: Chain, lie: str, status: int
) -> None:
    root, liar = chain.make(tmp_path), Liar(chain, tmp_path)
    before = bytes_of(chain, root)
    result = rocmcfg(*chain.act, "--root", root, tools=liar.lies(lie, status))
    said = says(result, 4)
    assert bytes_of(chain, root) == before, said
    assert "the host is unchanged" in said
    assert not left_open(root)
    assert not [*root.glob("var/lib/rocmcfg/transactions/*/images")], "copies of images are left"


@_lying(2)
def test_an_undo_of_a_failed_apply_looks_at_what_its_programs_made(
    tmp_path: Path, chain: Chain, lie: str, status: int
) -> None:
    """The program fails in the apply, without harm, and lies in the undo."""
    root, liar = chain.make(tmp_path), Liar(chain, tmp_path)
    before = bytes_of(chain, root)
    tools = liar.lies(lie, status, at=2, fails_first=True)
    said = says(rocmcfg(*chain.act, "--root", root, tools=tools), 4)
    assert bytes_of(chain, root) == before, said
    assert not left_open(root)


@_lying(4)
def test_a_rollback_by_a_lying_program_leaves_what_boots(
    tmp_path: Path, chain: Chain, lie: str, status: int
) -> None:
    """A menu comes back as it was before the apply. Of images nobody has those any more: the ones of before
    the rollback boot, it says that it is not whole, and a recovery with a sound program ends it."""
    root, liar = chain.make(tmp_path), Liar(chain, tmp_path)
    before, pristine = bytes_of(chain, root), unpacked(chain, root)
    says(rocmcfg(*chain.act, "--root", root, tools=liar.honest), 0)
    applied = bytes_of(chain, root)
    assert applied != before
    result = rocmcfg(*ROLLBACK, "--root", root, tools=liar.lies(lie, status))
    now = bytes_of(chain, root)
    if chain in MENUS:
        said = says(result, 5 if status else 0)
        assert now == before, said
    else:
        said = says(result, 5)
        assert now == applied, said
    assert left_open(root) == (result.code == 5)
    says(rocmcfg("recover", "--root", root, tools=liar.honest), 0)
    assert unpacked(chain, root) == pristine
    assert not left_open(root)
    assert not [*root.glob("var/lib/rocmcfg/transactions/*/images")], "copies of images are left"


@_lying(5)
def test_a_recovery_by_a_lying_program_ends_whole(
    tmp_path: Path, chain: Chain, lie: str, status: int
) -> None:
    """The apply is killed before its program runs."""
    root, liar = chain.make(tmp_path), Liar(chain, tmp_path)
    before = bytes_of(chain, root)
    host = type("Host", (CountedHost,), {"tools": liar.honest})
    called = "env" if chain.program == "dracut" else chain.program
    at_call(root, chain.act, f"run {called}", tmp_path, host)
    assert bytes_of(chain, root) == before
    said = says(rocmcfg("recover", "--root", root, tools=liar.lies(lie, status)), 0)
    assert bytes_of(chain, root) == before, said
    assert not left_open(root)


@pytest.mark.parametrize("lie", ONLY_MENUS)
@pytest.mark.parametrize("chain", MENUS, ids=lambda chain: chain.name)
def test_a_recovery_puts_back_what_a_killed_run_left_as_no_file(
    tmp_path: Path, chain: Chain, lie: str
) -> None:
    """The apply is killed when its program has lied."""
    root, liar = chain.make(tmp_path), Liar(chain, tmp_path)
    before = unpacked(chain, root)
    host = type("Host", (CountedHost,), {"tools": liar.lies(lie, 0)})
    after = next(fault for fault in FAULTS if fault.name == "kill after")
    at_call(root, chain.act, f"run {chain.program}", tmp_path, host, after)
    says(rocmcfg("recover", "--root", root, tools=liar.honest), 0)
    assert unpacked(chain, root) == before
    assert not left_open(root)


@pytest.mark.parametrize("chain", MENUS[:2], ids=lambda chain: chain.name)
def test_a_menu_that_has_lost_a_kernel_is_none(tmp_path: Path, chain: Chain) -> None:
    """All of it is there and whole, but for the entries of one kernel, whose files are there still."""
    root, liar = chain.make(tmp_path), Liar(chain, tmp_path)
    menu = root / chain.made[0]
    kernel = next(path for path in (root / "boot").iterdir() if path.name.startswith("vmlinuz-"))
    other = kernel.with_name(f"{kernel.name}-other")
    shutil.copy(kernel, other)
    text = menu.read_text()
    entry = text[text.index("menuentry ") : text.index("### END /etc/grub.d/10_linux")]
    menu.write_text(text.replace(entry, entry + entry.replace(kernel.name, other.name)))
    before = menu.read_bytes()
    tools = liar.lies("removes", 0)
    program = tools / chain.program
    lost = f"open(path, 'wb').write(text.replace({other.name!r}.encode(), {kernel.name!r}.encode()))"
    program.write_text(program.read_text().replace(LIES["removes"], lost))
    said = says(rocmcfg(*chain.act, "--root", root, tools=tools), 4)
    assert "RC4033" in said
    assert menu.read_bytes() == before


def test_partitions_that_are_emptied_are_no_success(tmp_path: Path) -> None:
    """Nothing could put back what lies on partitions that are not mounted: that is said, by exit code 5."""
    chain = Chain(
        "proxmox",
        _proxmox,
        "proxmox-boot-tool",
        ("esps/*/loader/entries/*.conf",),
        MENU,
        of="proxmox-boot-tool",
    )
    root, liar = chain.make(tmp_path), Liar(chain, tmp_path)
    before = bytes_of(chain, root)
    said = says(rocmcfg(*chain.act, "--root", root, tools=liar.lies("removes", 0)), 5)
    assert "the host is unchanged" not in said
    assert left_open(root)
    says(rocmcfg("recover", "--root", root, tools=liar.honest), 0)
    assert bytes_of(chain, root).keys() == before.keys()


@pytest.mark.parametrize(
    ("chain", "lie", "id"),
    [
        (MENUS[0], "half", "RC4032"),
        (GENERATORS[0], "removes", "RC3209"),
        (GENERATORS[0], "another-kernel", "RC3210"),
        (GENERATORS[0], "a-module-less", "RC3211"),
    ],
    ids=lambda value: value.name if isinstance(value, Chain) else value,
)
def test_what_a_program_left_is_named_by_its_id(tmp_path: Path, chain: Chain, lie: str, id: str) -> None:
    root, liar = chain.make(tmp_path), Liar(chain, tmp_path)
    said = says(rocmcfg(*chain.act, "--root", root, tools=liar.lies(lie, 0)), 4)
    assert f"error[{id}]" in said
    assert chain.files(root)[0].name in said


class _Full(ToolHost):
    """A tree whose file systems have no room for a copy of an image."""

    def free(self, path: str) -> int:
        del path
        return 0


def test_without_room_for_a_copy_of_the_images_there_is_no_way_back(tmp_path: Path) -> None:
    """The plan says so before the question, and the undo names the image that nobody can put back."""
    chain = GENERATORS[0]
    root, liar = chain.make(tmp_path), Liar(chain, tmp_path)
    image = chain.files(root)[0]
    planned = rocmcfg("plan", *chain.act[1:-1], "--root", root, host=_Full)
    assert "warning[RC3208]: today's images cannot be restored" in says(planned, 0)
    host = type("Host", (_Full,), {"tools": liar.lies("removes", 0)})
    said = says(rocmcfg(*chain.act, "--root", root, host=host), 5)
    assert (
        f"warning[RC3212]: /boot/{image.name} cannot be restored: there was no room to keep a copy of it"
        in said
    )
    assert "the host is unchanged" not in said
    assert not image.exists()
    assert left_open(root)
