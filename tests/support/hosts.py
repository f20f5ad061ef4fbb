"""Fake host trees for tests: the evidence that rocmcfg reads, and nothing else of a system.

`debian_grub_host` builds a Debian 13 host with GRUB and takes options for everything that facts and
planners look at. `OTHER_HOSTS` holds one file map for each other boot chain; `other_host` writes one of them.
A test that needs something special passes `extra`, which wins over everything generated.

The trees are layouts, not systems: images, modules and programs are placeholders, and no program in them may
be run. They must not be used to prove what GRUB, kmod or the kernel do; other tests run the real ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

ROOT_UUID = "3f6c1d52-8a0e-4b7d-9c54-2e1f70a6b8d3"
ESP_UUID = "5E1A-90C7"
MACHINE_ID = "0b9d3c7e5f184a62a1d4e6807c2f93b5"
BOOT_ID = "6d0c4f2a-51b7-4c39-8e6f-0b1a7d93c2e4"
# The vendor GUID of the Boot Loader Interface: https://systemd.io/BOOT_LOADER_INTERFACE/
LOADER_GUID = "4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"


@dataclass(frozen=True, slots=True)
class Link:
    """A symlink; its target is relative, so that the tree can be moved."""

    target: str


@dataclass(frozen=True, slots=True)
class Program:
    """An executable file. It stands for a tool that is installed; what it does is the test's business."""

    text: str = "#!/bin/sh\necho 'a fake host has no real tools' >&2\nexit 99\n"


@dataclass(frozen=True, slots=True)
class Secret:
    """A file with mode 0600, as the kernel shows gttsize and gartsize."""

    text: str


File = str | bytes | Link | Program | Secret
FileMap = Mapping[str, File]
Driver = Literal["module", "builtin", "dkms", "missing"]


def make_root(tmp_path: Path, files: FileMap, *, name: str = "root") -> Path:
    """Write `files` (paths inside the host, with or without a leading slash) below `tmp_path / name`.

    Parents are created; symlinks are written last and replace nothing. Returns the root. May be called again
    with the same name to add files or to replace regular ones.
    """
    root = tmp_path / name
    root.mkdir(parents=True, exist_ok=True)
    links = {path: file for path, file in files.items() if isinstance(file, Link)}
    for path, file in files.items():
        if not isinstance(file, Link):
            _write(root / path.lstrip("/"), file)
    for path, link in links.items():
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(link.target)
    return root


def _write(place: Path, file: str | bytes | Program | Secret) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    content = file.text if isinstance(file, (Program, Secret)) else file
    place.write_bytes(content if isinstance(content, bytes) else content.encode())
    place.chmod(0o755 if isinstance(file, Program) else 0o600 if isinstance(file, Secret) else 0o644)


def programs(*paths: str) -> dict[str, File]:
    """Return placeholder executables for installed tools."""
    return {path: Program() for path in paths}


# What a GPU is known by: gfx target -> (GC IP version, PCI device id). The GC IP is AMD's IP discovery table
# as amdgpu_discovery.c names it (11.0.3 is gfx1101, for instance); the ids are one product of each target.
GPUS: Mapping[str, tuple[str, str]] = {
    "gfx906": ("9.4.0", "66af"),
    "gfx908": ("9.4.1", "738c"),
    "gfx90a": ("9.4.2", "7408"),
    "gfx942": ("9.4.3", "74a1"),
    "gfx950": ("9.5.0", "75a0"),
    "gfx1010": ("10.1.10", "731f"),
    "gfx1030": ("10.3.0", "73bf"),
    "gfx1031": ("10.3.2", "73df"),
    "gfx1036": ("10.3.6", "164e"),
    "gfx1100": ("11.0.0", "744c"),
    "gfx1101": ("11.0.3", "747e"),
    "gfx1103": ("11.0.1", "15bf"),
    "gfx1150": ("11.5.0", "150e"),
    "gfx1151": ("11.5.1", "1586"),
    "gfx1200": ("12.0.0", "7590"),
    "gfx1201": ("12.0.1", "7550"),
}


def target_version(gfx: str) -> int:
    """Return KFD's gfx_target_version: major * 10000 + minor * 100 + stepping (kfd_device.c)."""
    digits = gfx.removeprefix("gfx")
    return int(digits[:-2]) * 10000 + int(digits[-2], 16) * 100 + int(digits[-1], 16)


def gpu_files(
    gfx: Sequence[str],
    *,
    kfd: bool = True,
    ip_discovery: bool = True,
    cwsr_size: bool = False,
    partitions: int = 1,
    cpu_nodes: int = 1,
    bound: bool = True,
) -> dict[str, File]:
    """Return sysfs of the GPUs: PCI, DRM, and KFD nodes after the CPU nodes, in the order given.

    `partitions` is the number of KFD nodes per GPU (an MI300X in CPX mode has 8). The `cwsr_size` line
    appeared in the kernel releases that brought the CWSR fix (node_show() in kfd_topology.c). KFD, DRM and
    ip_discovery are amdgpu's work: where it is not `bound` to the GPU, PCI is all there is.
    """
    files: dict[str, File] = {}
    kfd, ip_discovery = kfd and bound, ip_discovery and bound
    nodes = "sys/class/kfd/kfd/topology/nodes"
    if kfd and gfx:
        for node in range(cpu_nodes):
            files |= {f"{nodes}/{node}/{name}": text for name, text in _cpu_node().items()}
    node = cpu_nodes
    for index, target in enumerate(gfx):
        bus = 3 + index
        slot = f"0000:{bus:02x}:00.0"
        files |= _pci_and_drm(target, slot, card=index + 1, ip_discovery=ip_discovery, bound=bound)
        for partition in range(partitions if kfd else 0):
            properties = _gpu_properties(target, bus * 256 + partition, node - cpu_nodes, cwsr_size=cwsr_size)
            files[f"{nodes}/{node}/properties"] = properties
            files[f"{nodes}/{node}/gpu_id"] = f"{50000 + node}\n"
            files[f"{nodes}/{node}/name"] = "ip discovery\n"
            node += 1
    return files


def _cpu_node() -> dict[str, str]:
    properties = "cpu_cores_count 16\nsimd_count 0\nmem_banks_count 1\ngfx_target_version 0\nvendor_id 0\n"
    return {"properties": properties, "gpu_id": "0\n", "name": "\n"}


def _gpu_properties(gfx: str, location: int, index: int, *, cwsr_size: bool) -> str:
    lines = [
        "cpu_cores_count 0",
        "simd_count 128",
        "mem_banks_count 1",
        f"wave_front_size {64 if gfx.startswith('gfx9') else 32}",
        f"gfx_target_version {target_version(gfx)}",
        "vendor_id 4098",
        f"device_id {int(GPUS[gfx][1], 16)}",
        f"location_id {location}",
        "domain 0",
        f"drm_render_minor {128 + index}",
        "num_cp_queues 8",
        *(["cwsr_size 30699520", "ctl_stack_size 28672"] if cwsr_size else []),
        "fw_version 2780",
        "num_xcc 1",
    ]
    return "\n".join(lines) + "\n"


