#!/bin/sh
# The first program of the kernel that `fat.py` boots. Its root is this machine's, which it may not write to.
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /mnt
mkdir /mnt/work
export TMPDIR=/mnt
mount -t hostfs -o "$WORK" none /mnt/work
exec > /mnt/work/said 2>&1
for module in drivers/md/dm-mod drivers/md/dm-log-writes fs/nls/nls_cp437 fs/nls/nls_ascii fs/fat/fat fs/fat/vfat fs/autofs/autofs4; do
    insmod "$MODULES/$module.ko"
done
cd "$SOURCE" || exit
# one argument a line
IFS='
'
# shellcheck disable=SC2046
"$PYTHON" $(cat /mnt/work/arguments)
echo $? > /mnt/work/code
echo o > /proc/sysrq-trigger
sleep 60
