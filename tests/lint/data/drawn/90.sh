cat > "$DIR/run_rocm.sh" <<'RUN_EOF'
#!/usr/bin/env bash
export HSA_XNACK=1
export MIOPEN_DEBUG_CONV_GEMM=1
export MIOPEN_DEBUG_CONV_DIRECT=0
export MIOPEN_DEBUG_CONV_WINOGRAD=0
export MIOPEN_USER_DB_PATH=/tmp/miopen_db
export PYTORCH_HIP_ALLOC_CONF=garbage_collection_threshold:0.6,max_split_size_mb:128
exec "$VENV/bin/python" run.py
RUN_EOF