def _pci_and_drm(gfx: str, slot: str, *, card: int, ip_discovery: bool, bound: bool) -> dict[str, File]:
    version, device_id = GPUS[gfx]
    pci = f"sys/bus/pci/devices/{slot}"
    display_class = "0x120000" if gfx in ("gfx908", "gfx90a", "gfx942", "gfx950") else "0x030000"
    files: dict[str, File] = {
        f"{pci}/vendor": "0x1002\n",
        f"{pci}/device": f"0x{device_id}\n",
        f"{pci}/class": f"{display_class}\n",
        f"{pci}/uevent": "DRIVER=amdgpu\n" * bound
        + f"PCI_ID=1002:{device_id.upper()}\nPCI_SLOT_NAME={slot}\n",
    }
    if bound:
        files |= {f"{pci}/driver": Link("../../drivers/amdgpu"), "sys/bus/pci/drivers/amdgpu/bind": ""}
        files[f"sys/class/drm/card{card}/device"] = Link(f"../../../bus/pci/devices/{slot}")
    if ip_discovery:
        # amdgpu_discovery.c names the directory by hardware id (11 is GC) and links the name to it.
        major, minor, revision = version.split(".")
        block = f"{pci}/ip_discovery/die/0/11/0"
        files |= {f"{block}/major": f"{major}\n", f"{block}/minor": f"{minor}\n"}
        files |= {f"{block}/revision": f"{revision}\n", f"{pci}/ip_discovery/die/0/GC": Link("11")}
    return files


# Defaults of kernel 6.12 as sysfs prints them; enough parameters for every type.
PARAMETERS: Mapping[str, str] = {
    "backlight": "-1",
    "cg_mask": "18446744073709551615",
    "cwsr_enable": "1",
    "dcdebugmask": "0",
    "disable_cu": "(null)",
    "gpu_recovery": "-1",
    "gttsize": "-1",
    "hws_gws_support": "N",
    "lockup_timeout": "",
    "mes": "0",
    "noretry": "-1",
    "ppfeaturemask": "0xfff7bfff",
    "runpm": "-1",
    "sg_display": "-1",
    "tmz": "-1",
    "vm_fragment_size": "-1",
}
ROOT_ONLY_PARAMETERS = frozenset({"gartsize", "gttsize", "moverate", "vramlimit"})


def module_state(parameters: Mapping[str, str]) -> dict[str, File]:
    """Return /sys/module/amdgpu of a loaded driver."""
    directory = "sys/module/amdgpu/parameters"
    return {
        f"{directory}/{name}": Secret(f"{value}\n") if name in ROOT_ONLY_PARAMETERS else f"{value}\n"
        for name, value in parameters.items()
    }


def kernel_modules(kernel: str, driver: Driver = "module", suffix: str = ".ko.xz") -> dict[str, File]:
    """Return /usr/lib/modules of one kernel; `dkms` has the distribution's amdgpu as well, and hides it.

    depmod puts updates/ before the kernel's own directory (depmod.d(5), `search updates … built-in`).
    """
    base = f"usr/lib/modules/{kernel}"
    stock = f"kernel/drivers/gpu/drm/amd/amdgpu/amdgpu{suffix}"
    dkms = f"updates/dkms/amdgpu{suffix}"
    present = {"module": [stock], "dkms": [dkms, stock], "builtin": [], "missing": []}[driver]
    builtin = ["kernel/fs/ext4/ext4.ko"]
    if driver == "builtin":
        builtin.append("kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko")
    return {
        f"{base}/modules.dep": "".join(f"{path}:\n" for path in present[:1]),
        f"{base}/modules.order": "",
        f"{base}/modules.builtin": "".join(f"{path}\n" for path in builtin),
        **{f"{base}/{path}": "" for path in present},
    }


def cpio_archive(files: Mapping[str, bytes]) -> bytes:
    """Return an uncompressed newc archive of the files and their directories, as the kernel unpacks it.

    Source: Documentation/driver-api/early-userspace/buffer-format.rst.
    """
    parents = {str(parent) for name in files for parent in PurePosixPath(name).parents} - {"."}
    entries: list[tuple[str, int, bytes]] = [(name, 0o040755, b"") for name in sorted(parents)]
    entries += [(name, 0o100644, content) for name, content in files.items()]
    archive = bytearray()
    for inode, (name, mode, content) in enumerate([*entries, ("TRAILER!!!", 0, b"")], start=1):
        encoded = name.encode() + b"\0"
        numbers = (inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(encoded), 0)
        archive += b"070701" + b"".join(b"%08x" % number for number in numbers) + encoded
        archive += bytes(-len(archive) % 4)
        archive += content
        archive += bytes(-len(archive) % 4)
    return bytes(archive)


def initramfs_image(kernel: str, *, amdgpu: bool, modprobe_d: Mapping[str, str] | None = None) -> bytes:
    """Return an initramfs with or without amdgpu; mkinitramfs copies all of /etc/modprobe.d."""
    files = {"conf/initramfs.conf": b"MODULES=most\n"}
    files |= {f"etc/modprobe.d/{name}": text.encode() for name, text in (modprobe_d or {}).items()}
    if amdgpu:
        files[f"usr/lib/modules/{kernel}/kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko.xz"] = b""
    return cpio_archive(files)


def efi_variable(name: str, text: str) -> dict[str, File]:
    """Return one Boot Loader Interface variable: four bytes of attributes, then UTF-16LE with a NUL."""
    path = f"sys/firmware/efi/efivars/{name}-{LOADER_GUID}"
    return {path: b"\x06\0\0\0" + (text + "\0").encode("utf-16-le")}


def firmware(loader_info: str = "", stub_info: str = "") -> dict[str, File]:
    """Return a UEFI host; `loader_info` and `stub_info` are what boot loader and UKI stub left there."""
    files: dict[str, File] = {"sys/firmware/efi/fw_platform_size": "64\n"}
    if loader_info:
        files |= efi_variable("LoaderInfo", loader_info)
    if stub_info:
        files |= efi_variable("StubInfo", stub_info)
    return files


def os_release(name: str, ident: str, version: str = "", **more: str) -> dict[str, File]:
    """Return /usr/lib/os-release and the link to it, as os-release(5) recommends."""
    fields = {"PRETTY_NAME": f"{name} {version}".strip(), "NAME": name, "ID": ident}
    if version:
        fields["VERSION_ID"] = version
    text = "".join(f'{key}="{value}"\n' for key, value in (fields | more).items())
    return {"usr/lib/os-release": text, "etc/os-release": Link("../usr/lib/os-release")}


def running_kernel(kernel: str, cmdline: str) -> dict[str, File]:
    """Return /proc of a host that booted `kernel` with `cmdline`."""
    return {
        "proc/cmdline": cmdline + "\n",
        "proc/version": f"Linux version {kernel} (builder@example) #1 SMP PREEMPT_DYNAMIC\n",
        "proc/sys/kernel/osrelease": kernel + "\n",
        "proc/sys/kernel/tainted": "0\n",
        "proc/sys/kernel/random/boot_id": BOOT_ID + "\n",
    }


