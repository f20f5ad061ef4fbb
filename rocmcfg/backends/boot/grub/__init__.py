"""GRUB as Debian and Ubuntu set it up: `backend` configures it, `menu` reads what it generated."""
