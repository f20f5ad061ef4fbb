{ config, pkgs, ... }: {
  boot = {
    kernelParams = [
      "iommu=pt" # passthrough mode
      #"amdgpu.ppfeaturemask=0xfffd7fff" # enables some GPU features for waybar
      #"pcie_aspm=off" # eGPU troubleshoot
      #"amdgpu.runpm=0" # eGPU troubleshoot
      "resume_offset=22767"
    ];
    kernel.sysctl."net.ipv4.ip_forward" = 1;
  };
}
