{ config, ... }:
{
  # Make GPU have enough VRAM
  boot.kernelParams = [
    "amd_iommu=off"
    "amdgpu.gttsize=126976"
    "ttm.pages_limit=32505856"
  ];
  powerManagement.cpuFreqGovernor = "performance";
}
