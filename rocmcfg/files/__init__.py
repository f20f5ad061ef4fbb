"""The files that rocmcfg writes, other than those of boot loaders: modprobe.d, variables, hooks."""
