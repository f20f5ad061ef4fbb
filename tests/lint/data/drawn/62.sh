echo "GRUB_DEFAULT=0" >> /etc/default/grub
echo "GRUB_TIMEOUT=10" >> /etc/default/grub
echo "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet splash\"" >> /etc/default/grub
echo "GRUB_CMDLINE_LINUX=\"amdgpu.vm_fragment_size=9\"" >> /etc/default/grub

update-grub
reboot
