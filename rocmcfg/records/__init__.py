"""What rocmcfg writes down about itself: journals, the receipt, the trial on record."""
