"""GRUB as its own project, Arch, Gentoo and openSUSE set it up: one file with the defaults, no drop-ins.

Two lines at the end of /etc/default/grub add the arguments to GRUB_CMDLINE_LINUX_DEFAULT, and
grub-mkconfig (grub2-mkconfig) makes the menu of it. Recovery entries and those of snapshots stay as they
are; on Fedora with GRUB_ENABLE_BLSCFG=false the rescue entry gets what all entries get. An undo takes the
lines out and makes the menu anew; what others wrote to the file since stays.

A trial ends our line in the word $rocmcfg_trial, and a script in /etc/grub.d prints the commands with
which GRUB takes the arguments of one boot out of its environment block and fills them in. There is none
where GRUB cannot write that block: on Btrfs (openSUSE by default), LVM and RAID. The second block that
openSUSE's GRUB and GRUB 2.14 have on Btrfs takes next_entry alone from grub-editenv.

Known from GRUB 2.06 to 2.14 (util/grub-mkconfig.in, util/grub.d, util/grub-editenv.c); the menus are held
against Debian's grub-mkconfig without its patch for drop-ins.
"""
