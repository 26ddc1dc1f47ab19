"""Retrieval: substring grep, hops over entities and feedback nouns, and the dense fallback."""
