"""Which environment variables the libraries of ROCm, and their users, may read: every name of theirs in the
installed program, or in its source. A name that is not there is not read.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from tests.catalogue.sources.fetch import Package, newest, offered, unpacked

_TEXT = {".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".hip", ".in", ".py", ".inc"}


class Library(NamedTuple):
    """Of a `reader` of the data: the packages that hold it, as a pattern, and how its names begin. Where only
    the source is read, which Debian has of older releases, a name that it lacks may be newer."""

    reader: str
    binaries: str
    sources: str
    prefixes: tuple[str, ...]


LIBRARIES = (
    Library("ROCr", "libhsa-runtime64-1", "rocr-runtime", ("HSA_", "HSAKMT_", "ROCR_")),
    Library(
        "HIP",
        "libamdhip64-[67]",
        "rocm-hipamd",
        ("HIP_", "AMD_", "GPU_", "ROC_", "HSA_", "DEBUG_", "OCL_", "PAL_", "CUDA_VISIBLE_"),
    ),
    Library("MIOpen", r"libmiopen\d", "", ("MIOPEN_",)),
    Library("RCCL", "", "rccl", ("NCCL_", "RCCL_", "HSA_")),
    Library(
        "PyTorch",
        "",
        "pytorch",
        ("TORCH_", "PYTORCH_", "HIPBLASLT_", "HIP_", "CUBLAS", "DISABLE_", "MIOPEN_"),
    ),
)


def packages(library: Library) -> list[Package]:
    """The newest binaries, and the newest source that there is of each name."""
    found = [*newest([*offered(library.binaries)]).values()] if library.binaries else []
    return found + ([*newest([*offered(library.sources, source=True)]).values()] if library.sources else [])


def printers() -> dict[Package, str]:
    """Every release of what prints a fault of a program, and what the data call it: "ROCr 6.4"."""
    found = {}
    for reader, pattern in (("ROCr", "libhsa-runtime64-1"), ("HIP", r"libamdhip64-\d")):
        for one in offered(pattern):
            found[one] = f"{reader} {'.'.join(one.version.split('.')[:2])}"
    return dict(sorted(found.items(), key=lambda pair: (pair[1].split()[0] != "ROCr", pair[1])))


def names(package: Package, prefixes: tuple[str, ...]) -> set[str]:
    """Every name with such a beginning in the files of a package."""
    form = re.compile(
        rb"(?<![A-Za-z0-9_])(?:%s)[A-Z0-9_]*[A-Z0-9](?![A-Za-z0-9_])" % "|".join(prefixes).encode()
    )
    found: set[str] = set()
    # NCCL_PARAM(BuffSize, "BUFFSIZE", -2) reads NCCL_BUFFSIZE (RCCL, src/include/param.h)
    macro = re.compile(rb'\b([RN]CCL)_PARAM\(\w+, *"(\w+)"')
    for file in unpacked(package).rglob("*"):
        if file.is_file() and not file.is_symlink() and (file.suffix in _TEXT or ".so" in file.suffixes):
            content = _content(file)
            found.update(name.decode() for name in form.findall(content))
            found.update(b"_".join(parts).decode() for parts in macro.findall(content))
    return found


def _content(file: Path) -> bytes:
    """Without comments, in which names stand that nothing reads any more."""
    content = file.read_bytes()
    if ".so" in file.suffixes:
        return content
    comments = rb"#[^\n]*" if file.suffix == ".py" else rb"//[^\n]*|/\*.*?\*/"
    return re.sub(comments, b"", content, flags=re.DOTALL)
