"""Readers of the encyclopedic sources: sentences as turns, a block of paragraphs as a chat."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from pathlib import Path

from recipe.sources_chat import random_day
from smartsearch.training.chats import Chat, Labelled
from smartsearch.training.names import FIRST_NAMES
from smartsearch.types import Turn

BRACKETS = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "``": '"', "''": '"'}
SPACED = re.compile(r"(?<!\s)\s+(?=[?.!,;:)'’]|n't)|(?<=\()\s+")
SENTENCE = re.compile(
    r"(?<!Mr\.)(?<!Dr\.)(?<!Jr\.)(?<!St\.)(?<!Ms\.)(?<!vs\.)(?<=[a-z0-9)\"][.!?])\s+(?=[A-Z\"])"
)
BLOCK = 5
"""Paragraphs in one made chat: enough wrong sentences, still mostly other topics."""


def _tidy(text: str) -> str:
    text = " ".join(BRACKETS.get(token, token) for token in text.split())
    text = SPACED.sub("", text)
    return text[:1].upper() + text[1:]


def _chat(source: str, key: str, parts: list[tuple[list[str], list[Labelled]]], rng: random.Random) -> Chat:
    """One chat of several paragraphs; in a third of the chats two random people take turns to say them."""
    turns: list[Turn] = []
    asked: list[Labelled] = []
    people = rng.sample(FIRST_NAMES, 2) if rng.random() < 0.35 else ["", ""]
    for n, (sentences, labelled) in enumerate(parts):
        day = random_day(rng)
        asked += [
            Labelled(item.question, tuple(i + len(turns) for i in item.gold), answer=item.answer)
            for item in labelled
        ]
        turns += [
            Turn(sentence, people[i % 2], day if people[0] else "", session=f"{key}-{n}")
            for i, sentence in enumerate(sentences)
        ]
    return Chat(source, key, tuple(turns), tuple(asked))


def _blocks(
    source: str, paragraphs: Iterable[tuple[list[str], list[Labelled]]], rng: random.Random
) -> Iterator[Chat]:
    stream, number = iter(paragraphs), 0
    while block := list(islice(stream, BLOCK)):
        yield _chat(source, f"{source}-{number}", block, rng)
        number += 1


def nqg(folder: Path, rng: random.Random) -> Iterator[Chat]:
    """(sentence, question) pairs in the order of the text; eight sentences make a paragraph."""
    for split in ("dev", "test"):
        sources = next(folder.rglob(f"src-{split}.txt")).read_text(encoding="utf-8").splitlines()
        targets = next(folder.rglob(f"tgt-{split}.txt")).read_text(encoding="utf-8").splitlines()
        runs = [
            (key, [q for _, q in run])
            for key, run in groupby(zip(sources, targets, strict=True), lambda p: p[0])
        ]
        paragraphs = []
        for start in range(0, len(runs), 8):
            part = runs[start : start + 8]
            asked = [Labelled(_tidy(rng.choice(questions)), (i,)) for i, (_, questions) in enumerate(part)]
            paragraphs.append(([_tidy(sentence) for sentence, _ in part], asked))
        for chat in _blocks("nqg", paragraphs, rng):
            yield Chat("nqg", f"{split}-{chat.id}", chat.turns, chat.questions)


def qed(folder: Path, rng: random.Random) -> Iterator[Chat]:
    """Natural Questions with the sentence that holds the evidence marked."""

    def paragraphs() -> Iterator[tuple[list[str], list[Labelled]]]:
        for path in sorted(folder.rglob("*.jsonlines")):
            for line in path.read_text(encoding="utf-8").splitlines():
                item = json.loads(line)
                starts, text = item["sentence_starts"], item["paragraph_text"]
                marked = (item.get("annotation") or {}).get("selected_sentence")
                if not marked or marked["start"] not in starts:
                    continue
                ends = [*starts[1:], len(text)]
                sentences = [_tidy(text[a:b]) for a, b in zip(starts, ends, strict=True)]
                yield sentences, [Labelled(item["question_text"], (starts.index(marked["start"]),))]

    yield from _blocks("qed", paragraphs(), rng)


def nq_oracle(folder: Path, rng: random.Random) -> Iterator[Chat]:
    """Natural Questions; the first sentence of the gold passage that holds a short answer is right."""

    def paragraphs() -> Iterator[tuple[list[str], list[Labelled]]]:
        for path in sorted(folder.rglob("*.jsonl.gz")):
            for line in gzip.decompress(path.read_bytes()).decode("utf-8").splitlines():
                item = json.loads(line)
                sentences = [s.strip() for s in SENTENCE.split(item["ctxs"][0]["text"]) if s.strip()]
                answers = [a.lower() for a in item["answers"]]
                gold = [i for i, s in enumerate(sentences) if any(a in s.lower() for a in answers)]
                if gold and len(sentences) > 1:
                    yield sentences, [Labelled(item["question"], tuple(gold))]

    yield from _blocks("nq_oracle", paragraphs(), rng)


def read_wiki(folder: Path, rng: random.Random) -> Iterator[Chat]:
    """All encyclopedic sources below `folder`; a question seen before (NQ is in two sources) is dropped."""
    seen: set[str] = set()
    for reader in (qed, nq_oracle, nqg):
        if not (folder / reader.__name__).is_dir():
            continue
        for chat in reader(folder / reader.__name__, rng):
            fresh = tuple(q for q in chat.questions if q.question.lower() not in seen)
            seen.update(q.question.lower() for q in fresh)
            yield Chat(chat.source, chat.id, chat.turns, fresh)
