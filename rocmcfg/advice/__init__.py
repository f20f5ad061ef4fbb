"""What rocmcfg tells people: what a file sets, what a log shows, what a name means, what a host is like."""
