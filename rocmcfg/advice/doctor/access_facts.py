"""Read what a host shows of the layers between the PCI bus and a program, for `access`: sysfs, /dev, groups,
the kernel's command line and configuration, modprobe.d, variables, and the text of PyTorch's version file.

Sources: kernel drivers/gpu/drm/amd/amdgpu/amdgpu_drv.c (amdgpu_init, amdgpu_pci_probe),
drivers/gpu/drm/amd/amdkfd/kfd_chardev.c (kfd_open), kfd_topology.c (node_show), modprobe.d(5), group(5).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from rocmcfg.advice.doctor.access import Evidence
from rocmcfg.advice.doctor.gpu_checks import missing_code
from rocmcfg.facts.gpus import driver_of, pci_gpus
from rocmcfg.facts.rocm import read_foreign_pytorch, read_pytorch
from rocmcfg.files import modprobe
from rocmcfg.host.view import HostView, Unreadable, text_or_empty
from rocmcfg.knowledge.diagnosis import host_knowledge
from rocmcfg.model.catalogue import matches
from rocmcfg.model.facts import Driver, Facts
from rocmcfg.model.regex import regex
from rocmcfg.state.values import Running

Variables = Mapping[str, tuple[str | None, str]]
_PCI, _NODES = "/sys/bus/pci/devices", "/sys/class/kfd/kfd/topology/nodes"
_FORBIDS = regex(r"^[ \t]*(?:blacklist[ \t]+amdgpu|install[ \t]+amdgpu[ \t]+\S*/(?:false|true))[ \t]*$", re.M)
_BLACKLISTS = ("modprobe.blacklist", "module_blacklist", "rd.driver.blacklist")
_HSA_AMD = regex(r"^(?:CONFIG_HSA_AMD=[ym]|# CONFIG_HSA_AMD is not set)$", re.M)
_SIMDS = regex(r"^simd_count ([0-9]{1,9})$", re.M)
_RESERVING = ("vfio-pci", "pci-stub")
_FIRMWARE = ("/lib/firmware/amdgpu", "/lib/firmware/updates/amdgpu")
_ENVIRONMENTS = ("VIRTUAL_ENV", "CONDA_PREFIX")


def read(
    view: HostView, facts: Facts, variables: Variables, environment: Mapping[str, str]
) -> dict[str, Evidence]:
    """Return what the host shows, by the ids of layers and causes in no_gpu.toml. `variables` come from
    `environment.set_variables`, `environment` is the caller's."""
    return {
        **dict(_pci(view, facts)),
        **dict(_driver(view, facts)),
        **dict(_kfd(view, facts)),
        **dict(_rights(view, facts)),
        **dict(_topology(view, facts)),
        **dict(_variables(view, variables)),
        **dict(_pytorch(view, environment)),
        **dict(_code(view, facts)),
    }


def _pci(view: HostView, facts: Facts) -> Iterator[tuple[str, Evidence]]:
    devices = pci_gpus(view)
    if _is_wsl(facts):
        lacks = None if view.offline else not view.exists("/dev/dxg")
        yield "wsl", Evidence(lacks, "there is no /dev/dxg" if lacks else "")
        yield "pci", Evidence(None, "WSL has the GPU of Windows at /dev/dxg instead")
    elif devices:
        yield "pci", Evidence(True, ", ".join(f"{address} (1002:{id})" for address, id in devices.items()))
    elif view.names(_PCI):
        yield "pci", Evidence(False, f"{_PCI} has no display device of AMD")
    else:
        yield "pci", Evidence(None, f"there is no {_PCI}")


def _is_wsl(facts: Facts) -> bool:
    return "microsoft" in facts.running.lower()  # in the release of every kernel for WSL


