"""The shipped weights with their card, and the profiles that say which models run."""
