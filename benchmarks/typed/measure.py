"""Asks the typed set's questions as a person at a terminal does, and counts the answers on the first screen.

`python benchmarks/typed/measure.py --out FILE.json` asks and prints a table, `--against FILE.json` pairs the
outcomes with those of an earlier run, and `--check` only proves that the set keeps its own rules. README.md
says what a question holds.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from rich.cells import chop_cells

from smartsearch import transcripts
from smartsearch.cli import app
from smartsearch.cli import search as _imported_once  # noqa: F401, for all forks
from smartsearch.rank.bm25 import content_lemmas
from smartsearch.systems.baselines import bm25_turns
from smartsearch.text.parse import stop_words
from smartsearch.types import Corpus, Turn, fold

HERE = Path(__file__).resolve().parent
TYPES = ("typed", "terse", "literal", "reply", "nowords", "unanswerable")
COLUMNS, ROWS = 100, 24
WINDOW = struct.pack("HHHH", ROWS, COLUMNS, 0, 0)
TURNS_A_KIND = 520
LONGEST_WITHOUT_SAYS = 300
"""Characters of a right turn that may stand as a whole on a screen; of a longer one `says` is looked for."""
LITERAL_TURNS = 3
"""A literal occurs in no more turns than this."""
SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_78=>]")
THREADS = ("--threads", "1")
"""The same for all: a question with other threads finds no warm process. More only wait on a busy machine."""
COMMAND = (sys.executable, "-m", "smartsearch")


@dataclass(frozen=True)
class Question:
    """One line of `questions/KIND.jsonl`; `gold` has `path`, `line` or `pointer`, and maybe `says`."""

    id: str
    kind: str
    chats: str
    question: str
    type: str
    gold: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Outcome:
    """What a person saw: the right turn's rank (0: not there), the screen, and how sure the tool said it is.

    `weak` says that the tool told of a poor answer or found none; `confidence` is higher the surer it is.
    """

    rank: int
    visible: bool
    lines: int
    weak: bool
    confidence: float


Asked = dict[str, Outcome]
"""By the question's id."""


def questions(kind: str = "", types: Sequence[str] = TYPES) -> list[Question]:
    """The set's questions in file order, of one kind and of some types if wanted."""
    files = sorted((HERE / "questions").glob(f"{kind or '*'}.jsonl"))
    lines = [(file.stem, json.loads(text)) for file in files for text in file.read_text("utf-8").splitlines()]
    every = [
        Question(said["id"], stem, said["chats"], said["question"], said["type"], tuple(said["gold"]))
        for stem, said in lines
    ]
    return [one for one in every if one.type in types]


@cache
def corpus(chats: str) -> Corpus:
    """The turns of a folder below this one, with paths as the tool prints them in this folder."""
    return transcripts.read([chats])


def key(place: Mapping[str, Any]) -> tuple[str, int, str]:
    """What tells a turn from every other: of a right turn and of a hit in JSON."""
    return (place["path"], place.get("line", 0), place.get("pointer", ""))


def turns_at(chats: str) -> dict[tuple[str, int, str], Turn]:
    return {(turn.path, turn.line, turn.pointer): turn for turn in corpus(chats).turns}


def squashed(text: str) -> str:
    """`text` without anything that wrapping, spacing or punctuation may change."""
    return "".join(letter for letter in fold(text) if letter.isalnum())


def rows(text: str) -> list[str]:
    """`text` as a terminal of that width breaks it."""
    lines = SEQUENCE.sub("", text.replace("\r", "")).removesuffix("\n").split("\n")
    return [row for line in lines for row in (chop_cells(line, COLUMNS) or [""])]


def outcome(
    asked: Question, places: Sequence[tuple[str, int, str]], screen: str, weak: bool, confidence: float
) -> Outcome:
    """How one question went: hits by rank, and all that the terminal showed."""
    gold = {key(place) for place in asked.gold}
    rank = next((n for n, place in enumerate(places, 1) if place in gold), 0)
    printed = rows(screen) if screen else []
    first = squashed("".join(printed[:ROWS]))
    known = turns_at(asked.chats)
    wanted = [squashed(place.get("says") or known[key(place)].text) for place in asked.gold]
    return Outcome(rank, any(text in first for text in wanted), len(printed), weak, confidence)


