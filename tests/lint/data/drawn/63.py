GUIDE = """
RECOMMENDED PS4 BOOTARGS
========================
amdgpu.gttsize=2048 amdgpu.vm_fragment_size=9 amdgpu.dc=0
amdgpu.pcie_gen2=1 amdgpu.aspm=0 amdgpu.dpm=1
amdgpu.deep_color=0 amdgpu.gpu_recovery=0
mitigations=off nopti spectre_v2=off
"""
print(GUIDE)
