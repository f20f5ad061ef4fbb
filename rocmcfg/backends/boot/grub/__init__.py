"""GRUB as Debian and Ubuntu set it up: `backend` configures it, `reader` reads what it generated."""
