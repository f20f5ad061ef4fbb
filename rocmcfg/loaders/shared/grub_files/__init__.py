"""Code for every GRUB: the shell files with its defaults, and the menu that is generated from them. It knows
no distribution; the backends of GRUB use it."""

from __future__ import annotations

# The variable that GRUB replaces with a trial's arguments, for one boot; GRUB's script fills it (`trial`).
TRIAL_TOKEN = "$rocmcfg_trial"
