"""Experiments on settings: which run comes next, and what the runs so far show. Nothing here starts a program
or reads a clock: each experiment is a function of the outcomes so far, so that it can be interrupted,
replayed and simulated. What a run is, a program or a boot, is not decided here."""