def rocm_files(version: str | None) -> dict[str, File]:
    """Return /opt/rocm as AMD's packages install it: a version and a build number in .info/version."""
    if version is None:
        return {}
    return {
        f"opt/rocm-{version}/.info/version": f"{version}-20\n",
        "opt/rocm": Link(f"rocm-{version}"),
    }


# Where each engine says that we are inside of it: docker in /.dockerenv, podman in /run/.containerenv;
# systemd as init writes the name that the engine told it to /run/systemd/container (systemd-detect-virt).
CONTAINER_MARKERS: Mapping[str, FileMap] = {
    "docker": {".dockerenv": ""},
    "podman": {"run/.containerenv": 'engine="podman-5.4.2"\n', "run/systemd/container": "podman\n"},
    "systemd-nspawn": {"run/systemd/container": "systemd-nspawn\n"},
    "lxc": {"run/systemd/container": "lxc\n"},
}


def _newest_first(kernels: Iterable[str]) -> list[str]:
    return sorted(kernels, key=lambda k: [int(n) for n in re.findall(r"\d+", k)], reverse=True)


def debian_grub_cfg(kernels: Sequence[str], always: str = "", default: str = "quiet") -> str:
    """Return grub.cfg as grub-mkconfig 2.12 of Debian writes it for `kernels`, newest first.

    10_linux puts GRUB_CMDLINE_LINUX and then GRUB_CMDLINE_LINUX_DEFAULT behind `ro `; a recovery entry gets
    `single` and GRUB_CMDLINE_LINUX only.
    """
    ordered = _newest_first(kernels)
    normal, recovery = f"{always} {default}", f"single {always}"
    entries = [_menuentry("Debian GNU/Linux", f"gnulinux-simple-{ROOT_UUID}", ordered[0], normal, "")]
    submenu = f"'Advanced options for Debian GNU/Linux' $menuentry_id_option 'gnulinux-advanced-{ROOT_UUID}'"
    entries.append(f"submenu {submenu} {{")
    for kernel in ordered:
        title = f"Debian GNU/Linux, with Linux {kernel}"
        entries.append(_menuentry(title, f"gnulinux-{kernel}-advanced-{ROOT_UUID}", kernel, normal, "\t"))
        title, ident = f"{title} (recovery mode)", f"gnulinux-{kernel}-recovery-{ROOT_UUID}"
        entries.append(_menuentry(title, ident, kernel, recovery, "\t"))
    entries.append("}\n")
    sections = {
        "00_header": 'if [ -s $prefix/grubenv ]; then\n  load_env\nfi\nset default="0"',
        "10_linux": "\n".join(entries),
        "20_linux_xen": "",
        "30_uefi-firmware": "menuentry 'UEFI Firmware Settings' $menuentry_id_option 'uefi-firmware' {\n"
        "\tfwsetup\n}",
    }
    head = "#\n# DO NOT EDIT THIS FILE\n#\n# It is automatically generated by grub-mkconfig using templates\n"
    head += "# from /etc/grub.d and settings from /etc/default/grub\n#\n\n"
    return head + "\n".join(
        f"### BEGIN /etc/grub.d/{name} ###\n{body}\n### END /etc/grub.d/{name} ###\n"
        for name, body in sections.items()
    )


def _menuentry(title: str, ident: str, kernel: str, arguments: str, indent: str) -> str:
    classes = "--class debian --class gnu-linux --class gnu --class os"
    lines = [
        f"menuentry '{title}' {classes} $menuentry_id_option '{ident}' {{",
        "\tload_video",
        "\tinsmod gzio",
        "\tinsmod part_gpt",
        "\tinsmod ext2",
        f"\tsearch --no-floppy --fs-uuid --set=root {ROOT_UUID}",
        f"\techo\t'Loading Linux {kernel} ...'",
        f"\tlinux\t/boot/vmlinuz-{kernel} root=UUID={ROOT_UUID} ro {arguments}",
        "\techo\t'Loading initial ramdisk ...'",
        f"\tinitrd\t/boot/initrd.img-{kernel}",
        "}",
    ]
    return "\n".join(indent + line for line in lines)


