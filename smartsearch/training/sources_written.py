"""Conversations and questions written for smartsearch (`written/*.txt`, MIT).

A file holds one conversation as sessions of numbered turns, then its questions:

    # kind: friends
    # people: Ines, Farid
    == 1 | 2022-03-04T19:12
    1.1 Ines: Guess who finally signed the lease!
    1.2 Farid: No way, the corner place? {photo: a shop with green shutters}
    ??
    list | What has Ines done for the bakery? | 1.1 3.4 | signed a lease, bought an oven | ~ 2.2

A question's fields: kind, question, ids of the turns that answer it, the answer, and after `~` ids of
turns that touch the matter and are used neither as right nor as wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from smartsearch.training.chats import Chat, Labelled
from smartsearch.types import Turn

FOLDER = Path(__file__).parent / "written"
KINDS = ("single", "list", "time", "infer", "both", "state", "order", "rule", "sum", "reply")
"""One fact; a list over sessions; a date asked for or given; an inference; two speakers compared; what
holds now after changes; the order of events; a standing wish of the user; a summary; a reply that means
something only after the turn before."""

HEAD = re.compile(r"# (\w+): (.+)")
SESSION = re.compile(r"== (\d+) \| (\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d)?)\s*$")
LINE = re.compile(r"(\d+)\.(\d+) ([^:]{1,30}): (.+)")
PHOTO = re.compile(r"\s*\{(?:photo|image): ([^}]*)\}")


def _ids(field: str, places: dict[str, int]) -> tuple[int, ...]:
    """The turns that a field names, each once."""
    keys = field.lstrip("~ ").replace(",", " ").split()
    missing = [key for key in keys if key not in places]
    if missing:
        raise ValueError(f"no turn {', '.join(missing)}")
    return tuple(dict.fromkeys(places[key] for key in keys))


def _question(line: str, places: dict[str, int]) -> Labelled:
    fields = [field.strip() for field in line.split("|")]
    if len(fields) < 4:
        raise ValueError("a question needs: kind | question | ids | answer")
    kind, question, ids, answer = fields[:4]
    if kind not in KINDS:
        raise ValueError(f"kind {kind!r} is not one of {', '.join(KINDS)}")
    gold = _ids(ids, places)
    if not gold:
        raise ValueError("no turn given")
    related = frozenset(_ids(fields[4], places) if len(fields) > 4 else ()) - frozenset(gold)
    return Labelled(question, gold, kind, answer, related=related, complete=True)


def _turn(line: str, session: str, time: str, people: tuple[str, ...]) -> Turn:
    said = LINE.fullmatch(line)
    if said is None or said[1] != session:
        raise ValueError(f"not a turn of session {session or '(none yet)'}")
    if said[3] not in people:
        raise ValueError(f"`# people:` does not name {said[3]}")
    text, captions = PHOTO.sub("", said[4]).strip(), "; ".join(PHOTO.findall(said[4]))
    return Turn(text, said[3], time, captions, session=session, turn=f"{said[1]}.{said[2]}")


def read_written(path: Path) -> Chat:
    """The conversation in a file. Raises ValueError with the line and what is wrong with it."""
    people: tuple[str, ...] = ()
    turns: list[Turn] = []
    asked: list[Labelled] = []
    places: dict[str, int] = {}
    session, time, questions = "", "", False
    for number, raw in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = raw.strip()
        head, opened = HEAD.fullmatch(line), SESSION.fullmatch(line)
        try:
            if not line:
                continue
            if questions:
                asked.append(_question(line, places))
            elif line == "??":
                questions = True
            elif head and not turns:
                if head[1] == "people":
                    people = tuple(name.strip() for name in head[2].split(","))
            elif opened:
                if opened[2] < time:
                    raise ValueError(f"session {opened[1]} is before the one above it")
                session, time = opened[1], opened[2].replace(" ", "T")
            else:
                turn = _turn(line, session, time, people)
                if turn.turn in places:
                    raise ValueError(f"turn {turn.turn} is there twice")
                places[turn.turn] = len(turns)
                turns.append(turn)
        except ValueError as error:
            raise ValueError(f"{path.name}:{number}: {error}: {line[:60]}") from error
    names = tuple(name for name in people if name not in ("User", "Assistant"))
    return Chat("written", path.stem, tuple(turns), tuple(asked), names, 0.5 if names else 0.0)


def written_chats() -> Iterator[Chat]:
    """Every conversation of FOLDER, in the order of the files' names."""
    for path in sorted(FOLDER.glob("*.txt")):
        yield read_written(path)


def held_out(chat: Chat) -> bool:
    """Whether a written conversation is for validation only: each author's third."""
    return chat.id.partition("_")[0].endswith("3")
