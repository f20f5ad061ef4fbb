"""GRUB as Debian, Ubuntu and SteamOS set it up: /etc/default/grub with a folder of drop-ins, and update-grub.

The arguments are in a file of our own, /etc/default/grub.d/zz-rocmcfg.cfg, which adds them to
GRUB_CMDLINE_LINUX_DEFAULT; update-grub makes the menu of it. /etc/default/grub and the drop-ins of others are
never written.

SteamOS has the menu on its EFI partition, /efi/EFI/steamos/grub.cfg. An update there is a second system,
which takes over of /etc what is listed alone: /etc/atomic-update.conf.d/rocmcfg.conf lists each file that
rocmcfg wrote, and the update runs update-grub. Valve's /etc/default/grub-steamos is never written: a copy
that is kept would hide what later versions bring. There is no trial: nobody has seen what Valve's steamenv
module makes of one.

Known from Debian's GRUB 2.06 to 2.14 (util/grub-mkconfig.in with Debian's patch, util/grub.d), whose own
grub-mkconfig the menus are held against. SteamOS: from steamos-customizations, branch jupiter-3.8.x of
2026-06-19 (grub/bin/update-grub, atomic-update/rauc/atomic-update-keep.conf,
misc/bin/steamos-finalize-install and steamos-chroot), and from bc250-steamos, which writes such drop-ins on
3.8; nothing was run on SteamOS.
"""
