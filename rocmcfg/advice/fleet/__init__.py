"""Shows many hosts at once, from the documents that rocmcfg printed on each of them."""
