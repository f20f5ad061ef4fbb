set -uo pipefail
OUT=/ryzers/outputs/smoke
export MUJOCO_GL=egl PYOPENGL_PLATFORM=egl OMP_NUM_THREADS=1
export TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL=1 TORCH_BLAS_PREFER_HIPBLASLT=0
for f in 1.00 0.50; do
  VIS_KEEP="$f" lerobot-eval --policy.type=molmoact2
done
