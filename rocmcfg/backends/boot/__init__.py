"""Boot loaders: `registry` finds the one that a host uses; each other module knows one of them."""
