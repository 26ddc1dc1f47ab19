"""Held-out questions over chats with assistants, as a folder that `smartsearch bench` measures.

The one held-out person's sessions whole, with the questions written over stretches of them and others made
from what they told, and the held-out written chats. Assistants answer at length: with `--exchanges 3` three
questions and their answers of a session become one, some 300 words a turn.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from recipe.data import held_out
from recipe.sources_chat import realmem
from recipe.sources_real import asked
from smartsearch.bench.data_folder import QUESTIONS
from smartsearch.training.chats import Chat
from smartsearch.training.sources_written import written_chats

MADE = 156
"""Questions made by rule that are asked of a person's sessions, beside all that were written."""


def chats(train: Path, seed: int) -> Iterator[Chat]:
    """The held-out chats of which one speaker is an assistant, with their questions."""
    rng = random.Random(seed)
    stretches = [chat for chat in asked(train) if chat.source == "asked realmem"]
    for chat in list(filter(held_out, realmem(train / "realmem", rng))):
        made = [one for one in chat.questions if one.kind == "memory"]
        rng.shuffle(made)
        written = [
            replace(one, gold=tuple(int(first) + i for i in one.gold))
            for stretch in stretches
            for name, _, first in [stretch.id.rpartition("-")]
            if name == chat.id
            for one in stretch.questions
        ]
        yield replace(chat, questions=(*written, *made[:MADE]))
    yield from (chat for chat in written_chats() if held_out(chat) and not chat.names)


def merged(chat: Chat, exchanges: int) -> Chat:
    """The chat with so many exchanges of a session as one: what each speaker said in them, in one turn."""
    blocks: dict[tuple[str, int, str], list[int]] = defaultdict(list)
    said: dict[str, int] = defaultdict(int)
    for i, turn in enumerate(chat.turns):
        blocks[turn.session, said[turn.session] // (2 * exchanges), turn.speaker].append(i)
        said[turn.session] += 1
    place = {i: n for n, block in enumerate(blocks.values()) for i in block}
    turns = [
        replace(chat.turns[block[0]], text="\n\n".join(chat.turns[i].text for i in block))
        for block in blocks.values()
    ]
    questions = [replace(q, gold=tuple(dict.fromkeys(place[i] for i in q.gold))) for q in chat.questions]
    return replace(chat, turns=tuple(turns), questions=tuple(questions))


def write(chat: Chat, out: Path) -> None:
    """The chat as JSON lines below `out`, and its questions behind those of others; gold is `file:line`."""
    file = f"{chat.id}.jsonl"
    with (out / file).open("w", encoding="utf-8") as lines:
        for turn in chat.turns:
            told = {"speaker": turn.speaker, "text": turn.text, "time": turn.time, "session": turn.session}
            lines.write(json.dumps(told, ensure_ascii=False) + "\n")
    with (out / QUESTIONS).open("a", encoding="utf-8") as lines:
        for n, one in enumerate(chat.questions):
            if one.gold:
                gold = [f"{file}:{i + 1}" for i in one.gold]
                record = {"id": f"{chat.id}/{n}", "question": one.question, "gold": gold}
                lines.write(json.dumps({**record, "category": one.kind, "paths": [file]}) + "\n")


def main(argv: Sequence[str]) -> int:
    """`python -m recipe assistants DATA/train OUT`."""
    parser = argparse.ArgumentParser(prog="recipe assistants", description=__doc__)
    parser.add_argument("train", type=Path, help="folder with the training sources (data/train)")
    parser.add_argument("out", type=Path, help="an empty folder")
    parser.add_argument("--exchanges", type=int, default=3, help="so many of a session become one")
    parser.add_argument("--seed", type=int, default=13)
    options = parser.parse_args(argv)
    options.out.mkdir(parents=True)
    for chat in chats(options.train, options.seed):
        write(merged(chat, options.exchanges), options.out)
    return 0
