"""The installed ROCm release, where there is one for the whole system.

A PyTorch wheel brings ROCm libraries of its own inside a virtual environment; those are not seen here.
"""

from __future__ import annotations

import re

from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.version import Version, compare, parse_version


def read_rocm(view: HostView) -> tuple[Version | None, str]:
    """The version and the file that says so; (None, "") where no system-wide ROCm is found.

    /opt/rocm points to the release in use; otherwise the newest of /opt/rocm-* counts.
    """
    candidates = ["/opt/rocm"]
    candidates += [f"/opt/{name}" for name in view.names("/opt") if re.match(r"rocm-\d", name)]
    best: tuple[Version | None, str] = (None, "")
    for folder in candidates:
        found = _version(view, folder)
        if found[0] is None:
            continue
        if folder == "/opt/rocm":
            return found
        if best[0] is None or compare(found[0], best[0]) > 0:
            best = found
    return best


def _version(view: HostView, folder: str) -> tuple[Version | None, str]:
    for name in (".info/version", ".info/version-dev", ".info/version-utils"):
        path = f"{folder}/{name}"
        version = parse_version(text_or_empty(view, path))
        if version is not None:
            return version, path
    # Fedora and Debian package ROCm into /usr; their header carries the version.
    header = "/usr/include/rocm-core/rocm_version.h"
    text = text_or_empty(view, header) if folder == "/opt/rocm" else ""
    parts = [re.search(rf"ROCM_VERSION_{p}[ \t]+([0-9]{{1,9}})\b", text) for p in ("MAJOR", "MINOR", "PATCH")]
    if all(parts):
        return tuple(int(p.group(1)) for p in parts if p), header
    return None, ""
