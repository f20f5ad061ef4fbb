"""Read what a NixOS host will boot. rocmcfg writes nothing of its configuration.

A generation holds its arguments in `kernel-params` (nixpkgs, nixos/modules/system/activation/top-level.nix);
every loader puts its `init=` before them, and the profile `system` is a link to the generation that boots by
default.
"""

from __future__ import annotations

from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.loaders.shared import loader_entries, roles
from rocmcfg.loaders.shared.menu import Entry, Menu, Role
from rocmcfg.model.kargs import split

NAME = "nixos"
_SYSTEMS = ("/nix/var/nix/profiles/system", "/run/booted-system", "/run/current-system")


def here(view: HostView) -> tuple[str, ...]:
    return ("/etc/NIXOS",) if view.exists("/etc/NIXOS") else ()


def read(view: HostView) -> Menu:
    """Return a menu of the generation that boots by default, with its entry of systemd-boot where it has
    one."""
    system = next((path for path in _SYSTEMS if view.exists(f"{path}/kernel-params")), _SYSTEMS[0])
    path = f"{system}/kernel-params"
    try:
        params, generation = view.text(path), view.real_path(system)
        entries = tuple(_entry(entry, generation) for entry in loader_entries.read(view))
    except Unreadable as problem:
        return Menu((), problem.diagnostics[0].summary, path, "", path, "")
    if params is None:
        return Menu((), f"{path} does not exist", path, "", path, "")
    booted = Entry(generation, "NixOS", "", "", (), split(params, path), Role.NORMAL)
    return Menu((booted, *entries), "", path, "nixos-rebuild", path, "nixos-rebuild")


def _entry(entry: Entry, generation: str) -> Entry:
    mine = roles.value(entry.kargs, "init") == f"{generation}/init"
    return entry if mine else entry._replace(role=Role.SNAPSHOT)
