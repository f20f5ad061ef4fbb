"""rocmcfg against its peers: the cases of their own test suites, and random files that the real programs
read.

`programs` has a module per program: what it writes at random, what the program makes of that, and what
rocmcfg says of the same files. `suites` has a module per source package of Debian or PyPI that brings
cases. Nothing of these sources is kept here: they are fetched into the cache. `differences.toml` says which
differences there are today, and whose fault each is; `figures.tsv` has the result, which
docs/reference/boot-chains.md shows.
"""
