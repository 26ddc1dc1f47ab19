"""Chats made by rule, as large as wanted and always the same: what the cost curve is measured over.

Word frequencies fall as in real text (Zipf), names, places and dates recur, and a few facts are said
once, so that there is something to find. A third of the files each are messages as JSONL, `Name: text`
and LoCoMo-like JSON.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from itertools import accumulate
from pathlib import Path
from random import Random

SEED = 5
TURNS_PER_FILE = 2000
FILES_PER_FOLDER = 100
SESSION = 25
"""Turns of a session; each session is on another day."""
CHARACTERS_PER_TOKEN = 5.2
"""BEAM's chats of "100K" tokens have about 520,000 characters of text."""
Formats = Sequence[str]
MIXED = ("jsonl", "txt", "json")
"""Suffixes of the files: messages as JSONL, `Name: text`, LoCoMo-like JSON."""
TAIL = 20_000
"""Made-up words, the rare ones: with them a corpus has as many distinct words as real chats."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


NAMES = _words(
    "Mara Ilya Tomas Noor Greta Hugo Lena Omar Petra Ravi Saskia Viktor Wanda Yusuf Zoe Anton Bruna Carlos "
    "Dalia Edgar Farah Goran Hanna Igor Jonas Katya Luis Mina Nils Olga Paolo Quinn Rosa Stefan Tilda Uma"
)
PLACES = _words(
    "Trieste Porto Riga Leeds Oslo Ghent Malmo Izmir Quito Osaka Lagos Perth Cusco Split Basel Tartu"
)
FUNCTION = _words(
    "the to and a of it in that was for is on with my but so we have at this just be not they he she me all "
    "about there when from been had then out if some really would more now like well also because"
)
NOUNS = _words(
    "garden work weekend train dinner friend book house kitchen dog film music job coffee photo park river "
    "mother brother sister school concert trip bike recipe class team market boat guitar project doctor "
    "bread key letter neighbour choir bridge window phone cake forest lake station museum story plan "
    "cat festival painting piano winter summer jacket camera ticket novel lesson harbour cousin tent lamp map"
)
VERBS = _words(
    "went made found bought started finished loved missed visited painted cooked planted called fixed lost "
    "wrote read watched carried borrowed cleaned moved forgot promised tried booked cancelled sold baked"
)
ADJECTIVES = _words(
    "old new little great long quiet tired happy cold warm strange early late bright broken lovely heavy"
)
TEMPLATES = (
    "I {verb} the {noun} with {name}",
    "{name} {verb} the {adjective} {noun} in {place}",
    "did you hear that {name} {verb} a {noun}?",
    "we {verb} our {noun} on {day}",
    "the {noun} near the {noun} was {adjective}",
    "yes, and {name} said the {noun} is {adjective}",
)


@dataclass(frozen=True)
class Fact:
    """Something said once in a corpus, and the question it answers."""

    question: str
    said: str


FACTS = (
    Fact("When did Mara sell the telescope?", "Mara sold the telescope to a student on 9 March 2023."),
    Fact(
        "Where did Ilya hide the key of the boathouse?",
        "Ilya hid the boathouse key under the third flowerpot.",
    ),
    Fact(
        "What did Priscilla inherit from her godmother?",
        "Priscilla inherited a bandoneon from her godmother.",
    ),
    Fact(
        "Who taught Tomas to repair the accordion?",
        "Old Mr Vandersteen taught Tomas to repair the accordion.",
    ),
    Fact(
        "Which train did the choir miss on the way to Trieste?",
        "The choir missed the 6:42 sleeper to Trieste.",
    ),
)


@dataclass(frozen=True)
class Made:
    """What was made: turns, files, bytes, and a hash of all of it."""

    turns: int
    files: int
    bytes: int
    sha256: str


def questions(count: int, seed: int = SEED) -> list[str]:
    """So many questions over a made corpus: those that the facts answer, then others by rule."""
    rng = Random(f"questions {seed}")
    asked = [fact.question for fact in FACTS]
    while len(asked) < count:
        name, noun, place = (rng.choice(words) for words in (NAMES, NOUNS, PLACES))
        asked.append(f"What did {name} say about the {rng.choice(ADJECTIVES)} {noun} in {place}?")
    return asked[:count]


def folder(
    place: Path, turns: int, seed: int = SEED, per_file: int = TURNS_PER_FILE, formats: Formats = MIXED
) -> Made:
    """Fills `place` with chats of so many turns in all, the formats in turn; once."""
    wanted = {"turns": turns, "seed": seed, "per_file": per_file, "formats": list(formats), "code": _code()}
    note = place.with_name(f"{place.name}.made.json")
    if note.is_file():
        found = json.loads(note.read_text(encoding="utf-8"))
        if found["wanted"] == wanted:
            return Made(**found["made"])
    shutil.rmtree(place, ignore_errors=True)
    hashed, size = hashlib.sha256(), 0
    sizes = _sizes(turns, per_file)
    facts = {(2 * n + 1) * turns // (2 * len(FACTS)): fact for n, fact in enumerate(FACTS)}
    first = 0
    for number, count in enumerate(sizes):
        planted = {at - first: fact.said for at, fact in facts.items() if first <= at < first + count}
        first += count
        data, suffix = _file(number, count, planted, seed, formats)
        path = place / f"{number // FILES_PER_FOLDER:03}" / f"chat-{number:05}.{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        hashed.update(data)
        size += len(data)
    made = Made(turns, len(sizes), size, hashed.hexdigest())
    note.write_text(json.dumps({"wanted": wanted, "made": asdict(made)}), encoding="utf-8")
    return made


def long_chat(path: Path, tokens: int = 500_000, seed: int = SEED) -> Made:
    """Writes one chat of a user and an assistant with long turns, as BEAM's are, of about so many tokens."""
    rng = Random(f"long {seed}")
    wanted, size, number = tokens * CHARACTERS_PER_TOKEN, 0, 0
    say = _saying(rng)
    facts = {wanted * (2 * n + 1) / (2 * len(FACTS)): fact.said for n, fact in enumerate(FACTS)}
    lines = []
    while size < wanted:
        role = ("user", "assistant")[number % 2]
        length = rng.randint(*((200, 1200) if role == "user" else (3000, 5500)))
        parts: list[str] = []
        while sum(map(len, parts)) < length:
            parts.append(next(say))
            if parts and rng.random() < 0.15:
                parts[-1] += "\n"
        for at in [at for at in facts if at <= size]:
            parts.insert(len(parts) // 2, facts.pop(at))
        text = " ".join(parts)
        size += len(text)
        day = date(2023, 1, 1) + timedelta(days=number // 8)
        lines.append(
            json.dumps({"role": role, "content": text, "timestamp": f"{day}T09:{number % 60:02}:00"})
        )
        number += 1
    data = ("\n".join(lines) + "\n").encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return Made(number, 1, len(data), hashlib.sha256(data).hexdigest())


def _code() -> str:
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()


def _sizes(turns: int, per_file: int) -> list[int]:
    """The turns of each file: of all three formats even in a small corpus, and never a lone last one."""
    files = max(3, -(-turns // per_file)) if turns >= 12 else 1
    return [turns // files + (number < turns % files) for number in range(files)]


def _file(number: int, count: int, planted: dict[int, str], seed: int, formats: Formats) -> tuple[bytes, str]:
    """One chat of two people as bytes, and its suffix."""
    rng = Random(f"{seed} {number} {count}")
    pair = rng.sample(NAMES, 2)
    begin = date(2021, 1, 1) + timedelta(days=rng.randrange(700))
    say = _saying(rng)
    turns = [(pair[n % 2], planted.get(n) or next(say)) for n in range(count)]
    suffix = formats[number % len(formats)]
    write = {"jsonl": _messages, "txt": _chat, "json": _locomo}[suffix]
    return write(turns, begin, number), suffix


Turns = list[tuple[str, str]]


def _messages(turns: Turns, begin: date, _: int) -> bytes:
    lines = (
        json.dumps(
            {
                "role": "user",
                "name": name,
                "timestamp": f"{_day(begin, n)}T{n % 24:02}:30:00",
                "content": text,
            }
        )
        for n, (name, text) in enumerate(turns)
    )
    return ("\n".join(lines) + "\n").encode()


def _chat(turns: Turns, begin: date, _: int) -> bytes:
    lines = []
    for n, (name, text) in enumerate(turns):
        if n % SESSION == 0:
            lines.append(f"\n--- {_day(begin, n)} ---\n")
        lines.append(f"{name}: {text}")
    return ("\n".join(lines).lstrip("\n") + "\n").encode()


def _locomo(turns: Turns, begin: date, number: int) -> bytes:
    names = [name for name, _ in turns[:2]]
    talk: dict[str, object] = dict(zip(("speaker_a", "speaker_b"), names))
    for first in range(0, len(turns), SESSION):
        session = first // SESSION + 1
        day = _day(begin, first)
        talk[f"session_{session}_date_time"] = f"1:56 pm on {day.day} {day:%B}, {day.year}"
        talk[f"session_{session}"] = [
            {"speaker": name, "dia_id": f"D{session}:{n}", "text": text}
            for n, (name, text) in enumerate(turns[first : first + SESSION], 1)
        ]
    return json.dumps([{"sample_id": f"made-{number}", "conversation": talk}]).encode()


def _day(begin: date, turn: int) -> date:
    return begin + timedelta(days=turn // SESSION)


def _tail() -> tuple[str, ...]:
    """Made-up words in a fixed order: three syllables, sometimes an ending."""
    rng = Random("tail")
    heads, ends = "bdfgklmnprstvz", ("", "", "s", "n", "ing", "er")
    syllables = [
        head + vowel for head in (*heads, "br", "st", "pl") for vowel in ("a", "e", "i", "o", "u", "ai")
    ]
    words: dict[str, None] = {}
    while len(words) < TAIL:
        words["".join(rng.choices(syllables, k=3)) + rng.choice(ends)] = None
    return tuple(words)


VOCABULARY = (*FUNCTION, *NOUNS, *VERBS, *ADJECTIVES, *_tail())


def _zipf(count: int) -> list[float]:
    """Cumulative weights 1/1, 1/2, 1/3, ..."""
    return list(accumulate(1 / rank for rank in range(1, count + 1)))


_WEIGHTS = {words: _zipf(len(words)) for words in (VOCABULARY, NAMES, PLACES, NOUNS, VERBS, ADJECTIVES)}
_BATCH = 512
"""Words drawn at a time: drawing one by one takes several times as long."""


def _drawn(rng: Random, words: tuple[str, ...]) -> Iterator[str]:
    while True:
        yield from rng.choices(words, cum_weights=_WEIGHTS[words], k=_BATCH)


def _saying(rng: Random) -> Iterator[str]:
    """Sentences without end: a template, and as many common and rare words behind it as it happens."""
    words, names, places, nouns, verbs, adjectives = (_drawn(rng, some) for some in _WEIGHTS)
    while True:
        template = TEMPLATES[int(rng.random() * len(TEMPLATES))]
        said = template.format(
            name=next(names),
            place=next(places),
            noun=next(nouns),
            verb=next(verbs),
            adjective=next(adjectives),
            day=f"{1 + int(rng.random() * 28)} May",
        )
        more = int(rng.expovariate(1 / 10))
        yield f"{said}, {' '.join(next(words) for _ in range(more))}." if more else f"{said}."
