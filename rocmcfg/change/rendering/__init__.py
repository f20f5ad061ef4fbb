"""Settings as the configuration of a system that is built and not changed: NixOS, images, cloud instances."""
