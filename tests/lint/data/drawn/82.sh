if detect_rdna4_gpu; then
    if ! grep -q "HSA_OVERRIDE_GFX_VERSION" ~/.bashrc 2>/dev/null; then
        warn "Setting ROCm GPU override for RDNA 4..."
        echo 'export HSA_OVERRIDE_GFX_VERSION=11.0.2' >> ~/.bashrc
        [[ -f ~/.config/fish/config.fish ]] && \
            echo 'set -gx HSA_OVERRIDE_GFX_VERSION 11.0.2' >> ~/.config/fish/config.fish
    fi
fi
