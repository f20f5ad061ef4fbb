"""Explain one name on one machine. Pure."""
