"""How a host is: configured (the files, the next boot), running (the kernel now), verified."""
