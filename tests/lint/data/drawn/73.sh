create_rocm_environment() {
    conda activate darkpool-rocm
    mkdir -p "$HOME/.conda/envs/darkpool-rocm/etc/conda/activate.d"
    echo '#!/bin/bash
export HSA_OVERRIDE_GFX_VERSION=8.0.3
export ROC_ENABLE_PRE_VEGA=1
export PYTORCH_ROCM_ARCH=gfx803
export HIP_VISIBLE_DEVICES=0' > "$HOME/.conda/envs/darkpool-rocm/etc/conda/activate.d/env_vars.sh"
    conda deactivate
}
