"""What a report for an issue tracker says of a host, without what tells whose host it is."""
