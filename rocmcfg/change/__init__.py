"""What rocmcfg changes: plans, the transactions that carry a plan out and undo it, trials of one boot."""
