"""What the tests of the fleet have in common: plays, and what they leave on a host."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .controller import Run
from .host import Entry, Host

# What applying `auto` to the sample's GPU and ROCm writes, beside the record in /var/lib/rocmcfg.
FILES = {
    "/boot/grub/grub.cfg",
    "/etc/default/grub.d/zz-rocmcfg.cfg",
    "/etc/environment.d",
    "/etc/environment.d/90-rocmcfg.conf",
    "/etc/kernel/postinst.d/rocmcfg",
    "/etc/profile.d/zz-rocmcfg.sh",
    "/etc/rocmcfg",
    "/etc/rocmcfg/env",
    "/var/backups/rocmcfg",
    "/var/backups/rocmcfg/undo.sh",
}
RECORD = "/var/lib/rocmcfg"
AUTO = {"rocmcfg_profiles": ["auto"]}

INSTALL = [{"hosts": "all", "gather_facts": False, "become": True, "roles": ["rocmcfg.amdgpu.install"]}]
APPLY = [{"hosts": "all", "gather_facts": False, "become": True, "roles": ["rocmcfg.amdgpu.apply"]}]

NewHost = Callable[..., Host]


@dataclass(frozen=True, slots=True)
class Installation:
    """The role `install` with the .deb: in check mode, for real, once more; `touched` is by check mode."""

    layer: Path
    runs: tuple[Run, Run, Run]
    touched: set[str]


def boot(*hosts: Host) -> None:
    for host in hosts:
        host.start()
    for host in hosts:
        host.wait()


def written(host: Host, before: Mapping[str, Entry]) -> set[str]:
    """What differs from before, but for times and rocmcfg's record."""
    after = host.changes(times=False)
    paths = {p for p in {*after, *before} if after.get(p) != before.get(p)}
    return {path for path in paths if not path.startswith(RECORD)}
