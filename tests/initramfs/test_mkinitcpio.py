"""mkinitcpio: images of presets and of kernel-install, and the hook without which they have no modprobe.d."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocmcfg.initramfs.mkinitcpio import GENERATOR as mkinitcpio
from tests.initramfs.images import KERNEL, OURS, entry, host, image
from tests.support.hosts import File

IMAGE = "/boot/initramfs-linux.img"
PRESET = """# mkinitcpio preset file
ALL_kver="/boot/vmlinuz-linux"
PRESETS=('default' "fallback")
#default_config="/etc/mkinitcpio.conf"
default_image="/boot/initramfs-linux.img"
#default_uki="/efi/EFI/Linux/arch-linux.efi"
fallback_image=/boot/initramfs-linux-fallback.img
fallback_options="-S autodetect"
spare_image="/boot/spare.img"
"""
HOOKS = "HOOKS=(base udev modconf kms block filesystems)\n"


def arch(more: dict[str, File]) -> dict[str, File]:
    return {
        "etc/mkinitcpio.d/linux.preset": PRESET,
        "etc/mkinitcpio.conf": HOOKS,
        IMAGE: image(),
        "boot/initramfs-linux-fallback.img": image(),
        "boot/spare.img": image(),
        **more,
    }


def test_the_images_are_those_of_active_presets(tmp_path: Path) -> None:
    view = host(tmp_path, arch({}))
    found = mkinitcpio.images(view)
    assert [i.path for i in found] == ["/boot/initramfs-linux-fallback.img", IMAGE]
    assert all(i.built and i.carries for i in found)


def test_an_image_of_kernel_install_is_made_as_its_plugin_does(tmp_path: Path) -> None:
    view = host(tmp_path, {f"boot/m/{KERNEL}/initrd": image()})
    entries = (entry(f"/m/{KERNEL}/initrd"),)
    (step,) = mkinitcpio.activations(view, "why", entries)
    path = f"/boot/m/{KERNEL}/initrd"
    assert step.commands == (("mkinitcpio", "--nopost", "-k", KERNEL, "-g", path),)
    assert [i.built for i in mkinitcpio.images(view, entries)] == [True]


def test_presets_and_others_are_both_made(tmp_path: Path) -> None:
    view = host(tmp_path, arch({f"boot/m/{KERNEL}/initrd": image()}))
    (step,) = mkinitcpio.activations(view, "why", (entry(f"/m/{KERNEL}/initrd", "/initramfs-linux.img"),))
    assert [argv[1] for argv in step.commands] == ["-P", "--nopost"]


def test_limines_own_program_is_run_and_not_the_wrapper_that_asks(tmp_path: Path) -> None:
    view = host(tmp_path, arch({"usr/bin/limine-mkinitcpio": "", "boot/m/linux/initramfs-linux": image()}))
    entries = (entry("/m/linux/initramfs-linux"),)
    (step,) = mkinitcpio.activations(view, "why", entries)
    assert step.commands == (("limine-mkinitcpio",),)
    assert all(i.built for i in mkinitcpio.images(view, entries))


@pytest.mark.parametrize(
    ("conf", "drop_ins", "missing_in"),
    [
        (HOOKS, {}, ""),
        ("HOOKS=(base systemd kms)\n", {}, "mkinitcpio.conf"),
        ('HOOKS="base udev modconf kms"\n', {}, ""),
        ("HOOKS=(base)\n", {"1.conf": "HOOKS+=(modconf)\n"}, ""),
        (HOOKS, {"omarchy.conf": "HOOKS=(base plymouth kms)\n"}, "omarchy.conf"),
        (HOOKS, {"9.conf": "HOOKS=(base kms)\n", "10.conf": HOOKS}, ""),
        (HOOKS, {"9.conf": HOOKS, "10.conf": "HOOKS=(base kms)\n"}, "10.conf"),
        (HOOKS, {"off.conf.bak": "HOOKS=(base kms)\n"}, ""),
        ("#" + HOOKS + "HOOKS=(base\n  kms # modconf\n)\n", {}, "mkinitcpio.conf"),
        ("HOOKS=(base kms)\nFILES=(/etc/modprobe.d/zz-rocmcfg.conf)\n", {}, ""),
        ("# nothing\n", {}, "mkinitcpio.conf"),
        ("HOOKS=(base 'modconf')  # why\nCOMPRESSION_OPTIONS=($LEVEL)\n", {}, ""),
    ],
)
def test_a_configuration_without_modconf_is_refused_where_it_is_seen(
    tmp_path: Path, conf: str, drop_ins: dict[str, str], missing_in: str
) -> None:
    more: dict[str, File] = {f"etc/mkinitcpio.conf.d/{name}": text for name, text in drop_ins.items()}
    view = host(tmp_path, arch({"etc/mkinitcpio.conf": conf, **more}))
    found = [*mkinitcpio.preflight(view, mkinitcpio.images(view))]
    assert [d.id for d in found] == ["RC3206"] * bool(missing_in)
    assert all((d.location or "").endswith(missing_in) for d in found)
    assert [*mkinitcpio.preflight(view, ())] == []


@pytest.mark.parametrize(
    ("conf", "line"),
    [
        ("eval $(hooks)\n", 1),
        (HOOKS + "unset HOOKS\n", 2),
        (HOOKS + "f() {\n  HOOKS=(base)\n}\n", 2),
        ("cat <<E\n" + HOOKS + "E\n", 1),
        (HOOKS + "if false; then\n  HOOKS=(base)\nfi\n", 2),
        (HOOKS + "HOOKS='base kms'\n", 2),
        ("HOOKS=(base\n  {modconf,kms})\n", 1),
        ("X=(modconf)\n" + 'HOOKS=("${X[@]}")\n', 2),
        ("FILES=(/etc/*)\nHOOKS=(base)\n", 1),
    ],
)
def test_what_only_bash_can_tell_of_the_hooks_is_said(tmp_path: Path, conf: str, line: int) -> None:
    view = host(tmp_path, arch({"etc/mkinitcpio.conf": conf}))
    diagnostics = [*mkinitcpio.preflight(view, mkinitcpio.images(view))]
    assert [(d.id, d.location) for d in diagnostics] == [("RC3213", f"/etc/mkinitcpio.conf:{line}")]


def test_of_a_preset_that_only_bash_can_read_every_image_counts(tmp_path: Path) -> None:
    view = host(tmp_path, arch({"etc/mkinitcpio.d/linux.preset": PRESET + "if true; then :; fi\n"}))
    assert len(mkinitcpio.images(view)) == 3


@pytest.mark.parametrize(
    ("inside", "expected", "ids"),
    [(OURS, OURS, []), (None, None, []), (None, OURS, ["RC3204"]), (OURS, None, ["RC3204"])],
)
def test_every_image_is_looked_into(
    tmp_path: Path, inside: bytes | None, expected: bytes | None, ids: list[str]
) -> None:
    files = arch({IMAGE: image(inside), "boot/initramfs-linux-fallback.img": image(expected)})
    view = host(tmp_path, files)
    found = [*mkinitcpio.check(view, mkinitcpio.images(view), expected)]
    assert [d.id for d in found] == ids
    assert all(d.location == IMAGE for d in found)
