"""Readers of what is true of a host, one per source. All of them take a `HostView` and change nothing."""
