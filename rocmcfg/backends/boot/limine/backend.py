"""Limine: the command lines in limine.conf, and what limine-entry-tool makes those of later kernels from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rocmcfg.backends.boot import (
    appended_assignment,
    entry_options,
    loader_entries,
    marked_arguments,
    pe_image,
    secure_boot,
)
from rocmcfg.backends.boot.contract import Observed
from rocmcfg.backends.boot.limine import entry_tool, limine_conf, reader
from rocmcfg.backends.boot.limine.limine_conf import Section
from rocmcfg.backends.boot.menu import Role
from rocmcfg.backends.boot.menu import check as check_menu
from rocmcfg.backends.boot.recognised import handed_over
from rocmcfg.host.view import Host, HostView, Unreadable, Unwritable, text_or_empty
from rocmcfg.model.diagnostic import Diagnostic, error, info, warning
from rocmcfg.model.facts import Detection
from rocmcfg.model.kargs import contains, last
from rocmcfg.model.plan import Activation
from rocmcfg.model.state import DesiredSetting

NAME = reader.NAME
OWNED: tuple[str, ...] = (entry_options.CARRIER, entry_tool.DROP_IN)
# In Limine's own program: 128 digits behind this are the BLAKE2B of the one limine.conf that it takes; all of
# them 0: it takes any (CONFIG_B2SUM_SIGNATURE in common/lib/config.c).
_ENROLLED = b"++CONFIG_B2SUM_SIGNATURE++"
_NO_PROGRAMS = re.compile(r"/(?:linux|microsoft)$", re.IGNORECASE)  # folders with large files of others


def detect(view: HostView) -> Detection | None:
    found = reader.configurations(view)
    told = handed_over(view, "LoaderInfo", NAME)
    if not found and not told:
        return None
    by_tool = entry_tool.here(view)
    return Detection(
        NAME,
        "Limine with limine-entry-tool" if by_tool else "Limine",
        (*found, *(path for path in entry_tool.files(view) if by_tool), *told),
        proof=bool(told),
        supported=True,
        manual="append to the cmdline of each entry of limine.conf: {kargs}"
        + (
            f"\nand to KERNEL_CMDLINE[default] in {entry_tool.DEFAULTS}, for later kernels" if by_tool else ""
        ),
    )


def observe(view: HostView) -> Observed:
    to_come = []
    if entry_tool.here(view):
        lines = entry_tool.lines(view)
        to_come = [kargs for name, kargs in lines.items() if name != entry_tool.FALLBACK]
        to_come += entry_options.from_cmdline(view) if entry_tool.DEFAULT not in lines else []
    return entry_options.observe(view, reader.read(view), to_come)


def propose(view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
    """Of what limine-entry-tool reads, the last that says the line today, so that ours are its last
    arguments: in another file they could keep that one from counting."""
    proposed = entry_options.propose(settings)
    part = proposed.pop(entry_options.CMDLINE)
    names = _lines_of_others(view)
    edits = entry_tool.said_later(view, names) and view.exists(entry_tool.DEFAULTS)
    from_cmdline = entry_tool.here(view) and entry_tool.DEFAULT not in names
    return {
        **proposed,
        entry_tool.DROP_IN: entry_tool.drop_in(names, part) if part and names and not edits else None,
        entry_tool.DEFAULTS: entry_tool.appended(names, part) if part and names and edits else None,
        entry_options.CMDLINE: part if from_cmdline else None,
    }


def _lines_of_others(view: HostView) -> list[str]:
    """The names of the lines that somebody sets, but for that of fallback entries."""
    found = entry_tool.lines(view, without_ours=True) if entry_tool.here(view) else {}
    return [name for name in found if name != entry_tool.FALLBACK]


def activations(view: HostView, reason: str) -> tuple[Activation, ...]:
    folders = dict.fromkeys(path.rpartition("/")[0] for path in reader.configurations(view))
    return (entry_options.activation(NAME, reason, [*folders]),)


def write_entries(host: Host) -> None:
    """Snapshots keep what they have: limine-snapper-sync writes their entries from a list of its own. So do
    other systems, which may have a rocmcfg of their own."""
    role_of = reader.judge(host)

    def wanted(section: Section) -> bool | None:
        role = role_of(section)
        return None if role in (Role.SNAPSHOT, Role.FOREIGN) else role is Role.NORMAL

    def rewrite(path: str) -> entry_options.Rewrite:
        def rewritten(content: bytes, ours: bytes | None) -> bytes:
            found = limine_conf.with_arguments(content, ours, wanted)
            sealed_by = _sealed_by(host) if found != content else ""
            if sealed_by:
                raise Unwritable(
                    path,
                    f"{sealed_by} holds its checksum, and would not boot with a changed one",
                    "take it out (sudo limine-reset-enroll, or limine enroll-config --reset), run the "
                    "command again, then enroll the new one: sudo limine-enroll-config",
                )
            return found

        return rewritten

    entry_options.rewrite_files(host, ((path, rewrite(path)) for path in reader.configurations(host)))


def preflight(view: HostView, observed: Observed, kargs: Sequence[str]) -> list[Diagnostic]:
    menu = observed.menu
    hint = (
        "give the entry that you boot a line `cmdline:` with its root=; where a unified kernel image holds "
        "the arguments, say --boot-backend uki"
    )
    problems = list(entry_options.preflight(observed, kargs, hint))
    if menu.unreadable == reader.OLD:
        problems.append(
            error(
                "RC3129",
                f"cannot use {menu.path}: {menu.unreadable}",
                location=menu.path,
                hint="a newer Limine does not read it: remove it, or translate it as Limine's CONFIG.md says",
            )
        )
    return [*problems, *_sealed(view, menu.path), *_of_later_kernels(view, observed, kargs)]


def _sealed(view: HostView, location: str) -> Iterator[Diagnostic]:
    """What would keep a changed limine.conf from booting, or from counting."""
    sealed_by = _sealed_by(view)
    if sealed_by:
        yield error(
            "RC3123",
            f"{sealed_by} holds the checksum of limine.conf, and would not boot with a changed one",
            location=location,
            hint="sudo limine-reset-enroll, run the command again, then sudo limine-enroll-config",
        )
        return
    own = (
        one.kernel for _, one, role in reader.sections(view) if role is Role.NORMAL and _has_own(view, one)
    )
    if secure_boot.state(view) == secure_boot.ON and (image := next(own, "")):
        yield error(
            "RC3124",
            f"Secure Boot is on: {image} takes its own arguments then, and not those of Limine",
            location=location,
            hint=f"add them to KERNEL_CMDLINE[default] in {entry_tool.DEFAULTS} and build the images anew "
            "(sudo limine-mkinitcpio); or write module parameters to modprobe.d instead: --via modprobe",
        )


def _has_own(view: HostView, section: Section) -> bool:
    """Whether it starts a unified kernel image that holds arguments, or may: systemd-stub takes the loader's
    under Secure Boot only where it holds none (use_load_options in systemd's src/boot/stub.c)."""
    if not reader.is_image(section):
        return False
    paths = (f"{mounted}{section.kernel}" for mounted in loader_entries.PARTITIONS)
    try:
        image = pe_image.read(view, next(filter(view.exists, paths), section.kernel))
    except Unreadable:
        return True
    return image is None or ".cmdline" in image.sections


def _sealed_by(view: HostView) -> str:
    """The program of Limine that takes no other limine.conf than this one; empty where there is none."""
    for path in _programs(view):
        try:
            _, mark, digits = (view.read(path) or b"").partition(_ENROLLED)
        except Unreadable:
            continue
        if mark and digits[:128].strip(b"0"):
            return path
    return ""


def _programs(view: HostView) -> Iterator[str]:
    for folder in dict.fromkeys(reader.folders(view)):
        for name in view.names(folder):
            if name.lower().endswith((".efi", "limine-bios.sys")) and not _NO_PROGRAMS.search(folder):
                yield f"{folder}/{name}"


def _of_later_kernels(view: HostView, observed: Observed, kargs: Sequence[str]) -> Iterator[Diagnostic]:
    if not entry_tool.here(view):
        return
    names = _lines_of_others(view)
    if kargs and view.exists(entry_tool.DEFAULTS) and entry_tool.said_later(view, names):
        defaults, _ = appended_assignment.put(
            text_or_empty(view, entry_tool.DEFAULTS).encode(),
            entry_tool.appended(names, marked_arguments.part(" ".join(kargs))),
        )
        lines = entry_tool.lines(view, defaults=defaults.decode())
        if not all(contains(lines[name], text) for name in names for text in kargs):
            yield entry_options.set_anew("KERNEL_CMDLINE", entry_tool.DEFAULTS)
    pinned = entry_tool.lines(view, without_ours=True)
    makes_entries = any("kernel-id=" in one.comments for _, one, _ in reader.sections(view))
    if makes_entries and entry_tool.DEFAULT not in pinned and not view.exists(entry_options.CMDLINE):
        yield error(
            "RC3125",
            "limine-entry-tool gives later kernels the line of the one that runs, and no file says it",
            location=entry_tool.DEFAULTS,
            detail="a file that only adds arguments would cost their entries root=",
            hint="write the line first, as /proc/cmdline has it without initrd=: KERNEL_CMDLINE[default]=…",
        )
    rooted = any(last(entry.kargs, "root") for entry in observed.menu.normal)
    for name in names if rooted else ():
        if pinned[name] and last(pinned[name], "root") is None:
            yield warning(
                "RC3126",
                f"KERNEL_CMDLINE[{name}] has no root=: the next kernel would get an entry without one",
                location=pinned[name][0].source,
                hint=f"add what the entries of {observed.menu.path} have to {entry_tool.DEFAULTS}",
            )


def unmanaged(view: HostView) -> list[Diagnostic]:
    """Unified kernel images whose entries pass no arguments: they have their own. And what cannot be kept as
    it is, once the tool makes it anew."""
    fallbacks = [
        one.titles[-1]
        for _, one, role in reader.sections(view)
        if role is Role.RECOVERY and entry_tool.FALLBACK in one.titles[-1] and "kernel-id=" in one.comments
    ]
    remarks = []
    if fallbacks and entry_tool.here(view) and entry_tool.FALLBACK not in entry_tool.lines(view):
        remarks.append(
            info(
                "RC3130",
                f"{fallbacks[0]} would get the arguments once limine-entry-tool makes it anew",
                location=entry_tool.DEFAULTS,
                hint="write there what it has now: KERNEL_CMDLINE[fallback]=…",
            )
        )
    images = [
        one.kernel
        for _, one, role in reader.sections(view)
        if role is Role.FOREIGN and reader.is_image(one) and not one.cmdline
    ]
    return [*entry_options.with_their_own(images), *remarks]


def check(view: HostView, wanted: Sequence[str], unwanted: Sequence[str]) -> list[Diagnostic]:
    return check_menu(reader.read(view), wanted, unwanted)
