"""GRUB that reads entries as files (blscfg): Fedora, RHEL and who follows them."""
