"""Find the installed system-wide ROCm release, and the PyTorch builds for AMD GPUs.

A PyTorch wheel contains its own ROCm libraries and loads no others, so it says more about a program than the
system's ROCm. Its version is read from the text of its `torch/version.py`; nothing is imported. Virtual
environments are not searched for; only one that the caller names is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.facts import PyTorch
from rocmcfg.model.regex import regex
from rocmcfg.model.version import Version, parse_version, rocm_order

# The system's Python, one built by the administrator, and those of AMD's container images.
_PYTHONS = ("/usr", "/usr/local", "/opt/conda", "/opt/venv")
_VERSION_LINE = regex(r"^(__version__|hip|rocm)\b[^=\n]*=[ \t]*['\"]([^'\"\n]{1,100})['\"]", re.M)
# HIP and ROCm releases share their first two numbers up to 7.2; later PyTorch has a `rocm` line as well.
_LAST_COMMON = (7, 2)


def read_rocm(view: HostView) -> tuple[Version | None, str]:
    """Return the version and the file that holds it; (None, "") where no system-wide ROCm is found. /opt/rocm
    points to the release in use, and from 7.13 on /opt/rocm/core does (TheRock, build_tools/packaging/linux,
    amdrocm-core-postinst.j2); otherwise the newest of all releases counts."""
    for folder in ("/opt/rocm", "/opt/rocm/core"):
        best, source = _rocm_in(view, folder)
        if best is not None:
            return best, source
    releases = [f"/opt/{name}" for name in view.names("/opt") if re.match(r"rocm-\d", name)]
    releases += [f"/opt/rocm/{name}" for name in view.names("/opt/rocm") if re.match(r"core-\d", name)]
    for folder in releases:
        version, path = _rocm_in(view, folder)
        if version is not None and (best is None or rocm_order(version) > rocm_order(best)):
            best, source = version, path
    return best, source


def _rocm_in(view: HostView, folder: str) -> tuple[Version | None, str]:
    for name in (".info/version", ".info/version-dev", ".info/version-utils"):
        path = f"{folder}/{name}"
        version = parse_version(text_or_empty(view, path))
        if version is not None:
            return version, path
    # Fedora and Debian package ROCm into /usr; its header has the version.
    header = "/usr/include/rocm-core/rocm_version.h"
    text = text_or_empty(view, header) if folder == "/opt/rocm" else ""
    parts = [re.search(rf"ROCM_VERSION_{p}[ \t]+([0-9]{{1,9}})\b", text) for p in ("MAJOR", "MINOR", "PATCH")]
    if all(parts):
        return tuple(int(p.group(1)) for p in parts if p), header
    return None, ""


def read_pytorch(view: HostView, own: Iterable[str] = ()) -> tuple[PyTorch, ...]:
    """Return system-wide builds, and those of the virtual environments `own` (absolute prefixes), which are
    marked as such."""
    builds = [torch for prefix in own for torch in _pytorch_below(view, prefix, own=True)]
    builds += [torch for prefix in _PYTHONS for torch in _pytorch_below(view, prefix, own=False)]
    # /usr/lib64 may be a link to /usr/lib
    return tuple({(t.text, t.rocm, t.own): t for t in reversed(builds)}.values())[::-1]


def read_foreign_pytorch(view: HostView, own: Iterable[str] = ()) -> tuple[PyTorch, ...]:
    """Return the builds for the processor or for another vendor's GPUs, in the same places."""
    prefixes = [*((prefix, True) for prefix in own), *((prefix, False) for prefix in _PYTHONS)]
    return tuple(
        PyTorch(version, text, None, path, mark)
        for prefix, mark in prefixes
        for path in _version_files(view, prefix)
        for text in (dict(_VERSION_LINE.findall(text_or_empty(view, path))).get("__version__", ""),)
        if (version := parse_version(text)) is not None and _pytorch(view, path, mark) is None
    )


def _version_files(view: HostView, prefix: str) -> Iterator[str]:
    """Yield the files that hold the version of a PyTorch below a prefix."""
    for lib in (f"{prefix.rstrip('/')}/lib", f"{prefix.rstrip('/')}/lib64"):
        for name in sorted(view.names(lib)):
            if re.fullmatch(r"python3(\.[0-9]+)?", name):
                for packages in ("dist-packages", "site-packages"):
                    yield f"{lib}/{name}/{packages}/torch/version.py"


def _pytorch_below(view: HostView, prefix: str, *, own: bool) -> Iterable[PyTorch]:
    return filter(None, (_pytorch(view, path, own) for path in _version_files(view, prefix)))


def _pytorch(view: HostView, path: str, own: bool) -> PyTorch | None:
    lines = dict(_VERSION_LINE.findall(text_or_empty(view, path)))
    text = lines.get("__version__", "")
    version = parse_version(text)
    if version is None or not ({"hip", "rocm"} & set(lines) or "rocm" in text):
        return None  # a build for the processor or for another vendor's GPUs has `hip = None`
    return PyTorch(version, text, _brought(lines, text), path, own)


def _brought(lines: dict[str, str], text: str) -> Version | None:
    """Return the ROCm release of a build's libraries: the stated one, else the one in `2.9.1+rocm7.0`, else
    the one of HIP's version; None where it is not known."""
    named = re.search(r"\+.*?rocm([0-9]+(?:\.[0-9]+)*)", text)
    release = parse_version(lines.get("rocm", "")) or parse_version(named[1] if named else "")
    if release is not None:
        return release
    hip = parse_version(lines.get("hip", ""))
    return hip[:2] if hip is not None and len(hip) > 1 and hip[:2] <= _LAST_COMMON else None
