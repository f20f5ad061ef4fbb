export HIP_FORCE_DEV_KERNELS=1  # Force device kernels (may help with SIGSEGV)

# Disable SDMA completely (more aggressive than HSA_ENABLE_SDMA=0)
export HSA_AMD_SDMA_ENABLE=0
# Force single device
export HIP_VISIBLE_DEVICES=0
export PYTORCH_ROCM_FORCE_STREAM_ORDERED_ALLOCATOR=1
