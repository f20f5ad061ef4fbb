# AMD GPU environment (MI50 gfx906)
set -gx HIP_VISIBLE_DEVICES 0
set -gx GPU_MAX_ALLOC_PERCENT 100
set -gx HSA_ENABLE_SDMA 0
set -gx HSA_OVERRIDE_GFX_VERSION 9.0.6
fish_add_path /opt/rocm/bin
