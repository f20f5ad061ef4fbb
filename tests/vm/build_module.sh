#!/bin/sh
# Build the module of crashing devices against the headers in a root with gcc. mmdebstrap runs this with the root's path;
# FOLDER is where the module goes.
set -eu
root=$1 folder=$2
here=$(dirname "$0")
cp -r "$here/crash_module" "$root/build"
for kernel in "$root"/lib/modules/*/build; do
    chroot "$root" make -C /build "KERNEL=${kernel#"$root"}"
done
mkdir -p "$folder"
cp "$root/build/rocmcfg_crash.ko" "$folder"
