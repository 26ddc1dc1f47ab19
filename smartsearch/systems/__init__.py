"""The published memory systems, one folder each."""
