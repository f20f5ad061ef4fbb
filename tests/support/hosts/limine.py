"""Limine."""

from __future__ import annotations

from .distributions import arch
from .files import File, programs
from .system import MACHINE_ID, ROOT_ARGUMENT, firmware, os_release


def limine() -> dict[str, File]:
    """CachyOS with Limine: /etc/default/limine overrides the drop-ins in /etc/limine-entry-tool.d."""
    kernel, options = "6.17.9-2-cachyos", f"quiet nowatchdog splash rw rootflags=subvol=/@ {ROOT_ARGUMENT}"
    return {
        **arch(kernel, options),
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
