"""Make addons: PE files without code of their own. systemd-stub appends their section .cmdline to the command
line of the image next to them (systemd-stub(7)). They are made from the host's own stub for addons in the
same way as by `ukify build` of systemd 262 (ADDON_SBAT; ukify of 257 writes one NUL more).

Addons are signed with keys that the host's owner configures, and that are never read: sbctl(8) keeps its own;
uki.conf (ukify(1)) and dracut.conf(5) name a key and a certificate, with which sbsign(1) signs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rocmcfg.host.foreign import parsing
from rocmcfg.host.view import Host, HostView, ToolFailed, Unreadable, Unwritable, text_or_empty
from rocmcfg.loaders.shared import efi, marked_arguments, pe_image
from rocmcfg.loaders.uki import reader
from rocmcfg.loaders.uki.built_in import dracut_conf, uki_conf
from rocmcfg.loaders.uki.reader import Uki
from rocmcfg.model.regex import regex

_NAMES = {0x8664: "x64", 0xAA64: "aa64", 0x14C: "ia32", 0x5064: "riscv64"}  # by the machine of a PE file
_SBAT = b"""sbat,1,SBAT Version,sbat,1,https://github.com/rhboot/shim/blob/main/SBAT.md
uki-addon,1,UKI Addon,addon,1,https://www.freedesktop.org/software/systemd/man/latest/systemd-stub.html
"""
_SBCTL_KEYS = ("/var/lib/sbctl/keys", "/usr/share/secureboot/keys")  # the latter up to sbctl 0.14
_SBCTL_CONF = regex(r"^keydir:[ \t]*[\"']?(/[^\"'\s]+)", re.MULTILINE)
_NAMED = r"^[ \t]*(?:SecureBoot{}|uefi_secureboot_{})[ \t]*=[ \t]*[\"']?(/[^\"'\n]*[^\"'\s])"
_KEY, _CERTIFICATE = (
    re.compile(_NAMED.format(*of), re.M) for of in (("PrivateKey", "key"), ("Certificate", "cert"))
)
_SIGNING_TIMEOUT = 120.0  # seconds; a key on a token may be slow


def impossible(view: HostView, images: Sequence[Uki]) -> str:
    """Return why addons would have no effect on this host, or cannot be made; empty where they work."""
    for uki in images:
        if uki.stub < reader.READS_ADDONS:
            begins = f"with systemd-stub {uki.stub}" if uki.stub else "without a stub of systemd"
            return f"{uki.path} begins {begins}, and addons need systemd-stub {reader.READS_ADDONS} or later"
    if loader := other_loader(view):
        why = "starts the images, and only systemd-boot is known to tell a stub where its image is"
        return f"{loader} {why}"
    stubs = {stub_path(uki.image.machine) for uki in images}
    missing = [path for path in sorted(stubs) if not view.exists(path)]
    return f"{missing[0]} is missing, from which addons are made" if missing else ""


def other_loader(view: HostView) -> str:
    """Return the name of the loader that starts the images; empty for systemd-boot. It is not known whether
    other loaders tell a stub where its image is."""
    loader_info = efi.text(view, "LoaderInfo")
    return "" if loader_info.lower().startswith("systemd-boot") else loader_info


def stub_path(machine: int) -> str:
    """Return the path at which systemd installs the stub for addons to images of this machine."""
    return f"/usr/lib/systemd/boot/efi/addon{_NAMES.get(machine, 'x64')}.efi.stub"


def line(arguments: str) -> str:
    return marked_arguments.part(arguments).decode().strip()


def made(view: HostView, machine: int, line: str) -> bytes:
    """Return the content of an addon. Raises Unreadable where the stub is missing or damaged."""
    path = stub_path(machine)
    stub, hint = view.read(path), "install the package that contains it: systemd-boot-efi (Debian)"
    if stub is None:
        raise Unreadable(path, "there is no such file", hint)
    with parsing(path, "it is damaged", "reinstall its package"):
        return pe_image.with_sections(stub, {".cmdline": line.encode(), ".sbat": _SBAT})


def says(view: HostView, uki: Uki, line: str) -> bool:
    """Return whether our addon of this image appends the line, and is signed by anyone where it must be."""
    addon = reader.read_addon(view, uki.own_addon)
    if addon is None or addon.texts.get(".cmdline") != line:
        return False
    return addon.signed or not efi.starts_only_signed(view)


def write(host: Host, uki: Uki, line: str) -> None:
    if host.is_dir(uki.addons):
        host.discard_temporary(uki.own_addon)
    if says(host, uki, line):
        return
    content = made(host, uki.image.machine, line)
    host.make_dir(uki.addons, 0o755)
    host.write(uki.own_addon, host.new_file(content, 0o644), keep_mtime=False)
    if not efi.starts_only_signed(host):
        return
    argv = signer(host, uki.own_addon)
    if not argv:
        hint = "`rocmcfg plan` shows the commands that sign it"
        raise Unwritable(uki.own_addon, "Secure Boot is on, and no key is known to sign it with", hint)
    result = host.execute(argv, timeout=_SIGNING_TIMEOUT, progress=lambda: None)
    if not result.ok or not says(host, uki, line):
        raise ToolFailed(result, "did not sign it", "run it by hand and read its output")


def signer(view: HostView, path: str) -> tuple[str, ...]:
    """Return the command that signs this file in place; empty where no key is known, or its program is
    missing."""
    configured = _SBCTL_CONF.search(text_or_empty(view, "/etc/sbctl/sbctl.conf"))
    folders = (configured[1],) if configured else _SBCTL_KEYS
    if view.has_tool("sbctl") and any(view.exists(f"{folder}/db/db.key") for folder in folders):
        return ("sbctl", "sign", path)
    for _, text in (uki_conf(view), *dracut_conf(view)) if view.has_tool("sbsign") else ():
        key, certificate = _KEY.search(text), _CERTIFICATE.search(text)
        if key and certificate and view.exists(key[1]) and view.exists(certificate[1]):
            return ("sbsign", "--key", key[1], "--cert", certificate[1], "--output", path, path)
    return ()
