"""Limine, with limine-entry-tool (CachyOS, Omarchy) or with a limine.conf written by hand.

rocmcfg adds the arguments to the command line of each normal entry in limine.conf. If limine-entry-tool makes
the entries of kernels installed later, rocmcfg also adds them to its configuration, at the place that sets
the line today: lines at the end of /etc/default/limine; or a drop-in,
/etc/limine-entry-tool.d/zz-rocmcfg.conf, if only drop-ins set the line; or /etc/kernel/cmdline. If the tool
would take the line of the running kernel, rocmcfg writes nothing: with a drop-in alone the next entry would
lose its root=. rocmcfg runs neither limine-mkinitcpio nor limine-update, so an image that the firmware starts
without Limine keeps its old line until it is rebuilt.

A snapshot taken later contains the system of that time, including the arguments. rocmcfg refuses a
limine.conf whose checksum is enrolled in Limine itself (Limine would not boot with a changed file), and
unified kernel images with a line of their own under Secure Boot (they use only that line).

A trial is a copy of the running entry, after all others. rocmcfg refuses it for Limine before 11.4; with
`remember_last_entry: yes`, because Limine would boot it again after a hang; and if the running entry does not
get the arguments.

Sources: Limine's source and CONFIG.md (8.2.0), OmaSecBoot's notes on the sources of Limine 12.8.0 and
limine-entry-tool 1.38.0, the comments in the tool's configuration, and recorded hosts. rocmcfg's reader and
Limine's own (8.2.0) agreed on 2,700 randomly generated files. Limine 8.2.0, 9.6.7, 10.8.3 and 11.4.1 passed
the arguments to the programs that they started, and 11.4.1 passed the arguments of a trial exactly once
(tests/loaders/test_limine.py, run by hand: no package index has Limine). limine-entry-tool was not run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import ClassVar

from rocmcfg.files.traces import Sealed, Traces, on
from rocmcfg.host.view import HostView, Unreadable, Unwritable, text_or_empty
from rocmcfg.loaders.limine import entry_tool, reader
from rocmcfg.loaders.limine.entry_tool import DEFAULT, DEFAULTS, DROP_IN
from rocmcfg.loaders.limine.trial import COPY, LimineTrial, with_copy
from rocmcfg.loaders.shared import (
    appended_assignment,
    efi,
    loader_entries,
    marked_arguments,
    pe_image,
    specials,
)
from rocmcfg.loaders.shared.chain import MenuChain, Rewrite, set_anew, with_their_own
from rocmcfg.loaders.shared.contract import Observed, Owned
from rocmcfg.loaders.shared.entry_options import CARRIER, CMDLINE, Written, from_cmdline, propose
from rocmcfg.loaders.shared.menu import Role
from rocmcfg.model.desired import DesiredSetting
from rocmcfg.model.diagnostic import Diagnostic, error, warning
from rocmcfg.model.facts import Detection
from rocmcfg.model.kargs import Karg, contains, last
from rocmcfg.model.regex import regex

# In Limine's own program, 128 digits after this text are the BLAKE2B of the only limine.conf that it accepts.
# If all of them are 0, it accepts any (CONFIG_B2SUM_SIGNATURE in common/lib/config.c).
_ENROLLED = b"++CONFIG_B2SUM_SIGNATURE++"
_EFI = "*.[eE][fF][iI]"
_NO_PROGRAMS = regex(r"/(?:linux|microsoft)$", re.IGNORECASE)  # folders with large foreign files

# common/lib/config.c (init_config, config_get_value) of Limine 8 to 12
_SPECIAL = specials.specials("Limine", {"${": "the beginning of a macro", "\n": "the end of the line"})


class _Limine(MenuChain):
    NAME = "limine"
    FILE = reader.FILES[0]
    FILES = reader.FILES
    OWNED: ClassVar[Owned] = {
        CARRIER: None,
        DROP_IN: None,
        DEFAULTS: appended_assignment,
        CMDLINE: marked_arguments,
    }
    FOLDERS = tuple(f"{folder}/".lstrip("/") for folder in reader.FOLDERS if folder)
    TITLE = "Limine"
    TRIAL = LimineTrial()
    LOADER = "limine"
    SPECIAL = (*_SPECIAL, *specials.KERNEL)
    MANUAL = "append to the cmdline of each entry of limine.conf: {kargs}"
    # limine-snapper-sync writes the entries of snapshots from a list of its own
    LEFT = (*MenuChain.LEFT, Role.SNAPSHOT)
    NO_ENTRY = (
        "add a line `cmdline:` with root= to the entry that you boot; if a unified kernel image holds the "
        "arguments, use --boot-backend uki"
    )

    def here(self, view: HostView) -> tuple[str, ...]:
        return reader.files(view)

    def files(self, view: HostView) -> tuple[str, ...]:
        return reader.files(view)

    def written(self, view: HostView, path: str, text: str) -> Iterable[Written]:
        return reader.written(view, path, text)

    def evidence(self, view: HostView, proof: tuple[str, ...]) -> tuple[str, ...]:
        paths = reader.files(view)
        return (*paths, *entry_tool.files(view), *proof) if paths or proof else ()

    def detect(self, view: HostView) -> Detection | None:
        detection = super().detect(view)
        if detection is None or not entry_tool.here(view):
            return detection
        manual = (
            f"{detection.manual}\nand to KERNEL_CMDLINE[default] in {DEFAULTS}, for kernels installed later"
        )
        return detection._replace(title="Limine with limine-entry-tool", manual=manual)

    def to_come(self, view: HostView) -> list[tuple[Karg, ...]]:
        lines = entry_tool.lines(view)
        kept = [kargs for name, kargs in lines.items() if name != entry_tool.FALLBACK]
        cmdline = entry_tool.here(view) and DEFAULT not in lines
        return [*kept, *(from_cmdline(view) if cmdline else ())]

    def propose(self, view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
        """Return the wanted content of our files. Our part goes into the last of the files that set the line
        today, since in another file it could hide that line."""
        proposed, names = propose(settings), entry_tool.lines_of_others(view)
        part, edits = proposed[CMDLINE], entry_tool.edits_defaults(view, names)
        return {
            **proposed,
            DROP_IN: entry_tool.drop_in(names, part) if part and names and not edits else None,
            DEFAULTS: entry_tool.appended(names, part) if part and edits else None,
            CMDLINE: part if entry_tool.here(view) and DEFAULT not in names else None,
        }

    def rewrites(self, view: HostView, ours: bytes | None, *, tried: bool = False) -> Iterator[Rewrite]:
        copy = text_or_empty(view, COPY) if tried else ""
        for path, rewritten in super().rewrites(view, ours):
            yield path, partial(with_copy, copy=copy, rewritten=rewritten)

    def traces(self, view: HostView) -> Traces:
        names = [f"EFI/*/{_EFI}", *(f"{folder}limine-bios.sys" for folder in ("", *self.FOLDERS))]
        programs = on(loader_entries.PARTITIONS, *names)
        cure = "limine-reset-enroll, or limine enroll-config --reset PROGRAM"
        return super().traces(view)._replace(sealed=Sealed(self.FILE, _ENROLLED.decode(), cure, programs))

    def require_change(self, view: HostView, path: str) -> None:
        if sealed_by := _sealed_by(view):
            raise Unwritable(
                path,
                f"{sealed_by} holds its checksum, and would not boot with a changed file",
                "remove the checksum (sudo limine-reset-enroll, or limine enroll-config --reset), run the "
                "command again, then enroll the new file: sudo limine-enroll-config",
            )

    def preflight(self, view: HostView, observed: Observed, kargs: Sequence[str]) -> Iterator[Diagnostic]:
        yield from super().preflight(view, observed, kargs)
        if sealed_by := _sealed_by(view):
            summary = f"{sealed_by} holds the checksum of limine.conf, and would not boot with a changed file"
            hint = "sudo limine-reset-enroll, run the command again, then sudo limine-enroll-config"
            yield error("RC3123", summary, location=observed.menu.path, hint=hint)
        elif efi.starts_only_signed(view):
            images = (
                section.kernel
                for section, role in reader.judged(view)
                if role is Role.NORMAL and section.is_image
            )
            for image in [image for image in images if _may_hold_arguments(view, image)][:1]:
                yield error(
                    "RC3124",
                    f"Secure Boot is on, so {image} uses its own arguments instead of Limine's",
                    location=observed.menu.path,
                    hint=f"add them to KERNEL_CMDLINE[default] in {DEFAULTS} and rebuild the images (sudo "
                    "limine-mkinitcpio); or write module parameters to modprobe.d instead: --via modprobe",
                )
        yield from _of_later_kernels(view, observed, kargs)

    def unmanaged(self, view: HostView) -> Iterator[Diagnostic]:
        foreign = (
            section for section, role in reader.judged(view) if role is Role.FOREIGN and section.is_image
        )
        yield from with_their_own([section.kernel for section in foreign if not section.cmdline])


def _may_hold_arguments(view: HostView, image: str) -> bool:
    """Return whether an image may hold a line of its own. Under Secure Boot systemd-stub takes the loader's
    line only if the image holds none (src/boot/stub.c)."""
    paths = (f"{mounted}{image}" for mounted in loader_entries.PARTITIONS)
    try:
        image_read = pe_image.read(view, next(filter(view.exists, paths), image))
    except Unreadable:
        return True
    return image_read is None or ".cmdline" in image_read.sections


def _sealed_by(view: HostView) -> str:
    """Return the program of Limine that accepts no limine.conf but this one; empty where there is none."""
    programs = (
        f"{folder}/{name}"
        for folder in dict.fromkeys(reader.folders(view))
        for name in (() if _NO_PROGRAMS.search(folder) else view.names(folder))
        if name.lower().endswith((".efi", "limine-bios.sys"))
    )
    for path in programs:
        try:
            _, mark, digits = (view.read(path) or b"").partition(_ENROLLED)
        except Unreadable:
            continue
        if mark and digits[:128].strip(b"0"):
            return path
    return ""


def _of_later_kernels(view: HostView, observed: Observed, kargs: Sequence[str]) -> Iterator[Diagnostic]:
    every = entry_tool.lines_of_others(view)
    # a line with an open quote is refused already, and nothing else can be told of it
    others = {name: line for name, line in every.items() if not any(k.leaves_quote_open for k in line)}
    if others and entry_tool.edits_defaults(view, others):
        ours = entry_tool.appended(others, marked_arguments.part(" ".join(kargs)))
        defaults, _ = appended_assignment.put(text_or_empty(view, DEFAULTS).encode(), ours)
        lines = entry_tool.lines(view, defaults=defaults.decode())
        if not all(contains(lines.get(name, ()), text) for name in others for text in kargs):
            yield set_anew("KERNEL_CMDLINE", DEFAULTS)
    makes_entries = any("kernel-id=" in section.comments for section, _ in reader.judged(view))
    has_line = DEFAULT in every or view.exists(CMDLINE)
    if entry_tool.here(view) and makes_entries and not has_line:
        summary = (
            "limine-entry-tool gives later kernels the running kernel's command line, and no file holds it"
        )
        detail = "with a file that only adds arguments, their entries would have no root="
        hint = "write the line first, as in /proc/cmdline but without initrd=: KERNEL_CMDLINE[default]=…"
        yield error("RC3125", summary, location=DEFAULTS, detail=detail, hint=hint)
    rooted = any(last(entry.kargs, "root") for entry in observed.menu.normal)
    for name, line in others.items():
        if rooted and line and last(line, "root") is None:
            summary = f"KERNEL_CMDLINE[{name}] has no root=: the next kernel's entry would have none"
            hint = f"add the root= of the entries in {observed.menu.path} to {DEFAULTS}"
            yield warning("RC3126", summary, location=line[0].source, hint=hint)


BACKEND = _Limine()
