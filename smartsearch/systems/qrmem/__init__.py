"""QRMeM (arXiv 2406.13167): segments, and for each question a graph of their entities that is walked."""

from smartsearch.systems.base import SEEN, Card

CARD = Card(
    "qrmem",
    "Segments and a graph of entities made for the question, walked by what the last step lacked; by rule, "
    f"or with its language model (--llm). {SEEN}",
    paper="QRMeM: Unleash the Length Limitation through Question then Reflection Memory Mechanism",
    llm=True,
)
CARDS = {CARD.name: CARD}
