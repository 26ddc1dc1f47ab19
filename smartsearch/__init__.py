"""smartsearch: find the few turns in raw chat transcripts that answer a question."""

__version__ = "0.1.0"
