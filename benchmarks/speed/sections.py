"""What is measured, a function a section: rows of one run, in turns, with their commands.

Every section times the floor beside its rows: a process that imports numpy and onnxruntime and ends. What
cannot be measured here is a row that says why.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import corpus
import locomo
from measure import Cost, Failed, Json, cost, environment, interleaved, left_out, row, summary
from worker import Worker

FLOOR = "import numpy, onnxruntime"
NO_RG = "ripgrep is not installed (apt-get install ripgrep)"
WANTED = 10
"""Turns that are asked for where a row says how many."""


@dataclass(frozen=True)
class Bench:
    """What the sections share: where data and work lie, how often to measure, what there is to measure."""

    data: Path
    work: Path
    runtime: Path
    runs: int
    questions: int
    every: int
    turns: int
    tokens: int
    threads: int

    def env(self, cache: str) -> dict[str, str]:
        """An environment with caches and settings of that name and no other."""
        return environment(self.work / "homes" / cache, self.runtime, self.threads)

    def fresh(self, cache: str) -> dict[str, str]:
        """As `env`, with nothing in it yet."""
        shutil.rmtree(self.work / "homes" / cache, ignore_errors=True)
        return self.env(cache)

    @cached_property
    def program(self) -> list[str]:
        """The installed command beside this Python, else the module."""
        beside = Path(sys.executable).parent / "smartsearch"
        return [str(beside)] if beside.is_file() else [sys.executable, "-m", "smartsearch"]

    def query(self, question: str, path: Path, env: Mapping[str, str], *more: str) -> Cost:
        """One `query` in a process of its own; finding nothing is an answer too."""
        words = [*self.program, "query", question, str(path), "--json", "--daemon", "never", *more]
        return cost(words, env, codes=(0, 1))

    def filled(self, cache: str, path: Path) -> dict[str, str]:
        """As `fresh`, with the vectors of all turns in it."""
        env = self.fresh(cache)
        cost([*self.program, "cache", "fill", str(path)], env)
        return env

    @cached_property
    def conversation(self) -> locomo.Conversation:
        """The LoCoMo conversation that is measured."""
        return locomo.typical(self.data / "locomo10.json", self.work / "data")

    def corpus(self, turns: int) -> tuple[Path, corpus.Made]:
        """A made corpus of so many turns as JSONL messages, its files in the page cache."""
        place = self.work / "corpora" / f"turns-{turns}"
        made = corpus.folder(place, turns, formats=("jsonl",))
        for file in place.rglob("*"):
            if file.is_file():
                file.read_bytes()
        return place, made


@dataclass(frozen=True)
class Timed:
    """One run of a row: seconds, peak memory, and what `timing_ms` of its answer says, if it has one."""

    seconds: float
    peak_mb: float
    stages: Mapping[str, float] = field(default_factory=dict)


Task = Callable[[int], Timed]


@dataclass
class Section:
    """The rows of a section, the stages of those that answer, and what else belongs to it."""

    rows: list[Json] = field(default_factory=list)
    stages: dict[str, Json] = field(default_factory=dict)
    more: Json = field(default_factory=dict)

    def take(self, tasks: Mapping[str, tuple[str, Task]], rounds: int, warm: int = 0) -> Section:
        """Runs the tasks (what: command, task) in turns; a row for each."""
        found, failed = interleaved({what: task for what, (_, task) in tasks.items()}, rounds, warm)
        for what, (command, _) in tasks.items():
            if what in failed:
                self.rows.append(left_out(what, failed[what]))
                continue
            times = found[what]
            self.rows.append(row(what, command, [t.seconds for t in times], [t.peak_mb for t in times]))
            if times[0].stages:
                named = {name: [t.stages[name] / 1000 for t in times] for name in times[0].stages}
                named["outside"] = [t.seconds - t.stages["total"] / 1000 for t in times]
                self.stages[what] = {name: summary(spent)["median"] for name, spent in named.items()}
        return self


def _ran(words: Sequence[str], env: Mapping[str, str], codes: Sequence[int] = (0,)) -> Task:
    def task(_: int) -> Timed:
        done = cost(words, env, codes=codes)
        return Timed(done.seconds, done.peak_mb)

    return task


def _floor(bench: Bench) -> tuple[str, Task]:
    return f'python -c "{FLOOR}"', _ran([sys.executable, "-c", FLOOR], bench.env("floor"))


def _asked(done: Cost) -> Timed:
    return Timed(done.seconds, done.peak_mb, done.answer["timing_ms"])


def _query(
    bench: Bench, questions: Sequence[str], path: Path, env: Callable[[], Mapping[str, str]], *more: str
) -> tuple[str, Task]:
    command = " ".join(["smartsearch query QUESTION", path.name, *more])
    return command, lambda n: _asked(bench.query(questions[n % len(questions)], path, env(), *more))


def _ripgrep(question: str, path: Path, env: Mapping[str, str]) -> tuple[str, Task]:
    """ripgrep for the words of a question; that nothing is found is no failure."""
    words = [word.strip("?.,") for word in question.split()]
    asked = [part for word in words if len(word) > 2 for part in ("-e", word)]

    def task(number: int) -> Timed:
        program = shutil.which("rg")
        if program is None:
            raise Failed(NO_RG)
        return _ran([program, "-i", "-F", "-n", *asked, str(path)], env, (0, 1))(number)

    return f"rg -i -F -n -e WORD ... {path.name}", task


def _rival(bench: Bench, name: str, question: str, path: Path) -> Task:
    """From the start of a process to its first answer, its models loaded and its index made on the way."""

    def first_answer(_: int) -> Timed:
        begin = time.perf_counter()
        with Worker(name, bench.env("rivals"), bench.threads) as worker:
            worker("open", path=str(path))
            answer = worker("ask", question=question)
            return Timed(time.perf_counter() - begin, answer["peak_mb"])

    return first_answer


def new(bench: Bench) -> Section:
    """A new process for every question over one LoCoMo conversation, and what others take for it."""
    talk = bench.conversation
    asked = [question.text for question in talk.sample(bench.runs)]
    path = talk.path
    kept = bench.filled("new", path)
    tasks = {
        "the floor: numpy and onnxruntime imported": _floor(bench),
        "`--version`": ("smartsearch --version", _ran([*bench.program, "--version"], kept)),
        "`--help`": ("smartsearch --help", _ran([*bench.program, "--help"], kept)),
        "`--fast`": _query(bench, asked, path, lambda: kept, "--fast"),
        "a new process, vectors kept": _query(bench, asked, path, lambda: kept),
        f"a new process, vectors kept, {WANTED} wanted": _query(
            bench, asked, path, lambda: kept, "-n", str(WANTED)
        ),
        "the first question ever": _query(bench, asked, path, lambda: bench.fresh("first")),
        "ripgrep for the question's words": _ripgrep(asked[0], talk.lines, kept),
        "BM25 (bm25s): start, read, index, ask": (
            "bm25s.BM25.index, get_scores",
            _rival(bench, "bm25", asked[0], path),
        ),
        "all-MiniLM: start, read, encode, ask": (
            "SentenceTransformer.encode(TURNS), encode(QUESTION)",
            _rival(bench, "minilm", asked[0], path),
        ),
    }
    more = {"conversation": talk.name, "turns": talk.turns}
    return Section(more=more).take(tasks, bench.runs, warm=1)


def _warm(bench: Bench, path: Path, asked: Sequence[str], section: Section) -> Section:
    """Questions to one process that stays, each another one, after one that it was warmed by."""
    said = "in one process: smartsearch.ask.door.find(QUESTION, ...)"
    with Worker("ours", bench.filled("warm", path), bench.threads) as ours:
        section.more["turns"] = ours("open", path=str(path))["turns"]
        ours("ask", question=asked[0])
        rest = iter(asked[1:])

        def task(limit: int) -> Task:
            def ask(_: int) -> Timed:
                answer = ours("ask", question=next(rest), limit=limit)
                return Timed(answer["ms"] / 1000, answer["peak_mb"], answer["timing_ms"])

            return ask

        tasks = {
            "the floor: numpy and onnxruntime imported": _floor(bench),
            f"a warm process, {WANTED} wanted": (f"{said}, limit {WANTED}", task(WANTED)),
            "a warm process, as many as the words allow": (said, task(0)),
        }
        return section.take(tasks, len(asked) // 2)


def warm(bench: Bench) -> Section:
    """One LoCoMo conversation in a process that stays."""
    talk = bench.conversation
    asked = [question.text for question in talk.sample(2 * bench.questions + 1)]
    return _warm(bench, talk.path, asked, Section(more={"conversation": talk.name}))


def assistant(bench: Bench) -> Section:
    """A chat with an assistant, its turns long: the first question ever, then a process that stays."""
    path = bench.work / "data" / f"long-{bench.tokens}.jsonl"
    made = corpus.long_chat(path, bench.tokens)
    asked = corpus.questions(2 * bench.questions + 1)
    section = Section(more={"bytes": made.bytes, "tokens": bench.tokens})
    tasks = {"the first question ever": _query(bench, asked, path, lambda: bench.fresh("long"))}
    section.take(tasks, min(bench.runs, 3))
    return _warm(bench, path, asked, section)


def million(bench: Bench) -> Section:
    """A made corpus of a million turns: a new process without an index, then with one."""
    place, made = bench.corpus(bench.turns)
    asked = [fact.question for fact in corpus.FACTS]
    section = Section(more={"turns": made.turns, "bytes": made.bytes, "files": made.files})
    bare, indexed = bench.fresh("million"), bench.fresh("million-index")
    tasks = {
        "the floor: numpy and onnxruntime imported": _floor(bench),
        "ripgrep for the question's words": _ripgrep(asked[0], place, bare),
        "`--fast`, no index": _query(bench, asked, place, lambda: bare, "--fast"),
        "the first question ever, no index": _query(bench, asked, place, lambda: bench.fresh("million")),
    }
    rounds = min(bench.runs, 3)
    section.take(tasks, rounds)
    make = {"making the index": (f"smartsearch index {place.name}",
                                 _ran([*bench.program, "index", str(place)], indexed))}  # fmt: skip
    section.take(make, 1)
    with_index = {
        "`--fast`, with the index": _query(bench, asked, place, lambda: indexed, "--fast"),
        "a new process, with the index": _query(bench, asked, place, lambda: indexed),
    }
    return section.take(with_index, rounds, warm=1)


def batch(bench: Bench) -> Section:
    """LoCoMo's questions in one `batch`, start and encoding of all turns included."""
    data = bench.data / "locomo10.json"
    lines = bench.work / "data" / f"every-{bench.every}.jsonl"
    asked = locomo.batch(data, lines, bench.every)
    words = [*bench.program, "batch", str(lines), str(data), "--progress", "none"]

    def task(_: int) -> Timed:
        done = cost(words, bench.fresh("batch"))
        return Timed(done.seconds / asked, done.peak_mb)

    what = f"a question of {asked:,} in one `batch`"
    return Section(more={"questions": asked}).take(
        {
            "the floor: numpy and onnxruntime imported": _floor(bench),
            what: (f"smartsearch batch {lines.name} locomo10.json", task),
        },
        1,
    )


SECTIONS: dict[str, tuple[str, Callable[[Bench], Section]]] = {
    "new": ("One conversation, a new process a question", new),
    "warm": ("One conversation, a warm process", warm),
    "assistant": ("A chat with an assistant, long turns", assistant),
    "million": ("A million turns", million),
    "batch": ("A batch", batch),
}
"""Title and function of each section, in the page's order."""
