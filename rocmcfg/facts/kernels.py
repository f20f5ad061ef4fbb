"""Find installed kernels, and the parameters of each one's amdgpu driver."""

from __future__ import annotations

import os
from collections.abc import Iterable

from rocmcfg.facts import sosreport
from rocmcfg.host.view import HostView, text_or_empty
from rocmcfg.model.diagnostic import fail
from rocmcfg.model.facts import Driver, Kernel
from rocmcfg.model.version import parse_kernel

_MODULE_DIRS = ("/lib/modules", "/usr/lib/modules")
_MODULES = frozenset(f"amdgpu.ko{suffix}" for suffix in ("", ".xz", ".zst", ".gz"))
_OWN = "kernel/drivers/gpu/drm/amd/amdgpu"
# depmod's search order puts these before the kernel's own modules (depmod.d(5), DKMS's default).
_FOREIGN = ("updates/dkms", "updates", "extra", "weak-updates", f"updates/{_OWN}")


def running_release(view: HostView) -> str:
    """Return `uname -r` of the host itself; empty where it has no /proc of its own."""
    return text_or_empty(view, "/proc/sys/kernel/osrelease").strip() or sosreport.release(view)


def read_kernels(view: HostView, modules: Iterable[str] = ("amdgpu",)) -> tuple[Kernel, ...]:
    """Return every kernel that has a module directory with an index or an image in /boot, oldest first."""
    running = running_release(view)
    base = next((d for d in _MODULE_DIRS if view.is_dir(d)), _MODULE_DIRS[0])
    kernels = []
    for release in view.names(base):
        version = parse_kernel(release)
        if version is None or not _installed(view, f"{base}/{release}", release):
            continue
        driver, dkms = _driver(view, f"{base}/{release}")
        wanted = modules if driver is not Driver.ABSENT else ()
        types = {module: parameter_types(view, release, module) for module in wanted}
        declared = {module: parameters for module, parameters in types.items() if parameters is not None}
        kernels.append(Kernel(release, version, driver, dkms, release == running, declared))
    version = parse_kernel(running)
    if version is not None and sosreport.release(view) == running and not any(k.running for k in kernels):
        # sos does not copy the modules
        dkms = sosreport.has_dkms_driver(view, running)
        kernels.append(Kernel(running, version, Driver.MODULE, dkms, running=True))
    return tuple(sorted(kernels, key=lambda kernel: (kernel.version.numbers, kernel.release)))


def named_kernel(release: str, id: str) -> Kernel:
    """Return a kernel of which only the release is known. Raises RocmcfgError with the diagnostic `id` where
    the text is not a release."""
    version = parse_kernel(release)
    if version is None:
        summary = f"--kernel {release}: not a kernel version"
        raise fail(id, summary, hint="write a version such as 6.8, or the output of `uname -r`")
    return Kernel(release, version, Driver.MODULE)


def _installed(view: HostView, folder: str, release: str) -> bool:
    # A removed kernel leaves its directory behind if another package (DKMS) still has files in it.
    marks = (f"{folder}/modules.builtin", f"{folder}/modules.order", f"{folder}/kernel")
    return any(view.exists(mark) for mark in (*marks, f"/boot/vmlinuz-{release}"))


def _driver(view: HostView, directory: str) -> tuple[Driver, bool]:
    for folder in (*_FOREIGN, _OWN):
        here = _MODULES.intersection(view.names(f"{directory}/{folder}"))
        if any(view.exists(f"{directory}/{folder}/{name}") for name in here):  # and is not a broken link
            return Driver.MODULE, folder != _OWN
    builtin = view.text(f"{directory}/modules.builtin") or ""
    if any(os.path.basename(line.strip()) == "amdgpu.ko" for line in builtin.splitlines()):
        return Driver.BUILTIN, False
    return Driver.ABSENT, False


def parameter_types(view: HostView, release: str, module: str) -> dict[str, str] | None:
    """Return the types of a module's parameters by name, as declared in the kernel's own file; None where
    modinfo cannot be run or does not know the module."""
    # the same record as `modinfo -p` without the descriptions, which hold line breaks of their own
    result = view.query(("modinfo", "-k", release, "-F", "parmtype", module))
    if result is None or not result.ok:
        return None
    pairs = (line.partition(":") for line in result.stdout.splitlines() if ":" in line)
    return {name.strip(): type.strip() for name, _, type in pairs}
