"""Read the command lines of unified kernel images: the built-in line, and the arguments that addons append to
it and to the line of every profile. The list follows systemd-boot (systemd 257, src/boot/boot.c,
config_load_type2_entries), the line follows the stub of each image (src/boot/stub.c: settle_command_line,
load_all_addons)."""

from __future__ import annotations

import re

from rocmcfg.host.view import HostView, Unreadable, drop_ins, text_or_empty
from rocmcfg.loaders.shared import efi, loader_entries, pe_image, roles
from rocmcfg.loaders.shared.entry_options import CARRIER, hidden_partition, machine_id
from rocmcfg.loaders.shared.loader_files import counter, is_shown, uncounted
from rocmcfg.loaders.shared.menu import MISSING, Entry, Menu, Role
from rocmcfg.loaders.shared.pe_image import PeImage
from rocmcfg.loaders.shared.roles import FALLBACK, Judged
from rocmcfg.model.kargs import Karg, split
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

OURS = "rocmcfg.addon.efi"
READS_ADDONS = 254  # systemd's version (NEWS)
_IGNORES_COUNTERS = 255  # in the name of the directory of addons: systemd#29636
_STUB = regex(r"systemd-stub ([0-9]{1,9})")
_MACHINE = regex(r"([0-9a-f]{32})[-.]")
_OS = regex(r"^ID=[\"']?([^\"'\s]+)", re.MULTILINE)
_PRESET_IMAGE = regex(r"""^[ \t]*\w+_(?:uki|efi_image)=["']?(/[^"'\s]+)""", re.MULTILINE)


class Uki(NamedTuple):
    """An image of this host or of another system on its partition."""

    path: str
    image: PeImage
    role: Role
    why: str = ""

    @property
    def stub(self) -> int:
        """Return the version of the systemd-stub that it begins with; 0 for any other stub."""
        match = _STUB.search(self.image.texts.get(".sdmagic", ""))
        return int(match[1]) if match else 0

    @property
    def release(self) -> str:
        return self.image.texts.get(".uname", "").strip()

    @property
    def line(self) -> str:
        return _one_line(self.image)

    @property
    def addons(self) -> str:
        """Return the folder of its addons, whose name has no boot counter."""
        folder, _, name = self.path.rpartition("/")
        return f"{folder}/{uncounted(name)}.extra.d"

    @property
    def own_addon(self) -> str:
        return f"{self.addons}/{OURS}"

    @property
    def hides_addons(self) -> bool:
        """Return whether the stub looks for addons elsewhere while there is a boot counter. It expects the
        counter after the first plus sign of the name (remove_boot_count), which may be part of the kernel's
        name."""
        name = self.path.rpartition("/")[2]
        counted = counter(name)
        return counted is not None and (self.stub < _IGNORES_COUNTERS or "+" in name[: counted.start()])


class Seen(NamedTuple):
    """The images. `damaged` holds the errors of those that cannot be read, by path."""

    images: tuple[Uki, ...]
    damaged: dict[str, Unreadable]

    @property
    def normal(self) -> tuple[Uki, ...]:
        return tuple(uki for uki in self.images if uki.role is Role.NORMAL)


def here(view: HostView) -> tuple[str, ...]:
    """Return what shows that unified kernel images boot this host. Entries that are files count as another
    loader's, unless the stub of an image reports that it was booted."""
    image_paths = paths(view)  # without an image no entry is read, which could fail
    return proof_of_boot(view) or (image_paths if image_paths and not loader_entries.any_here(view) else ())


def proof_of_boot(view: HostView) -> tuple[str, ...]:
    """Return what the stub reported to the firmware, unless an entry with options of its own, which replace
    the built-in line, booted the image. The entry of a trial counts as the entry that it copies."""
    selected = efi.text(view, "LoaderEntrySelected").lower()
    if selected == f"{loader_entries.TRIAL_ID}.conf":
        copy = next((e for e in loader_entries.read(view) if e.role is Role.TRIAL), None)
        selected = copy.title.removesuffix(loader_entries.TRIAL_TITLE) if copy else selected
        if not _is_image(selected):
            return ()
    if selected.endswith(".conf"):
        return ()
    return efi.handed_over(view, "StubInfo", "systemd-stub")


def presets(view: HostView) -> dict[str, str]:
    """Return the text of each preset of mkinitcpio by its path."""
    return {path: text_or_empty(view, path) for path in drop_ins(view, ["/etc/mkinitcpio.d"], ".preset")}


