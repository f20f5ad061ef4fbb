"""The files that rocmcfg writes besides those of boot loaders: modprobe.d, variables, hooks."""
