"""Deployments of ostree: code that rpm-ostree and bootc share. This is not a backend."""
