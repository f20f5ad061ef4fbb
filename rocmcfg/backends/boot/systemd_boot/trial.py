"""Trials with systemd-boot: a second entry, chosen for one boot."""

from __future__ import annotations

from rocmcfg.backends.boot.one_shot import SecondEntry
from rocmcfg.backends.boot.systemd_boot import reader

TRIAL = SecondEntry(reader)
