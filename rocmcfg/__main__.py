"""`python -m rocmcfg`."""

from rocmcfg.cli.app import main

main()
