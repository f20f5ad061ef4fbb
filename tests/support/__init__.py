"""Shared by the tests: fake hosts, and no assertions."""
