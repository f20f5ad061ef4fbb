"""What is known of one name, on one machine. Pure."""
