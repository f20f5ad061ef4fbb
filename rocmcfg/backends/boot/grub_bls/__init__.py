"""GRUB that reads entries as files (blscfg): Fedora, RHEL and who follows them.

The options of each normal entry get the arguments; so do /etc/kernel/cmdline and GRUB_CMDLINE_LINUX_DEFAULT
in /etc/default/grub, of which the entries of later kernels are made. No program is run.

A trial's word stands in our part, and its commands in user.cfg beside grub.cfg, which the menu of Fedora and
RHEL reads before the entries: grub2-mkconfig would write the options of every entry anew, those of the rescue
entry too. There is no trial where user.cfg holds a password of the boot menu, and where grubenv is a link to
the EFI system partition (RHEL 8 under UEFI).

Known from GRUB 2.14 (grub-core/commands/blsuki.c), whose blscfg was run with these commands, and from
menus and entries of Fedora and RHEL hosts. The real machine has Debian's GRUB 2.14 and entries of
kernel-install on a /boot of their own, and a trial that panics; Fedora's own GRUB was not run.
"""
