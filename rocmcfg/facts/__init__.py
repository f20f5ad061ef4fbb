"""Readers of facts about a host, one per source. All of them take a `HostView` and change nothing."""
