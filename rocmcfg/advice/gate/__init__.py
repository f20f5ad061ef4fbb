"""Says whether jobs may run on a host, in the words of the monitors and schedulers that ask."""
