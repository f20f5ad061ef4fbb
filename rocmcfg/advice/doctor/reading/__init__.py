"""Logs as they come: where they lie, what packs them, and the lines in them that are worth a look."""
