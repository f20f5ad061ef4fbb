#!/usr/bin/env bash
set -Eeuo pipefail

FULL_MEMORY_ARGS="ttm.pages_limit=4194304 ttm.page_pool_size=4194304"
LEGACY_ARGS="amdgpu.gttsize=14750"
case "$1" in
  apply)  grubby --update-kernel=ALL --remove-args="$LEGACY_ARGS"
          grubby --update-kernel=ALL --args="$FULL_MEMORY_ARGS" ;;
  remove) grubby --update-kernel=ALL --remove-args="$FULL_MEMORY_ARGS" ;;
esac
