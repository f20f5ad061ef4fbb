"""Answer a full GPU memory on an APU, which has no memory of its own but maps the host's: how much it may map
now, and the command that raises the limit.

Sources: kernel drivers/gpu/drm/ttm/ttm_tt.c (pages_limit, by default half of the memory),
drivers/gpu/drm/amd/amdgpu/amdgpu_gtt_mgr.c (mem_info_gtt_total), amdgpu_ttm.c ("of GTT memory ready").
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rocmcfg.advice.doctor.judging.origin import Origin
from rocmcfg.facts.system import number_in
from rocmcfg.host.view import HostView
from rocmcfg.knowledge.diagnosis import MemoryKnowledge
from rocmcfg.model.catalogue import GpuModel, matches
from rocmcfg.model.facts import Facts
from rocmcfg.model.shape import NamedTuple

_PAGE, _GIB = 4096, 1 << 30
_LIMITS = ("/sys/module/ttm/parameters/pages_limit", "/sys/module/amdttm/parameters/pages_limit")


class ApuMemory(NamedTuple):
    """How much memory an APU may map. `limit` and `memory`, the host's, are in bytes, None where they are not
    known; `source` is the place of the limit. `command` raises the limit; `raised_to` is what it sets, in
    GiB, None where the user must choose. Without a command the limit is as high as is sensible."""

    gfx: tuple[str, ...]
    limit: int | None
    source: str
    memory: int | None
    raised_to: int | None
    command: str


def is_apu(where: Origin, models: Sequence[GpuModel]) -> bool | None:
    """Return whether the GPUs for computing are APUs; None if that is not known, or if some are."""
    if where.host is not None and where.gfx_source == "this host":
        answers = {gpu.integrated for gpu in where.host.computing if gpu.gfx in where.gfx}
    else:
        answers = {model.apu for model in models if model.gfx in (where.gfx or where.possible)}
    return answers.pop() if len(answers) == 1 else None


def apu_memory(
    view: HostView, where: Origin, logged: int | None, knowledge: MemoryKnowledge, root: str
) -> ApuMemory:
    """Return how much the APU of a log may map. `logged` is the limit in the log, in MiB. A host without a
    log of another machine tells its own."""
    limit, source, memory = None, "", None
    if where.host is not None:
        limit, source = _in_force(view, where.host)
        memory = where.host.memory
    if limit is None and logged is not None:
        limit, source = logged << 20, "the log"
    wanted = int(memory * knowledge.share) // _GIB if memory else None
    command = ""
    if wanted is None or limit is None or wanted * _GIB > limit:
        command = _command(where.gfx, wanted, knowledge, root)
    return ApuMemory(where.gfx, limit, source, memory, wanted if command else None, command)


def _in_force(view: HostView, host: Facts) -> tuple[int | None, str]:
    """Return the lower of the driver's limit and TTM's, with its file."""
    totals = (f"/sys/bus/pci/devices/{gpu.address}/mem_info_gtt_total" for gpu in host.computing)
    limits = [(size, path) for path in totals if (size := number_in(view, path)) is not None]
    pages = ((number_in(view, path), path) for path in _LIMITS)
    limits += [(count * _PAGE, path) for count, path in pages if count]
    return min(limits, default=(None, ""))


def _command(gfx: Iterable[str], wanted: int | None, knowledge: MemoryKnowledge, root: str) -> str:
    if any(matches(target, knowledge.profile_gfx) for target in gfx):
        setting = f"--profile {knowledge.profile} --set {knowledge.setting}={wanted or 'GIB'}"
    else:
        pages = wanted * _GIB // _PAGE if wanted else "PAGES"
        setting = f"--set ttm.pages_limit={pages}"
    return f"sudo rocmcfg apply {setting}{root}"
