"""The knowledge of the program: the catalogue (`data/*.toml`), the profiles, and the code that reads both."""
