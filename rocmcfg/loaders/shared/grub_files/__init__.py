"""What every GRUB has, whoever sets it up: shell files with its defaults, and the menu that is generated from
them. Knows no distribution; the backends of GRUB use it."""

# In whose place GRUB puts a trial's arguments, for one boot: a variable that its script fills (`trial`).
from __future__ import annotations

TRIAL_TOKEN = "$rocmcfg_trial"
