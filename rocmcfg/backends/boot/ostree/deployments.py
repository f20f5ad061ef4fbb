"""The systems that an ostree host can boot, each with a command line of its own.

The one that boots next is the staged one, where there is one: its entry is written when the host goes down
(ostree-finalize-staged.service), and what it will be is in /run until then. Otherwise it is the entry of the
highest version (ostree_sysroot_write_deployments; libostree 2026.4, src/libostree/ostree-sysroot-deploy.c,
`install_deployment_kernel`, `ostree_sysroot_stage_tree_with_options`). The others are older states of the
system, for the way back.
"""

from __future__ import annotations

from typing import NamedTuple

from rocmcfg.backends.boot import loader_entries
from rocmcfg.backends.boot.entry_options import CARRIER
from rocmcfg.backends.boot.menu import Entry, Menu, Role
from rocmcfg.backends.boot.ostree import gvariant
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.model.kargs import Karg, last, split

BOOTED = "/run/ostree-booted"  # libostree makes it at each boot of a deployment (ostree-prepare-root)
STAGED = "/run/ostree/staged-deployment"
_FOLDERS = ("/boot/loader/entries",)
_TRANSIENT = ("/etc/ostree/prepare-root.conf", "/usr/lib/ostree/prepare-root.conf")


class Staged(NamedTuple):
    """`extra` are keys of its boot entry that are none of ostree's."""

    deployment: str
    kargs: tuple[Karg, ...] | None
    extra: dict[str, str]


def staged(view: HostView) -> Staged | None:
    """Raises Unreadable."""
    data = view.read(STAGED)
    if data is None:
        return None
    try:
        table = gvariant.read("a{sv}", data)
    except ValueError as problem:
        raise Unreadable(STAGED, f"it is not what ostree writes: {problem}") from problem
    assert isinstance(table, dict)
    target, kargs, extra = (table.get(key) for key in ("target", "kargs", "bootconfig-extra"))
    names = target if isinstance(target, dict) else {}
    line = tuple(Karg(text, STAGED) for text in kargs) if isinstance(kargs, list) else None
    texts = (
        {key: value for key, value in extra.items() if isinstance(value, str)}
        if isinstance(extra, dict)
        else {}
    )
    return Staged(f"{names.get('osname', '')}-{names.get('name', '')}", line, texts)


def written(view: HostView) -> list[loader_entries.EntryFile]:
    """The entries of deployments, the one that boots first. Raises Unreadable."""
    found = []
    for folder in _FOLDERS:
        for name in view.names(folder):
            path = f"{folder}/{name}"
            if name.endswith(".conf") and (text := view.text(path)) is not None:
                found.append(loader_entries.parse(path, text))
    own = [one for one in found if last(split(one.options), "ostree") is not None]
    return sorted(own, key=_version, reverse=True)


def _version(one: loader_entries.EntryFile) -> int:
    version = one.first.get("version", "")
    return int(version) if version.isdecimal() else 0


def read(view: HostView, tool: str) -> Menu:
    """`tool` is the program that others may use as well."""
    menu = Menu((), "", _FOLDERS[0], tool, CARRIER, f"somebody else's use of {tool}")
    try:
        pending = staged(view)
        entries = [_entry(view, one, Role.SNAPSHOT) for one in written(view)]
    except Unreadable as problem:
        return menu._replace(path=problem.path, unreadable=problem.reason)
    if pending is not None and pending.kargs is None:
        return menu._replace(path=STAGED, unreadable="the staged deployment does not say its arguments")
    if pending is not None and pending.kargs is not None:
        first = Entry(pending.deployment, "the staged deployment", "", "", (), pending.kargs, Role.NORMAL)
        return menu._replace(entries=(first, *entries), path=STAGED)
    if not entries:
        hidden = view.hidden("/boot/loader") or view.hidden(_FOLDERS[0])
        return menu._replace(
            unreadable="only root may look into it" if hidden else "no deployment has an entry"
        )
    return menu._replace(entries=(entries[0]._replace(role=Role.NORMAL), *entries[1:]))


def _entry(view: HostView, one: loader_entries.EntryFile, role: Role) -> Entry:
    kargs = split(one.options, one.path)
    kernel = one.boots
    release = kernel.rpartition("/vmlinuz-")[2] if "/vmlinuz-" in kernel else ""
    title = one.first.get("title", one.id)
    return Entry(_deployment(view, kargs), title, kernel, release, one.initrds, kargs, role)


def _deployment(view: HostView, kargs: tuple[Karg, ...]) -> str:
    """As `rpm-ostree status --json` calls it: the `ostree=` argument is a link to its folder."""
    found = last(kargs, "ostree")
    path = view.real_path(found.value or "") if found is not None else ""
    above, _, name = path.rpartition("/deploy/")
    return f"{above.rpartition('/')[2]}-{name}" if above else path


def transient_etc(view: HostView) -> str:
    """The file that says that /etc is forgotten at each boot (ostree-prepare-root(1)); else empty."""
    for path in _TRANSIENT:
        section = ""
        for line in (view.text(path) or "").splitlines():
            key, _, value = (part.strip() for part in line.partition("="))
            section = key if key.startswith("[") else section
            if section == "[etc]" and key == "transient" and value.lower() in ("true", "yes", "1"):
                return path
    return ""
