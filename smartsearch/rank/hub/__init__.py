"""Rankers in the model hub's formats: what a folder says of itself, and its weights run by torch."""
