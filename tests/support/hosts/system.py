"""What every host has, whichever loader boots it: its ids, firmware, release and ROCm."""

from __future__ import annotations

from collections.abc import Mapping

from .files import File, FileMap, Link

ROOT_UUID = "3f6c1d52-8a0e-4b7d-9c54-2e1f70a6b8d3"


ESP_UUID = "5E1A-90C7"


MACHINE_ID = "0b9d3c7e5f184a62a1d4e6807c2f93b5"


BOOT_ID = "6d0c4f2a-51b7-4c39-8e6f-0b1a7d93c2e4"


# The vendor GUID of the Boot Loader Interface: https://systemd.io/BOOT_LOADER_INTERFACE/
LOADER_GUID = "4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"


def efi_variable(name: str, text: str) -> dict[str, File]:
    """Return one Boot Loader Interface variable: four bytes of attributes, then UTF-16LE with a NUL."""
    path = f"sys/firmware/efi/efivars/{name}-{LOADER_GUID}"
    return {path: b"\x06\0\0\0" + (text + "\0").encode("utf-16-le")}


def firmware(loader_info: str = "", stub_info: str = "") -> dict[str, File]:
    """Return a UEFI host; `loader_info` and `stub_info` are what boot loader and UKI stub left there."""
    files: dict[str, File] = {"sys/firmware/efi/fw_platform_size": "64\n"}
    if loader_info:
        files |= efi_variable("LoaderInfo", loader_info)
    if loader_info.startswith("systemd-boot"):  # what 257 has (src/boot/boot.c, export_loader_variables)
        features = b"\x06\0\0\0" + (0x1FFFF).to_bytes(8, "little")
        files[f"sys/firmware/efi/efivars/LoaderFeatures-{LOADER_GUID}"] = features
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


ROOT_ARGUMENT = f"root=UUID={ROOT_UUID}"
