"""Installed PyTorch builds for AMD GPUs, from the text of their `torch/version.py`. Nothing is imported.

A wheel brings ROCm libraries of its own and loads no others, so that it says more about a program than the
system's ROCm. Virtual environments are not searched for: only one that the caller names is looked into.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.facts import PyTorch
from rocmcfg.model.version import Version, parse_version

# The system's Python, one built by the administrator, and what AMD's container images use.
_PREFIXES = ("/usr", "/usr/local", "/opt/conda", "/opt/venv")
_LINE = re.compile(r"^(__version__|hip|rocm)\b[^=\n]*=[ \t]*['\"]([^'\"\n]{1,100})['\"]", re.M)
# HIP and ROCm releases share their first two numbers up to 7.2; later PyTorch has a `rocm` line as well.
_LAST_COMMON = (7, 2)


def read_pytorch(view: HostView, own: Iterable[str] = ()) -> tuple[PyTorch, ...]:
    """System-wide builds, and those of the virtual environments `own` (absolute prefixes), marked as such."""
    found = [torch for prefix in own for torch in _below(view, prefix, own=True)]
    found += [torch for prefix in _PREFIXES for torch in _below(view, prefix, own=False)]
    # /usr/lib64 may be a link to /usr/lib
    return tuple({(t.text, t.rocm, t.own): t for t in reversed(found)}.values())[::-1]


def _below(view: HostView, prefix: str, *, own: bool) -> Iterable[PyTorch]:
    for lib in (f"{prefix.rstrip('/')}/lib", f"{prefix.rstrip('/')}/lib64"):
        for name in sorted(view.names(lib)):
            if not re.fullmatch(r"python3(\.[0-9]+)?", name):
                continue
            for packages in ("dist-packages", "site-packages"):
                torch = _read(view, f"{lib}/{name}/{packages}/torch/version.py", own)
                if torch is not None:
                    yield torch


def _read(view: HostView, path: str, own: bool) -> PyTorch | None:
    lines = dict(_LINE.findall(text_or_empty(view, path)))
    text = lines.get("__version__", "")
    version = parse_version(text)
    if version is None or not ({"hip", "rocm"} & set(lines) or "rocm" in text):
        return None  # a build for the processor or for another maker's GPUs says `hip = None`
    return PyTorch(version, text, _rocm(lines, text), path, own)


def _rocm(lines: dict[str, str], text: str) -> Version | None:
    """The release whose libraries it brings: as it says, else from `2.9.1+rocm7.0`, else from HIP's."""
    named = re.search(r"\+.*?rocm([0-9]+(?:\.[0-9]+)*)", text)
    said = parse_version(lines.get("rocm", "")) or parse_version(named[1] if named else "")
    if said is not None:
        return said
    hip = parse_version(lines.get("hip", ""))
    return hip[:2] if hip is not None and len(hip) > 1 and hip[:2] <= _LAST_COMMON else None
