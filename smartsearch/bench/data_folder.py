"""Your own chats as a benchmark: transcripts of any known format and a JSONL file of questions with gold.

PATH is the JSONL file, or a folder that holds it as `questions.jsonl` beside the transcripts. A line is

    {"id": "q1", "question": "...", "gold": ["D1:3"], "gold_sessions": ["session_1"], "answer": "...",
     "category": "...", "date": "...", "conversation": "...", "paths": ["chats/ann.jsonl"]}

of which `id` and `question` must be there. `paths` (from the questions' folder, else the current one) and
`conversation` say where to search; without them all transcripts of the folder are the haystack. A gold turn
is a turn id as the transcript's reader gives it, "path:line", "path:turn id", or an object with turn, line
or pointer and, to tell like ones apart, path, conversation and session; a gold session is its id or an
object with session, path and conversation. A path may leave out its folders where only one file has
that name.
"""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path, PurePath
from typing import Any

from smartsearch.bench.data_format import DataFormat, Log, load, only, plain, question_text, transcripts
from smartsearch.bench.types import BenchQuestion, Group, session_numbers
from smartsearch.errors import InputError
from smartsearch.transcripts import to_iso
from smartsearch.transcripts.files import Selection, find
from smartsearch.types import Corpus, Turn

QUESTIONS = "questions.jsonl"

_NAMES = ("path", "line", "pointer", "conversation", "session", "turn")

_KNOWN = ("id", "question", "gold", "gold_sessions", "answer", "category", "date", "conversation", "paths")
_OWN = ("smartsearch-bench", "20[0-9][0-9][0-9][0-9][0-9][0-9]-[0-9][0-9][0-9][0-9][0-9][0-9]-*.json")
"""The folder and the files that a benchmark writes."""

Name = dict[str, str]
"""A gold item's values, by field of `Turn`."""


@dataclass(frozen=True)
class _Asked:
    """One line: the question's record and where to search."""

    id: str
    record: dict[str, Any]
    paths: tuple[str, ...]
    conversations: tuple[str, ...]


class _Names:
    """Finds the turns of a corpus that a gold item names."""

    def __init__(self, corpus: Corpus, base: Path) -> None:
        self.base = base
        self.turns = corpus.turns
        real = {path: _real(Path(path)) for path in {turn.path for turn in corpus.turns}}
        self.paths = frozenset(real.values())
        self.keys = [_key(turn, real[turn.path]) for turn in corpus.turns]
        self.places: dict[tuple[str, str], list[int]] = {}
        for place, key in enumerate(self.keys):
            for field in ("turn", "line", "pointer", "session"):
                self.places.setdefault((field, key[field]), []).append(place)

    def turn(self, item: object) -> list[int] | None:
        """Places of the turns that `item` names; None if it names no turn."""
        if isinstance(item, dict):
            return self._named(self._name(item), ("turn", "line", "pointer"))
        if isinstance(item, bool) or not isinstance(item, int | str):
            return None
        found = self.places.get(("turn", str(item)), [])
        return found or (self._in_file(item) if isinstance(item, str) else [])

    def _in_file(self, item: str) -> list[int]:
        """Places of `path:line`, or of `path:turn id`; both may hold colons of their own."""
        colons = [at for at, character in enumerate(item) if character == ":"]
        for field, ats in (("line", colons[-1:]), ("turn", colons)):
            for at in ats:
                found = self._named(self._name({"path": item[:at], field: item[at + 1 :]}), (field,))
                if found:
                    return found
        return []

    def session(self, item: object) -> list[int] | None:
        """Places of all turns of the sessions that `item` names; None if it names no session."""
        if isinstance(item, dict):
            return self._named(self._name(item), ("session",))
        if isinstance(item, bool) or not isinstance(item, int | str):
            return None
        return self.places.get(("session", str(item)), [])

    def _name(self, item: Mapping[str, Any]) -> Name | None:
        """The fields of a gold object as text; None for one with a field that names nothing."""
        if not all(key in _NAMES and isinstance(value, int | str) for key, value in item.items()):
            return None
        return {key: str(value) for key, value in item.items()}

    def _paths(self, named: str) -> frozenset[str]:
        """The file of that path from the questions' folder, else all whose path ends so."""
        exact = _real(self.base / named)
        tail = PurePath(named).parts
        ends = (path for path in self.paths if PurePath(path).parts[-len(tail) :] == tail)
        return frozenset([exact]) if exact in self.paths else frozenset(ends)

    def _named(self, name: Name | None, by: Sequence[str]) -> list[int] | None:
        """Places where all of `name` holds; None without a field of `by` in it."""
        first = next((field for field in by if name and field in name), None)
        if name is None or first is None:
            return None
        near = self.places.get((first, name[first]), [])
        rest = {field: value for field, value in name.items() if field != "path"}
        near = [place for place in near if rest.items() <= self.keys[place].items()]
        if "path" not in name:
            return near
        files = self._paths(name["path"])
        return [place for place in near if self.keys[place]["path"] in files]


