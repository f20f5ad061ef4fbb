#!/bin/sh
# Written by rocmcfg: checks the applied kernel parameters against a kernel whose image was just built.
# Undo: sudo rocmcfg rollback
# Never fails: an image must be built whatever becomes of us.
# Where rocmcfg itself has the images built, it looks at them afterwards.
[ -n "$KERNELVERSION" ] && [ -z "$ROCMCFG_STARTED" ] || exit 0
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin:/run/current-system/profile/bin
command -v rocmcfg >/dev/null 2>&1 || exit 0
rocmcfg check-kernel "$KERNELVERSION" </dev/null || true
exit 0
