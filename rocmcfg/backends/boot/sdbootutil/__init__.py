"""sdbootutil: openSUSE with boot entries as files, shown by systemd-boot or by GRUB (grub2-bls).

Our arguments are in a file of our own, /etc/kernel/cmdline.d/90-rocmcfg.conf. sdbootutil makes the options of
every entry from /etc/kernel/cmdline and that folder; `sdbootutil update-all-entries` does so at once for the
entries of the snapshot that runs. It reads the folder twice, so that each argument is on the line twice,
which changes nothing.

Since it writes all options anew, what entries have and no file asks for is refused before anything is
written, and so are a host without /etc/kernel/cmdline, where it would take the running kernel's line, and a
last line without its end, which it leaves out. With a disk that the TPM unlocks it predicts the new
measurements, but not those of a trial; have the recovery key at hand. With GRUB (grub2-bls) there is no
trial. Where sdbootutil writes all entries anew before that boot, the copy loses the arguments.

Source: sdbootutil of 2026-08-21 (12630b2). Played with a stand-in, not on a real host.
"""

PROGRAM = "/usr/bin/sdbootutil"
