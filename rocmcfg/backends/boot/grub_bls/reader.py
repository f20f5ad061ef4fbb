"""The entries that GRUB's command blscfg shows, with the variables of its environment block in their options.

Fedora's blscfg.c, and GRUB 2.14's, expand `$name` in the options; EL 8 keeps all arguments in `kernelopts`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from rocmcfg.backends.boot import entry_options
from rocmcfg.backends.boot.grub_files import TRIAL_TOKEN, environment_block
from rocmcfg.backends.boot.grub_files.mkconfig import GRUBBY, reads_entries
from rocmcfg.backends.boot.menu import Menu
from rocmcfg.backends.templates import TRIAL_HEAD
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.kargs import Karg, split
from rocmcfg.model.regex import regex

NAME = "grub-bls"
DEFAULTS = "/etc/default/grub"
# What the menu reads before the entries: on a host during a trial only, where no password stands in it
HOOKS = ("/boot/grub2/user.cfg", "/boot/grub/user.cfg")
_MENUS = ("/boot/grub2/grub.cfg", "/boot/grub/grub.cfg")
_KERNELOPTS = regex(r'^[ \t]*set kernelopts="([^"\n]*)"', re.MULTILINE)
_BLOCKS = ("/boot/grub2/grubenv", "/boot/grub/grubenv")


def here(view: HostView) -> tuple[str, ...]:
    """What shows that GRUB reads entries here; grub.cfg is root's alone on Fedora, where grubby shows it."""
    menu, grubby = menu_path(view), [path for path in GRUBBY if view.exists(path)][:1]
    reads = reads_entries(view, menu) if menu else False
    return (menu, *grubby) if reads or (reads is None and grubby) else ()


def menu_path(view: HostView) -> str:
    return next(filter(view.exists, _MENUS), "")


def hook_path(view: HostView) -> str:
    return menu_path(view).rpartition("/")[0] + "/user.cfg"


def has_hook(view: HostView) -> bool:
    """Whether a trial's commands stand there."""
    return text_or_empty(view, hook_path(view)).startswith(TRIAL_HEAD)


def read(view: HostView) -> Menu:
    variables = _variables(view)
    found = entry_options.menu(view)
    entries = (
        entry._replace(
            kargs=tuple(one for karg in entry.kargs for one in _expanded(karg, variables)),
            # `initrd /initramfs-RELEASE.img $tuned_initrd`: one line may name several
            initrds=tuple(name for line in entry.initrds for name in line.split() if name[0] != "$"),
        )
        for entry in found.entries
    )
    return found._replace(entries=tuple(entries))


def _expanded(karg: Karg, variables: Mapping[str, tuple[Karg, ...]]) -> tuple[Karg, ...]:
    if not karg.text.startswith("$") or karg.text == TRIAL_TOKEN:
        return (karg,)
    return variables.get(karg.text.strip("${}"), ())


def _variables(view: HostView) -> dict[str, tuple[Karg, ...]]:
    """Where the block has no kernelopts, the menu sets it (10_linux of Fedora 30 to 35 and EL 8)."""
    menu = menu_path(view)
    said = _KERNELOPTS.search(text_or_empty(view, menu)) if menu else None
    found = {"kernelopts": split(said[1], menu)} if said else {}
    block = next((path for path in _BLOCKS if text_or_empty(view, path)), _BLOCKS[0])
    held = environment_block.variables(text_or_empty(view, block).encode())
    return found | {name: split(value, block) for name, value in held.items()}
