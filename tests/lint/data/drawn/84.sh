source venv/bin/activate
# Try different environment configurations
configs=(
    ""
    "HSA_OVERRIDE_GFX_VERSION=gfx1151"
    "TORCH_USE_HIP_DSA=1"
    "AMD_SERIALIZE_KERNEL=3"
)
for config in "${configs[@]}"; do
    env "$config" python gpu_test.py
done
