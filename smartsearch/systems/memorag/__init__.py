"""MemoRAG: a memory of all transcripts drafts clues to an answer, and these are searched in them."""

from smartsearch.systems.base import RUN, Card

CARD = Card(
    "memorag",
    f"A memory of all turns drafts clues to the answer; the clues are searched with the question. {RUN}",
    paper="MemoRAG: Boosting Long Context Processing with Global Memory-Enhanced Retrieval Augmentation",
    needs="llm",
    fidelity="approximate",
    keeps=True,
    llm=True,
)
CARDS = {CARD.name: CARD}
