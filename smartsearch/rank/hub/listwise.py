"""The one text in which a language model reads all candidates and the question; where each stands in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Span = tuple[int, int]
"""First place and the one behind the last: of characters, or of tokens."""


@dataclass(frozen=True)
class Prompt:
    """What stands around notes, texts and question. `chat`: all of it is a user's message to the model."""

    notes: str
    texts: str
    question: str
    chat: bool


PAPER = "paper"
PROMPTS = {
    PAPER: Prompt(
        "Here are some summaries of the context:\n\n",
        "Here are some retrieved chunks:\n\n",
        "Use the retrieved chunks to answer the user's query.\n\nQuery: ",
        chat=True,
    ),
    "ours": Prompt(
        "What the conversations are about:\n",
        "Passages of conversations, each with its number:\n\n",
        "Which of these passages help to answer the question?\nQuestion: ",
        chat=False,
    ),
}
"""By name: the input format of the released weights (its paper, appendix A.3), and our own words. The paper's
lead to the notes is not known to us word by word."""
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


def context(
    tokenizer: Any, question: str, texts: Sequence[str], notes: Sequence[Note] = (), prompt: str = PAPER
) -> Context:
    """Notes, numbered passages in the order given, the question last (its paper, section 3).

    Nothing stands behind the question: what comes later changes nothing before it.
    """
    said = PROMPTS[prompt]
    chosen = covering(notes, len(texts), lambda text: len(tokenizer.encode(text, add_special_tokens=False)))
    listed = "".join(f"- {note.text}\n" for note in chosen)
    began = _beginning(tokenizer) if said.chat else ""
    written = began + (f"{said.notes}{listed}\n" if chosen else "") + said.texts
    places = []
    for number, text in enumerate(texts, start=1):
        written += f"[{number}] "
        places.append((len(written), len(written) + len(text)))
        written += f"{text}\n\n"
    written += said.question
    places.append((len(written), len(written) + len(question)))
    read = tokenizer(
        written + question, return_offsets_mapping=True, verbose=False, add_special_tokens=not began
    )
    *spans, asked = token_spans(read["offset_mapping"], places)
    return Context(tuple(read["input_ids"]), tuple(spans), asked)


def _beginning(tokenizer: Any) -> str:
    """What the model's own chat template puts before a user's message; nothing without a template."""
    if not getattr(tokenizer, "chat_template", None):
        return ""
    mark = "smartsearch-message"
    written = tokenizer.apply_chat_template([{"role": "user", "content": mark}], tokenize=False)
    return str(written).partition(mark)[0]


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


def covering(notes: Sequence[Note], texts: int, count: Callable[[str], int]) -> list[Note]:
    """The notes that cover most passages not yet covered, in the order given, PREFIX_TOKENS in all.

    `count` gives a text's tokens. A note that does not fit is left out; one that covers nothing new too.
    """
    left, room = set(range(texts)), PREFIX_TOKENS
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
