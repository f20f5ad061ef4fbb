{ ... }: {
  boot.kernelParams = [
      # "amdgpu.reset_method=4"
      # "amdgpu.ras_enable=0"
      # 10s timeout for all operations
      "amdgpu.lockup_timeout=10000,10000,10000,10000"
      "amdgpu.aspm=1"
      "amdgpu.atpx=1"
      "iommu=off" # AMD recommend disabling iommu for ML loads
      "amdgpu.send_sigterm=1"
      #"amdgpu.bapm=1"
  ];
}
