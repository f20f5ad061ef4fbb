#!/bin/sh
# Written by rocmcfg: checks the applied kernel parameters against a newly installed kernel.
# Undo: sudo rocmcfg rollback
# Never fails: a kernel must install whatever becomes of us.
# Root runs the system's programs alone: in a PATH that sudo or su let through, a folder may be somebody else's.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin:/run/current-system/profile/bin
command -v rocmcfg >/dev/null 2>&1 || exit 0
rocmcfg check-kernel "$1" </dev/null || true
exit 0
