"""What doctor says of GPUs that nothing failed on yet: rights, slots, memory windows, drivers, libraries."""

from __future__ import annotations

import grp  # noqa: F401  # whoever has no rights may not be able to load it any more
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from rocmcfg.host.local import LocalHost
from rocmcfg.host.local_view import LocalView
from tests.support.hosts import File, Link, debian_grub_host

from .test_host_checks import checks

GPU = "sys/bus/pci/devices/0000:03:00.0"
SLOT, CARD = "0000:00:01.1", "0000:01:00.0"


# -- rights ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("groups", "container", "hint"),
    [
        ({"/dev/kfd": "render", "/dev/dri/renderD128": "render"}, None, "sudo usermod -aG render $USER"),
        ({"/dev/kfd": "render", "/dev/dri/renderD128": "video"}, None, "usermod -aG render,video $USER"),
        ({"/dev/kfd": "109"}, "docker", "--group-add 109"),
        ({"/dev/kfd": "root"}, None, "because no group has access"),
    ],
)
def test_who_may_not_use_the_gpu_is_told_the_group(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    groups: Mapping[str, str],
    container: str | None,
    hint: str,
) -> None:
    nodes = {"dev/kfd": "", "dev/dri/renderD128": "", "dev/dri/card0": ""}
    root = debian_grub_host(tmp_path, container=container, extra=nodes)
    monkeypatch.setattr(LocalView, "closed_to_us", lambda _, path: groups.get(path))
    found = checks(root)["RC8140"]
    assert found.summary == f"you may not open {', '.join(groups)}"
    assert hint in found.hint


def test_a_device_is_closed_to_those_who_are_not_in_its_group() -> None:
    """The real one, asked by somebody who has no rights."""
    if not os.path.exists("/dev/kmsg"):
        pytest.skip("this /dev has no kmsg, which is closed to most")
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            said = [LocalHost("/").closed_to_us(path) for path in ("/dev/kmsg", "/dev/null", "/dev/nothing")]
            os.write(write, repr(said).encode())
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    assert os.read(read, 1000).decode() in ("['root', None, None]", "['adm', None, None]")


# -- slots -----------------------------------------------------------------------------------------


def plugged_in(lanes: str, card: str = "16", slot: str = "16") -> dict[str, File]:
    """A card with bridges of its own, as since Navi: inside it, there are always 16 lanes."""
    way = f"sys/devices/pci0000:00/{SLOT}/{CARD}/0000:02:00.0/0000:03:00.0"
    inner = {"vendor": "0x1002\n", "current_link_width": "16\n", "max_link_width": "16\n"}
    files: dict[str, File] = {f"{way}/{name}": text for name, text in inner.items()}
    files |= {f"{way}/device": "0x7550\n", f"{way}/class": "0x030000\n", f"{way}/driver": Link("amdgpu")}
    files |= {GPU: Link(f"../../../../{way}"), "sys/bus/pci/drivers/amdgpu/bind": ""}
    bridges = {SLOT: ("0x1022\n", "16", slot), CARD: ("0x1002\n", lanes, card), "0000:02:00.0": inner}
    for name, said in bridges.items():
        values = said if isinstance(said, dict) else dict(zip(inner, said, strict=True))
        files |= {f"sys/bus/pci/devices/{name}/{key}": text for key, text in values.items()}
    return files


@pytest.mark.parametrize(
    ("lanes", "card", "slot", "said"),
    [
        ("4", "16", "16", "4 of the 16 lanes"),
        ("4", "8", "16", "4 of the 8 lanes"),
        ("4", "16", "4", ""),  # more the slot does not have
        ("16", "16", "16", ""),
        ("0", "16", "16", ""),  # the link is down, as of a card that sleeps
        ("garbage", "16", "16", ""),
    ],
)
def test_lanes_that_card_and_slot_have_and_do_not_use(
    tmp_path: Path, lanes: str, card: str, slot: str, said: str
) -> None:
    root = debian_grub_host(tmp_path, gfx=None, extra=plugged_in(lanes, card, slot))
    found = checks(root).get("RC8142")
    assert (found.summary if found else "").partition(" runs on ")[2].startswith(said)
    assert bool(found) == bool(said)


