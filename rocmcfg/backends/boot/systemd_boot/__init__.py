"""systemd-boot whose entries are files (Type #1), by kernel-install or by hand."""
