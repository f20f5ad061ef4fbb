{ ... }: {
  boot.kernelParams = [
    "video=HDMI-A-1:2560x1440@120e"
    #"amd_3d_vcache.x3d_mode=cache"
    "amd_iommu=on"
    "amdgpu.mcbp=0"
    # AMDGPU freezing randomly, drm/amd 4141
    "amdgpu.runpm=0"
  ];
}
