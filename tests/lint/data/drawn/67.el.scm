(kernel-arguments
  (list
     ;; AMD GPU Tuning
     "amdgpu.ppfeaturemask=0xffffffff" ; Unlock all
     "amdgpu.dc=1"                     ; Enable Display Core
     "amdgpu.dpm=1"
     "amdgpu.aspm=1"
     "amdgpu.gpu_recovery=1"
     "amdgpu.mcbp=1"
     "amdgpu.dcfeaturemask=0xffffffff"
     "amdgpu.sched_policy=2"
     "amdgpu.abmlevel=0"
     "amdgpu.runpm=0"))
