"""The readers, one module a format."""
