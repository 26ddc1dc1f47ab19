"""Conversations and questions written for smartsearch (`written/*.txt`, MIT): reader and checker.

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

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
NAME = re.compile(r"[A-Z][a-zA-Z'’-]+")


@dataclass(frozen=True)
class Written:
    """A conversation with its questions, and what its file has wrong (`line: message`)."""

    chat: Chat
    kind: str
    problems: tuple[str, ...]


def _question(fields: list[str], places: dict[str, int]) -> Labelled | str:
    """The labelled question of a line's fields, or what is wrong with it."""
    if len(fields) < 4:
        return "a question needs: kind | question | ids | answer"
    kind, question, ids, answer = fields[:4]
    gold = ids.replace(",", " ").split()
    touched = fields[4].lstrip("~ ").replace(",", " ").split() if len(fields) > 4 else []
    missing = [key for key in (*gold, *touched) if key not in places]
    if kind not in KINDS:
        return f"kind {kind!r} is not one of {', '.join(KINDS)}"
    if missing or not gold:
        return f"no turn {', '.join(missing) or 'given'}"
    right = tuple(dict.fromkeys(places[key] for key in gold))
    related = frozenset(places[key] for key in touched) - frozenset(right)
    return Labelled(question, right, kind, answer, related=related, complete=True)


def read_written(path: Path) -> Written:
    """The conversation in a file; a line that cannot be read is a problem and costs only itself."""
    heads: dict[str, str] = {}
    turns: list[Turn] = []
    asked: list[Labelled] = []
    places: dict[str, int] = {}
    problems: list[str] = []
    session, time, questions = "", "", False
    for number, raw in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = raw.strip()
        if not line:
            continue
        head, opened, said = HEAD.fullmatch(line), SESSION.fullmatch(line), LINE.fullmatch(line)
        if head and not turns:
            heads[head[1]] = head[2]
        elif line == "??":
            questions = True
        elif questions:
            made = _question([field.strip() for field in line.split("|")], places)
            if isinstance(made, str):
                problems.append(f"{number}: {made}: {line[:60]}")
            else:
                asked.append(made)
        elif opened:
            if time and opened[2] < time:
                problems.append(f"{number}: session {opened[1]} is before the one above it")
            session, time = opened[1], opened[2].replace(" ", "T")
        elif said and said[1] == session:
            key = f"{said[1]}.{said[2]}"
            if key in places:
                problems.append(f"{number}: turn {key} is there twice")
            captions = PHOTO.findall(said[4])
            places[key] = len(turns)
            text = PHOTO.sub("", said[4]).strip()
            turns.append(Turn(text, said[3], time, "; ".join(captions), session=session, turn=key))
        else:
            problems.append(f"{number}: not a turn of session {session or '(none yet)'}: {line[:60]}")
    people = tuple(name.strip() for name in heads.get("people", "").split(",") if name.strip())
    named = sum(bool(NAME.search(turn.speaker)) and turn.speaker in people for turn in turns)
    if not people or named < len(turns):
        problems.append("1: `# people:` must name every speaker, as the turns do")
    names = tuple(name for name in people if name not in ("User", "Assistant"))
    rename = 0.5 if names else 0.0
    chat = Chat("written", path.stem, tuple(turns), tuple(asked), names, rename)
    return Written(chat, heads.get("kind", ""), tuple(problems))


def written_chats(folder: Path = FOLDER) -> Iterator[Chat]:
    """Every conversation of the folder, in the order of the files' names."""
    for path in sorted(folder.glob("*.txt")):
        yield read_written(path).chat


CATEGORIES = {"single": 4, "time": 2, "infer": 3}
"""LoCoMo's numbers of kinds of question; every other kind counts as multi-hop, 1."""


def as_sample(chat: Chat) -> dict[str, object]:
    """A conversation in LoCoMo's format, which `smartsearch bench` reads."""
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


def main(argv: Sequence[str]) -> int:
    """`python -m smartsearch.training written [FILE ...]`: counts and problems; 1 if there are any.

    With `--locomo OUT` the conversations are written to a file for `smartsearch bench OUT` instead.
    """
    parser = argparse.ArgumentParser(prog="smartsearch.training written", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="default: all that are shipped")
    parser.add_argument("--show", action="store_true", help="each question with its right turns")
    parser.add_argument("--locomo", type=Path, metavar="OUT", help="write them in LoCoMo's format")
    options = parser.parse_args(argv)
    if options.locomo:
        samples = [as_sample(read_written(path).chat) for path in options.files]
        options.locomo.write_text(json.dumps(samples, ensure_ascii=False), encoding="utf-8")
        return 0
    wrong = 0
    for path in options.files or sorted(FOLDER.glob("*.txt")):
        found = read_written(path)
        chat = found.chat
        kinds = Counter(asked.kind for asked in chat.questions)
        gold = sum(len(asked.gold) for asked in chat.questions)
        length = sum(len(turn.text.split()) for turn in chat.turns) / max(1, len(chat.turns))
        print(
            f"{path.stem}: {len(chat.turns)} turns of {length:.0f} words in "
            f"{len({turn.session for turn in chat.turns})} sessions; {len(chat.questions)} questions, "
            f"{gold} right turns; " + ", ".join(f"{kind} {n}" for kind, n in kinds.most_common())
        )
        for asked in chat.questions if options.show else ():
            print(f"  {asked.kind}: {asked.question}  [{asked.answer}]")
            for i in asked.gold:
                print(f"    {chat.turns[i].turn} {chat.turns[i].speaker}: {chat.turns[i].text[:150]}")
        for problem in found.problems:
            print(f"  {path.name}:{problem}")
        wrong += len(found.problems)
    return 1 if wrong else 0
