# Written by rocmcfg; the next `rocmcfg apply` replaces this file.
# Undo: sudo rocmcfg rollback
export MIOPEN_DEBUG_CONV_GEMM=0
export HSA_OVERRIDE_GFX_VERSION_1=10.3.0
export ROCR_VISIBLE_DEVICES=GPU-0123456789abcdef,1
export PYTORCH_ALLOC_CONF=expandable_segments:True,max_split_size_mb:128
export SAMPLE='a=b+c/d-e@f%g;h.i'
