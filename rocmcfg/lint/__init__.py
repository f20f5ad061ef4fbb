"""Reads what people write about parameters in any file, and says what of it is wrong."""
