"""Boot loaders: one folder each, which `registry` lists; `shared` is what several have in common."""
