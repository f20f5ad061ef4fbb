"""kernelstub: Pop!_OS on machines with EFI, where systemd-boot shows the entries that it writes.

kernelstub keeps the kernel's options in its own configuration, and `kernelstub -a` adds ours to it. From
there it writes the entries of the newest kernel and of the one before it. What we asked for is also in
/etc/rocmcfg/kernel-arguments; an option that was there before us stays yours. It ends well even where it
could not do its work, so that the configuration and the entries are read afterwards.

An undo is `kernelstub -d`, which takes only our options away and forgets the order of all of them. Where the
order means something, with two values of one argument, nothing is begun; neither where entries have what its
configuration does not ask for, since it would drop that, nor where it writes no entries.

Source: kernelstub 3.1.4 (3fb4e06, 2025-11). Played with a stand-in, not on a real host.
"""

PROGRAM = "/usr/bin/kernelstub"