def debian_grub_host(
    tmp_path: Path,
    *,
    gfx: str | Sequence[str] | None = "gfx1201",
    kernels: Sequence[str] = ("6.12.107+deb13-amd64",),
    running: str | None = None,
    rocm: str | None = "7.1.0",
    driver: Driver = "module",
    amdgpu_in_initramfs: bool = False,
    kfd: bool = True,
    ip_discovery: bool = True,
    cwsr_size: bool = False,
    partitions: int = 1,
    cmdline: str = "quiet",
    booted_with: str | None = None,
    grub_default: str | None = None,
    grub_d: Mapping[str, str] | None = None,
    modprobe_d: Mapping[str, str] | None = None,
    parameters: Mapping[str, str] | None = None,
    loaded: bool = True,
    live: bool = True,
    efi: bool = True,
    container: str | None = None,
    extra: FileMap | None = None,
    name: str = "root",
) -> Path:
    """Build a Debian 13 host with GRUB and initramfs-tools; return its root.

    gfx           GPUs in KFD order, e.g. ("gfx1201", "gfx1036") for a card and an iGPU; None: no GPU
    running       the booted kernel; default: the newest of `kernels`
    driver        how every kernel has amdgpu: as a module, built in, from DKMS, or not at all
    kfd, ip_discovery   what sysfs offers to name the GPU by; both False leave the PCI ids
    partitions    KFD nodes per GPU
    cmdline       GRUB_CMDLINE_LINUX_DEFAULT, in /etc/default/grub and in grub.cfg
    booted_with   the arguments after `ro` in /proc/cmdline; default: `cmdline`
    grub_default  the whole text of /etc/default/grub instead of the generated one (grub.cfg keeps `cmdline`)
    grub_d        files of /etc/default/grub.d, by name
    modprobe_d    files of /etc/modprobe.d, by name; they are in the initramfs too
    parameters    changes to PARAMETERS, what /sys/module/amdgpu/parameters shows
    loaded        False: amdgpu is not loaded, which also hides KFD and ip_discovery; so it is without a GPU
    live          False: no /proc and no /sys, as in a tree mounted from a rescue shell
    container     a key of CONTAINER_MARKERS
    extra         more files; they win
    """
    targets = [gfx] if isinstance(gfx, str) else list(gfx or ())
    booted = running or _newest_first(kernels)[0]
    default_grub = grub_default if grub_default is not None else _debian_default_grub(cmdline)
    files: dict[str, File] = {
        **os_release("Debian GNU/Linux", "debian", "13", VERSION_CODENAME="trixie"),
        "etc/hostname": "sample\n",
        "etc/default/grub": default_grub,
        "etc/grub.d/10_linux": Program(),
        "boot/grub/grub.cfg": debian_grub_cfg(kernels, default=cmdline),
        "etc/initramfs-tools/initramfs.conf": "MODULES=most\nBUSYBOX=auto\nCOMPRESS=zstd\n",
        "etc/initramfs-tools/update-initramfs.conf": "update_initramfs=yes\nbackup_initramfs=no\n",
        "etc/initramfs-tools/modules": "# List of modules\n" + ("amdgpu\n" if amdgpu_in_initramfs else ""),
        "etc/kernel/postinst.d/zz-update-grub": Program(),
        "etc/kernel/postinst.d/initramfs-tools": Program(),
        "usr/lib/modprobe.d/systemd.conf": "options bonding max_bonds=0\noptions dummy numdummies=0\n",
        "lib": Link("usr/lib"),
        "sbin": Link("usr/sbin"),
        **programs("usr/sbin/update-grub", "usr/sbin/grub-mkconfig", "usr/sbin/update-initramfs"),
        **programs("usr/bin/lsinitramfs", "usr/bin/unmkinitramfs", "usr/bin/kmod", "usr/bin/grub-editenv"),
        "usr/sbin/modprobe": Link("../bin/kmod"),
        **{f"etc/default/grub.d/{file}": text for file, text in (grub_d or {}).items()},
        **{f"etc/modprobe.d/{file}": text for file, text in (modprobe_d or {}).items()},
        **rocm_files(rocm),
        **(CONTAINER_MARKERS[container] if container else {}),
    }
    for kernel in kernels:
        files |= kernel_modules(kernel, driver)
        files[f"boot/vmlinuz-{kernel}"] = "placeholder\n"
        files[f"boot/config-{kernel}"] = f"CONFIG_DRM_AMDGPU={'y' if driver == 'builtin' else 'm'}\n"
        image = initramfs_image(kernel, amdgpu=amdgpu_in_initramfs, modprobe_d=modprobe_d)
        files[f"boot/initrd.img-{kernel}"] = image
    if live:
        arguments = cmdline if booted_with is None else booted_with
        line = f"BOOT_IMAGE=/boot/vmlinuz-{booted} root=UUID={ROOT_UUID} ro {arguments}".rstrip()
        files |= running_kernel(booted, line)
        files |= firmware("GRUB 2.12-9") if efi else {}
        is_loaded = loaded and driver != "missing" and bool(targets)
        files |= gpu_files(
            targets,
            kfd=kfd,
            ip_discovery=ip_discovery,
            cwsr_size=cwsr_size,
            partitions=partitions,
            bound=is_loaded,
        )
        files |= module_state({**PARAMETERS, **(parameters or {})}) if is_loaded else {}
        modules = "amdgpu 19656704 32 - Live 0x0000000000000000\n"
        files["proc/modules"] = modules if is_loaded and driver != "builtin" else ""
    return make_root(tmp_path, files | dict(extra or {}), name=name)


def _debian_default_grub(cmdline: str) -> str:
    return (
        "# If you change this file or any /etc/default/grub.d/*.cfg file,\n"
        "# run 'update-grub' afterwards to update /boot/grub/grub.cfg.\n\nGRUB_DEFAULT=0\nGRUB_TIMEOUT=5\n"
        "GRUB_DISTRIBUTOR=`( . /etc/os-release && echo ${NAME} )`\n"
        f'GRUB_CMDLINE_LINUX_DEFAULT="{cmdline}"\nGRUB_CMDLINE_LINUX=""\n'
    )


def partitioned_instinct_host(tmp_path: Path, extra: FileMap | None = None) -> Path:
    """Build a host with eight MI300X in CPX mode: 64 KFD nodes of one gfx target."""
    return debian_grub_host(tmp_path, gfx=["gfx942"] * 8, partitions=8, extra=extra)


# The other boot chains: what is on the disk and in sysfs, and by which rocmcfg must know them.

ROOT_ARGUMENT = f"root=UUID={ROOT_UUID}"
FEDORA_KERNEL = "6.17.8-300.fc43.x86_64"
ARCH_KERNEL = "6.17.9-arch1-1"
DEBIAN_KERNEL = "6.12.107+deb13-amd64"


def _grubenv(**variables: str) -> str:
    """Return a GRUB environment block, which is always 1024 bytes (grub manual, Environment block)."""
    text = "# GRUB Environment Block\n" + "".join(f"{key}={value}\n" for key, value in variables.items())
    return text + "#" * (1024 - len(text))


def bls_entry(
    title: str, kernel: str, options: str, *, linux: str = "", initrd: str = "", more: str = ""
) -> str:
    """Return a type 1 entry of the Boot Loader Specification (uapi-group.org)."""
    linux, initrd = linux or f"/vmlinuz-{kernel}", initrd or f"/initramfs-{kernel}.img"
    return f"title {title}\nversion {kernel}\nlinux {linux}\ninitrd {initrd}\noptions {options}\n{more}"


def fedora_bls() -> dict[str, File]:
    """Fedora: GRUB reads BLS entries, no /etc/default/grub.d exists (rhboot/grub2 util/grub-mkconfig.in)."""
    options = f"{ROOT_ARGUMENT} ro rootflags=subvol=root rhgb quiet"
    users = "grub_users $grub_users\ngrub_arg --unrestricted\ngrub_class fedora\n"
    older, entries = "6.16.12-200.fc43.x86_64", "boot/loader/entries"
    return {
        **os_release("Fedora Linux", "fedora", "43"),
        "etc/machine-id": MACHINE_ID + "\n",
        "etc/default/grub": "GRUB_TIMEOUT=5\nGRUB_DEFAULT=saved\nGRUB_DISABLE_SUBMENU=true\n"
        'GRUB_CMDLINE_LINUX="rootflags=subvol=root rhgb quiet"\nGRUB_ENABLE_BLSCFG=true\n',
        "etc/kernel/cmdline": options + "\n",
        "boot/grub2/grub.cfg": "insmod blscfg\nblscfg\n",
        "boot/grub2/grubenv": _grubenv(saved_entry=f"{MACHINE_ID}-{FEDORA_KERNEL}", menu_auto_hide="1"),
        "boot/efi/EFI/fedora/grub.cfg": f"search --no-floppy --fs-uuid --set=dev {ROOT_UUID}\n"
        "set prefix=($dev)/grub2\nexport $prefix\nconfigfile $prefix/grub.cfg\n",
        f"{entries}/{MACHINE_ID}-{FEDORA_KERNEL}.conf": bls_entry(
            "Fedora Linux 43", FEDORA_KERNEL, options, more=users
        ),
        f"{entries}/{MACHINE_ID}-{older}.conf": bls_entry("Fedora Linux 43", older, options, more=users),
        f"{entries}/{MACHINE_ID}-0-rescue.conf": bls_entry(
            "Fedora Linux (0-rescue)", f"0-rescue-{MACHINE_ID}", options
        ),
        "etc/dracut.conf": "",
        **programs("usr/bin/grubby", "usr/bin/grub2-mkconfig", "usr/bin/dracut", "usr/bin/lsinitrd"),
        **kernel_modules(older),
        **kernel_modules(FEDORA_KERNEL),
        **running_kernel(FEDORA_KERNEL, f"BOOT_IMAGE=(hd0,gpt2)/vmlinuz-{FEDORA_KERNEL} {options}"),
        **firmware(),
    }


