"""GRUB that shows the entries of the Boot Loader Specification."""

from __future__ import annotations

from .distributions import FEDORA_KERNEL, bls_entry, opensuse_bls
from .files import File, Program, programs
from .kernels import initramfs_image, kernel_modules, running_kernel
from .system import MACHINE_ID, ROOT_ARGUMENT, ROOT_UUID, firmware, os_release

# Of a menu that grub2-mkconfig made: 01_users and 10_linux (RHEL 9 and Fedora, util/grub.d)
_MENU = (
    "### BEGIN /etc/grub.d/01_users ###\nif [ -f ${prefix}/user.cfg ]; then\n  source ${prefix}/user.cfg\n"
    '  if [ -n "${GRUB2_PASSWORD}" ]; then\n    set superusers="root"\n    export superusers\n'
    "    password_pbkdf2 root ${GRUB2_PASSWORD}\n  fi\nfi\n### END /etc/grub.d/01_users ###\n\n"
    "### BEGIN /etc/grub.d/10_linux ###\ninsmod part_gpt\ninsmod blscfg\nblscfg\n"
    "### END /etc/grub.d/10_linux ###\n"
)


def _grubenv(**variables: str) -> str:
    """Return a GRUB environment block, which is always 1024 bytes (grub manual, Environment block)."""
    text = "# GRUB Environment Block\n" + "".join(f"{key}={value}\n" for key, value in variables.items())
    return text + "#" * (1024 - len(text))


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
        "boot/grub2/grub.cfg": _MENU,
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
        "usr/lib/dracut/dracut.conf.d/01-dist.conf": 'hostonly="yes"\n',
        "usr/lib/kernel/install.d/50-dracut.install": Program(),
        **{
            f"boot/initramfs-{release}.img": initramfs_image(release, amdgpu=True)
            for release in (FEDORA_KERNEL, older, f"0-rescue-{MACHINE_ID}")
        },
        **programs("usr/bin/grubby", "usr/bin/grub2-mkconfig", "usr/bin/grub2-editenv"),
        **programs("usr/bin/dracut", "usr/bin/lsinitrd"),
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
        "boot/grub2/grub.cfg": _MENU,
        "boot/grub2/grubenv": _grubenv(saved_entry=f"{MACHINE_ID}-{kernel}", kernelopts=options + " "),
        f"boot/loader/entries/{MACHINE_ID}-{kernel}.conf": entry,
        **programs("usr/sbin/grubby", "usr/sbin/grub2-mkconfig", "usr/bin/grub2-editenv", "usr/bin/dracut"),
        **kernel_modules(kernel),
        **running_kernel(kernel, f"BOOT_IMAGE=(hd0,gpt2)/vmlinuz-{kernel} {options}"),
    }


def el9_bls() -> dict[str, File]:
    """RHEL 9: each entry has all arguments, and what TuneD adds comes from grubenv (RHEL 9 documentation)."""
    kernel = "5.14.0-570.12.1.el9_6.x86_64"
    options = f"{ROOT_ARGUMENT} ro crashkernel=1G-2G:192M,2G-64G:256M,64G-:512M rhgb quiet"
    users = "grub_users $grub_users\ngrub_arg --unrestricted\ngrub_class rhel\n"
    title = f"Red Hat Enterprise Linux ({kernel}) 9.6 (Plow)"
    return {
        **os_release("Red Hat Enterprise Linux", "rhel", "9.6", ID_LIKE="fedora"),
        "etc/machine-id": MACHINE_ID + "\n",
        "etc/default/grub": "GRUB_TIMEOUT=5\nGRUB_DEFAULT=saved\nGRUB_DISABLE_SUBMENU=true\n"
        'GRUB_CMDLINE_LINUX="crashkernel=1G-2G:192M,2G-64G:256M,64G-:512M rhgb quiet"\n'
        "GRUB_ENABLE_BLSCFG=true\n",
        "etc/kernel/cmdline": options + "\n",
        "boot/grub2/grub.cfg": _MENU,
        "boot/grub2/grubenv": _grubenv(saved_entry=f"{MACHINE_ID}-{kernel}"),
        f"boot/loader/entries/{MACHINE_ID}-{kernel}.conf": bls_entry(
            title, kernel, f"{options} $tuned_params", more=users
        ),
        f"boot/loader/entries/{MACHINE_ID}-0-rescue.conf": bls_entry(
            "Red Hat Enterprise Linux (0-rescue)", f"0-rescue-{MACHINE_ID}", options
        ),
        **programs("usr/sbin/grubby", "usr/sbin/grub2-mkconfig", "usr/bin/grub2-editenv", "usr/bin/dracut"),
        **kernel_modules(kernel),
        **running_kernel(kernel, f"BOOT_IMAGE=(hd0,gpt2)/vmlinuz-{kernel} {options}"),
    }


def opensuse_grub2_bls() -> dict[str, File]:
    """openSUSE's newer default: sdbootutil makes entries that GRUB shows; it reads /etc/kernel/cmdline.d."""
    return opensuse_bls("grub2-bls", "GRUB 2.14")
