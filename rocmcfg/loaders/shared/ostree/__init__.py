"""Deployments of ostree: what rpm-ostree and bootc share. No backend of its own."""
