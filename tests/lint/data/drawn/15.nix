{ config, pkgs, ... }:
{
  boot.kernelPackages = local-unstable.linuxPackages_latest;
  boot.extraModprobeConfig = ''
    # example settings
    options amdgpu vm_update_mode=0 vm_fault_stop=0 debug_evictions=true vcnfw_log=1 mes=1 mes_log_enable=1 mes_kiq=1
  '';
  boot.tmp.useTmpfs = true;
}