def _driver(view: HostView, facts: Facts) -> Iterator[tuple[str, Evidence]]:
    drivers = {address: driver_of(view, address) for address in pci_gpus(view)}
    named = ", ".join(f"{address}: {driver or 'no driver'}" for address, driver in drivers.items())
    yield "driver", Evidence("amdgpu" in drivers.values() if drivers else None, named)
    kargs = Running(view).kargs
    modeset = [
        k.text for k in kargs if k.name == "nomodeset" or (k.key == "amdgpu.modeset" and k.value == "0")
    ]
    yield "nomodeset", Evidence(bool(modeset), f"/proc/cmdline: {' '.join(modeset)}" if modeset else "")
    listed = [k.text for k in kargs if k.name in _BLACKLISTS and "amdgpu" in (k.value or "").split(",")]
    files = [path for path in modprobe.files(view) if _FORBIDS.search(text_or_empty(view, path))]
    places = [*(f"/proc/cmdline: {text}" for text in listed), *files]
    yield "blacklisted", Evidence(bool(places), ", ".join(places))
    yield "vfio", Evidence(any(driver in _RESERVING for driver in drivers.values()), named)
    if not drivers or "amdgpu" in drivers.values():
        return
    running = next((kernel for kernel in facts.kernels if kernel.running), None)
    absent = running is not None and running.driver is Driver.ABSENT
    yield "no-module", Evidence(absent, f"kernel {facts.running} has no amdgpu")
    missing = view.is_dir("/lib/firmware") and not any(view.names(folder) for folder in _FIRMWARE)
    yield "firmware", Evidence(missing, f"{_FIRMWARE[0]} is missing or empty")
    yield "not-loaded", Evidence(Running(view).known and not Running(view).loaded("amdgpu"), named)


def _kfd(view: HostView, facts: Facts) -> Iterator[tuple[str, Evidence]]:
    without = None if view.names(_NODES) else _built_without_kfd(view, facts.running)
    yield (
        "no-hsa-amd",
        Evidence(without, f"kernel {facts.running}: CONFIG_HSA_AMD is not set" if without else ""),
    )
    if view.offline or _is_wsl(facts):
        why = "the root is not that of the running system" if view.offline else "WSL has no /dev/kfd"
        yield "kfd", Evidence(None, why)
    else:
        yield "kfd", Evidence(view.exists("/dev/kfd"), "/dev/kfd")
        yield "no-device-in-container", Evidence(bool(facts.container), facts.container)


def _built_without_kfd(view: HostView, release: str) -> bool | None:
    """Return whether the running kernel was built without the compute driver; None without its
    configuration."""
    for path in (f"/boot/config-{release}", f"/lib/modules/{release}/config"):
        text = text_or_empty(view, path) if release else ""
        if match := _HSA_AMD.search(text):
            return match[0].startswith("#")
    return None


def _rights(view: HostView, facts: Facts) -> Iterator[tuple[str, Evidence]]:
    nodes = ["/dev/kfd", *(f"/dev/dri/{n}" for n in view.names("/dev/dri") if n.startswith("render"))]
    if view.offline or not view.exists("/dev/kfd"):
        yield "rights", Evidence(None, "")
        return
    closed = {path: group for path in nodes if (group := view.closed_to_us(path)) is not None}
    if not closed:
        root = view.is_root
        detail = "root may open everything: run doctor as the user whose program fails" if root else ""
        yield "rights", Evidence(None if root else True, detail)
        return
    groups = sorted({*closed.values()})
    yield "rights", Evidence(False, f"{', '.join(closed)}: group {', '.join(groups)}")
    yield "group-in-container", Evidence(bool(facts.container), facts.container)
    waiting = [group for group in groups if view.login_name in _members(view, group)]
    yield "not-logged-in-again", Evidence(bool(waiting), f"group {', '.join(waiting)}")
    yield "root-only", Evidence(groups == ["root"], f"{', '.join(closed)}: group root")


def _members(view: HostView, group: str) -> tuple[str, ...]:
    match = re.search(rf"^{re.escape(group)}:[^:]*:[0-9]+:(.*)$", text_or_empty(view, "/etc/group"), re.M)
    return tuple(filter(None, match[1].split(","))) if match else ()


