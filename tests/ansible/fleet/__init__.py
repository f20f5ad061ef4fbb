"""A fleet on one machine: hosts that Ansible reaches by ssh, each with a Debian and a network.

A host is a set of namespaces over an overlay of one cached Debian. sshd is its init: when it ends, everything
in the host ends, and the supervisor boots it again, which is all that a reboot is here. What no namespace has
is stood in for: GRUB at work (grub.py), the kernel, its command line and module parameters, sysfs, and
grub-probe. So it proves nothing of how GRUB or the kernel behave; the guests of tests/vm do.
"""
