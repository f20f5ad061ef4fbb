"""Decides and acts: resolve, plan, diff and verify are pure; transaction, journal and recovery are not."""
