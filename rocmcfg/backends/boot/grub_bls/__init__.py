"""GRUB that reads entries as files (blscfg): Fedora, RHEL and who follows them.

The options of each normal entry get the arguments, between rocmcfg.begin and rocmcfg.end; so do
/etc/kernel/cmdline and GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub, of which the entries of later
kernels are made. They take effect at the next boot; no program is run. The rescue entry stays as it is. An
undo takes our part out again and leaves what others wrote since.

A trial puts the word $rocmcfg_trial into that part, and commands of GRUB into user.cfg beside grub.cfg,
which the menu of Fedora and RHEL reads before the entries: they take the arguments out of the environment
block (grubenv), and fill them in where that succeeded. grub2-mkconfig is not run, since Fedora's writes
the options of every entry anew, those of the rescue entry too. There is no trial where user.cfg holds a
password of the boot menu, where grubenv is a link to the EFI system partition (RHEL 8 under UEFI), and
where GRUB cannot write (Btrfs, LVM, RAID).

Known from GRUB 2.14 (grub-core/commands/blsuki.c), whose blscfg was run with these commands, and from
menus and entries of Fedora and RHEL hosts. The real machine has Debian's GRUB 2.14 and entries of
kernel-install on a /boot of their own, and a trial that panics; Fedora's own GRUB was not run.
"""
