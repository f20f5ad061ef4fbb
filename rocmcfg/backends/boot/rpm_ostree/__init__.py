"""rpm-ostree: Fedora's Atomic desktops, CoreOS, Bazzite, and bootc hosts whose bootc cannot do it.

Every system on such a host, a deployment, has a command line of its own: one call of `rpm-ostree kargs` makes
a new deployment with our arguments, which boots next. Those that later updates make inherit them. What we
asked for is in /etc/rocmcfg/kernel-arguments; an argument that was there before us stays yours. The
deployment that runs now keeps its old arguments, and is the way back in the boot menu; there is no trial. An
undo is one call again.

The new deployment is put in place when the host goes down. That can fail, and the old one boots then:
`rocmcfg verify` after the reboot says so. Where another transaction of rpm-ostree is under way nothing is
begun. The initramfs is built with the image, so that options in modprobe.d may not be read in time: settings
go to the command line.

Sources: rpm-ostree 2026.2 and libostree 2026.4. Played with a stand-in, not on a real host.
"""

PROGRAM = "/usr/bin/rpm-ostree"
