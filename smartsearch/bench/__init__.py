"""Measures retrieval, ranking and the cut on data with gold turns: the paper's tables on the user's data."""
