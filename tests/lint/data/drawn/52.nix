{ pkgs, ... }: {
  boot = {
    kernelParams = [
      #"quiet" "splash" "rd.udev.log_level=3"
      "vm.max_map_count=2147483642"
      "amdgpu.seamless=1" "amdgpu.gpu_recovery=1" "amdgpu.noretry=0"
    ];
    kernelPackages = pkgs.linuxPackages_lqx;
  };
}