def el8_bls() -> dict[str, File]:
    """EL8: the entries say $kernelopts, and the arguments are in grubenv (RHEL 8 documentation)."""
    kernel = "4.18.0-553.el8_10.x86_64"
    options = f"{ROOT_ARGUMENT} ro crashkernel=auto rhgb quiet"
    entry = bls_entry("Rocky Linux 8", kernel, "$kernelopts $tuned_params")
    return {
        **os_release("Rocky Linux", "rocky", "8.10", ID_LIKE="rhel centos fedora"),
        "etc/default/grub": 'GRUB_CMDLINE_LINUX="crashkernel=auto rhgb quiet"\nGRUB_ENABLE_BLSCFG=true\n',
        "boot/grub2/grub.cfg": "insmod blscfg\nblscfg\n",
        "boot/grub2/grubenv": _grubenv(saved_entry=f"{MACHINE_ID}-{kernel}", kernelopts=options + " "),
        f"boot/loader/entries/{MACHINE_ID}-{kernel}.conf": entry,
        **programs("usr/sbin/grubby", "usr/sbin/grub2-mkconfig", "usr/bin/dracut"),
        **kernel_modules(kernel),
        **running_kernel(kernel, f"BOOT_IMAGE=(hd0,gpt2)/vmlinuz-{kernel} {options}"),
    }


def _arch(kernel: str = ARCH_KERNEL, options: str = f"{ROOT_ARGUMENT} rw quiet") -> dict[str, File]:
    """Arch with mkinitcpio: the hook `kms` adds amdgpu to the image, `modconf` copies modprobe.d."""
    return {
        **os_release("Arch Linux", "arch"),
        "boot/vmlinuz-linux": "placeholder\n",
        "boot/initramfs-linux.img": initramfs_image(kernel, amdgpu=True),
        "etc/mkinitcpio.conf": "HOOKS=(base udev autodetect microcode modconf kms block filesystems)\n",
        "etc/mkinitcpio.d/linux.preset": "ALL_kver=\"/boot/vmlinuz-linux\"\nPRESETS=('default')\n"
        'default_image="/boot/initramfs-linux.img"\n',
        **programs("usr/bin/mkinitcpio", "usr/bin/lsinitcpio", "usr/bin/bootctl", "usr/bin/kernel-install"),
        f"usr/lib/modules/{kernel}/pkgbase": "linux\n",
        **kernel_modules(kernel, suffix=".ko.zst"),
        **running_kernel(kernel, options),
    }


# What tells GRUB's own grub-mkconfig from Debian's: this is all of /etc/default that it reads.
MKCONFIG = Program(
    "#!/bin/sh\nset -e\nif test -f ${sysconfdir}/default/grub ; then\n"
    "  . ${sysconfdir}/default/grub\nfi\nexit 99\n"
)


def arch_grub() -> dict[str, File]:
    """Arch with GRUB: upstream grub-mkconfig, which reads no /etc/default/grub.d."""
    options = f"{ROOT_ARGUMENT} rw  loglevel=3 quiet"
    return {
        **_arch(options=f"BOOT_IMAGE=/boot/vmlinuz-linux {ROOT_ARGUMENT} rw loglevel=3 quiet"),
        "etc/default/grub": 'GRUB_DEFAULT=0\nGRUB_TIMEOUT=5\nGRUB_DISTRIBUTOR="Arch"\n'
        'GRUB_CMDLINE_LINUX_DEFAULT="loglevel=3 quiet"\nGRUB_CMDLINE_LINUX=""\n',
        "boot/grub/grub.cfg": "### BEGIN /etc/grub.d/10_linux ###\n"
        f"menuentry 'Arch Linux' --class arch $menuentry_id_option 'gnulinux-simple-{ROOT_UUID}' {{\n"
        f"\tlinux\t/boot/vmlinuz-linux {options}\n\tinitrd\t/boot/initramfs-linux.img\n}}\n"
        "### END /etc/grub.d/10_linux ###\n",
        "usr/bin/grub-mkconfig": MKCONFIG,
        **programs("usr/bin/grub-editenv"),
        **firmware(),
    }


def arch_systemd_boot() -> dict[str, File]:
    """Arch with systemd-boot and an entry written by hand, as the installation guide tells one to."""
    options = f"{ROOT_ARGUMENT} rw quiet"
    return {
        **_arch(options=f"initrd=\\initramfs-linux.img {options}"),
        "boot/loader/loader.conf": "default arch.conf\ntimeout 3\n",
        "boot/loader/entries/arch.conf": "title   Arch Linux\nlinux   /vmlinuz-linux\n"
        f"initrd  /initramfs-linux.img\noptions {options}\n",
        "boot/EFI/systemd/systemd-bootx64.efi": "placeholder\n",
        **firmware("systemd-boot 258.2-2-arch"),
        **efi_variable("LoaderEntrySelected", "arch.conf"),
    }


def uki_mkinitcpio() -> dict[str, File]:
    """Arch with UKIs: arguments come from /etc/kernel/cmdline and /etc/cmdline.d (mkinitcpio(8))."""
    options = f"{ROOT_ARGUMENT} rw quiet"
    return {
        **_arch(options=options),
        "etc/kernel/cmdline": options + "\n",
        "etc/mkinitcpio.d/linux.preset": "ALL_kver=\"/boot/vmlinuz-linux\"\nPRESETS=('default')\n"
        'default_uki="/efi/EFI/Linux/arch-linux.efi"\n',
        "efi/EFI/Linux/arch-linux.efi": "MZ placeholder\n",
        "efi/loader/loader.conf": "timeout 3\n",
        **firmware("systemd-boot 258.2-2-arch", "systemd-stub 258.2-2-arch"),
        **efi_variable("LoaderEntrySelected", "arch-linux.efi"),
    }


def uki_dracut() -> dict[str, File]:
    """A UKI made by dracut: uefi=yes and kernel_cmdline= in dracut.conf.d (dracut.conf(5))."""
    options = f"{ROOT_ARGUMENT} ro quiet"
    return {
        **os_release("EndeavourOS", "endeavouros", ID_LIKE="arch"),
        "etc/dracut.conf.d/uefi.conf": f'uefi="yes"\nkernel_cmdline="{options}"\n',
        "efi/EFI/Linux/linux-6.17.9.efi": "MZ placeholder\n",
        **programs("usr/bin/dracut", "usr/bin/lsinitrd"),
        **kernel_modules(ARCH_KERNEL, suffix=".ko.zst"),
        **running_kernel(ARCH_KERNEL, options),
        **firmware("systemd-boot 258.2-2-arch", "systemd-stub 258.2-2-arch"),
    }


