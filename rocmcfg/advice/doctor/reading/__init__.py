"""Read logs: find them, unpack them, and select the lines in them that matter."""
