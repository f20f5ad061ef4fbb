"""The values that cure known issues, by setting: what the judge needs to see the opposite of a cure."""

from __future__ import annotations

from rocmcfg.model.shape import NamedTuple


class KnownCure(NamedTuple):
    """A value of a setting that cures a known issue on some GPUs, for settings that are on or off. `gfx`,
    `kernel`, `lacks_fix`, `fixed_by` and `fixed_kernels` are those of the issue, and `of_releases` says that
    later releases of ROCm or of a library do not have it; `several_gpus` that it needs more than one;
    `source` is its first evidence."""

    issue: str
    title: str
    value: str
    confidence: str
    gfx: tuple[str, ...]
    kernel: str = ""
    lacks_fix: str = ""
    fixed_by: str = "either"
    fixed_kernels: str = ""
    fixed_in: str = ""
    of_releases: bool = False
    several_gpus: bool = False
    source: str = ""
