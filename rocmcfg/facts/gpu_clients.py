"""Read which processes have memory of a GPU.

Sources: Documentation/gpu/drm-usage-stats.rst (the keys in /proc/PID/fdinfo; amdgpu has them from 5.14 on, in
amdgpu_fdinfo.c), drivers/gpu/drm/amd/amdkfd/kfd_process.c (/sys/class/kfd/kfd/proc/PID/vram_GPU, in bytes,
for processes that compute).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.crash import Client
from rocmcfg.model.regex import regex

_KFD = "/sys/class/kfd/kfd/proc"
_MOST = 256  # clients that are listed; those with the most memory
_DEVICE = "/dev/dri/"
# drm-memory-REGION came first; newer kernels have drm-resident-REGION as well, which is the same
_MEMORY = regex(
    r"drm-(?:memory|resident)-([a-z]{1,16}[0-9]{0,2})",
)
_SIZE = regex(r"([0-9]{1,15})(?: (KiB|MiB))?")
_UNITS = {None: 1, "KiB": 1 << 10, "MiB": 1 << 20}


def read_clients(view: HostView) -> tuple[Client, ...]:
    """Return the processes with memory of a GPU, those with the most memory first."""
    clients = [client for pid in _pids(view, "/proc") for client in _of_drm(view, pid)]
    clients += [client for pid in _pids(view, _KFD) for client in _of_kfd(view, pid)]
    return tuple(sorted(clients, key=lambda client: (-client.total, client.pid))[:_MOST])


def _pids(view: HostView, folder: str) -> Iterator[int]:
    yield from (int(name) for name in view.names(folder) if name.isascii() and name.isdigit())


def _of_drm(view: HostView, pid: int) -> Iterator[Client]:
    """Yield a client for each device that the process has open. Files that share a client count once."""
    by_device: dict[str, dict[str, dict[str, int]]] = {}
    for number in view.names(f"/proc/{pid}/fd"):
        if not view.link(f"/proc/{pid}/fd/{number}").startswith(_DEVICE):
            continue
        fields = _fields(text_or_empty(view, f"/proc/{pid}/fdinfo/{number}"))
        if fields.get("drm-driver") == "amdgpu":
            client = fields.get("drm-client-id", number)
            by_device.setdefault(fields.get("drm-pdev", ""), {})[client] = _memory(fields)
    for device, clients in by_device.items():
        total: dict[str, int] = {}
        for memory in clients.values():
            for kind, size in memory.items():
                total[kind] = total.get(kind, 0) + size
        if total:
            yield Client(pid, _name(view, pid), device, total)


def _of_kfd(view: HostView, pid: int) -> Iterator[Client]:
    for name in view.names(f"{_KFD}/{pid}"):
        kind, _, gpu = name.partition("_")
        size = text_or_empty(view, f"{_KFD}/{pid}/{name}").strip()
        if kind == "vram" and _SIZE.fullmatch(size) and int(size):
            yield Client(pid, _name(view, pid), f"KFD {gpu}", {"vram": int(size)})


def _fields(text: str) -> dict[str, str]:
    lines = (line.partition(":") for line in text.splitlines())
    return {name.strip(): value.strip() for name, _, value in lines}


def _memory(fields: Mapping[str, str]) -> dict[str, int]:
    memory: dict[str, int] = {}
    for name, value in fields.items():
        kind, size = _MEMORY.fullmatch(name), _SIZE.fullmatch(value)
        if kind and size and int(size[1]):
            memory[kind[1]] = int(size[1]) * _UNITS[size[2]]
    return memory


def _name(view: HostView, pid: int) -> str:
    return text_or_empty(view, f"/proc/{pid}/comm").removesuffix("\n")
