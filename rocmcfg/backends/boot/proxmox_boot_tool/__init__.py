"""proxmox-boot-tool: Proxmox VE, Mail Gateway and Backup Server where it keeps the EFI system partitions,
with systemd-boot or with GRUB on them.

The arguments go into the first line of /etc/kernel/cmdline, which is all that it reads of that file, and into
a drop-in for GRUB, so that either loader gets them; `proxmox-boot-tool refresh` copies kernels and entries to
every partition. It ends well although it skipped one that it could not mount: every partition is looked into
afterwards, as root, mounted read-only for us alone. One that is missing is an error before anything is
written. There is no trial: its entry would have to lie on partitions that are mounted only while the tool
works. Source: proxmox-kernel-helper 8.1.0 (7007b33, 2023-11). Played with a stand-in, not on a real host.
"""

PROGRAM = "/usr/sbin/proxmox-boot-tool"
