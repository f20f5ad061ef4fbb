"""Trials with systemd-boot: a second entry, chosen for one boot. `sdboot-manage gen` removes all entries, and
the next boot is the default one then."""

from __future__ import annotations

from rocmcfg.backends.boot.one_shot import SecondEntry
from rocmcfg.backends.boot.sdboot_manage import reader

TRIAL = SecondEntry(reader)
