"""The directory for rocmcfg's own state on a host, and its permissions; the directory of local profiles."""

from __future__ import annotations

STATE_DIR = "/var/lib/rocmcfg"
# Everybody may read the receipt in it by name, but only root may list the directory.
STATE_MODE = 0o711
# Exists while crashes of GPUs are saved.
BLACK_BOX = f"{STATE_DIR}/crashes.on"
LOCAL_PROFILES = "/etc/rocmcfg/profiles"
