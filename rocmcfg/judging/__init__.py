"""What the knowledge says of a setting on a machine: name, value, effect there, need."""
