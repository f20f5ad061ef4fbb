"""How a host is: its values (running now, configured for the next boot), a due reboot, verified."""