def _topology(view: HostView, facts: Facts) -> Iterator[tuple[str, Evidence]]:
    nodes = view.names(_NODES)
    texts = []
    for node in nodes:
        try:
            texts.append(view.text(f"{_NODES}/{node}/properties"))
        except Unreadable:  # the device cgroup of a container forbids nodes one by one
            texts.append(None)
    gpus = sum(int(match[1]) > 0 for text in texts if text and (match := _SIMDS.search(text)))
    driven = any(driver_of(view, address) == "amdgpu" for address in pci_gpus(view))
    holds = True if gpus else None if None in texts or not driven or not nodes else False
    yield "topology", Evidence(holds, f"{_NODES}: {gpus} of {len(nodes)} nodes are GPUs" if nodes else "")
    targets = [gpu.gfx for gpu in facts.gpus if gpu.gfx]
    old = bool(targets) and all(matches(gfx, host_knowledge().without_kfd) for gfx in targets)
    yield "too-old-gpu", Evidence(old and not gpus, ", ".join(targets))


def _variables(view: HostView, variables: Variables) -> Iterator[tuple[str, Evidence]]:
    """Yield the variables that hide GPUs. A program's own environment may have others, so that nothing passes
    without the caller's."""
    choosers, override = host_knowledge().choosers, host_knowledge().target_variable
    count = sum(1 for node in view.names(_NODES) if _is_gpu(view, node))
    hiding = [
        f"{name}={variables[name][0]} ({variables[name][1]})"
        for name in choosers
        if name in variables and hides_all(name, variables[name][0], count)
    ]
    unknown = view.offline or any(variables[n][0] is None for n in (*choosers, override) if n in variables)
    yield "hidden", Evidence(True if hiding else None if unknown else False, ", ".join(hiding))
    value, place = variables.get(override, ("unset", ""))
    wrong = value is not None and value != "unset" and not re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", value)
    yield (
        "empty-override",
        Evidence(
            True if wrong else None if unknown else False, f"{override}={value} ({place})" if wrong else ""
        ),
    )


def _is_gpu(view: HostView, node: str) -> bool:
    match = _SIMDS.search(text_or_empty(view, f"{_NODES}/{node}/properties"))
    return match is not None and int(match[1]) > 0


def hides_all(name: str, value: str | None, count: int) -> bool:
    """Return whether a variable leaves no GPU of `count`, which is 0 if it is not known. The list ends at the
    first entry that names no GPU. Only ROCr takes an empty value for an empty list."""
    if value is None:
        return False
    first = value.split(",")[0].strip()
    if not value.strip():
        return name == "ROCR_VISIBLE_DEVICES"
    return first == "-1" or bool(count and first.isdecimal() and int(first) >= count)


def _pytorch(view: HostView, environment: Mapping[str, str]) -> Iterator[tuple[str, Evidence]]:
    """Yield whether PyTorch is a build for ROCm: the one of the caller's environment, else the system's. A
    build for something else beside the system's Python proves nothing, since programs bring their own."""
    own = [environment[name] for name in _ENVIRONMENTS if environment.get(name, "").startswith("/")]
    built, others = read_pytorch(view, own), read_foreign_pytorch(view, own)
    wrong = [other for other in others if other.own]
    if wrong and not any(torch.own for torch in built):
        yield "torch-not-rocm", Evidence(True, f"{wrong[0].source}: {wrong[0].text}")
    elif built:
        yield "framework", Evidence(True, f"{built[0].source}: {built[0].text}")
    else:
        other = f"{others[0].source}: {others[0].text}, not for ROCm; " if others else ""
        yield "framework", Evidence(None, f"{other}a virtual environment that is not active is not read")


def _code(view: HostView, facts: Facts) -> Iterator[tuple[str, Evidence]]:
    answers = missing_code(view, facts)
    lacking = [folder for folder, lacks in answers if lacks]
    holds = False if lacking else True if answers else None
    yield "code", Evidence(holds, ", ".join(lacking or (folder for folder, _ in answers)))
