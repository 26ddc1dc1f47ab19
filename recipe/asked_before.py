"""Chats in which somebody asks the question before it is answered, or asks it elsewhere and gets no answer.

A turn that asks shares more words with the question than its answer does, and turns that say nothing ("ok")
borrow these words from it. The measure puts such turns into held-out chats, a few turns above a right turn:
the same question should still find its answer first (rank/asked.py).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from recipe.validate import held_out_chats
from smartsearch.config import Config
from smartsearch.models import loading
from smartsearch.models.tools import Tools
from smartsearch.retrieve.grep import Haystack
from smartsearch.systems.smartsearch.pipeline import search
from smartsearch.training.chats import Chat, Labelled
from smartsearch.types import Corpus

CUTS = (1, 3, 5, 10)

FARTHEST = 6
"""The most turns between one that asks and a right one below it, counted from 1."""
OTHERWISE = Path(__file__).with_name("asked_otherwise.jsonl")
"""Held-out questions as somebody of their chat would ask them in other words, each by `key_of` it."""
ELSEWHERE, IDLE = 0.15, 0.4
"""The share of questions that are asked elsewhere, and of those that a turn without content follows."""
SAYS_NOTHING = (
    *("ok", "thanks", "", "hmm", "yes", "good question", "one sec", "let me look", "lol", "👍", "sure"),
    *("no idea sorry", "wait", "[sticker]", "on it", "hang on, checking", "same question here", "??", "Ok!"),
)
"""What people write below a question without answering it."""
FRAMES = (
    *("{q}", "{q}", "{q}", "hey, {q}", "quick question: {q}", "does anyone know {q}", "do you remember {q}"),
    *("sorry to ask again but {q}", "{q} i can't find it anymore", "can someone tell me {q}"),
    *("i was wondering {q}", "{q} just curious", "remind me, {q}", "random thought, {q}", "btw {q}"),
    *("somebody asked me {q} and i had no answer", "still wondering {q}", "{q} anyone?", "hi all! {q}"),
)
"""How a question is put in a chat; those with words before it lose its capital."""
_LEAD = re.compile(r"^(?:do you (?:know|remember)|can you tell me|tell me|please)\b[, ]*", re.IGNORECASE)
_SHORT = (("what is", "what's"), ("where is", "where's"), ("who is", "who's"), ("does not", "doesn't"))


def as_typed(question: str, rng: random.Random) -> str:
    """The question as somebody would type it in a chat."""
    said = _LEAD.sub("", question.strip()) if rng.random() < 0.5 else question.strip()
    if rng.random() < 0.3:
        for long, short in _SHORT:
            said = re.sub(rf"\b{long}\b", short, said, flags=re.IGNORECASE)
    frame = rng.choice(FRAMES)
    if not frame.startswith("{q}") and said[1:2].islower():
        said = said[:1].lower() + said[1:]
    end = rng.choice(("?", "?", "?", "??", ""))
    said = frame.format(q=said.rstrip("?. ") + (end if frame.endswith("{q}") else rng.choice(("?", "", ","))))
    if rng.random() < 0.6:
        said = said.lower()
    return _mistyped(said, rng) if rng.random() < 0.15 else said


def _mistyped(text: str, rng: random.Random) -> str:
    """The text with two neighbouring letters of one of its longer words exchanged."""
    places = [n for n in range(len(text) - 4) if text[n : n + 4].isalpha()]
    if not places:
        return text
    n = rng.choice(places) + 1
    return text[:n] + text[n + 1] + text[n] + text[n + 2 :]


def key_of(chat: Chat, labelled: Labelled) -> str:
    """What stands for a question over a chat, whose words may be others' own."""
    return hashlib.sha256(f"{chat.source} {chat.id} {labelled.question}".encode()).hexdigest()[:12]


