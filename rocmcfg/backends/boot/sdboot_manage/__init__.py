"""systemd-boot with sdboot-manage, as CachyOS and Manjaro set it up.

The normal entries get the arguments, and one line at the end of /etc/sdboot-manage.conf adds them to
LINUX_OPTIONS, of which `sdboot-manage autogen` makes the entries of kernels that are installed later. Both
take effect at the next boot. Entries with a fallback initramfs stay as they are: the tool makes them from
LINUX_FALLBACK_OPTIONS. So do those of other systems.

`sdboot-manage gen` itself is not run: by default (REMOVE_EXISTING) it removes every entry on the partition
first, those of other systems and those written by hand too. An undo takes our arguments out of the entries
and the line out of the file, and leaves what others wrote since.

A trial is a copy of the default entry with the trial's arguments, which systemd-boot boots once (`bootctl
set-oneshot`); where sdboot-manage removes it before, the default entry boots.

Known from sdboot-manage and its configuration, as in CachyOS/systemd-boot-manager (bb4e4d3), and from
recorded hosts. The tool itself made entries with our line from such a file; nothing was booted.
"""

PROGRAM = "/usr/bin/sdboot-manage"