def uki_ukify() -> dict[str, File]:
    """Debian with ukify: kernel-install has layout=uki and reads /etc/kernel/cmdline (kernel-install(8))."""
    options = f"{ROOT_ARGUMENT} ro quiet"
    return {
        **os_release("Debian GNU/Linux", "debian", "13"),
        "etc/machine-id": MACHINE_ID + "\n",
        "etc/kernel/install.conf": "layout=uki\n",
        "etc/kernel/cmdline": options + "\n",
        f"boot/efi/EFI/Linux/{MACHINE_ID}-{DEBIAN_KERNEL}.efi": "MZ placeholder\n",
        f"boot/vmlinuz-{DEBIAN_KERNEL}": "placeholder\n",
        **programs("usr/bin/kernel-install", "usr/bin/ukify", "usr/bin/bootctl", "usr/sbin/update-initramfs"),
        "etc/initramfs-tools/modules": "",
        **kernel_modules(DEBIAN_KERNEL),
        **running_kernel(DEBIAN_KERNEL, options),
        **firmware("systemd-boot 257.9-1~deb13u1", "systemd-stub 257.9-1~deb13u1"),
    }


def systemd_boot_kernel_install() -> dict[str, File]:
    """Debian's systemd-boot package: kernel-install writes the entries from /etc/kernel/cmdline.

    Remove etc/kernel/cmdline from the map for the trap: kernel-install then takes /proc/cmdline
    (90-loaderentry.install), and a new file with only our arguments would lose root=.
    """
    options, directory = f"{ROOT_ARGUMENT} ro quiet", f"/{MACHINE_ID}/{DEBIAN_KERNEL}"
    initrd = f"{directory}/initrd.img-{DEBIAN_KERNEL}"
    entry = bls_entry("Debian", DEBIAN_KERNEL, options, linux=f"{directory}/linux", initrd=initrd)
    return {
        **os_release("Debian GNU/Linux", "debian", "13"),
        "etc/machine-id": MACHINE_ID + "\n",
        "etc/kernel/cmdline": options + "\n",
        "etc/kernel/postinst.d/zz-systemd-boot": Program(),
        "boot/efi/loader/loader.conf": "timeout 3\n",
        "boot/efi/loader/entries.srel": "type1\n",
        f"boot/efi/loader/entries/{MACHINE_ID}-{DEBIAN_KERNEL}.conf": entry,
        f"boot/efi{directory}/linux": "placeholder\n",
        f"boot/vmlinuz-{DEBIAN_KERNEL}": "placeholder\n",
        f"boot/initrd.img-{DEBIAN_KERNEL}": initramfs_image(DEBIAN_KERNEL, amdgpu=False),
        "etc/initramfs-tools/modules": "",
        **programs(
            "usr/bin/kernel-install", "usr/bin/bootctl", "usr/sbin/update-initramfs", "usr/bin/lsinitramfs"
        ),
        **kernel_modules(DEBIAN_KERNEL),
        **running_kernel(
            # systemd-boot passes the path with the backslashes of UEFI.
            DEBIAN_KERNEL,
            "initrd=" + initrd.replace("/", "\\") + " " + options,
        ),
        **firmware("systemd-boot 257.9-1~deb13u1"),
        **efi_variable("LoaderEntrySelected", f"{MACHINE_ID}-{DEBIAN_KERNEL}.conf"),
    }


def _opensuse(loader_type: str, options: str, kernel: str = "6.17.9-1-default") -> dict[str, File]:
    return {
        **os_release("openSUSE Tumbleweed", "opensuse-tumbleweed", "20251120", ID_LIKE="opensuse suse"),
        "etc/machine-id": MACHINE_ID + "\n",
        "etc/sysconfig/bootloader": f'LOADER_TYPE="{loader_type}"\nSECURE_BOOT="yes"\n',
        **programs("usr/bin/dracut", "usr/bin/lsinitrd", "usr/sbin/update-bootloader"),
        **kernel_modules(kernel, suffix=".ko.zst"),
        **running_kernel(kernel, options),
    }


def opensuse_grub2() -> dict[str, File]:
    """openSUSE with classic GRUB: /etc/default/grub and grub2-mkconfig; LOADER_TYPE names it."""
    kernel = "6.17.9-1-default"
    return {
        **_opensuse("grub2-efi", f"BOOT_IMAGE=/boot/vmlinuz-{kernel} {ROOT_ARGUMENT} splash=silent quiet"),
        "etc/default/grub": 'GRUB_DISTRIBUTOR=""\nGRUB_DEFAULT=saved\n'
        'GRUB_CMDLINE_LINUX_DEFAULT="splash=silent quiet"\nGRUB_CMDLINE_LINUX=""\n',
        "boot/grub2/grub.cfg": "### BEGIN /etc/grub.d/10_linux ###\nmenuentry 'openSUSE Tumbleweed' {\n"
        f"\tlinux /boot/vmlinuz-{kernel} {ROOT_ARGUMENT}  splash=silent quiet\n}}\n"
        "### END /etc/grub.d/10_linux ###\n",
        "usr/sbin/grub2-mkconfig": MKCONFIG,
        **firmware(),
    }


def _opensuse_bls(loader_type: str, loader_info: str) -> dict[str, File]:
    kernel, options = "6.17.9-1-default", f"{ROOT_ARGUMENT} splash=silent quiet"
    directory = f"/opensuse-tumbleweed/{kernel}"
    entry = bls_entry(
        "openSUSE Tumbleweed",
        f"1@{kernel}",
        options,
        linux=f"{directory}/linux-0",
        initrd=f"{directory}/initrd-0",
    )
    return {
        **_opensuse(loader_type, options),
        "etc/kernel/cmdline": options + "\n",
        f"boot/efi/loader/entries/system-opensuse-tumbleweed-{kernel}-1.conf": entry,
        "boot/efi/loader/loader.conf": "timeout 5\n",
        **programs("usr/bin/sdbootutil"),
        **firmware(loader_info),
    }


def opensuse_grub2_bls() -> dict[str, File]:
    """openSUSE's newer default: sdbootutil makes entries that GRUB shows; it reads /etc/kernel/cmdline.d."""
    return _opensuse_bls("grub2-bls", "GRUB 2.14")


def opensuse_systemd_boot() -> dict[str, File]:
    """openSUSE MicroOS and Tumbleweed with systemd-boot: sdbootutil as well."""
    return _opensuse_bls("systemd-boot", "systemd-boot 257.9+suse")