def asked_before(
    chat: Chat, labelled: Labelled, rng: random.Random, away: int | None = None, said: str = ""
) -> Chat:
    """`chat` with the one question `labelled`, and a turn that asks it put above its first right turn.

    The turn is as `said`, else the question as somebody would type it. `away` says how many turns above it,
    drawn from 1 to FARTHEST unless given; never in another session. A share ELSEWHERE asks in some other
    place, and is not answered. Neither turn is a right one.
    """
    turns, gold = chat.turns, min(labelled.gold)
    if away is None and rng.random() < ELSEWHERE:
        at = rng.randrange(len(turns))
    else:
        at = gold
        for _ in range((away or rng.randint(1, FARTHEST)) - 1):
            if at and turns[at - 1].place == turns[gold].place:
                at -= 1
    beside = turns[at]
    there = [turn.speaker for turn in turns[max(0, at - 30) : at + 30] if turn.place == beside.place]
    others = [name for name in there if name != turns[gold].speaker] or there
    text = said or as_typed(labelled.question, rng)
    asks = replace(beside, text=text, speaker=rng.choice(others), caption="")
    new = [asks]
    if at < gold and rng.random() < IDLE:
        idle = rng.choice([name for name in there if name != asks.speaker] or there)
        new.append(replace(asks, text=rng.choice(SAYS_NOTHING), speaker=idle))
    return replace(
        chat,
        turns=(*turns[:at], *new, *turns[at:]),
        questions=(
            replace(
                labelled,
                gold=moved(labelled.gold, at, len(new)),
                related=frozenset(moved(sorted(labelled.related), at, len(new))),
            ),
        ),
    )


def moved(indices: Sequence[int], at: int, by: int) -> tuple[int, ...]:
    """The indices of the same turns with `by` more before the one at `at`."""
    return tuple(index + by if index >= at else index for index in indices)


def found(chat: Chat, labelled: Labelled, tools: Tools, config: Config) -> dict[str, list[float]]:
    """For the search and each ranker alone: whether the first hit is right, and the share within CUTS."""
    hits = search(labelled.question, Haystack(Corpus(chat.turns)), config, tools).hits
    orders = {"all": hits}
    for name in ("colbert", "ce"):
        read = [hit for hit in hits if getattr(hit.scores, name) is not None]
        orders[name] = sorted(read, key=lambda hit: -getattr(hit.scores, name))
    gold = set(labelled.gold)
    return {
        name: [
            float(bool(order) and order[0].index in gold),
            *(len(gold.intersection(hit.index for hit in order[:cut])) / len(gold) for cut in CUTS),
        ]
        for name, order in orders.items()
    }


def main(argv: Sequence[str]) -> int:
    """`python -m recipe asked_before DATA/train`: means without and with a turn that asks."""
    parser = argparse.ArgumentParser(prog="recipe asked_before", description=__doc__)
    parser.add_argument("train", nargs="?", type=Path, help="training sources; without, the written chats")
    parser.add_argument("--every", type=int, default=1, help="of so many questions one is asked")
    parser.add_argument("--away", type=int, help="turns above the first right one (default: 1 to 6, drawn)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=13)
    options = parser.parse_args(argv)
    rng, config = random.Random(options.seed), Config(threads=options.threads)
    tools = loading.load_tools(config)
    real = held_out_chats(options.train, options.seed, real=True) if options.train else ()
    chats = chain(held_out_chats(options.train, options.seed), real)
    pairs = [(chat, asked) for chat in chats for asked in chat.questions if asked.gold][:: options.every]
    lines = OTHERWISE.read_text(encoding="utf-8").splitlines()
    otherwise = {record["of"]: record["asks"] for record in map(json.loads, lines)}
    rows: dict[tuple[str, str], list[list[float]]] = {}
    for chat, asked in pairs:
        with_it = asked_before(chat, asked, rng, options.away)
        ways = [("without", chat, asked), ("with", with_it, with_it.questions[0])]
        if words := otherwise.get(key_of(chat, asked)):
            drawn = random.Random(key_of(chat, asked))
            other = asked_before(chat, asked, drawn, options.away, words)
            ways.append(("in other words", other, other.questions[0]))
        for said, one, question in ways:
            for name, values in found(one, question, tools, config).items():
                rows.setdefault((name, said), []).append(values)
    for (name, said), each in rows.items():
        means = [round(sum(column) / len(each), 4) for column in zip(*each, strict=True)]
        told = {"order": name, "asked": said, "first": means[0], "within": CUTS, "share": means[1:]}
        print(json.dumps(told))
    return 0
