"""Whether the unit is in place that lets a trial confirm itself."""

from __future__ import annotations

from rocmcfg.host.view import HostView

NAME = "rocmcfg-trial.service"
_ENABLED = "/etc/systemd/system"


def unit_ready(view: HostView) -> bool:
    """Whether this host's next boot will start it: installed, enabled, and systemd there to do so. Without it
    `--confirm-after` would never come to pass."""
    if not view.offline and not view.is_dir("/run/systemd/system"):  # sd_booted(3)
        return False
    asked = view.query(("systemctl", "is-enabled", NAME))
    if asked is not None:
        # enabled-runtime is for this boot alone, and the trial is the next one (systemctl(1))
        return asked.ok and asked.stdout.strip() == "enabled"
    folders = (name for name in view.names(_ENABLED) if name.endswith((".wants", ".requires")))
    return any(view.exists(f"{_ENABLED}/{folder}/{NAME}") for folder in folders)
