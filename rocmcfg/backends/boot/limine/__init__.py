"""Limine, with limine-entry-tool (CachyOS, Omarchy) or with a limine.conf that somebody wrote.

The command line of each normal entry in limine.conf gets the arguments. Where limine-entry-tool makes the
entries of later kernels, its configuration gets them too, where it says the line today: lines at the end of
/etc/default/limine; or a drop-in of ours, /etc/limine-entry-tool.d/zz-rocmcfg.conf, where only drop-ins say
it; or /etc/kernel/cmdline. Where it would take the line of the running kernel, nothing is written: a drop-in
alone would cost the next entry its root=. limine-mkinitcpio and limine-update are not run, so that an image
that the firmware starts without Limine has its old line until it is built anew.

A snapshot that is taken later shows the system as it is then, our arguments included. Refused: a limine.conf
whose checksum is enrolled in Limine itself (it would not boot once changed), and unified kernel images under
Secure Boot that hold a line of their own (they take that one).

A trial is an entry behind all others, a copy of the one that runs. It is refused for Limine before 11.4, with
`remember_last_entry: yes`, with which Limine would boot it again after a hang, and where the running entry is
none that gets our arguments.

Known from Limine's source and CONFIG.md (8.2.0), from OmaSecBoot's notes on the sources of Limine 12.8.0
and limine-entry-tool 1.38.0, from the comments of the tool's configuration, and from recorded hosts.
limine.conf was read alike by us and by Limine's own reader (8.2.0), on 2,700 files made by chance. Limine
8.2.0, 9.6.7, 10.8.3 and 11.4.1 gave our arguments to what they started, 11.4.1 those of a trial once
(tests/loaders/test_limine.py, by hand: no package index has Limine). The tool was not run.
"""
