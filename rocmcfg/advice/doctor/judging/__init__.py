"""What the lines of a log say: on which machine, of which known issue, how sure, and what is left to do."""
