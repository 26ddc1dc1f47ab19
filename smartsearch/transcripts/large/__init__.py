"""Transcripts too large to parse for every question: the index and the byte scan."""
