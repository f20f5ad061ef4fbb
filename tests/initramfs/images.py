"""Trees whose programs that look into images are the stand-ins, and archives for them."""

from __future__ import annotations

from pathlib import Path

from rocmcfg.loaders.shared.menu import Entry, Role
from tests.support.hosts import File, Link, cpio_archive, kernel_modules, make_root, programs
from tests.support.tool_host import ToolHost

KERNEL = "6.1"
PATH = "/etc/modprobe.d/zz-rocmcfg.conf"
OURS = b"options amdgpu runpm=0\n"
DRIVER = f"usr/lib/modules/{KERNEL}/kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko.xz"
_PROGRAMS = (
    "usr/bin/dracut",
    "usr/bin/lsinitrd",
    "usr/bin/mkinitcpio",
    "usr/bin/lsinitcpio",
    "usr/bin/booster",
)


def image(text: bytes | None = None, *, driver: bool = True, name: str = PATH) -> bytes:
    """An image, with the file `name` in it if it has a `text`."""
    files = {"init": b"", **({DRIVER: b""} if driver else {})}
    return cpio_archive(files if text is None else {**files, name.lstrip("/"): text})


def host(tmp_path: Path, files: dict[str, File]) -> ToolHost:
    return ToolHost(
        str(
            make_root(
                tmp_path, {**programs(*_PROGRAMS), **kernel_modules(KERNEL), "lib": Link("usr/lib"), **files}
            )
        )
    )


def entry(*initrds: str, release: str = KERNEL) -> Entry:
    return Entry("a", "a", "/vmlinuz", release, initrds, (), Role.NORMAL)
