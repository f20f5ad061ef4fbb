"""Reads logs and the host, and says which known issue it is, how sure that is, and what cures it."""