def _key(turn: Turn, path: str) -> Name:
    fields = {"path": path, "line": str(turn.line), "pointer": turn.pointer}
    return {**fields, "conversation": turn.conversation, "session": turn.session, "turn": turn.turn}


def _real(path: Path) -> str:
    return os.path.realpath(path)


def _file(path: Path) -> Path:
    return path / QUESTIONS if path.is_dir() else path


def _asked(file: Path, log: Log) -> list[_Asked]:
    """The questions of a file; a line that is not a question is logged with its number."""
    asked: list[_Asked] = []
    lines: dict[str, int] = {}
    text = load(file).decode("utf-8-sig", "replace")
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        question = _line(line)
        if isinstance(question, str):
            log.drop("unreadable", f"line {number}: {question}")
        elif question.id in lines:
            log.drop(
                "unreadable", f"line {number}: the id {question.id!r} is that of line {lines[question.id]}"
            )
        else:
            lines[question.id] = number
            asked.append(question)
    return asked


def _line(line: str) -> _Asked | str:
    """The question of a line, or the line's fault."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        listed = ": a JSON list? one object per line is needed" if line.lstrip()[:1] in "[]" else ""
        return f"not JSON: {error}{listed}"
    if not isinstance(record, dict):
        return "a JSON list, not one object per line" if isinstance(record, list) else "not a JSON object"
    identity = record.get("id")
    if isinstance(identity, bool) or not isinstance(identity, int | str) or identity == "":
        return "no id: a string or a whole number"
    if not question_text(record):
        return "no question"
    paths, conversations = _texts(record.get("paths")), _texts(record.get("conversation"))
    if paths is None or conversations is None:
        return "paths and conversation are a string or a list of strings"
    return _Asked(str(identity), record, paths, conversations)


def _texts(value: object) -> tuple[str, ...] | None:
    """The strings of a string, a list or null (no strings); None for any other value."""
    listed = _listed(value)
    return tuple(listed) if all(isinstance(item, str) for item in listed) else None


def _read(path: Path, log: Log) -> Iterator[Group]:
    """One group for each place to search: by `paths`, then by `conversation`, in order of appearance."""
    file = _file(path)
    by_paths: dict[tuple[str, ...], dict[tuple[str, ...], list[_Asked]]] = {}
    for question in _asked(file, log):
        by_paths.setdefault(question.paths, {}).setdefault(question.conversations, []).append(question)
    labels: set[str] = set()
    for paths, by_conversation in by_paths.items():
        turns, failed = _turns(file, paths, log)
        for conversations, asked in by_conversation.items():
            corpus = Corpus(tuple(t for t in turns if not conversations or t.conversation in conversations))
            if corpus.turns:
                names, sessions = _Names(corpus, file.parent), session_numbers(corpus).tolist()
                questions = tuple(_question(question, names, sessions, log) for question in asked)
                yield Group(_label(file, paths, conversations, labels), corpus, questions)
            else:
                why = failed or f"no turns of conversation {', '.join(conversations)}"
                for question in asked:
                    log.drop("unreadable", f"{question.id}: {why}")


def _turns(file: Path, paths: tuple[str, ...], log: Log) -> tuple[tuple[Turn, ...], str]:
    """The turns of `paths` (by default of the folder), and the reason if there are none."""
    try:
        turns = transcripts(_places(file, paths), "auto", log, excludes=_excludes(file))
    except InputError as error:
        return (), error.message
    # A path such as `..` reaches the questions past the exclusion: they must not answer themselves.
    own = {path for path in {turn.path for turn in turns} if _real(Path(path)) == _real(file)}
    turns = tuple(turn for turn in turns if turn.path not in own)
    return turns, "" if turns else f"no transcripts in {', '.join(paths) or file.parent}"


def _places(file: Path, paths: Iterable[str]) -> list[Path]:
    """Where to search: a path from the questions' folder, else from the current one, as `batch` has it."""
    near = [(file.parent / path, Path(path)) for path in paths]
    return [here if not beside.exists() and here.exists() else beside for beside, here in near] or [
        file.parent
    ]


