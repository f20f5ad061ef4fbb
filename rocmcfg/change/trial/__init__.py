"""Try settings for one boot: the trial's plan, its record, its supervision, and the ways in which it ends."""
