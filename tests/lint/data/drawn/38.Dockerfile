FROM rocm/pytorch:latest
# Build bitsandbytes with HSA_OVERRIDE_GFX_VERSION=9.4.2 for -DBNB_ROCM_ARCH="gfx942" for MI300
RUN git clone --recurse https://github.com/ROCm/bitsandbytes.git && \
    cd bitsandbytes && \
    export TORCH_BLAS_PREFER_HIPBLASLT=1 && \
    cmake -DCOMPUTE_BACKEND=hip -S . -DBNB_ROCM_ARCH="gfx942" && \
    make && pip install .
CMD ["bash"]