# -- memory ----------------------------------------------------------------------------------------


def window(visible: int, whole: int = 16304) -> dict[str, str]:
    names = {"mem_info_vis_vram_total": visible, "mem_info_vram_total": whole}
    return {f"{GPU}/{name}": f"{size << 20}\n" for name, size in names.items()}


def test_a_small_window_into_the_memory_of_a_card_is_told(tmp_path: Path) -> None:
    found = checks(debian_grub_host(tmp_path, extra=window(256)))["RC8143"]
    assert found.summary == "the CPU sees 256 of the 16304 MiB of gfx1201"
    assert checks(debian_grub_host(tmp_path, name="all", extra=window(16304))) == {}
    inside = debian_grub_host(tmp_path, name="apu", gfx="gfx1151", extra=window(256, 512))
    assert "RC8143" not in checks(inside)


# -- driver ----------------------------------------------------------------------------------------


def test_a_gpu_that_rocm_does_not_get(tmp_path: Path) -> None:
    """Its KFD node is missing, and that of another GPU is there."""
    other = "sys/class/kfd/kfd/topology/nodes/1/properties"
    root = debian_grub_host(tmp_path, gfx=("gfx1201", "gfx906"))
    assert checks(root) == {}
    (root / other.replace("/1/", "/2/")).unlink()
    found = checks(root)["RC8141"]
    assert found.location == "/sys/bus/pci/devices/0000:04:00.0"
    assert "gfx906" in found.summary
    contained = debian_grub_host(tmp_path, gfx=("gfx1201", "gfx906"), container="docker", name="contained")
    (contained / other.replace("/1/", "/2/")).unlink()
    assert "RC8141" not in checks(contained), "it was given to another container"


def test_a_kernel_without_the_dkms_driver_that_others_have(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, kernels=("6.8.0-90-generic", "6.14.0-37-generic"), driver="dkms")
    assert "RC8144" not in checks(root)
    for file in (root / "usr/lib/modules/6.14.0-37-generic/updates").rglob("amdgpu.ko*"):
        own = root / "usr/lib/modules/6.14.0-37-generic/kernel/drivers/gpu/drm/amd/amdgpu" / file.name
        own.parent.mkdir(parents=True, exist_ok=True)
        file.rename(own)
    assert "6.14.0-37-generic" in checks(root)["RC8144"].summary


# -- libraries -------------------------------------------------------------------------------------


def library(*targets: str) -> dict[str, str]:
    folder = "opt/rocm-7.1.0/lib/rocblas/library"
    return {f"{folder}/TensileLibrary_lazy_{target}.dat": "" for target in targets}


def test_libraries_without_code_for_the_gpu(tmp_path: Path) -> None:
    found = checks(debian_grub_host(tmp_path, gfx="gfx1103", extra=library("gfx1100", "gfx90a")))["RC8145"]
    assert (found.location, found.detail) == ("/opt/rocm/lib/rocblas/library", "it has gfx1100, gfx90a")
    for name, files in (("has", library("gfx1103")), ("generic", library("gfx11-generic")), ("none", {})):
        assert "RC8145" not in checks(debian_grub_host(tmp_path, gfx="gfx1103", extra=files, name=name))
    passed_off = debian_grub_host(tmp_path, gfx="gfx1103", extra=library("gfx1100"), name="passed-off")
    assert "RC8145" not in checks(passed_off, {"HSA_OVERRIDE_GFX_VERSION": "11.0.0"})


def test_a_card_with_code_makes_up_for_an_integrated_gpu_without(tmp_path: Path) -> None:
    root = debian_grub_host(tmp_path, gfx=("gfx1201", "gfx1036"), extra=library("gfx1201"))
    assert "RC8145" not in checks(root)
