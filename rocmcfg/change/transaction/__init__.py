"""Carries a plan out, and takes it back: the only holders of a `Host` that writes."""
