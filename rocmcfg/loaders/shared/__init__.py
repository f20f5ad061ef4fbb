"""Code that several boot loaders share."""
