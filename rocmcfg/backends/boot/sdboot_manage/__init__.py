"""systemd-boot with sdboot-manage, as CachyOS and Manjaro set it up.

The normal entries get the arguments, and one line at the end of /etc/sdboot-manage.conf adds them to
LINUX_OPTIONS, of which `sdboot-manage autogen` makes the entries of later kernels. Those with a fallback
initramfs it makes from LINUX_FALLBACK_OPTIONS. `sdboot-manage gen` itself is not run: by default
(REMOVE_EXISTING) it removes every entry on the partition first, those of other systems and those written by
hand too; where it removes a trial's, the default entry boots.

Known from sdboot-manage and its configuration, as in CachyOS/systemd-boot-manager (bb4e4d3), and from
recorded hosts. The tool itself made entries with our line from such a file; nothing was booted.
"""

PROGRAM = "/usr/bin/sdboot-manage"
