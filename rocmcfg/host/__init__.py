"""The only package that touches the operating system; the rest of the program uses its module `view`."""
