"""Where a host keeps what rocmcfg writes about itself, and who may read it."""

from __future__ import annotations

STATE_DIR = "/var/lib/rocmcfg"
# Everybody may read the receipt in it by name, and only root may list the directory.
STATE_MODE = 0o711
