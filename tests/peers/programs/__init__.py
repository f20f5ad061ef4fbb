"""One module per program: random files, what the program makes of them, and what rocmcfg says."""
