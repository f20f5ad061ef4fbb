"""One module per peer: its test cases as inputs and what the peer expects of them, and what rocmcfg says."""
