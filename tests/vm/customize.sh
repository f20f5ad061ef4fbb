#!/bin/sh
# Turn a fresh Debian root into the guest's root. mmdebstrap runs this with the root's path as the only argument.
set -eu
root=$1
here=$(dirname "$0")

# The modes of a checkout depend on the developer's umask, those of a guest must not.
(cd "$here/root" && find . -type f) | while read -r file; do
    install -D -m 0644 "$here/root/$file" "$root/$file"
done
install -D -m 0755 "$here/agent.py" "$root/usr/local/lib/rocmcfg-vm-agent.py"

# What the Debian installer writes when it is used over a serial line, but for the short timeout.
sed -i \
    -e 's/^GRUB_TIMEOUT=.*/GRUB_TIMEOUT=1/' \
    -e 's/^GRUB_CMDLINE_LINUX=.*/GRUB_CMDLINE_LINUX="console=ttyS0"/' \
    -e 's/^#GRUB_TERMINAL=.*/GRUB_TERMINAL=console/' \
    "$root/etc/default/grub"

chroot "$root" passwd --delete root # for `python -m tests.vm console`
chroot "$root" systemctl enable rocmcfg-vm-agent.service
# Timers and daemons that cost seconds of every boot under TCG and mean nothing to a boot chain.
chroot "$root" systemctl disable ssh.service
chroot "$root" systemctl mask --quiet \
    apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer \
    sshd-keygen.service systemd-networkd-wait-online.service systemd-binfmt.service proc-sys-fs-binfmt_misc.automount \
    dev-hugepages.mount dev-mqueue.mount sys-fs-fuse-connections.mount sys-kernel-config.mount \
    modprobe@configfs.service modprobe@efi_pstore.service modprobe@fuse.service systemd-pstore.service \
    blk-availability.service lvm2-lvmpolld.socket lvm2-monitor.service

# Half of what installing rocmcfg costs is making the venv, and the venv does not depend on rocmcfg.
chroot "$root" python3 -m venv /opt/rocmcfg

# The first boot only: grub-install and update-grub, run in the guest, replace both files.
mkdir -p "$root/boot/efi" "$root/boot/grub"
chroot "$root" grub-mkimage -O x86_64-efi -p '(hd0,gpt2)/boot/grub' -o /boot/first-boot.efi \
    part_gpt ext2 fat normal linux echo configfile search search_fs_uuid search_label gzio serial terminal test \
    all_video loadenv
cat > "$root/boot/grub/grub.cfg" <<EOF
linux /vmlinuz root=LABEL=root ro console=ttyS0
initrd /initrd.img
boot
EOF
