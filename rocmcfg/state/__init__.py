"""Describe the state of a host: the values that are running and configured, whether a reboot is due, and
whether all of it is as applied."""
