#Change Boot config
sed -i "/append/c append initrd=initrd.img ip=dhcp root=/dev/nfs text consoleblank=0 pci=noaer iommu=soft amdgpu.vm_fragment_size=9 radeon.si_support=0 amdgpu.si_support=1 amdgpu.cik_support=1" $BOOT_CONF
sed -i "/hiveramfs/d" $SYS_CONF/etc/exports
