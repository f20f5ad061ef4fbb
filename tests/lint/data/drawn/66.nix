{ username, pkgs, ... }: {
  boot.kernelParams = [
    "amd_iommu=off" # 13-16% prefill, kills NPU
    "amdgpu.gttsize=126976"
    "amdgpu.vm_update_mode=0"
    "amdgpu.noretry=0"
    "amdgpu.sg_display=0"
  ];
  boot.extraModprobeConfig = ''
    options ttm pages_limit=32505856
  '';
  hardware.amdgpu.initrd.enable = true;
}
