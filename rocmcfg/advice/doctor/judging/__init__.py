"""Judge the lines of a log: which machine wrote it, which known issues it shows, how likely, and what to
do."""
