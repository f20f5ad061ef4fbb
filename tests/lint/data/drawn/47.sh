DUMP_MLA_DIR="${ATOM_DUMP_MLA_DIR:-/data/mla_dump}"

HSA_ENABLE_SDMA=1 \
HSA_USE_SVM=1 \
HSA_XNACK=1 \
ATOM_USE_TRITON_MOE=1 \
ENABLE_CK=0 \
python -m atom.entrypoints.openai_server --model "$MODEL_PATH" --kv_cache_dtype fp8