def paths(view: HostView) -> tuple[str, ...]:
    """Return the path of every image, including those that a preset of mkinitcpio puts elsewhere."""
    listed = [path for path in loader_entries.images(view) if _is_image(path.rpartition("/")[2].lower())]
    named = [path for text in presets(view).values() for path in _PRESET_IMAGE.findall(text)]
    spelled = {path.lower() for path in listed}  # FAT ignores case, so a preset may spell it differently
    return loader_entries.once(view, (*listed, *(path for path in named if path.lower() not in spelled)))


def _is_image(name: str) -> bool:
    return is_shown(name, ".efi")


def images(view: HostView) -> Seen:
    release = text_or_empty(view, "/etc/os-release") or text_or_empty(view, "/usr/lib/os-release")
    machine, system = machine_id(view), _OS.search(release)
    readable: list[tuple[str, PeImage]] = []
    damaged: dict[str, Unreadable] = {}
    for path in paths(view):
        try:
            image = pe_image.read(view, path)
        except Unreadable as problem:
            damaged[path] = problem
        else:
            readable += [(path, image)] if image else []
    settled = roles.settled([_judged(path, image, machine, system) for path, image in readable])
    images = (
        Uki(path, image, judgement.role, judgement.why)
        for (path, image), judgement in zip(readable, settled, strict=True)
    )
    return Seen(tuple(images), damaged)


def _judged(path: str, image: PeImage, machine: str, system: re.Match[str] | None) -> Judged:
    name = path.rpartition("/")[2].lower()
    of, its = _MACHINE.match(name), _OS.search(image.texts.get(".osrel", ""))
    of_another = (of and machine and of[1] != machine) or (its and system and its[1] != system[1])
    if ".linux" not in image.sections or of_another:
        return Judged(Role.FOREIGN, "it belongs to another system, or holds no kernel")
    if "rescue" in name:
        return Judged(Role.RECOVERY, "its name says rescue")
    kernel = image.texts.get(".uname", "").strip() or roles.kernel_of(uncounted(name))
    return Judged(*((Role.RECOVERY, FALLBACK) if "fallback" in name else (Role.NORMAL, "")), kernel)


def read(view: HostView) -> Menu:
    enforced, seen = efi.starts_only_signed(view), images(view)
    entries = tuple(_entry(view, uki, enforced) for uki in seen.images)
    hidden = hidden_partition(view)
    why = f"only root may read {hidden}" if hidden else "" if seen.damaged else MISSING
    folder = entries[0].path.rpartition("/")[0] if entries else hidden or "/efi/EFI/Linux"
    dropped_by = "a stub that ignores addons, or unsigned ones,"
    return Menu(entries, "" if entries else why, folder, "", CARRIER, dropped_by)


def _entry(view: HostView, uki: Uki, enforced: bool) -> Entry:
    name = uki.path.rpartition("/")[2]
    kargs = (*split(uki.line, uki.path), *_addon_kargs(view, uki, enforced))
    return Entry(name, name, uki.path, uki.release, (), kargs, uki.role, uki.why)


def _addon_kargs(view: HostView, uki: Uki, enforced: bool) -> list[Karg]:
    """Return the arguments of the addons for all images, then of the addons for this image; only of signed
    ones where `enforced`."""
    if uki.stub < READS_ADDONS:
        return []
    around = (partition for partition in loader_entries.PARTITIONS if uki.path.startswith(f"{partition}/"))
    mounted = max(around, key=len, default="")
    kargs: list[Karg] = []
    for folder in (f"{mounted}/loader/addons", uki.addons):
        for name in view.names(folder):
            if not name.lower().endswith(".addon.efi") or name.startswith(".") or not name.isascii():
                continue
            addon = read_addon(view, f"{folder}/{name}")
            if addon is None or ".linux" in addon.sections or (enforced and not addon.signed):
                continue
            if uki.release and addon.texts.get(".uname", uki.release).strip() != uki.release:
                continue
            kargs += split(_one_line(addon), f"{folder}/{name}")
    return kargs


def read_addon(view: HostView, path: str) -> PeImage | None:
    """Return an addon; None also for a damaged one, which the stub skips."""
    try:
        return pe_image.read(view, path)
    except Unreadable:
        return None


def _one_line(image: PeImage) -> str:
    """Return the command line of an image on one line, as the stub converts it (mangle_stub_cmdline)."""
    return re.sub(r"[\x00-\x20\x7f]", " ", image.texts.get(".cmdline", "")).strip()
