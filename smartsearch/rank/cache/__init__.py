"""ColBERT's vectors of turns, kept on disk."""
