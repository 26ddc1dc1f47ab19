"""Readers of real people's text: strangers' messages chained by person, and channels with reply links.

`asked.jsonl` holds questions written for smartsearch (MIT) over the messages of these and of two more
sources, which it names by place alone: the ids of a person's conversations, or a chat and its first turn, and
numbers of messages in them, empty ones not counted.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from recipe.sources_chat import realmem, topical_chat
from smartsearch.training.chats import Chat, Labelled
from smartsearch.training.overlap import words
from smartsearch.training.questions import made_questions
from smartsearch.types import Turn

ASKED = Path(__file__).with_name("asked.jsonl")
SESSIONS = 12
"""Conversations of one person in a chat: a few hundred messages."""
SAID = re.compile(r"\[(\d\d:\d\d)\] <([^>]+)> (.+)")
ADDRESSED = re.compile(r"^[\w\[\]\\`^{}|-]{2,20}[:,] *")


def _talks(folder: Path) -> list[tuple[str, list[Turn]]]:
    """Every conversation's id and turns, in order of time; speakers are named `P` and the sender's id."""
    with (folder / "conversations.jsonl").open(encoding="utf-8") as lines:
        talks = sorted((json.loads(line) for line in lines), key=lambda talk: str(talk["start"]))
    return [
        (
            talk["id"],
            [
                Turn(said["text"].strip(), f"P{said['sender']}", said["time"][:16], session=talk["id"])
                for said in talk["messages"]
                if said["text"].strip()
            ],
        )
        for talk in talks
    ]


def _names(turns: Sequence[Turn]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(turn.speaker for turn in turns))


def _asked() -> list[dict[str, Any]]:
    return [json.loads(line) for line in ASKED.read_text(encoding="utf-8").splitlines()]


def chitchat(folder: Path, rng: random.Random) -> Iterator[Chat]:
    """Each person's conversations chained in order of time; each conversation stands in one chat.

    A conversation that questions were written over stands in the chat of that stretch's person: held out
    there, it is held out here. Any other stands in the chat of whoever has more conversations.
    """
    stretch = {
        session: f"P{record['person']}" for record in _asked() for session in record.get("sessions", ())
    }
    own: dict[str, list[list[Turn]]] = defaultdict(list)
    talks = _talks(folder)
    count = Counter(name for _, turns in talks for name in _names(turns))
    for session, turns in talks:
        if turns:
            busiest = min(_names(turns), key=lambda name: (-count[name], name))
            own[stretch.get(session, busiest)].append(turns)
    for person, sessions in sorted(own.items()):
        for first in range(0, len(sessions), SESSIONS):
            turns = [turn for session in sessions[first : first + SESSIONS] for turn in session]
            made = made_questions(turns, rng, 0.5)
            yield Chat("chitchat", f"{person}-{first}", tuple(turns), tuple(made), _names(turns), 1.0)


def asked(train: Path, first: int = 0, last: int | None = None) -> Iterator[Chat]:
    """The stretches below `train` that questions were written over, labels complete: records first to last.

    Those of chitchat are of the source `asked`, those of another of `asked SOURCE`; a source that is not
    there is left out.
    """
    rng = random.Random(0)
    talks = dict(_talks(train / "chitchat")) if (train / "chitchat").is_dir() else {}
    readers: dict[str, Callable[[Path], Iterator[Chat]]] = {
        "realmem": partial(realmem, rng=rng),
        "topical_chat": partial(topical_chat, rng=rng),
        "irc": irc,
    }
    chats = {
        (source, chat.id): chat
        for source, read in readers.items()
        if (train / source).is_dir()
        for chat in read(train / source)
    }
    for record in _asked()[first:last]:
        source, size = record.get("source", ""), record["turns"]
        if source:
            key, first = record["chat"], record["first"]
            if (source, key) not in chats:
                continue
            whole = chats[source, key]
            name, kind, rename = f"{key}-{first}", f"asked {source}", whole.rename
            turns, names = whole.turns[first : first + size], whole.names
        elif talks:
            name, kind, rename = f"P{record['person']}-asked", "asked", 1.0
            turns = tuple(turn for session in record["sessions"] for turn in talks[session])[:size]
            names = _names(turns)
        else:
            continue
        questions = tuple(
            Labelled(
                one["question"],
                tuple(one["gold"]),
                one["kind"],
                related=frozenset(one["related"]),
                complete=True,
            )
            for one in record["questions"]
        )
        yield Chat(kind, name, turns, questions, names, rename)


def irc(folder: Path) -> Iterator[Chat]:
    """A channel's stretch: a question that people answered by a linked reply, and those replies."""
    for path in sorted(folder.rglob("*.ascii.txt")):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        day = match.group() if (match := re.match(r"\d{4}-\d\d-\d\d", path.name)) else ""
        turns, place = list[Turn](), dict[int, int]()
        for number, line in enumerate(lines):
            said = SAID.match(line)
            if said is not None:
                place[number] = len(turns)
                turns.append(
                    Turn(said[3].strip(), said[2], f"{day}T{said[1]}" if day else "", session=path.stem)
                )
        replies: dict[int, list[int]] = defaultdict(list)
        for line in path.with_name(path.name.replace("ascii", "annotation")).read_text().splitlines():
            one, other = (int(number) for number in line.split()[:2])
            early, late = sorted((one, other))
            if early in place and late in place and early != late:
                replies[place[early]].append(place[late])
        asked = []
        for i, answers in sorted(replies.items()):
            question = ADDRESSED.sub("", turns[i].text)
            others = [j for j in answers if turns[j].speaker != turns[i].speaker]
            good = [j for j in others if len(turns[j].text.split()) >= 5 and "?" not in turns[j].text]
            if "?" in question and len(words(question)) >= 3 and good:
                related = frozenset((i, *answers))
                asked.append(Labelled(question, tuple(good), "reply", related=related))
        yield Chat("irc", f"{path.parent.name}-{path.stem}", tuple(turns), tuple(asked))


def read_real(folder: Path, rng: random.Random, stretches: int | None = None) -> Iterator[Chat]:
    """All that is below `folder` (`data/train`), of the written questions those of so many stretches."""
    if (folder / "chitchat").is_dir():
        yield from chitchat(folder / "chitchat", rng)
    yield from asked(folder, 0, stretches)
    if (folder / "irc").is_dir():
        yield from irc(folder / "irc")
