"""Read the facts that hosts are compared by, each by the reader that the knowledge names for it. Nothing is
guessed: what cannot be read is a reading with a reason. No reader returns a serial number.

Sources: Documentation/ABI/testing/sysfs-devices-system-cpu (cpuidle, cpufreq), Documentation/admin-guide/mm/
transhuge.rst (the word in brackets), amdgpu_gfx.c, amdgpu_gmc.c, amdgpu_vram_mgr.c and amdgpu_ucode.c (the
attributes of a GPU).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from rocmcfg.facts import pcie
from rocmcfg.facts.system import HostHardware, number_in, read_firmware
from rocmcfg.host.view import HostView, Unreadable
from rocmcfg.model.facts import Facts, Gpu
from rocmcfg.model.host_facts import FactRow, Reading, counted_values
from rocmcfg.model.regex import regex

_LONGEST = 200  # characters of a value; an attribute of sysfs has a page
_CPUS = "/sys/devices/system/cpu"
_MOST_CPUS = 8192  # CONFIG_NR_CPUS of x86 at most
_CPU, _STATE = regex(r"cpu[0-9]{1,5}"), regex(r"state[0-9]{1,2}")
_CHOSEN = regex(r"\[([\w-]{1,40})\]")


def read_host_fact(view: HostView, row: FactRow, composed: Mapping[str, Reading]) -> Reading:
    """Return a fact of the host. `composed` comes from `compose`."""
    reader = _OF_HOST.get(row.reader)
    return reader(view, row.path) if reader else composed[row.reader]


def read_gpu_fact(view: HostView, row: FactRow, gpu: Gpu) -> Iterator[tuple[str, Reading]]:
    """Yield a fact of a GPU, or the facts of one kind, by their ids; none if the GPU does not have it."""
    folder = f"{pcie.DEVICES}/{gpu.address}"
    if row.reader == "firmware":
        blocks = read_firmware(view, folder).items()
        yield from ((f"{row.id}.{block}", Reading(version)) for block, version in blocks)
    elif row.reader == "file":
        path = f"{folder}/{row.path}"
        if view.exists(path):
            yield row.id, _in_unit(_of_file(view, path), row.unit)
    else:
        reading = _OF_GPU[row.reader](view, gpu.address)
        if reading is not None:
            yield row.id, reading


def compose(view: HostView, facts: Facts, hardware: HostHardware) -> Mapping[str, Reading]:
    """Return the readings that come from what is known about the host anyway, by their readers. A disk that
    runs no kernel has no GPU to show, which does not mean that its host has none."""
    no_gpu = "none" if view.is_dir(pcie.DEVICES) else ""
    memory = f"{facts.memory / (1 << 30):.1f} GiB" if facts.memory else ""
    running = next((kernel for kernel in facts.kernels if kernel.running), None)
    driver = hardware.driver_version or ("none" if running is not None and not running.dkms else "")
    values = {
        "gpus": cards(facts.gpus) or no_gpu,
        "memory": memory,
        "processor": hardware.processor,
        "kernel": facts.running,
        "driver": driver,
        "rocm": facts.rocm_text or "none",
        "bios": hardware.bios,
        "board": hardware.board,
        "secure_boot": facts.boot.secure_boot,
        "os": facts.os.name if facts.os.id != "unknown" else "",
    }
    return {
        name: Reading(value) if value else Reading(reason="the host does not show it")
        for name, value in values.items()
    }


def cards(gpus: Iterable[Gpu]) -> str:
    """Return `8 × gfx942` for GPUs. A GPU in partitions is several devices with one address."""
    devices = [*gpus]
    names = {gpu.address or str(at): gpu.gfx or gpu.name for at, gpu in enumerate(devices)}
    counted = ", ".join(f"{number} × {name}" for name, number in sorted(Counter(names.values()).items()))
    return counted if len(names) == len(devices) else f"{counted} as {len(devices)} devices"


def _of_file(view: HostView, path: str) -> Reading:
    """Return the line of a file that has one short line."""
    try:
        text = view.text(path)
    except Unreadable as problem:
        return Reading(reason=problem.reason)
    if text is None:
        return Reading(reason=f"there is no {path}")
    line = text.strip()
    if not line or not line.isprintable() or len(line) > _LONGEST:
        return Reading(reason=f"{path} does not hold one short line")
    return Reading(line)


def _in_unit(reading: Reading, unit: str) -> Reading:
    if unit == "MiB" and reading.value.isdecimal():
        return Reading(f"{int(reading.value) >> 20} MiB")
    return reading


def _of_choice(view: HostView, path: str) -> Reading:
    reading = _of_file(view, path)
    chosen = _CHOSEN.search(reading.value)
    if reading.reason or chosen is None:
        return Reading(reason=reading.reason or f"{path} has no word in brackets")
    return Reading(chosen[1])


def _cpus(view: HostView) -> list[str]:
    return [name for name in view.names(_CPUS) if _CPU.fullmatch(name)][:_MOST_CPUS]


def _of_cpus(view: HostView, path: str) -> Reading:
    """Return the value that all processors have, or how many have which. `path` has a * for the number."""
    head, _, tail = path.partition("*")
    values = []
    for cpu in _cpus(view):
        file = f"{head}{cpu.removeprefix('cpu')}{tail}"
        reading = _of_file(view, file)
        if reading.reason and view.exists(file):
            return reading
        values += [reading.value] if reading.value else []
    return Reading(counted_values(values)) if values else Reading(reason=f"there is no {path}")


def _of_idle_states(view: HostView, _path: str) -> Reading:
    """Return `C1 on, C2 off` for the idle states that the kernel may use."""
    on: Counter[str] = Counter()
    off: Counter[str] = Counter()
    for cpu in _cpus(view):
        folder = f"{_CPUS}/{cpu}/cpuidle"
        for state in (name for name in view.names(folder) if _STATE.fullmatch(name)):
            reading = _of_file(view, f"{folder}/{state}/disable")
            if reading.reason:
                return reading
            (on if reading.value == "0" else off)[state] += 1
    words = []
    for state in sorted({*on, *off}, key=lambda name: int(name.removeprefix("state"))):
        named = _of_file(view, f"{_CPUS}/cpu0/cpuidle/{state}/name")
        mixed = f"on ({on[state]}), off ({off[state]})"
        switch = mixed if on[state] and off[state] else "on" if on[state] else "off"
        words.append(f"{named.value or state} {switch}")
    return Reading(", ".join(words)) if words else Reading(reason="the kernel shows no idle states")


def _link_width(view: HostView, address: str) -> Reading:
    return _of_link(view, address, "current_link_width")


def _link_speed(view: HostView, address: str) -> Reading:
    return _of_link(view, address, "current_link_speed")


def _of_link(view: HostView, address: str, attribute: str) -> Reading:
    card, _ = pcie.card_and_slot(view, address)
    if not card:
        return Reading(reason=f"there is no {pcie.DEVICES}/{address}")
    reading = _of_file(view, f"{pcie.DEVICES}/{card}/{attribute}")
    if reading.value in ("0", "255") or reading.value.startswith("Unknown"):
        return Reading(reason="the kernel does not know it")
    return reading._replace(value=reading.value.removesuffix(" PCIe"))


def _window(view: HostView, address: str) -> Reading | None:
    total, visible = (
        number_in(view, f"{pcie.DEVICES}/{address}/mem_info_{which}_total") for which in ("vram", "vis_vram")
    )
    if not total or visible is None:
        return None
    return Reading("all" if visible >= total else f"{visible >> 20} of {total >> 20} MiB")


_OF_HOST: Mapping[str, Callable[[HostView, str], Reading]] = {
    "file": _of_file,
    "choice": _of_choice,
    "cpus": _of_cpus,
    "idle_states": _of_idle_states,
}
_OF_GPU: Mapping[str, Callable[[HostView, str], Reading | None]] = {
    "link_width": _link_width,
    "link_speed": _link_speed,
    "window": _window,
    "iommu": pcie.iommu,
    "acs": pcie.access_control,
}
