"""booster: options of modprobe.d that it hands to the image, read as it reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocmcfg.backends.initramfs.booster import GENERATOR as booster
from tests.backends.initramfs.images import KERNEL, OURS, PATH, entry, host, image
from tests.support.hosts import File

IMAGE = "/boot/booster-linux.img"
INIT = "/etc/booster.init.yaml"


def files(more: dict[str, File]) -> dict[str, File]:
    return {f"usr/lib/modules/{KERNEL}/pkgbase": "linux\n", **more}


def test_each_image_is_built_by_itself_for_the_kernel_of_its_package(tmp_path: Path) -> None:
    view = host(tmp_path, files({IMAGE: image(), f"boot/m/{KERNEL}/initrd": image()}))
    (step,) = booster.activations(view, "why", (entry(f"/m/{KERNEL}/initrd"),))
    head = ("booster", "build", "--force", "--kernel-version", KERNEL)
    assert step.commands == ((*head, IMAGE), (*head, f"/boot/m/{KERNEL}/initrd"))


def test_a_spare_image_and_one_of_no_known_kernel_are_not_written_over(tmp_path: Path) -> None:
    view = host(
        tmp_path, files({"boot/booster-linux-fallback.img": image(), "boot/booster-old.img": image()})
    )
    (step,) = booster.activations(view, "why")
    assert step.commands == ()
    assert not any(i.built for i in booster.images(view))


def config(**options: str) -> bytes:
    lines = "".join(f"    {module}: {value}\n" for module, value in options.items())
    return f"mounttimeout: 180\nmodprobeoptions:\n{lines}kernel: '{KERNEL}'\n".encode()


@pytest.mark.parametrize(
    ("inside", "expected", "ids"),
    [
        (config(amdgpu="runpm=0"), OURS, []),
        (config(), OURS, ["RC3204"]),
        (config(amdgpu="runpm=1"), OURS, ["RC3204"]),
        (config(amdgpu="runpm=0"), None, ["RC3204"]),
        (config(), None, []),
        (config(amdgpu="'runpm=0'"), OURS, []),
        (None, OURS, ["RC3203"]),
    ],
)
def test_the_options_in_an_image_are_those_of_all_files(
    tmp_path: Path, inside: bytes | None, expected: bytes | None, ids: list[str]
) -> None:
    more: dict[str, File] = {IMAGE: image(inside, name=INIT)}
    view = host(tmp_path, files({**more, **({PATH: expected} if expected else {})}))
    found = [*booster.check(view, booster.images(view), expected)]
    assert [d.id for d in found] == ids


def test_files_are_read_in_boosters_order_whatever_they_are_called(tmp_path: Path) -> None:
    """/lib first and /run last, not by base names over all of them, and a .bak too (generator/kmod.go)."""
    more: dict[str, File] = {
        "usr/lib/modprobe.d/zzz.conf": "options amdgpu a=1\n",
        "etc/modprobe.d/a.conf.bak": "options amdgpu b=2 \\\n  c=3\n# options amdgpu d=4\n",
        PATH: OURS,
        "run/modprobe.d/a.conf": "options amdgpu e=5\noptions snd-hda x=1\n",
        IMAGE: image(config(amdgpu="a=1 b=2  c=3 runpm=0 e=5"), name=INIT),
    }
    view = host(tmp_path, files(more))
    assert [*booster.check(view, booster.images(view), OURS)] == []
