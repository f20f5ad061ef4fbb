{ pkgs, ... }:
{
  boot.extraModprobeConfig = ''
    options snd_hda_intel power_save=1
  '';
  boot.kernelParams = [
    "mem_sleep_default=s2idle"
    "amdgpu.cwsr_enable=0"
    "pcie_aspm.policy=powersupersave"
    # Adaptive Backlight Management, level 1 is barely perceptible
    "amdgpu.abmlevel=1"
  ];
}
