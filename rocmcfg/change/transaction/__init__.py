"""Carry out a plan, and undo it. Only these modules hold a `Host` that writes."""
