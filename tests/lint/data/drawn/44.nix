{ config, pkgs, ... }: {
  networking.hostName = "nix-x2";
  # Hardware - suspend black screen workaround
  boot.kernelParams = [
    "amdgpu.runpm=0" # turns off the runtime power management
    "amdgpu.aspm=0"  # turns off Active State Power management (PCIE)
    "amdgpu.gpu_recovery=1"
  ];
}
