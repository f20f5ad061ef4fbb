"""The records that rocmcfg keeps of its own work: journals, the receipt, and the recorded trial."""
