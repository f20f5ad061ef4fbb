"""systemd-boot whose entries are files (Type #1), by kernel-install or by hand.

The options of each normal entry get the arguments; so does /etc/kernel/cmdline, where there is one, of which
kernel-install makes the entries of later kernels.

The copy for a trial, _-rocmcfg-trial.conf, sorts behind all other entries, so that no pattern of `default` in
loader.conf meets it first; bootctl is asked for that before the next boot is chosen. There is none where
another system is the default, where somebody chose the next boot already, and where the loader does not say
that it boots something once.

Known from systemd's source (252 to 262, src/boot/boot.c); entries are read as the real bootctl lists them.
The real machines have 257 and 262, entries of kernel-install with /etc/kernel/cmdline and without, and a
trial that panics.
"""
