"""The nouns of the program, and the pure functions that belong to them.

Nothing here reads a file or imports another package of rocmcfg.
"""
