sudo tee /etc/systemd/system/ollama.service >/dev/null <<'EOF'
[Unit]
Description=Ollama (ROCm)
After=network-online.target

[Service]
Type=simple
User=ollama
SupplementaryGroups=render video
Environment=OLLAMA_HOST=127.0.0.1:11434
Environment=ROCM_PATH=/opt/rocm
Environment=HIP_PLATFORM=amd
Environment=HIP_VISIBLE_DEVICES=0
Environment=HSA_ENABLE_SDMA=0
ExecStart=/usr/local/bin/ollama serve
EOF
sudo systemctl daemon-reload
