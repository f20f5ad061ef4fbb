"""Boot loaders, one folder each. `registry` lists them; `shared` holds what several have in common."""
