"""Words and dates."""
