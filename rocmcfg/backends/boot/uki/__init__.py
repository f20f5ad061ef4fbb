"""Unified kernel images, made by ukify, mkinitcpio or dracut.

Written is an addon of some 3 KiB beside each image of this system,
EFI/Linux/NAME.efi.extra.d/rocmcfg.addon.efi, which systemd-stub reads from 254 on and appends to the line
that is built in. The image itself, its initramfs and its signature stay as they are; nothing is rebuilt, and
root= cannot get lost. A later kernel gets its addon by the hook of kernel-install or of mkinitcpio. Where a
stub reads no addons, the arguments go into /etc/kernel/cmdline (mkinitcpio, ukify) or a file for dracut
instead, if one of the owner's already holds the line, and the images are built anew by their own program.

Under Secure Boot an addon that is not signed is ignored: it is signed by sbctl or sbsign where the host's
files name keys, and else the apply refuses and says the commands.

A trial is an entry that starts the image which boots by itself with the line built into it and the trial's
arguments; no image is copied. There is none under Secure Boot, where an image takes no line but its own, none
with another loader than systemd-boot, and none of another value for what an addon says already, since the
stub appends addons to that line too.

Sources: systemd 257 and 262 (systemd-stub(7), src/boot, ukify), mkinitcpio v41, dracut 106 and 112. Addons
are compared with those of the real ukify, images with objdump. On OVMF with systemd-boot and the stubs of
257.13 and 262.1 the kernel printed our arguments, in the order told; with a boot counter in the image's name;
and under Secure Boot where the addon was signed by sbsign, and only there. Images of the real ukify, unsigned
and signed, and of the real dracut are those of the real machine, and so is one of a kernel that came later.
Not shown: sbctl and mkinitcpio themselves, which are read and stood in for.
"""
