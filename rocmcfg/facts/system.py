"""Operating system (through `distro`), container marks."""

from __future__ import annotations

from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.model.facts import Os


def read_os(view: HostView) -> Os:
    """For display: the name of a distribution never decides anything."""
    import distro

    try:
        release = distro.LinuxDistribution(
            include_lsb=False, include_uname=False, include_oslevel=False, root_dir=view.root
        )
        found = Os(release.id(), release.name(pretty=True), release.version())
    except (OSError, UnicodeDecodeError, ValueError):
        found = Os("", "", "")
    return found if found.name else Os(found.id or "unknown", "unknown system", found.version)


def read_container(view: HostView) -> str:
    """Why this is a container, else empty. Its kernel belongs to the machine outside.

    Marks: systemd's Container Interface (/run/systemd/container), podman (/run/.containerenv) and
    docker (/.dockerenv).
    """
    for path in ("/run/systemd/container", "/run/.containerenv", "/.dockerenv"):
        if view.exists(path):
            return path
    try:
        environment = view.read("/proc/1/environ") or b""
    except Unreadable:  # readable by root only
        return ""
    mark = next((v for v in environment.split(b"\0") if v.startswith(b"container=")), b"")
    return "/proc/1/environ: " + mark.decode("ascii", "replace") if mark else ""
