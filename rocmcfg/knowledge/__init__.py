"""What we know: the catalogue (`data/*.toml`), the profiles, and the code that reads both."""
