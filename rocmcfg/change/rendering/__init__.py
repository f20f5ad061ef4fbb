"""Render settings as the configuration of a system that is built rather than changed: NixOS, images, cloud
instances, the nodes of a cluster."""