# The tool itself: ranks from its JSON, the screen from the command under a terminal of 100 columns.


@contextlib.contextmanager
def surroundings() -> Iterator[dict[str, str]]:
    """An environment with settings, cache and warm process of its own, the last one started."""
    with tempfile.TemporaryDirectory() as folder:
        homes = dict.fromkeys(("XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"), folder)
        path = os.pathsep.join([str(HERE.parents[1]), os.environ.get("PYTHONPATH", "")])
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SMARTSEARCH_")}
        env = {**kept, **homes, "PYTHONPATH": path, "TERM": "xterm-256color", "PAGER": "cat"}
        for name in ("COLUMNS", "LINES", "NO_COLOR"):
            env.pop(name, None)
        warm = subprocess.Popen([*COMMAND, "serve", *THREADS], env=env, stderr=subprocess.PIPE, text=True)
        try:
            assert warm.stderr is not None
            if not any("ready" in line for line in warm.stderr):
                raise SystemExit("the warm process did not start")
            yield env
        finally:
            warm.terminate()
            warm.wait()


def smartsearch(asked: Sequence[Question]) -> Asked:
    """The tool with its defaults."""
    with surroundings() as env:
        records = answers(asked, env)
        found = {}
        for one in asked:
            record = records[one.id]
            hits = record["hits"]
            best = max((hit["scores"].get("ce") or 0.0 for hit in hits), default=0.0)
            confidence = record.get("confidence", best)
            screen = typed(one, env)
            weak = record.get("weak", not hits)
            found[one.id] = outcome(one, [key(hit) for hit in hits], screen, weak, confidence)
        return found


def answers(asked: Sequence[Question], env: Mapping[str, str]) -> dict[str, Any]:
    """The JSON of each answer, by id, from one `batch`."""
    lines = "".join(
        json.dumps({"id": one.id, "question": one.question, "paths": [one.chats]}) + "\n" for one in asked
    )
    command = [*COMMAND, "batch", "-", *THREADS]
    done = subprocess.run(command, input=lines, env=env, text=True, capture_output=True)
    records = {record["id"]: record for record in map(json.loads, done.stdout.splitlines())}
    if done.returncode or len(records) < len(asked):
        raise SystemExit(f"batch failed: {done.stderr[-2000:]}")
    return records


def typed(asked: Question, env: Mapping[str, str]) -> str:
    """All that `smartsearch query QUESTION CHATS` writes to a terminal; a fork of this process runs it."""
    sys.stdout.flush()
    child, terminal = pty.fork()
    if not child:
        run_here(["query", asked.question, asked.chats, "--progress", "none", *THREADS], env)
    said = b""
    with contextlib.suppress(OSError):  # the other end closed: the command is done
        while more := os.read(terminal, 1 << 16):
            said += more
    os.close(terminal)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) not in (0, 1):
        raise SystemExit(f"{asked.id}: {said.decode(errors='replace')}")
    return said.decode(errors="replace")


def run_here(arguments: list[str], env: Mapping[str, str]) -> NoReturn:
    """Run a command line of the tool in this process, and end it."""
    code = 2
    try:
        fcntl.ioctl(1, termios.TIOCSWINSZ, WINDOW)
        sys.stdin, sys.stdout, sys.stderr = (os.fdopen(n, mode) for n, mode in enumerate("rww"))
        os.environ.clear()
        os.environ.update(env)
        code = app.run(arguments)
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(code)


# What people have without it. Both print a pipe's line a turn.


def ripgrep(asked: Sequence[Question]) -> Asked:
    """Any of the question's words, as typed: by how many are there, then by file; `rg` itself cannot rank.

    A quoted phrase is one word. Done here, so that turns of all formats are found, not lines of JSON.
    """
    return {one.id: rival(one, np.array([hit_by(one.question, turn) for turn in of(one)])) for one in asked}


def bm25s(asked: Sequence[Question]) -> Asked:
    """BM25 over the turns' lemmas, as `--system bm25` ranks."""
    scorers: dict[str, Callable[[str], Any]] = {}
    for one in asked:
        scorers.setdefault(one.chats, bm25_turns(corpus(one.chats)))
    return {one.id: rival(one, scorers[one.chats](one.question)) for one in asked}


def of(asked: Question) -> Sequence[Turn]:
    return corpus(asked.chats).turns


