"""The shipped parser by numpy: tokens, tags and entities as spaCy gives them, from spaCy's own files."""
