"""One module per generated page; `docs/generate.py` writes them."""