def ostree() -> dict[str, File]:
    """Fedora Silverblue: /run/ostree-booted says so (libostree), rpm-ostree owns the arguments."""
    deployment = f"ostree=/ostree/boot.1/fedora/{MACHINE_ID}/0"
    options = f"{ROOT_ARGUMENT} rw rhgb quiet {deployment}"
    return {
        **os_release("Fedora Linux", "fedora", "43", VARIANT_ID="silverblue", OSTREE_VERSION="43.20251120.0"),
        "run/ostree-booted": "",
        "ostree/repo/config": "[core]\nrepo_version=1\nmode=bare\n",
        "boot/loader": Link("loader.1"),
        "boot/loader.1/entries/ostree-1.conf": bls_entry("Fedora Linux 43 (ostree:0)", "1", options),
        "boot/grub2/grub.cfg": "insmod blscfg\nblscfg\n",
        **programs("usr/bin/rpm-ostree", "usr/bin/ostree", "usr/bin/dracut"),
        **kernel_modules(FEDORA_KERNEL),
        **running_kernel(FEDORA_KERNEL, f"BOOT_IMAGE=(hd0,gpt3)/ostree/vmlinuz-{FEDORA_KERNEL} {options}"),
        **firmware(),
    }


def bootc() -> dict[str, File]:
    """A bootc host such as Bazzite: an ostree host whose image is managed by bootc."""
    release = os_release(
        "Bazzite", "bazzite", "43", ID_LIKE="fedora", VARIANT_ID="bazzite", OSTREE_VERSION="43.1"
    )
    return {**ostree(), **release, **programs("usr/bin/bootc")}


def limine() -> dict[str, File]:
    """CachyOS with Limine: /etc/default/limine overrides the drop-ins in /etc/limine-entry-tool.d."""
    kernel, options = "6.17.9-2-cachyos", f"quiet nowatchdog splash rw rootflags=subvol=/@ {ROOT_ARGUMENT}"
    return {
        **_arch(kernel, options),
        **os_release("CachyOS", "cachyos", ID_LIKE="arch"),
        "boot/limine.conf": "timeout: 5\n\n/+CachyOS\n  //linux-cachyos\n    protocol: linux\n"
        f"    path: boot():/{MACHINE_ID}/linux-cachyos/vmlinuz-linux-cachyos\n    cmdline: {options}\n"
        f"    module_path: boot():/{MACHINE_ID}/linux-cachyos/initramfs-linux-cachyos\n",
        "etc/limine-entry-tool.conf": '# KERNEL_CMDLINE[default]=""\n',
        "etc/default/limine": f'ESP_PATH="/boot"\nKERNEL_CMDLINE[default]+="{options}"\n',
        **programs(
            "usr/bin/limine",
            "usr/bin/limine-mkinitcpio",
            "usr/bin/limine-update",
            "usr/bin/limine-entry-tool",
        ),
        **firmware("Limine 10.3.2"),
    }


def popos() -> dict[str, File]:
    """Pop!_OS on UEFI: kernelstub keeps the arguments in JSON and writes the systemd-boot entry."""
    kernel, options = (
        "6.17.4-76061704-generic",
        f"{ROOT_ARGUMENT} ro quiet loglevel=0 systemd.show_status=false splash",
    )
    configuration = (
        '{\n  "user": {\n'
        '    "kernel_options": ["quiet", "loglevel=0", "systemd.show_status=false", "splash"],\n'
        '    "esp_path": "/boot/efi",\n    "setup_loader": true,\n    "manage_mode": true,\n'
        '    "config_rev": 3\n  }\n}\n'
    )
    directory = f"/EFI/Pop_OS-{ROOT_UUID}"
    entry = (
        f"title Pop!_OS\nlinux {directory}/vmlinuz.efi\ninitrd {directory}/initrd.img\noptions {options}\n"
    )
    return {
        **os_release("Pop!_OS", "pop", "24.04", ID_LIKE="ubuntu debian"),
        "etc/kernelstub/configuration": configuration,
        "boot/efi/loader/loader.conf": "default Pop_OS-current\n",
        "boot/efi/loader/entries/Pop_OS-current.conf": entry,
        "etc/initramfs-tools/modules": "",
        f"boot/vmlinuz-{kernel}": "placeholder\n",
        f"boot/initrd.img-{kernel}": initramfs_image(kernel, amdgpu=False),
        "etc/kernel/postinst.d/zz-kernelstub": Program(),
        **programs(
            "usr/bin/kernelstub", "usr/bin/bootctl", "usr/sbin/update-initramfs", "usr/bin/lsinitramfs"
        ),
        **kernel_modules(kernel, suffix=".ko.zst"),
        **running_kernel(kernel, f"initrd=\\EFI\\Pop_OS-{ROOT_UUID}\\initrd.img {options}"),
        **firmware("systemd-boot 255.4-1ubuntu8pop1"),
    }


def _proxmox(options: str) -> dict[str, File]:
    kernel = "6.17.2-1-pve"
    return {
        **os_release("Debian GNU/Linux", "debian", "13"),
        "etc/initramfs-tools/modules": "",
        f"boot/vmlinuz-{kernel}": "placeholder\n",
        f"boot/initrd.img-{kernel}": initramfs_image(kernel, amdgpu=False),
        **programs("usr/sbin/proxmox-boot-tool", "usr/bin/pveversion", "usr/sbin/update-initramfs"),
        **kernel_modules(kernel, suffix=".ko"),
        **running_kernel(kernel, options),
    }


def proxmox_systemd_boot() -> dict[str, File]:
    """Proxmox VE on ZFS: proxmox-boot-tool has its ESPs in proxmox-boot-uuids; the arguments are one line."""
    options = "root=ZFS=rpool/ROOT/pve-1 boot=zfs"
    return {
        **_proxmox(f"initrd=\\EFI\\proxmox\\6.17.2-1-pve\\initrd.img-6.17.2-1-pve {options}"),
        "etc/kernel/proxmox-boot-uuids": ESP_UUID + "\n",
        "etc/kernel/cmdline": options + "\n",
        **firmware("systemd-boot 257.9-1~deb13u1"),
    }


def proxmox_grub() -> dict[str, File]:
    """Proxmox VE on LVM: GRUB as on Debian; proxmox-boot-tool is installed and manages nothing."""
    kernel, options = "6.17.2-1-pve", "root=/dev/mapper/pve-root ro quiet"
    return {
        **_proxmox(f"BOOT_IMAGE=/boot/vmlinuz-{kernel} {options}"),
        "etc/default/grub": _debian_default_grub("quiet"),
        "etc/default/grub.d/proxmox-ve.cfg": 'GRUB_DISTRIBUTOR="Proxmox VE"\nGRUB_DISABLE_OS_PROBER=true\n',
        "boot/grub/grub.cfg": debian_grub_cfg([kernel]).replace(ROOT_ARGUMENT, "root=/dev/mapper/pve-root"),
        **programs("usr/sbin/update-grub", "usr/sbin/grub-mkconfig"),
        **firmware("GRUB 2.12-9+pmx2"),
    }


