"""What tests of several systems share: models that know words only, and chats whose topics are planted."""

import hashlib
import re
from dataclasses import replace

import numpy as np

from smartsearch.rank.cache.vectors import unquantised
from smartsearch.rank.scorer import Scorer
from smartsearch.types import Turn
from tests.cli.fakes import FakeParser, fake_tools, shared, words

DIMENSIONS = 64


class Statements(FakeParser):
    """Takes each sentence that begins with a name or says I for a statement."""

    def statements(self, text):
        return [s for s in re.findall(r"[^.?!]+[.!]", text) if re.search(r"\bI\b|^\s*[A-Z]\w+ \w+ed\b", s)]


class WordVectors:
    """Stands in for ColBERT: a text's one vector is the sum of random ones of its words."""

    def __call__(self, question, texts):
        return shared(question, texts)

    def vectors(self, texts):
        sums = (sum(map(vector, words(text.lower())), np.zeros(DIMENSIONS)) for text in texts)
        return [unquantised(total[None]) for total in sums]


def vector(word):
    seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest(), "big")
    return np.random.default_rng(seed).standard_normal(DIMENSIONS)


def tools(config, *, cache=True):
    made = fake_tools(config)
    words = WordVectors()
    colbert = Scorer(words, vectors=words.vectors)
    return replace(made, parser=Statements(), scorers={**made.scorers, "colbert": colbert})


TOPICS = (
    ("garden", "tomatoes", "compost", "seedlings", "spade"),
    ("server", "deploy", "kernel", "backup", "disk"),
    ("guitar", "chords", "amplifier", "concert", "strings"),
    ("bread", "flour", "yeast", "oven", "crust"),
)


def session(n, topic=None):
    """Six turns of one day about one topic: a statement each, and a question in the middle."""
    about = TOPICS[n % len(TOPICS) if topic is None else topic]
    day = f"2024-{1 + n // 28:02}-{1 + n % 28:02}"
    said = [
        f"I bought {about[0]} and {about[1]} number {n}.",
        f"I like {about[2]} with {about[0]}.",
        f"Do you use {about[3]}?",
        f"I use {about[3]} and {about[4]} always.",
        f"I lost the {about[4]} of {about[1]}.",
        "Oh no!",
    ]
    return [
        Turn(text, speaker=("Ann", "Ben")[k % 2], time=f"{day}T10:0{k}:00", session=f"s{n}", path="chat.json")
        for k, text in enumerate(said)
    ]


def chat(*sessions):
    return [turn for n in sessions for turn in session(n)]
