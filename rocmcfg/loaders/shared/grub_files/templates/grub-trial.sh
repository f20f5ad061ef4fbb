#!/bin/sh
# Written by rocmcfg for a trial boot.
# `rocmcfg confirm` and `rocmcfg reject` take it away again.
# What it prints, grub-mkconfig puts before the entries of the boot menu. There
# GRUB first takes the arguments out of its environment block, and uses them
# only where that succeeded: no second boot gets them.
cat <<'EOF'
set rocmcfg_trial=
if [ -n "${rocmcfg_next}" ]; then
  set rocmcfg_taken="${rocmcfg_next}"
  set rocmcfg_next=
  if save_env rocmcfg_next; then
    set rocmcfg_trial="${rocmcfg_taken}"
  fi
fi
export rocmcfg_trial
EOF
