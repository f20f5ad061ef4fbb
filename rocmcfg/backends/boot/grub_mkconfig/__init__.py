"""GRUB as its own project, Arch, Gentoo and openSUSE set it up: one file with the defaults, no drop-ins.

Two lines at the end of /etc/default/grub add the arguments to GRUB_CMDLINE_LINUX_DEFAULT, and
grub-mkconfig (grub2-mkconfig) makes the menu of it. On Fedora with GRUB_ENABLE_BLSCFG=false the rescue entry
gets what all entries get. The second environment block that openSUSE's GRUB and GRUB 2.14 have on Btrfs takes
next_entry alone from grub-editenv, so that there is no trial either.

Known from GRUB 2.06 to 2.14 (util/grub-mkconfig.in, util/grub.d, util/grub-editenv.c); the menus are held
against Debian's grub-mkconfig without its patch for drop-ins.
"""