def hit_by(question: str, turn: Turn) -> int:
    text = fold(turn.spoken)
    return sum(word in text for word in needles(question))


@cache
def needles(question: str) -> frozenset[str]:
    """What a person would grep for: quoted phrases, and words that are no stop words."""
    parts = re.findall(r'"([^"]+)"|(\S+)', fold(question))
    words = {phrase or word.strip("?!.,;:'\"()") for phrase, word in parts}
    return frozenset((words - stop_words() or words) - {""})


def rival(asked: Question, scores: Any) -> Outcome:
    """The outcome of a search that prints every turn with a score, best first."""
    best = [i for i in np.argsort(-scores, kind="stable") if scores[i] > 0]
    turns = [of(asked)[i] for i in best]
    places = [(turn.path, turn.line, turn.pointer) for turn in turns]
    screen = "\n".join(f"{turn.path}:{turn.line}:{' '.join(turn.rendered.split())}" for turn in turns)
    return outcome(asked, places, screen, not turns, float(max(scores, default=0.0)))


SYSTEMS = {"smartsearch": smartsearch, "ripgrep": ripgrep, "bm25s": bm25s}


# Tables.


def share(part: float, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else ""


def table(asked: Sequence[Question], found: Mapping[str, Asked]) -> Iterator[str]:
    """One Markdown table: a row a system and type, and one over all that have an answer."""
    yield "| system | type | n | first | first 3 | visible | lines, mean | lines, max | weak | AUC |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for system, outcomes in found.items():
        groups = {name: [outcomes[one.id] for one in asked if one.type == name] for name in TYPES}
        absent = groups["unanswerable"]
        groups["answerable"] = [one for name in TYPES[:-1] for one in groups[name]]
        for name, some in groups.items():
            if not some:
                continue
            n, lines = len(some), [one.lines for one in some]
            ranked = [share(sum(0 < one.rank <= top for one in some), n) for top in (1, 3)]
            cells = [*ranked, share(sum(one.visible for one in some), n)]
            if name == "unanswerable":
                cells = ["", "", ""]
            weak = share(sum(one.weak for one in some), n)
            curve = f"{area(some, absent):.3f}" if name == "answerable" and absent else ""
            cells += [f"{sum(lines) / n:.1f}", str(max(lines)), weak, curve]
            yield f"| {system} | {name} | {n} | {' | '.join(cells)} |"


def area(there: Sequence[Outcome], absent: Sequence[Outcome]) -> float:
    """Area under the curve: how often an answerable question's confidence is above an unanswerable one's."""
    ours = np.array([one.confidence for one in there])[:, None]
    theirs = np.array([one.confidence for one in absent])[None, :]
    return float(np.mean((ours > theirs) + 0.5 * (ours == theirs)))


def paired(asked: Sequence[Question], found: Mapping[str, Asked], before: Mapping[str, Any]) -> Iterator[str]:
    """Which questions went better and which worse than in an earlier record."""
    judged: dict[str, Callable[[Outcome], bool]] = {
        "first": lambda one: one.rank == 1,
        "first 3": lambda one: 0 < one.rank <= 3,
        "visible": lambda one: one.visible,
        "weak": lambda one: one.weak,
    }
    for system in found.keys() & before["systems"].keys():
        was = {name: Outcome(**said) for name, said in before["systems"][system].items()}
        both = [one for one in asked if one.id in was]
        yield f"\n{system} against {before['commit']}, {len(both)} questions in both"
        for measure, good in judged.items():
            won = [one.id for one in both if good(found[system][one.id]) and not good(was[one.id])]
            lost = [one.id for one in both if good(was[one.id]) and not good(found[system][one.id])]
            yield f"{measure}: +{len(won)} {' '.join(won)} / -{len(lost)} {' '.join(lost)}"


# The rules of the set.


def faults(every: Sequence[Question]) -> Iterator[str]:
    """What breaks the rules that README.md gives."""
    for name, n in Counter(one.id for one in every).items():
        if n > 1:
            yield f"{name}: {n} questions have this id"
    for chats in dict.fromkeys(one.chats for one in every):
        if len(corpus(chats).turns) < TURNS_A_KIND:
            yield f"{chats}: {len(corpus(chats).turns)} turns, fewer than {TURNS_A_KIND}"
    for one in every:
        known = turns_at(one.chats)
        if one.type not in TYPES or bool(one.gold) == (one.type == "unanswerable"):
            yield f"{one.id}: type {one.type} with {len(one.gold)} right turns"
        missing = [place for place in one.gold if key(place) not in known]
        if missing:
            yield f"{one.id}: no turn at {missing}"
        else:
            yield from wrong(one, [(place, known[key(place)]) for place in one.gold])


def wrong(asked: Question, gold: Sequence[tuple[Mapping[str, Any], Turn]]) -> Iterator[str]:
    """What is wrong with a question and the turns that answer it."""
    for place, turn in gold:
        says = place.get("says", "")
        if squashed(says) not in squashed(turn.text):
            yield f"{asked.id}: {place['path']}:{turn.line} does not say {says!r}"
        if not says and len(turn.text) > LONGEST_WITHOUT_SAYS:
            yield f"{asked.id}: {place['path']}:{turn.line} is long: `says` has to tell what answers"
        both = set(content_lemmas(asked.question)) & set(content_lemmas(turn.said))
        shared = sorted(word for word in both if len(word) > 1)  # one letter is the end of "what's"
        if asked.type in ("reply", "nowords") and shared:
            yield f"{asked.id}: shares {shared} with {place['path']}:{turn.line}"
    if asked.type == "literal":
        text = squashed(asked.question)
        holding = [turn for turn in of(asked) if text in squashed(turn.said)]
        if not 1 <= len(holding) <= LITERAL_TURNS:
            yield f"{asked.id}: {asked.question} stands in {len(holding)} turns"
        if any(turn not in holding for _, turn in gold):
            yield f"{asked.id}: a right turn lacks {asked.question}"


def check(every: Sequence[Question]) -> int:
    """Print the counts and what is wrong; 1 if anything is."""
    for kind in dict.fromkeys(one.kind for one in every):
        some = [one for one in every if one.kind == kind]
        by_type = Counter(one.type for one in some)
        counts = ", ".join(f"{by_type[name]} {name}" for name in TYPES)
        print(f"{kind}: {len(of(some[0]))} turns, {len(some)} questions: {counts}")
    bad = list(faults(every))
    print("\n".join(bad) or "all rules hold")
    return int(bool(bad))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", default=",".join(SYSTEMS), help="some of " + ", ".join(SYSTEMS))
    parser.add_argument("--kind", default="", help="one kind of chats, such as whatsapp")
    parser.add_argument("--types", default=",".join(TYPES), help="some of " + ", ".join(TYPES))
    parser.add_argument("--against", type=Path, help="a record of an earlier run")
    parser.add_argument("--out", type=Path, help="where each question's outcome goes, as JSON")
    parser.add_argument("--check", action="store_true", help="only see whether the set keeps its rules")
    given = parser.parse_args()
    before = json.loads(given.against.read_text("utf-8")) if given.against else None
    out = given.out and given.out.absolute()
    os.chdir(HERE)
    asked = questions(given.kind, given.types.split(","))
    if given.check:
        return check(asked)
    found = {name: SYSTEMS[name](asked) for name in given.systems.split(",")}
    print("\n".join(table(asked, found)))
    if before:
        print("\n".join(paired(asked, found, before)))
    if out:
        out.write_text(record(found), "utf-8")
    return 0


def commit() -> str:
    """The last commit that changed the tool, with a + where it was changed since."""
    code = str(HERE.parents[1] / "smartsearch")
    said = [
        subprocess.run(["git", *words, "--", code], text=True, capture_output=True, check=True).stdout.strip()
        for words in (["log", "-1", "--format=%h"], ["status", "--porcelain"])
    ]
    return said[0] + "+" * bool(said[1])


def record(found: Mapping[str, Asked]) -> str:
    """The outcomes as JSON, a question a line, with the commit of the tool that was measured."""
    lines = {
        system: ",\n".join(f"{json.dumps(name)}: {json.dumps(vars(one))}" for name, one in outcomes.items())
        for system, outcomes in found.items()
    }
    systems = ",\n".join(f"{json.dumps(system)}: {{\n{some}\n}}" for system, some in lines.items())
    return f'{{"commit": {json.dumps(commit())}, "systems": {{\n{systems}\n}}}}\n'


if __name__ == "__main__":
    sys.exit(main())
