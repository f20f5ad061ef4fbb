"""`python -m rocmcfg`."""

from __future__ import annotations

from rocmcfg.cli.app import main

main()
