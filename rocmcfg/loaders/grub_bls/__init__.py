"""GRUB that reads entries from files (blscfg): Fedora, RHEL and their derivatives.

rocmcfg adds the arguments to the options of each normal entry, and to /etc/kernel/cmdline and
GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub, from which the entries of kernels installed later are made.
It runs no program.

The variable of a trial is in rocmcfg's part of each entry. The commands that fill it are in user.cfg next to
grub.cfg, which the menu of Fedora and RHEL reads before the entries: grub2-mkconfig would rewrite the options
of every entry, including those of the rescue entry. There is no trial if user.cfg holds a password of the
boot menu, or if grubenv is a link to the EFI system partition (RHEL 8 under UEFI).

Sources: GRUB 2.14 (grub-core/commands/blsuki.c), whose blscfg was run with these commands, and the menus and
entries of Fedora and RHEL hosts. The virtual machine of the tests has Debian's GRUB 2.14, entries of
kernel-install on a separate /boot, and a trial that panics; Fedora's own GRUB was not run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from rocmcfg.files.templates import trial_head
from rocmcfg.host.view import HostView, Unreadable, text_or_empty
from rocmcfg.loaders.grub_bls import templates
from rocmcfg.loaders.shared import appended_assignment, loader_entries, marked_arguments, specials
from rocmcfg.loaders.shared.chain import EntryChain
from rocmcfg.loaders.shared.contract import Files, Observed, Owned
from rocmcfg.loaders.shared.entry_options import CARRIER, CMDLINE, asked, machine_id
from rocmcfg.loaders.shared.grub_files import TRIAL_TOKEN, environment_block, script
from rocmcfg.loaders.shared.grub_files.defaults import DEFAULT
from rocmcfg.loaders.shared.grub_files.defaults import PATH as DEFAULTS
from rocmcfg.loaders.shared.grub_files.mkconfig import GRUBBY, reads_entries
from rocmcfg.loaders.shared.grub_files.trial import GrubTrial
from rocmcfg.loaders.shared.loader_files import GRUB as GRUB_RULES
from rocmcfg.loaders.shared.loader_files import key_of
from rocmcfg.loaders.shared.menu import Menu, Role
from rocmcfg.model.diagnostic import Diagnostic, error
from rocmcfg.model.kargs import Karg, join, split
from rocmcfg.model.plan import FileChange
from rocmcfg.model.regex import regex

# The menu reads this file before the entries. rocmcfg writes it for a trial only, and not if it holds a
# password.
_HOOKS = ("/boot/grub2/user.cfg", "/boot/grub/user.cfg")
_MENUS = ("/boot/grub2/grub.cfg", "/boot/grub/grub.cfg")
_KERNELOPTS = regex(r'^[ \t]*set kernelopts="([^"\n]*)"', re.MULTILINE)
_VARIABLE = regex(script.VARIABLE, re.ASCII)
_PLAIN = regex(r"[\w.,:=/+@%-]+", re.ASCII)
_BLOCKS = ("/boot/grub2/grubenv", "/boot/grub/grubenv")
_READS = regex(r"^[ \t]*(?:source|\.)[ \t]+\S*/user\.cfg\b.*?^[ \t]*blscfg\b", re.MULTILINE | re.DOTALL)


class _Trial(GrubTrial):
    FILES = _HOOKS

    def propose(self, view: HostView, observed: Observed, arguments: Sequence[str]) -> Files:
        """Return user.cfg with the hook. While this file is there, the step that writes our part into the
        entries writes the trial's variable as well."""
        content = (templates.user_cfg().encode(), 0o600)  # the mode that grub2-setpassword gives it
        return {} if _is_foreign(view) else {_hook_path(view): content}

    def entry_changes(self, view: HostView, proposed: Files) -> tuple[FileChange, ...]:
        changes = BACKEND.entry_changes(view, (asked(view), *self.PLACES)) if proposed else ()
        return tuple(change._replace(reason="a place for the arguments of one boot") for change in changes)

    def menu_problems(self, view: HostView, observed: Observed) -> Iterable[Diagnostic]:
        path, menu = _hook_path(view), _menu_path(view)
        try:
            foreign, text = _is_foreign(view), view.text(menu) or ""
        except Unreadable as problem:
            yield self.keeper(view).not_checked(f"{problem.path}: {problem.reason}")
            return
        if not _READS.search(text):
            summary = f"no trial boot here: {menu} does not read {path} before the entries"
            hint = (
                "apply without --trial, or regenerate the menu with grub2-mkconfig, whose 01_users reads it"
            )
            yield error("RC4343", summary, location=menu, hint=hint)
        if foreign:
            summary = f"{path} was not written by rocmcfg, and a trial boot needs its commands in that file"
            detail = "grub2-setpassword keeps the password of the boot menu there"
            hint = "apply without --trial; `rocmcfg rollback` undoes it"
            yield error("RC4342", summary, detail=detail, location=path, hint=hint)

    def has_hook(self, view: HostView, menu: Menu) -> bool:
        return _has_hook(view)


def _is_foreign(view: HostView) -> bool:
    """Return whether a foreign file is in the place of ours. Raises Unreadable."""
    return view.read(_hook_path(view)) is not None and not _has_hook(view)


