"""The one text in which a language model reads all candidates and the question; where each stands in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Span = tuple[int, int]
"""First place and the one behind the last: of characters, or of tokens."""
BEFORE_NOTES = "What the conversations are about:\n"
BEFORE_TEXTS = "Passages of conversations, each with its number:\n\n"
BEFORE_QUESTION = "Which of these passages help to answer the question?\nQuestion: "
CONTENT_FREE = "N/A"
"""A question without content: what it finds, a head finds in any list (paper, calibration)."""
PREFIX_TOKENS = 512
"""The most tokens of notes before the passages (its paper, section 4)."""


@dataclass(frozen=True)
class Note:
    """A summary of some of the passages, by their places in the list."""

    text: str
    covers: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Context:
    """What the model reads as tokens: the spans of the passages and of the question, its label left out."""

    ids: tuple[int, ...]
    texts: tuple[Span, ...]
    question: Span


def context(tokenizer: Any, question: str, texts: Sequence[str], notes: Sequence[Note] = ()) -> Context:
    """Notes, numbered passages in the order given, the question last (its paper, section 3)."""
    chosen = covering(notes, len(texts), lambda text: len(tokenizer.encode(text, add_special_tokens=False)))
    listed = "".join(f"- {note.text}\n" for note in chosen)
    written = f"{BEFORE_NOTES}{listed}\n" if chosen else ""
    written += BEFORE_TEXTS
    places = []
    for number, text in enumerate(texts, start=1):
        written += f"[{number}] "
        places.append((len(written), len(written) + len(text)))
        written += f"{text}\n\n"
    written += BEFORE_QUESTION
    places.append((len(written), len(written) + len(question)))
    read = tokenizer(written + question, return_offsets_mapping=True, verbose=False)
    *spans, asked = token_spans(read["offset_mapping"], places)
    return Context(tuple(read["input_ids"]), tuple(spans), asked)


def token_spans(offsets: Sequence[Span], places: Sequence[Span]) -> list[Span]:
    """For stretches of characters, in order, the tokens that hold any character of each.

    `offsets` are each token's own characters. Several tokens may hold the same one, as where a letter is
    written in bytes; special tokens hold none.
    """
    found, token = [], 0
    for start, end in places:
        while token < len(offsets) and offsets[token][1] <= start:
            token += 1
        first = token
        while token < len(offsets) and offsets[token][0] < end:
            token += 1
        while token > first and offsets[token - 1][0] == offsets[token - 1][1]:  # special ones behind
            token -= 1
        found.append((first, token))
    return found


def covering(
    notes: Sequence[Note], texts: int, count: Callable[[str], int], most: int = PREFIX_TOKENS
) -> list[Note]:
    """The notes that cover most passages not yet covered, in the order given, `most` tokens in all.

    `count` gives a text's tokens. A note that does not fit is left out; one that covers nothing new too.
    """
    left, room = set(range(texts)), most
    waiting, chosen = list(range(len(notes))), list[int]()
    while waiting:
        best = max(waiting, key=lambda place: len(left & notes[place].covers))
        waiting.remove(best)
        if not left & notes[best].covers:
            break
        cost = count(notes[best].text) + 2
        if cost <= room:
            chosen.append(best)
            left, room = left - notes[best].covers, room - cost
    return [notes[place] for place in sorted(chosen)]
