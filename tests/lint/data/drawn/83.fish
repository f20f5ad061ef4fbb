# ROCm GPU Acceleration for Ollama (AMD Radeon 780M)
set -gx ROCM_HOME /usr/lib64/rocm
set -gx HSA_OVERRIDE_GFX_VERSION gfx1101
set -gx GPU_DEVICE_ORDINAL 0
set -gx OLLAMA_NUM_GPU 1
