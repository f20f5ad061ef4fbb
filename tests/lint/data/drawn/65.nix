{ config, lib, ... }:
{
  boot.kernelModules = [ "kvm-amd" "sg" ];
  boot.kernelParams = [  "amd_pstate=active" "amdgpu.sg_display=0" "amd_iommu=pt" "vt.default_red=239,210,64" ];
  fileSystems."/" = { device = "/dev/sda1"; fsType = "ext4"; };
}
