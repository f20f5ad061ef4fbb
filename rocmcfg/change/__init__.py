"""Change a host: plan a change, carry it out in a transaction, undo it, and try it for one boot."""
