"""BEAM as questions with gold messages (github.com/mohammadtavakoli78/BEAM, `chats/100K` and its like).

A chat is a folder with `chat.json` and `probing_questions/probing_questions.json`; where there is a
`chat_trunecated.json` (its authors' spelling), that chat is used: it has all gold ids.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from smartsearch.bench import data_format
from smartsearch.bench.data_format import DataFormat, Log, load, only, plain, question_text
from smartsearch.bench.types import BenchQuestion, Group, session_numbers
from smartsearch.errors import InputError
from smartsearch.types import Corpus

ABSTENTION = "abstention"

_CHATS = ("chat_trunecated.json", "chat.json")
_ANSWERS = ("answer", "ideal_answer", "ideal_response", "ideal_summary", "expected_compliance")


def _detect(path: Path, _: Mapping[str, Any]) -> bool:
    return path.is_dir() and any(_asked(folder).is_file() for folder in _folders(path))


def _folders(path: Path) -> list[Path]:
    """The chats at `path`: itself, or the folders in it, by number."""
    if _chat(path):
        return [path]
    inside = [folder for folder in path.iterdir() if folder.is_dir() and _chat(folder)]
    return sorted(inside, key=lambda folder: (folder.name.zfill(12), folder.name))


def _chat(folder: Path) -> Path | None:
    return next((folder / name for name in _CHATS if (folder / name).is_file()), None)


def _asked(folder: Path) -> Path:
    return folder / "probing_questions" / "probing_questions.json"


def _files(path: Path) -> list[Path]:
    chats = [(_chat(folder), _asked(folder)) for folder in _folders(path)]
    return [file for pair in chats for file in pair if file is not None and file.is_file()]


def _read(path: Path, log: Log) -> Iterator[Group]:
    """One group a chat, called by its folder; question ids are `chat/type/place in its list`."""
    if not path.is_dir():
        raise data_format.data_error(f"{path} is a file; BEAM is a folder of chats")
    for folder in _folders(path):
        name = folder.resolve().name
        chat = _chat(folder)
        try:
            by_type = _literal(load(_asked(folder)).decode("utf-8-sig", "replace"))
            if chat is None or not isinstance(by_type, dict):
                log.drop("unreadable", f"{_asked(folder)}: not an object with a list for each type")
                continue
            corpus = Corpus(data_format.transcripts([chat], "beam", log))
        except InputError as error:
            log.drop("unreadable", f"{name}: {error.message}")
            continue
        yield Group(name, corpus, tuple(_questions(name, corpus, by_type, log)))


def _questions(name: str, corpus: Corpus, by_type: dict[str, Any], log: Log) -> Iterator[BenchQuestion]:
    ids, sessions = data_format.turn_ids(corpus), session_numbers(corpus)
    for kind, value in by_type.items():
        records = _literal(value)
        if not isinstance(records, list):
            log.drop("unreadable", f"{name}/{kind}: {type(records).__name__}, not a list of questions")
            continue
        for number, raw in enumerate(records):
            identity, record = f"{name}/{kind}/{number}", _literal(raw)
            text = question_text(record)
            if not text or not isinstance(record, dict):
                log.drop("unreadable", f"{identity}: no question")
                continue
            abstention = kind == ABSTENTION
            sources = None if abstention else record.get("source_chat_ids")
            gold = frozenset(_gold(identity, sources, ids, log))
            yield BenchQuestion(
                id=identity,
                text=text,
                category=kind,
                gold=gold,
                gold_sessions=frozenset(int(sessions[place]) for place in gold),
                answer=next((plain(record[key]) for key in _ANSWERS if record.get(key) is not None), ""),
                abstention=abstention,
            )


def _gold(identity: str, sources: object, ids: dict[str, list[int]], log: Log) -> Iterator[int]:
    for leaf in dict.fromkeys(_leaves(sources)):
        if isinstance(leaf, bool) or not isinstance(leaf, int | str):
            log.drop("malformed", f"{identity}: {plain(leaf)}")
        else:
            yield from only(ids.get(str(leaf), ()), f"{identity}: {leaf}", log)


def _leaves(value: object) -> Iterator[int | float | str]:
    """The scalars of nested lists and objects, texts that hold such a literal included; null gives none."""
    value = _literal(value)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(inner)
    elif isinstance(value, int | float | str):
        yield value


def _literal(value: Any) -> Any:
    """The value of a text that is JSON or a Python literal (some releases have those), else the text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return value


FORMAT = DataFormat(
    name="beam",
    description="BEAM: a folder of chats, or one, with `chat.json` and `probing_questions/`",
    detect=_detect,
    read=_read,
    files=_files,
    abstention="no gold, left out of recall",
)
