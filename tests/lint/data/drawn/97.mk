backtest-rocm-safe:
	$(PY) -m src.cli --config configs/safe.yaml --mode backtest

.PHONY: streamlit-rocm-safe
streamlit-rocm-safe:
	# gfx1030: HSA_OVERRIDE_GFX_VERSION is sometimes needed
	MIOPEN_FIND_MODE=1 HSA_OVERRIDE_GFX_VERSION=10.3.0 \
	PYTHONPATH=. streamlit run app.py