def _excludes(file: Path) -> list[str]:
    """The questions are no transcript, nor are a benchmark's own records.

    A glob with a slash fits this file, not its namesakes below.
    """
    return [f"./{glob.escape(file.name)}", *_OWN]


def _label(file: Path, paths: tuple[str, ...], conversations: tuple[str, ...], taken: set[str]) -> str:
    """A unique name for a haystack."""
    name = ": ".join(", ".join(part) for part in (paths, conversations) if part)
    name = name or file.parent.resolve().name
    label, number = name, 1
    while label in taken:
        number += 1
        label = f"{name} ({number})"
    taken.add(label)
    return label


def _question(asked: _Asked, names: _Names, sessions: list[int], log: Log) -> BenchQuestion:
    record = asked.record
    for key in record.keys() - set(_KNOWN):
        if near := get_close_matches(key, _KNOWN, 1, 0.8):
            log.drop("unknown fields", f"{asked.id}: {key} ({near[0]}?)")
    gold = frozenset(_gold(asked, names, log))
    named = frozenset(_gold_sessions(asked, names, sessions, log))
    return BenchQuestion(
        id=asked.id,
        text=record["question"],
        category=plain(record.get("category")),
        gold=gold,
        gold_sessions=named or frozenset(sessions[place] for place in gold),
        answer=plain(record.get("answer")),
        date=to_iso(record.get("date")),
    )


def _gold(asked: _Asked, names: _Names, log: Log) -> Iterator[int]:
    for item in _listed(asked.record.get("gold")):
        places = names.turn(item)
        if places is None:
            log.drop("malformed", f"{asked.id}: {plain(item)}")
        else:
            yield from only(places, f"{asked.id}: {plain(item)}", log)


def _gold_sessions(asked: _Asked, names: _Names, sessions: list[int], log: Log) -> Iterator[int]:
    for item in _listed(asked.record.get("gold_sessions")):
        places = names.session(item)
        if places is None:
            log.drop("malformed", f"{asked.id}: session {plain(item)}")
        else:
            numbers = list(dict.fromkeys(sessions[place] for place in places))
            yield from only(numbers, f"{asked.id}: session {plain(item)}", log)


def _listed(value: object) -> list[Any]:
    """A list unchanged, a single item as a list of one, null as an empty list."""
    return value if isinstance(value, list) else [] if value is None else [value]


def _files(path: Path) -> list[Path]:
    """The questions and every transcript that one of them is asked of."""
    file = _file(path)
    selection = Selection(excludes=_excludes(file))
    found = {file}
    for paths in dict.fromkeys(question.paths for question in _asked(file, Log())):
        for place in _places(file, paths):
            if place.exists():
                found.update(Path(name) for name in find([str(place)], selection) if isinstance(name, str))
    return sorted(name for name in found if name.is_file())


FORMAT = DataFormat(
    name="folder",
    description=f'your own: JSONL lines with "id", "question" and "gold", or a folder with {QUESTIONS}',
    detect=lambda path, record: "question" in record or (path / QUESTIONS).is_file(),
    read=_read,
    files=_files,
)
