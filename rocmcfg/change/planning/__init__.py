"""Turn a request into a plan, which is a value: resolve the settings, then list the files that rocmcfg must
write. Pure."""
