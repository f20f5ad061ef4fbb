job "vllm" {
  group "vllm" {
    task "vllm" {
      driver = "docker"
      env {
        HIP_FORCE_DEV_KERNARG       = "1"
        TORCH_BLAS_PREFER_HIPBLASLT = "1"
        SAFETENSORS_FAST_GPU        = "1"
        HSA_ENABLE_SDMA             = "0"
        HSA_OVERRIDE_GFX_VERSION    = "9.4.2"
        PYTORCH_ROCM_ARCH           = "gfx942"
      }
      resources {
        cpu    = 4000
        memory = 65536
      }
    }
  }
}
