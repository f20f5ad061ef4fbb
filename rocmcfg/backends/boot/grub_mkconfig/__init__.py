"""GRUB as its own project, Arch, Gentoo and openSUSE set it up: one file with the defaults, no drop-ins."""
