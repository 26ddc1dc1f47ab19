"""How the shipped models are made, from data to files: docs/training.md. It is not installed."""

import smartsearch.training  # noqa: F401 - first: it keeps the model hub's client off the network
