docker run \
  --device=/dev/kfd \
  --device=/dev/dri \
  --privileged --shm-size 32g --ipc=host \
  -e HSA_NO_SCRATCH_RECLAIM=1 \
  -e GPU_FORCE_BLIT_COPY_SIZE=64 \
  -e DEBUG_HIP_BLOCK_SYN=1024 \
  lmsysorg/sglang:rocm630 python3 -m sglang.launch_server --tp 8
