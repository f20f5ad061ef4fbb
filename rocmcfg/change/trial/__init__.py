"""A trial of one boot: its plan, its record, how it is watched, and its three ends."""
