"""Read the systems that an ostree host can boot, each with a command line of its own.

The staged deployment boots next. Its entry is written when the host shuts down
(ostree-finalize-staged.service), and it is in /run until then. Without one, the deployment with the highest
version boots next (libostree 2026.4, src/libostree/ostree-sysroot-deploy.c, `install_deployment_kernel`,
`ostree_sysroot_stage_tree_with_options`). The others are older states of the system, kept for a rollback.
"""

from __future__ import annotations

import re

from rocmcfg.host.foreign import parsing
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.loaders.shared import loader_entries
from rocmcfg.loaders.shared.entry_options import CARRIER
from rocmcfg.loaders.shared.menu import Entry, Menu, Role
from rocmcfg.loaders.shared.ostree import gvariant
from rocmcfg.model.kargs import Karg, last, split
from rocmcfg.model.regex import regex
from rocmcfg.model.shape import NamedTuple

RPM_OSTREE = "/usr/bin/rpm-ostree"  # where it is installed, it may manage the arguments for bootc
BOOTED = "/run/ostree-booted"  # libostree creates it at each boot of a deployment (ostree-prepare-root)
STAGED = "/run/ostree/staged-deployment"
_FOLDER = "/boot/loader/entries"
_CONFIGURATIONS = ("/etc/ostree/prepare-root.conf", "/usr/lib/ostree/prepare-root.conf")
_TRANSIENT = regex(r"^\s*\[etc\](?:\n(?!\s*\[).*)*\n\s*transient\s*=\s*(?i:true|yes|1)\s*$", re.MULTILINE)


_VERSION = regex(r"[0-9]{1,18}")


class Staged(NamedTuple):
    """The staged deployment. `extra` are the keys of its boot entry that are not ostree's."""

    deployment: str
    kargs: tuple[Karg, ...]
    extra: dict[str, str]


def staged(view: HostView) -> Staged | None:
    """Return the staged deployment; None where there is none. Raises Unreadable."""
    data = view.read(STAGED)
    if data is None:
        return None
    with parsing(STAGED, "it is not in ostree's format"):
        table = gvariant.read("a{sv}", data)
    assert isinstance(table, dict)
    target, kargs, more = (table.get(key) for key in ("target", "kargs", "bootconfig-extra"))
    if not isinstance(kargs, list):
        raise Unreadable(STAGED, "the staged deployment does not list its arguments")
    names = target if isinstance(target, dict) else {}
    extra = more.items() if isinstance(more, dict) else ()
    name = f"{names.get('osname', '')}-{names.get('name', '')}"
    own = {key: value for key, value in extra if isinstance(value, str)}
    return Staged(name, tuple(Karg(text, STAGED) for text in kargs), own)


def written(view: HostView) -> list[loader_entries.EntryFile]:
    """Return the entries of deployments, the next one to boot first. Raises Unreadable."""
    files = loader_entries.parsed(view, _FOLDER)
    own = [file for file in files if last(split(file.options), "ostree") is not None]
    return sorted(own, key=_version, reverse=True)


def _version(file: loader_entries.EntryFile) -> int:
    version = file.first.get("version", "")
    return int(version) if _VERSION.fullmatch(version) else 0


def menu(view: HostView, program: str) -> Menu:
    """Return the menu of a host on which this program keeps the arguments, also for other users."""
    menu = Menu((), "", _FOLDER, program, CARRIER, f"another user of {program}")
    try:
        pending = staged(view)
        entries = [_entry(view, file) for file in written(view)]
    except Unreadable as problem:
        return menu._replace(path=problem.path, unreadable=problem.reason)
    if pending is not None:
        first = Entry(pending.deployment, "the staged deployment", "", "", (), pending.kargs, Role.NORMAL)
        return menu._replace(entries=(first, *entries), path=STAGED)
    if not entries:
        hidden = view.hidden("/boot/loader") or view.hidden(_FOLDER)
        why = "only root may read it" if hidden else "no deployment has an entry"
        return menu._replace(unreadable=why)
    return menu._replace(entries=(entries[0]._replace(role=Role.NORMAL), *entries[1:]))


def _entry(view: HostView, file: loader_entries.EntryFile) -> Entry:
    """Return the entry of a deployment. `ostree=` is a link to its folder, whose name `rpm-ostree status
    --json` uses."""
    entry = loader_entries.entry_of(file)
    link = last(entry.kargs, "ostree")
    path = view.real_path(link.value or "") if link is not None else ""
    above, _, name = path.rpartition("/deploy/")
    deployment = f"{above.rpartition('/')[2]}-{name}" if above else path
    release = entry.path.rpartition("/vmlinuz-")[2] if "/vmlinuz-" in entry.path else ""
    return entry._replace(id=deployment, release=release, role=Role.SNAPSHOT)


def transient_etc(view: HostView) -> str:
    """Return the file that makes /etc transient (ostree-prepare-root(1)); empty where none does."""
    return next((path for path in _CONFIGURATIONS if _TRANSIENT.search(view.text(path) or "")), "")
