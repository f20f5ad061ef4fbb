"""Operating system (through `distro`), container marks."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rocmcfg.host.atomic import write_all
from rocmcfg.host.streams import scratch_file
from rocmcfg.host.view import HostView, Unreadable, text_or_empty
from rocmcfg.model.facts import Os

if TYPE_CHECKING:
    from distro import LinuxDistribution

_LONGEST = 16 << 10  # bytes of os-release; all that distributions ship have less than 2 KiB
UNKNOWN = Os("unknown", "unknown system", "")
_NOWHERE = "/nonexistent"  # which no package may make (Debian's base-passwd)


def read_os(view: HostView) -> Os:
    """For display: the name of a distribution never decides anything."""
    import distro

    try:
        content = _release(view)
    except Unreadable as problem:
        return Os("unknown", f"unknown system ({problem.path}: {problem.reason})", "")
    if content is None:
        return UNKNOWN
    with scratch_file() as copy:
        write_all(copy.fileno(), content)
        try:
            # the library reads a tree by itself: past its root, and for minutes where the file is large
            release = distro.LinuxDistribution(
                include_lsb=False,
                include_uname=False,
                include_oslevel=False,
                os_release_file=f"/proc/self/fd/{copy.fileno()}",
                distro_release_file=os.devnull,
                root_dir=_NOWHERE,
            )
            found = Os(release.id(), _name(release), release.version())
            debian = "debian" in (found.id, *release.like().split())
        except (OSError, UnicodeDecodeError, ValueError):
            return UNKNOWN
    if debian and not found.version:  # unstable has no number (base-files)
        version = text_or_empty(view, "/etc/debian_version").partition("\n")[0]
        found = found._replace(version=version[:_LONGEST].rstrip())
    return found if found.name else found._replace(id=found.id or UNKNOWN.id, name=UNKNOWN.name)


def _name(release: LinuxDistribution) -> str:
    """PRETTY_NAME, else what else is there; empty where nothing is. A version alone is of "Linux", which is
    what os-release(5) takes for a name that is not given."""
    pretty: str = release.os_release_attr("pretty_name")
    name, version = release.name() or release.id(), release.version()
    return pretty or " ".join(filter(None, (name or (version and "Linux"), version)))


def _release(view: HostView) -> bytes | None:
    """os-release(5): the one in /etc goes before the one in /usr/lib."""
    for path in ("/etc/os-release", "/usr/lib/os-release"):
        content = view.read(path)
        if content is not None and len(content) > _LONGEST:
            raise Unreadable(path, f"it is larger than {_LONGEST >> 10} KiB")
        if content is not None:
            return content
    return None


def read_container(view: HostView) -> str:
    """Why this is a container, else empty. Its kernel belongs to the machine outside.

    Marks: systemd's Container Interface (/run/systemd/container), podman (/run/.containerenv) and
    docker (/.dockerenv).
    """
    for path in ("/run/systemd/container", "/run/.containerenv", "/.dockerenv"):
        if view.exists(path):
            return path
    environment = text_or_empty(view, "/proc/1/environ").split("\0")  # readable by root only
    mark = next((variable for variable in environment if variable.startswith("container=")), "")
    return f"/proc/1/environ: {mark}" if mark else ""
