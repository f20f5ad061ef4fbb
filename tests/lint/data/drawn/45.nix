{ systemSettings, lib, ... }:
let
  enabled = systemSettings.amdgpuSuspendWorkaround or false;
in
{
  boot.kernelParams =
    lib.optionals enabled [
      "amdgpu.runpm=0"
      "amdgpu.bapm=0"
      "amdgpu.aspm=0"
    ]
    # DC_DISABLE_IPS (0x800): disable Idle Power States unconditionally.
    ++ lib.optionals enabled [ "amdgpu.dcdebugmask=0x800" ];
}
