"""The written conversations: counts, faults, and a file of them that `smartsearch bench` reads."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from smartsearch.training.chats import Chat
from smartsearch.training.sources_written import FOLDER, read_written
from smartsearch.types import Turn

CATEGORIES = {"single": 4, "time": 2, "infer": 3}
"""LoCoMo's numbers of kinds of question; every other kind counts as multi-hop, 1."""


def as_sample(chat: Chat) -> dict[str, object]:
    """A conversation in LoCoMo's format."""
    talk: dict[str, object] = {"speaker_a": chat.names[0] if chat.names else "User"}
    for turn in chat.turns:
        talk.setdefault(f"session_{turn.session}_date_time", turn.time)
        said = {"speaker": turn.speaker, "dia_id": _evidence(turn), "text": turn.text}
        own = talk.setdefault(f"session_{turn.session}", [])
        assert isinstance(own, list)
        own.append(said | ({"blip_caption": turn.caption} if turn.caption else {}))
    asked = [
        {
            "question": one.question,
            "answer": one.answer,
            "evidence": [_evidence(chat.turns[i]) for i in one.gold],
            "category": CATEGORIES.get(one.kind, 1),
        }
        for one in chat.questions
    ]
    return {"sample_id": chat.id, "conversation": talk, "qa": asked}


def _evidence(turn: Turn) -> str:
    return "D" + turn.turn.replace(".", ":")


def described(chat: Chat) -> str:
    """A line of counts."""
    kinds = Counter(asked.kind for asked in chat.questions)
    gold = sum(len(asked.gold) for asked in chat.questions)
    length = sum(len(turn.text.split()) for turn in chat.turns) / max(1, len(chat.turns))
    return (
        f"{chat.id}: {len(chat.turns)} turns of {length:.0f} words in "
        f"{len({turn.session for turn in chat.turns})} sessions; {len(chat.questions)} questions, "
        f"{gold} right turns; " + ", ".join(f"{kind} {n}" for kind, n in kinds.most_common())
    )


def checked(path: Path) -> Chat | None:
    """The conversation in a file, or None after its first fault was printed."""
    try:
        return read_written(path)
    except ValueError as error:
        print(error)
        return None


def main(argv: Sequence[str]) -> int:
    """`python -m recipe written [FILE ...]`: counts, and the first fault of each file; 1 if there are any."""
    parser = argparse.ArgumentParser(prog="recipe written", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="default: all that are shipped")
    parser.add_argument("--locomo", type=Path, metavar="OUT", help="write them in LoCoMo's format")
    options = parser.parse_args(argv)
    chats = [checked(path) for path in options.files or sorted(FOLDER.glob("*.txt"))]
    if options.locomo:
        samples = [as_sample(chat) for chat in chats if chat]
        options.locomo.write_text(json.dumps(samples, ensure_ascii=False), encoding="utf-8")
    else:
        for chat in filter(None, chats):
            print(described(chat))
    return 0 if all(chats) else 1
