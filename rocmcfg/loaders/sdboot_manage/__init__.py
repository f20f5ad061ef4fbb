"""systemd-boot with sdboot-manage, as CachyOS and Manjaro set it up.

The normal entries get the arguments. `sdboot-manage autogen` makes the entries of kernels installed later
from LINUX_OPTIONS. CachyOS's program (from 11 of June 2024 on) sources /usr/lib/sdboot-manage.conf.d and
/etc/sdboot-manage.conf.d as well, from 11-2 on after /etc/sdboot-manage.conf: there a drop-in of ours,
/etc/sdboot-manage.conf.d/zz-rocmcfg.conf, adds the arguments. Elsewhere two lines at the end of
/etc/sdboot-manage.conf add them. rocmcfg refuses a line break in LINUX_OPTIONS, because the program writes
the rest as a line of its own, which systemd-boot does not read.

Entries with a fallback initramfs are made from LINUX_FALLBACK_OPTIONS. rocmcfg does not run
`sdboot-manage gen`: by default (REMOVE_EXISTING) it first removes every entry on the partition, including
those of other systems and those written by hand. If it removes the entry of a trial, the default entry boots.

Sources: sdboot-manage and its configuration, as in CachyOS/systemd-boot-manager (bb4e4d3) and in
CachyOS/CachyOS-PKGBUILDS (systemd-boot-manager 11 to 20, 2c64364 to ec68f19), and recorded hosts. The tool
itself made entries with rocmcfg's line from such a file; nothing was booted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.loaders.shared import appended_assignment, loader_entries, marked_arguments, specials
from rocmcfg.loaders.shared.chain import EntryChain, set_anew
from rocmcfg.loaders.shared.contract import Owned
from rocmcfg.loaders.shared.entry_options import CARRIER, carrier
from rocmcfg.loaders.shared.one_shot import SecondEntry
from rocmcfg.loaders.shared.shell_assignments import Environment
from rocmcfg.model.desired import DesiredSetting, karg_line
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.facts import Detection
from rocmcfg.model.kargs import Karg, contains, split
from rocmcfg.model.regex import regex

_CONFIG, _OPTIONS = "/etc/sdboot-manage.conf", "LINUX_OPTIONS"
_SHARED, _LOCAL = "/usr/lib/sdboot-manage.conf.d", "/etc/sdboot-manage.conf.d"
DROP_IN = f"{_LOCAL}/zz-rocmcfg.conf"
# the program adds these itself, from the mounted file systems
_FOUND_OUT = ("root", "zfs", "rw", "rootflags", "cryptdevice", "rd.luks.name", "rd.luks.options", "resume")
# The lines of the program, a script of bash, that source its configuration and the files of the folders
_SOURCES_CONFIG = regex(r"^[^#\n]*(?:\.|source)[ \t]+\"?\$\{?config\b", re.MULTILINE)
_SOURCES_FOLDERS = regex(r"^[ \t]*for\b[^\n]*/etc/sdboot-manage\.conf\.d/", re.MULTILINE)

Sourced = tuple[str, str]  # the path of a file, and its text


class _SdbootManage(EntryChain):
    NAME = "sdboot-manage"
    PROGRAM = "/usr/bin/sdboot-manage"
    OWNED: ClassVar[Owned] = {CARRIER: None, DROP_IN: None, _CONFIG: appended_assignment}
    TITLE = "systemd-boot with sdboot-manage"
    GENERATORS = ("sdboot-manage", "kernel-install")
    TRIAL = SecondEntry()
    MANUAL = f'append to {_OPTIONS} in {_CONFIG}: "{{kargs}}"\nthen: sudo sdboot-manage gen'
    LOADER = "systemd-boot"
    SPECIAL = (*specials.ENTRY, *specials.KERNEL, *specials.SHELL)  # bash sources its configuration

    def here(self, view: HostView) -> tuple[str, ...]:
        folders = loader_entries.folders(view) if view.exists(self.PROGRAM) else ()
        return (*folders, *filter(view.exists, (self.PROGRAM, _CONFIG))) if folders else ()

    def detect(self, view: HostView) -> Detection | None:
        detection = super().detect(view)
        if detection is None or not self.reads_drop_ins(view):
            return detection
        return detection._replace(manual=detection.manual.replace(_CONFIG, f"the last file of {_LOCAL}"))

    def reads_drop_ins(self, view: HostView) -> bool:
        """Return whether the program sources the folders after its configuration."""
        text = text_or_empty(view, self.PROGRAM)
        folders, config = _SOURCES_FOLDERS.search(text), _SOURCES_CONFIG.search(text)
        return folders is not None and (config is None or config.start() < folders.start())

    def sourced(self, view: HostView, kargs: Sequence[str] = ()) -> list[Sourced]:
        """Return the files that the program sources, in its order: without our part, or with `kargs` in our
        part."""
        behind, line = self.reads_drop_ins(view), _line(" ".join(kargs)) if kargs else ""
        config = appended_assignment.blanked(text_or_empty(view, _CONFIG))
        if kargs and not behind:
            config = appended_assignment.with_arguments(text_or_empty(view, _CONFIG), _OPTIONS, kargs)
        paths = [*_confs(view, _SHARED), *sorted({*_confs(view, _LOCAL), DROP_IN})]
        texts = [(path, line if path == DROP_IN else text_or_empty(view, path)) for path in paths]
        if behind:
            return [(_CONFIG, config), *texts]
        reads_them_first = bool(_SOURCES_FOLDERS.search(text_or_empty(view, self.PROGRAM)))
        return [*(texts if reads_them_first else ()), (_CONFIG, config)]

    def to_come(self, view: HostView) -> Iterable[Sequence[Karg]]:
        normal = self.menu(view).normal[:1]
        found_out = [k for entry in normal for k in entry.kargs if k.name in _FOUND_OUT]
        options = _evaluated(self.sourced(view)).text(_OPTIONS)
        return [] if options is None else [(*found_out, *split(options, _CONFIG))]

    def propose(self, view: HostView, settings: Sequence[DesiredSetting]) -> dict[str, bytes | None]:
        """Return the wanted content of our files. Our lines in the configuration are removed once the program
        reads drop-ins."""
        proposed, line = super().propose(view, settings), karg_line(settings)
        part = marked_arguments.part(line).decode().strip() if line else ""
        behind = self.reads_drop_ins(view)
        proposed[DROP_IN] = carrier(settings, _line(part)) if part and behind else None
        proposed[_CONFIG] = appended_assignment.lines(_OPTIONS, part) if part and not behind else None
        return proposed

    def of_later_kernels(self, view: HostView, kargs: Sequence[str]) -> Iterator[Diagnostic]:
        behind = self.reads_drop_ins(view)
        if not behind and not view.exists(_CONFIG):
            summary = f"there is no {_CONFIG}, so a kernel installed later would not get the arguments"
            hint = f"reinstall the package of sdboot-manage, or create an empty file: touch {_CONFIG}"
            yield error("RC3131", summary, location=_CONFIG, hint=hint)
        sources = self.sourced(view, kargs)
        environment = _evaluated(sources)
        if not behind:
            yield from appended_assignment.continued(dict(sources)[_CONFIG], _CONFIG)
        broken = next(
            (segment for segment in environment.values.get(_OPTIONS, ()) if "\n" in segment.text), None
        )
        if broken is not None:
            yield error(
                "RC3180",
                f"{_OPTIONS} holds a line break: systemd-boot would not read the text after it",
                detail="sdboot-manage writes it unchanged into the entry of each kernel installed later",
                location=broken.source,
                hint="write the arguments on one line, or end each line except the last with a backslash",
            )
        if lost_at := _lost_at(sources, DROP_IN if behind else _CONFIG, kargs):
            cures = [f"rename it so that it sorts before {DROP_IN.rpartition('/')[2]}"] if behind else []
            yield set_anew(_OPTIONS, lost_at, *cures)


def _lost_at(sources: Sequence[Sourced], own: str, kargs: Sequence[str]) -> str:
    """Return the file that overwrites the variable after ours; empty where no file does, or where only a
    shell can tell."""
    environment, added = Environment(bash=True), False
    for path, text in sources:
        environment.read(path, text)
        added = added or path == own
        left = environment.text(_OPTIONS) if added else None
        if left is not None and not all(contains(split(left, path), text) for text in kargs):
            return path
    return ""


def _evaluated(sources: Iterable[Sourced]) -> Environment:
    environment = Environment(bash=True)
    for path, text in sources:
        environment.read(path, text)
    return environment


def _confs(view: HostView, folder: str) -> list[str]:
    """Return the files that bash expands FOLDER/*.conf to."""
    names = (name for name in view.names(folder) if name.endswith(".conf") and name[0] != ".")
    return sorted(f"{folder}/{name}" for name in names)


def _line(added: str) -> str:
    return appended_assignment.assignment(_OPTIONS, added)


BACKEND = _SdbootManage()
