"""The command lines of unified kernel images: what is built into each, and what addons append to it.

As systemd-boot lists them (systemd 257, src/boot/boot.c, config_load_type2_entries) and as the stub in each
puts the line together (src/boot/stub.c: settle_command_line, load_all_addons). Where an image has several
profiles, addons are appended to the line of each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rocmcfg.backends.boot import loader_entries, marked_arguments, pe_image, secure_boot
from rocmcfg.backends.boot.entry_options import CARRIER, CMDLINE
from rocmcfg.backends.boot.menu import Entry, Menu, Role
from rocmcfg.backends.boot.pe_image import PeImage
from rocmcfg.backends.boot.recognised import handed_over, variable_text
from rocmcfg.host.atomic import temp_name
from rocmcfg.host.view import HostView, Unreadable, text_or_empty
from rocmcfg.model.kargs import Karg, split

if TYPE_CHECKING:
    from rocmcfg.backends.boot.contract import Editor

NAME = "uki"
EDITED: Mapping[str, Editor] = {CMDLINE: marked_arguments}
OURS = "rocmcfg.addon.efi"
READS_ADDONS = 254  # systemd's version (NEWS)
_IGNORES_COUNTERS = 255  # in the name of the directory of addons: systemd#29636
PRESETS = "/etc/mkinitcpio.d"
_STUB = re.compile(r"systemd-stub (\d+)")
_COUNTER = re.compile(r"\+\d+(?:-\d+)?(?=\.|\Z)")
_MACHINE = re.compile(r"([0-9a-f]{32})[-.]")
_OS = re.compile(r"^ID=[\"']?([^\"'\s]+)", re.MULTILINE)
_PRESET_IMAGE = re.compile(r"""^[ \t]*\w+_(?:uki|efi_image)=["']?(/[^"'\s]+)""", re.MULTILINE)


class Uki(NamedTuple):
    """An image of this host or of another system on its partition; `damage` says why it cannot be read."""

    path: str
    image: PeImage | None
    damage: Unreadable | None
    role: Role

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def stub(self) -> int:
        """The version of the systemd-stub that it begins with; 0 for another one."""
        found = _STUB.search(self.image.texts.get(".sdmagic", "")) if self.image else None
        return int(found[1]) if found else 0

    @property
    def release(self) -> str:
        return self.image.texts.get(".uname", "").strip() if self.image else ""

    @property
    def line(self) -> str:
        """What is built in, as the stub makes one line of it (mangle_stub_cmdline)."""
        return _one_line(self.image.texts.get(".cmdline", "")) if self.image else ""

    @property
    def addons(self) -> str:
        """Where its addons lie, whatever a boot counter makes of its name."""
        return _COUNTER.sub("", self.path) + ".extra.d"

    @property
    def own_addon(self) -> str:
        return f"{self.addons}/{OURS}"

    @property
    def hides_addons(self) -> bool:
        """Whether the stub looks for them elsewhere as long as the image's boot counter runs. It looks for
        the counter behind the first plus sign of the name (remove_boot_count), which a kernel may have."""
        counted = _COUNTER.search(self.name)
        return counted is not None and (self.stub < _IGNORES_COUNTERS or "+" in self.name[: counted.start()])


def here(view: HostView) -> bool:
    """Entries that are files are another loader's, unless the stub of an image says that it was booted."""
    if told(view):
        return True
    return bool(paths(view)) and not any(True for _ in loader_entries.files(view, ""))


def told(view: HostView) -> tuple[str, ...]:
    """What the stub told the firmware, where the image was booted as one, and not by an entry that is a file
    and has options of its own: those would replace what is built into the image."""
    if variable_text(view, "LoaderEntrySelected").lower().endswith(".conf"):
        return ()
    return handed_over(view, "StubInfo", "systemd-stub")


def paths(view: HostView) -> tuple[str, ...]:
    """Every image, also where a preset of mkinitcpio puts it elsewhere. A partition that is mounted below
    another one, or linked to it, counts once."""
    found: list[str] = []
    for folder in (f"{mounted}/EFI/Linux" for mounted in loader_entries.PARTITIONS):
        found += [f"{folder}/{name}" for name in view.names(folder) if _is_image(name)]
    presets = [f"{PRESETS}/{name}" for name in view.names(PRESETS) if name.endswith(".preset")]
    named = [path for preset in presets for path in _PRESET_IMAGE.findall(text_or_empty(view, preset))]
    found += [path for path in named if view.exists(path)]
    return tuple({view.real_path(path): path for path in found}.values())


def with_own_addon(view: HostView) -> list[str]:
    """The directories that hold an addon of ours, also beside images that are gone, and those that hold
    nothing: what ends us before the addon is there leaves one."""
    folders = dict.fromkeys((f"{one}/EFI/Linux" for one in loader_entries.PARTITIONS), None)
    folders |= dict.fromkeys(path.rpartition("/")[0] for path in paths(view))
    found = {
        view.real_path(path): path
        for path in (f"{folder}/{name}" for folder in folders for name in view.names(folder))
        if path.endswith(".extra.d") and view.is_dir(path) and _is_ours(view.names(path))
    }
    return list(found.values())


def _is_ours(names: Sequence[str]) -> bool:
    return not names or OURS in names or temp_name(OURS) in names


def _is_image(name: str) -> bool:
    return name.lower().endswith(".efi") and not name.startswith(".") and not name.lower().startswith("auto-")


def images(view: HostView) -> Iterator[Uki]:
    machine = text_or_empty(view, "/etc/machine-id").strip()
    release = text_or_empty(view, "/etc/os-release") or text_or_empty(view, "/usr/lib/os-release")
    for path in paths(view):
        try:
            image = pe_image.read(view, path)
        except Unreadable as problem:
            yield Uki(path, None, problem, Role.FOREIGN)
            continue
        if image is not None:
            yield Uki(path, image, None, _role(path, image, machine, release))


def _role(path: str, image: PeImage, machine: str, release: str) -> Role:
    name = path.rpartition("/")[2].lower()
    of, system = _MACHINE.match(name), _OS.search(image.texts.get(".osrel", ""))
    own = _OS.search(release)
    if (
        ".linux" not in image.sections
        or (of and machine and of[1] != machine)
        or (system and own and system[1] != own[1])
    ):
        return Role.FOREIGN
    return Role.RECOVERY if "fallback" in name or "rescue" in name else Role.NORMAL


def read(view: HostView) -> Menu:
    """A partition for root's eyes alone hides its images (the mode of most ESPs)."""
    enforced = secure_boot.state(view) == secure_boot.ON
    entries = tuple(_entry(view, uki, enforced) for uki in images(view) if uki.image is not None)
    hidden = [mounted for mounted in loader_entries.PARTITIONS if view.hidden(mounted)]
    unreadable = f"only root may look into {hidden[0]}" if hidden and not entries else ""
    folder = entries[0].path.rpartition("/")[0] if entries else hidden[0] if hidden else "/efi/EFI/Linux"
    return Menu(
        entries, unreadable, folder, "", CARRIER, "a stub that takes no addon, or not an unsigned one,"
    )


def _entry(view: HostView, uki: Uki, enforced: bool) -> Entry:
    kargs = split(uki.line, uki.path)
    if uki.stub >= READS_ADDONS:
        kargs = (*kargs, *addon_kargs(view, uki, enforced))
    return Entry(uki.name, uki.name, uki.path, uki.release, (), kargs, uki.role)


def addon_kargs(view: HostView, uki: Uki, enforced: bool) -> tuple[Karg, ...]:
    """Of the addons to all images, then of those to this one, each in order of their names. `enforced`: what
    is not signed is not loaded."""
    around = (one for one in loader_entries.PARTITIONS if uki.path.startswith(f"{one}/"))
    mounted = max(around, key=len, default="")
    found: list[Karg] = []
    for folder in (f"{mounted}/loader/addons", uki.addons):
        for name in view.names(folder):
            if not name.lower().endswith(".addon.efi") or name.startswith(".") or not name.isascii():
                continue
            addon = read_addon(view, f"{folder}/{name}")
            if addon is None or ".linux" in addon.sections or (enforced and not addon.signed):
                continue
            if uki.release and addon.texts.get(".uname", uki.release).strip() != uki.release:
                continue
            found += split(_one_line(addon.texts.get(".cmdline", "")), f"{folder}/{name}")
    return tuple(found)


def is_behind_ours(path: str) -> bool:
    """Whether the stub loads this addon after ours."""
    folder, _, name = path.rpartition("/")
    return folder.endswith(".extra.d") and name > OURS


def read_addon(view: HostView, path: str) -> PeImage | None:
    """None also for one that is damaged, which the stub passes over."""
    try:
        return pe_image.read(view, path)
    except Unreadable:
        return None


def _one_line(text: str) -> str:
    return re.sub(r"[\x00-\x20\x7f]", " ", text).strip()
