"""Check the GPUs of a host before anything fails: who may use them, how they are connected, and whether there
are a driver and libraries for them. A host without a fault gets no diagnostics.

Sources: Documentation/ABI/testing/sysfs-bus-pci (link widths), amdgpu_vram_mgr.c (mem_info_*),
kfd_device.c (kgd2kfd_device_init: when KFD leaves a GPU out), the names of the files of rocBLAS.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rocmcfg.facts.gpus import driver_of
from rocmcfg.facts.pcie import card_and_slot
from rocmcfg.facts.system import HostHardware, number_in
from rocmcfg.host.view import HostView
from rocmcfg.knowledge.diagnosis import host_knowledge
from rocmcfg.model.catalogue import matches
from rocmcfg.model.diagnostic import Diagnostic, info, warning
from rocmcfg.model.facts import Facts, Gpu
from rocmcfg.model.regex import regex

_PCI, _KFD = "/sys/bus/pci/devices", "/sys/class/kfd/kfd/topology/nodes"
_TARGET = regex(r"gfx\d+[0-9a-f]*(?:-generic)?")


def check(
    view: HostView, facts: Facts, hardware: HostHardware, variables: Mapping[str, tuple[str | None, str]]
) -> Iterator[Diagnostic]:
    """Run all checks of the GPUs. `variables` come from `environment.set_variables`."""
    yield from _closed(view, facts)
    for gpu in facts.gpus:
        yield from _left_out(view, facts, gpu)
        yield from _narrow(view, gpu)
    yield from _small_window(facts, hardware)
    yield from _without_dkms(facts)
    if not any(name.startswith(host_knowledge().target_variable) for name in variables):
        yield from _without_code(view, facts)


def _closed(view: HostView, facts: Facts) -> Iterator[Diagnostic]:
    """Warn of GPU devices that the caller may not open."""
    nodes = ["/dev/kfd", *(f"/dev/dri/{n}" for n in view.names("/dev/dri") if n.startswith("render"))]
    closed = {path: group for path in nodes if (group := view.closed_to_us(path)) is not None}
    if closed:
        groups = sorted({*closed.values()})
        hint = f"sudo usermod -aG {','.join(groups)} $USER, then log out and in again"
        if facts.container:
            hint = f"start the container with {' '.join(f'--group-add {group}' for group in groups)}"
        elif groups == ["root"]:
            hint = "install the udev rules of ROCm or systemd, because no group has access, then reboot"
        yield warning("RC8140", f"you may not open {', '.join(closed)}", location=min(closed), hint=hint)


def _left_out(view: HostView, facts: Facts, gpu: Gpu) -> Iterator[Diagnostic]:
    """Warn of a GPU that the driver runs but ROCm cannot use. A container is skipped: it may be given only
    some GPUs."""
    runs = gpu.source != "kfd" and driver_of(view, gpu.address) == "amdgpu"
    capable = gpu.gfx and not matches(gpu.gfx, host_knowledge().without_kfd)
    if runs and capable and not facts.container and view.names(_KFD):
        yield warning(
            "RC8141",
            f"ROCm cannot use {gpu.gfx} ({gpu.name}): the driver provides it for graphics only",
            location=f"{_PCI}/{gpu.address}",
            hint="run `sudo rocmcfg doctor`: the kernel log says why (kfd: skipped device); old cards need "
            "PCIe atomics, which a CPU slot has but a chipset slot may not have",
        )


def _narrow(view: HostView, gpu: Gpu) -> Iterator[Diagnostic]:
    """Note a card that runs on fewer lanes than it and its slot have."""
    card, slot = card_and_slot(view, gpu.address)
    if gpu.integrated or not slot:
        return
    widths = (f"{card}/current_link_width", f"{card}/max_link_width", f"{slot}/max_link_width")
    lanes = [number_in(view, f"{_PCI}/{width}") or 0 for width in widths]
    if 0 < lanes[0] < min(lanes[1:]):
        yield info(
            "RC8142",
            f"{gpu.gfx or gpu.name} runs on {lanes[0]} of the {min(lanes[1:])} lanes that card and slot have",
            location=f"{_PCI}/{card}/current_link_width",
            hint="reseat the card, or remove a riser cable; another card or an SSD may share the lanes",
        )


def _small_window(facts: Facts, hardware: HostHardware) -> Iterator[Diagnostic]:
    cards = {gpu.address: gpu for gpu in facts.gpus if not gpu.integrated}
    for device in hardware.devices:
        gpu, seen = cards.get(device.address), device.visible_vram
        if gpu and seen and device.vram and seen < device.vram:
            yield info(
                "RC8143",
                f"the CPU sees {seen >> 20} of the {device.vram >> 20} MiB of {gpu.gfx or gpu.name}",
                detail="copies are slower, and GPUs cannot read each other's memory",
                location=f"{_PCI}/{device.address}/mem_info_vis_vram_total",
                hint="in the firmware setup, turn on Above 4G Decoding and Resizable BAR, and turn off CSM",
            )


def _without_dkms(facts: Facts) -> Iterator[Diagnostic]:
    """Warn of a newest kernel for which AMD's DKMS driver was not built, although another kernel has it."""
    newest = max(facts.driven, key=lambda kernel: kernel.age, default=None)
    if newest and not newest.dkms and any(kernel.dkms for kernel in facts.kernels):
        yield warning(
            "RC8144",
            f"amdgpu-dkms is not built for {newest.release}, which boots with the kernel's own driver",
            hint=f"run `sudo dkms autoinstall -k {newest.release}` to see why; a driver that is too old for "
            "this kernel must be replaced",
        )


def missing_code(view: HostView, facts: Facts) -> list[tuple[str, bool]]:
    """Return each folder of rocBLAS with code, and whether it has none for any of the GPUs used for
    computing. Each file names its target. Nothing is known without a GPU."""
    targets = {gpu.gfx for gpu in facts.computing if gpu.gfx}
    answers = ((folder, built) for folder in _code_folders(facts) if (built := _built_for(view, folder)))
    lacking = ((f, not b & targets and not any("generic" in target for target in b)) for f, b in answers)
    return list(lacking) if targets else []


def _code_folders(facts: Facts) -> Iterator[str]:
    for torch in facts.pytorch:
        yield f"{torch.source.rpartition('/')[0]}/lib/rocblas/library"
    if facts.rocm_source.startswith("/opt/"):
        yield f"{facts.rocm_source.partition('/.info/')[0]}/lib/rocblas/library"


def _built_for(view: HostView, folder: str) -> set[str]:
    return {target for name in view.names(folder) for target in _TARGET.findall(name)}


def _without_code(view: HostView, facts: Facts) -> Iterator[Diagnostic]:
    """Warn of libraries without code for any of the GPUs used for computing."""
    targets = sorted({gpu.gfx for gpu in facts.computing if gpu.gfx})
    for folder in (folder for folder, lacks in missing_code(view, facts) if lacks):
        yield warning(
            "RC8145",
            f"{folder} has no code for {', '.join(targets)}",
            detail=f"it has {', '.join(sorted(_built_for(view, folder)))}",
            location=folder,
            hint="install a newer release, or a build for this GPU; `rocmcfg explain "
            "HSA_OVERRIDE_GFX_VERSION` explains the cost of making it pose as another GPU",
        )
