"""xMemory: messages, episodes, semantics and themes, kept in order as they come, and read top-down.

Where the config asks for a language model, it writes the memory and decides what is enough. Else rules and
our rankers do, and every answer says so.
"""

from smartsearch.systems.base import SEEN, Card

CARD = Card(
    "xmemory",
    "Episodes, facts and themes made of all turns; themes, then facts, then episodes while they help. "
    f"{SEEN}",
    paper="Beyond RAG for Agent Memory: Retrieval by Decoupling and Aggregation (arXiv 2602.02007)",
    keeps=True,
    llm=True,
)
CARDS = {CARD.name: CARD}