def steamos() -> dict[str, File]:
    """SteamOS: a file in /etc survives an update only if /etc/atomic-update.conf.d lists it."""
    kernel = "6.11.11-valve24-1-neptune-611"
    return {
        **_arch(kernel, f"BOOT_IMAGE=/boot/vmlinuz-linux-neptune-611 {ROOT_ARGUMENT} rw quiet splash"),
        **os_release("SteamOS", "steamos", "3.7.13", ID_LIKE="arch", VARIANT_ID="steamdeck"),
        "etc/default/grub": 'GRUB_CMDLINE_LINUX_DEFAULT="quiet splash"\nGRUB_CMDLINE_LINUX=""\n',
        "efi/EFI/steamos/grub.cfg": "menuentry 'SteamOS' {\n"
        f"\tsteamenv_boot linux /boot/vmlinuz-linux-neptune-611 {ROOT_ARGUMENT} rw quiet splash\n}}\n",
        "etc/atomic-update.conf.d/example-additional-keep-list.conf": "# /etc/example.conf\n",
        **programs(
            "usr/bin/steamos-readonly",
            "usr/bin/steamos-update",
            "usr/bin/update-grub",
            "usr/bin/grub-mkconfig",
        ),
        **firmware(),
    }


def gentoo_builtin() -> dict[str, File]:
    """Gentoo with GRUB, amdgpu built in and no initramfs: modprobe.d is inert there."""
    kernel = "6.12.58-gentoo"
    return {
        **os_release("Gentoo", "gentoo", "2.18"),
        "etc/default/grub": 'GRUB_DISTRIBUTOR="Gentoo"\nGRUB_CMDLINE_LINUX=""\n',
        "boot/grub/grub.cfg": "### BEGIN /etc/grub.d/10_linux ###\nmenuentry 'Gentoo GNU/Linux' {\n"
        f"\tlinux\t/boot/vmlinuz-{kernel} {ROOT_ARGUMENT} ro  \n}}\n### END /etc/grub.d/10_linux ###\n",
        f"boot/vmlinuz-{kernel}": "placeholder\n",
        "usr/bin/grub-mkconfig": MKCONFIG,
        **kernel_modules(kernel, "builtin"),
        **running_kernel(kernel, f"BOOT_IMAGE=/boot/vmlinuz-{kernel} {ROOT_ARGUMENT} ro"),
    }


def nixos() -> dict[str, File]:
    """NixOS: /etc/NIXOS marks it; what anyone writes elsewhere is lost at the next switch."""
    kernel = "6.12.58"
    system = "nix/store/00000000000000000000000000000000-nixos-system-sample-25.11"
    return {
        **os_release("NixOS", "nixos", "25.11"),
        "etc/NIXOS": "",
        "etc/nixos/configuration.nix": "{ ... }:\n{ boot.loader.systemd-boot.enable = true; }\n",
        f"{system}/kernel-params": "loglevel=4",
        "run/current-system": Link(f"../{system}"),
        "boot/loader/loader.conf": "timeout 5\ndefault nixos-generation-1.conf\n",
        "boot/loader/entries/nixos-generation-1.conf": bls_entry(
            "NixOS", "Generation 1", f"{ROOT_ARGUMENT} loglevel=4"
        ),
        **running_kernel(kernel, f"initrd=\\EFI\\nixos\\initrd.efi init=/{system}/init loglevel=4"),
        **firmware("systemd-boot 258.2"),
    }


def guix() -> dict[str, File]:
    """Guix System: /run/current-system/profile exists there and nowhere else."""
    return {
        **os_release("Guix System", "guix"),
        "gnu/store/00000000000000000000000000000000-system/profile/manifest": "()\n",
        "run/current-system": Link("../gnu/store/00000000000000000000000000000000-system"),
        "boot/grub/grub.cfg": "menuentry 'GNU with Linux' {\n"
        f"  linux /gnu/store/0-linux/bzImage {ROOT_ARGUMENT}\n}}\n",
        **running_kernel("6.12.58-gnu", f"BOOT_IMAGE=/gnu/store/0-linux/bzImage {ROOT_ARGUMENT}"),
    }


def ubuntu_core() -> dict[str, File]:
    """Ubuntu Core: snapd owns the arguments (`snap set system system.kernel.cmdline-append`)."""
    return {
        **os_release("Ubuntu Core", "ubuntu-core", "24"),
        "var/lib/snapd/modeenv": "mode=run\nbase=core24_1.snap\n",
        **programs("usr/bin/snap"),
        **running_kernel("6.8.0-90-generic", "snapd_recovery_mode=run console=tty1 panic=-1"),
        **firmware(),
    }


def two_boot_chains() -> dict[str, File]:
    """GRUB and systemd-boot both complete, and no firmware variable that says which one boots."""
    return {**arch_grub(), **_without_firmware(arch_systemd_boot()), **firmware()}


def grub_with_leftover_loader_conf() -> dict[str, File]:
    """GRUB boots, and says so to the firmware; a stray loader.conf proves nothing."""
    return {**arch_grub(), "boot/loader/loader.conf": "timeout 3\n", **firmware("GRUB 2:2.14-1")}


def _without_firmware(files: FileMap) -> dict[str, File]:
    return {path: file for path, file in files.items() if not path.startswith("sys/firmware/")}


OTHER_HOSTS: Mapping[str, Callable[[], dict[str, File]]] = {
    "fedora-bls": fedora_bls,
    "el8-bls": el8_bls,
    "arch-grub": arch_grub,
    "arch-systemd-boot": arch_systemd_boot,
    "systemd-boot-kernel-install": systemd_boot_kernel_install,
    "uki-mkinitcpio": uki_mkinitcpio,
    "uki-dracut": uki_dracut,
    "uki-ukify": uki_ukify,
    "opensuse-grub2": opensuse_grub2,
    "opensuse-grub2-bls": opensuse_grub2_bls,
    "opensuse-systemd-boot": opensuse_systemd_boot,
    "ostree": ostree,
    "bootc": bootc,
    "limine": limine,
    "popos": popos,
    "proxmox-systemd-boot": proxmox_systemd_boot,
    "proxmox-grub": proxmox_grub,
    "steamos": steamos,
    "gentoo-builtin": gentoo_builtin,
    "nixos": nixos,
    "guix": guix,
    "ubuntu-core": ubuntu_core,
    "two-boot-chains": two_boot_chains,
    "grub-with-leftover-loader-conf": grub_with_leftover_loader_conf,
}


def other_host(
    tmp_path: Path,
    chain: str,
    *,
    gfx: str | Sequence[str] | None = "gfx1201",
    rocm: str | None = "7.1.0",
    parameters: Mapping[str, str] | None = None,
    without: Iterable[str] = (),
    extra: FileMap | None = None,
    name: str = "root",
) -> Path:
    """Build the host `chain` of OTHER_HOSTS with GPUs, ROCm and amdgpu, less the paths in `without`."""
    targets = [gfx] if isinstance(gfx, str) else list(gfx or ())
    files: dict[str, File] = {
        **OTHER_HOSTS[chain](),
        "lib": Link("usr/lib"),
        **rocm_files(rocm),
        **gpu_files(targets),
        **module_state({**PARAMETERS, **(parameters or {})}),
    }
    dropped = set(without)
    unknown = dropped - files.keys()
    if unknown:
        raise KeyError(f"{chain} has no {sorted(unknown)}")
    kept = {path: file for path, file in files.items() if path not in dropped}
    return make_root(tmp_path, kept | dict(extra or {}), name=name)
