{ config, lib, ... }:
{
  # AMD Radeon RX 6900 XT
  config.boot = {
    # kernelParams = ["amdgpu.mcbp=0" "amd_iommu=off"];
    kernelParams = [ "amd_pstate=guided" "amdgpu" ];
  };
}