class _GrubBls(EntryChain):
    """Writes the options of entries. blscfg of Fedora, and of GRUB 2.14, expands `$name` in them from GRUB's
    environment block; EL 8 keeps all arguments in `kernelopts`. grubby is not used: it writes the rescue
    entry as well, and its exit status is not reliable. Fedora's grub2-mkconfig writes the rescue entry too
    (10_linux, update_bls_cmdline; EL from 9.3 on only with --update-bls-cmdline). user.cfg, which exists for
    a password, is read before the entries by 01_users of Fedora and of EL 7 to 10, and by bootupd's static
    grub.cfg."""

    NAME = "grub-bls"
    OWNED: ClassVar[Owned] = {
        CARRIER: None,
        CMDLINE: marked_arguments,
        DEFAULTS: appended_assignment,
    }
    TITLE = "GRUB with BLS entries (Fedora, RHEL)"
    GENERATORS = ("grub2-mkconfig", "kernel-install", "grubby")
    MANUAL = (
        'sudo grubby --update-kernel=ALL --args="{kargs}"\n'
        f"and append the same to GRUB_CMDLINE_LINUX in {DEFAULTS}, so that it lasts"
    )
    LOADER = "grub"
    SPECIAL = (*specials.GRUB, *specials.KERNEL, *specials.SHELL)
    TRIAL = _Trial()
    ASSIGNED = (DEFAULTS, DEFAULT)
    RULES = GRUB_RULES

    def here(self, view: HostView) -> tuple[str, ...]:
        """Return the menu and grubby where GRUB reads entries. On Fedora only root may read grub.cfg; there
        the presence of grubby shows that GRUB reads entries."""
        menu, grubby = _menu_path(view), [path for path in GRUBBY if view.exists(path)][:1]
        reads = reads_entries(view, menu) if menu else False
        return (menu, *grubby) if reads or (reads is None and grubby) else ()

    def read(self, view: HostView) -> Menu:
        variables, menu, entries = _variables(view), super().read(view), []
        for entry in menu.entries:
            kargs = _read_by_grub(
                [expanded for karg in entry.kargs for expanded in _expanded(karg, variables)]
            )
            # `initrd /initramfs-RELEASE.img $tuned_initrd`: one line may name several
            initrds = tuple(name for line in entry.initrds for name in line.split() if name[0] != "$")
            entries.append(entry._replace(kargs=kargs, initrds=initrds))
        return menu._replace(entries=tuple(entries))

    def preflight(self, view: HostView, observed: Observed, kargs: Sequence[str]) -> Iterable[Diagnostic]:
        yield from super().preflight(view, observed, kargs)
        for path, entry in loader_entries.files(view, machine_id(view)):
            command = script.command(join(entry.kargs))
            if entry.role is Role.NORMAL and command.problem:
                yield script.not_copied("options", command, _line_of_problem(view, path))

    def evidence(self, view: HostView, proof: tuple[str, ...]) -> tuple[str, ...]:
        files, folders = self.here(view), loader_entries.folders(view)
        return (*folders, *files, *proof) if files and folders else ()

    def assigned(self, view: HostView) -> tuple[str, str]:
        """Return ASSIGNED, or two empty texts where entries contain $kernelopts (EL 8): grub2-mkconfig would
        add the arguments to the rescue entry too."""
        entries = loader_entries.read(view, rules=self.RULES)
        names = {karg.text.strip("${}") for entry in entries for karg in entry.kargs}
        return ("", "") if "kernelopts" in names else self.ASSIGNED

    def variable(self, view: HostView) -> str:
        return TRIAL_TOKEN if _has_hook(view) else ""


def _line_of_problem(view: HostView, path: str) -> str:
    """Return the `file:line` of the options that end GRUB's command; where a quote spans several lines, the
    last of them."""
    lines = enumerate(text_or_empty(view, path).split("\n"), start=1)
    options = [(number, line) for number, line in lines if key_of(line.encode()) == b"options"]
    ending = (n for n, line in options if script.problem(line.strip().partition("options")[2].rstrip()))
    return f"{path}:{next(ending, options[-1][0] if options else 1)}"


def _menu_path(view: HostView) -> str:
    return next(filter(view.exists, _MENUS), "")


def _hook_path(view: HostView) -> str:
    return _menu_path(view).rpartition("/")[0] + "/user.cfg"


def _has_hook(view: HostView) -> bool:
    first_line = trial_head().partition("\n")[0]  # the others were worded differently by an older rocmcfg
    return text_or_empty(view, _hook_path(view)).startswith(first_line)


def _read_by_grub(kargs: Sequence[Karg]) -> tuple[Karg, ...]:
    """Return the arguments that the kernel gets from the options, which blscfg turns into a line of
    script."""
    origin = [karg.source for karg in kargs for _ in f"{karg.text} "]
    return script.traced(join(kargs), origin)


def _expanded(karg: Karg, variables: Mapping[str, tuple[Karg, ...]]) -> tuple[Karg, ...]:
    """Return the arguments into which blscfg and GRUB's script expand one argument. A variable within a word
    is replaced if the block has it and its value is plain; otherwise it stays as written."""
    if karg.text == TRIAL_TOKEN:
        return (karg,)
    if _VARIABLE.fullmatch(karg.text):
        return variables.get(karg.text.strip("${}"), ())

    def plain(variable: re.Match[str]) -> str:
        value = variables.get(variable[0].strip("${}"), ())
        return value[0].text if len(value) == 1 and _PLAIN.fullmatch(value[0].text) else variable[0]

    return (karg._replace(text=_VARIABLE.sub(plain, karg.text)),)


def _variables(view: HostView) -> dict[str, tuple[Karg, ...]]:
    """Return the variables that entries may contain, each with its arguments. Where the block has no
    kernelopts, the menu sets it (10_linux of Fedora 30 to 35 and EL 8)."""
    menu = _menu_path(view)
    match = _KERNELOPTS.search(text_or_empty(view, menu)) if menu else None
    from_menu = {"kernelopts": split(match[1], menu)} if match else {}
    block = next((path for path in _BLOCKS if text_or_empty(view, path)), _BLOCKS[0])
    held = environment_block.variables(text_or_empty(view, block).encode())
    return from_menu | {name: split(value, block) for name, value in held.items()}


BACKEND = _GrubBls()
