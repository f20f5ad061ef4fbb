"""What several boot loaders have in common."""
