#!/bin/bash
BOOT_ENTRY="/boot/loader/entries/arch.conf"
KERNEL_PARAMS="amd_pstate=active zswap.enabled=0 amdgpu.ppfeaturemask=0xffffffff"

if [ -f "$BOOT_ENTRY" ]; then
    grep "^options" "$BOOT_ENTRY"
    echo "Recommended kernel parameters to add:"
    echo "  $KERNEL_PARAMS"
fi
