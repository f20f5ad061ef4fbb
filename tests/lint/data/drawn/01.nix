{ pkgs, inputs, ... }:

{
  kernelPackage = pkgs.linuxPackages_latest;
  kernelMods = [ "kvm-intel" ];
  kernelParams = [ "amdgpu.ppfeaturemask=0xffffffff" ];
  systemConfig = {
    boot = {
      type = "efi";
      configLimit = 3;
    };
  };
}
