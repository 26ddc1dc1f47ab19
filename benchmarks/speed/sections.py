"""What is measured, a function a section: each returns rows for the record, with their commands.

In a section everything that is compared takes turns. What cannot be measured here is a row that says why.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import corpus
import locomo
import numpy as np
from measure import HERE, Cost, Failed, Json, cost, environment, interleaved, left_out, row, summary
from worker import TOP, Worker

from smartsearch.systems.baselines import words as words_of
from smartsearch.text.parse import stop_words

HEAVY = ("torch", "spacy", "onnxruntime", "numpy", "sentence_transformers", "transformers", "scipy")
FULL_EVERY = 200
"""Of the questions to a server whose memory is watched every so-many-th is ranked by models, the rest not."""
READY = 60.0
"""Seconds that a server may take until it answers."""
NO_RG = "ripgrep is not installed (apt-get install ripgrep)"


@dataclass(frozen=True)
class Bench:
    """What the sections share: where data and work lie, how often to measure, what there is to measure."""

    data: Path
    work: Path
    runtime: Path
    runs: int
    questions: int
    every: int
    largest: int
    tokens: int
    threads: int
    asked: int = 10_000
    seconds: float = 300.0
    sizes: tuple[int, ...] = ()

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

    def options(self, *more: str, daemon: str = "never") -> list[str]:
        """Options of a `query` whose time is taken."""
        return ["--json", *more, "--daemon", daemon]

    def query(
        self, question: str, path: Path, env: Mapping[str, str], *more: str, daemon: str = "never"
    ) -> Cost:
        """One cold `query`; finding nothing is an answer too."""
        words = [*self.program, "query", question, str(path), *self.options(*more, daemon=daemon)]
        return cost(words, env, codes=(0, 1))

    def said(self, path: Path, *more: str, daemon: str = "never") -> str:
        """The command of `query` as the record shows it."""
        return " ".join(["smartsearch query QUESTION", path.name, *self.options(*more, daemon=daemon)])

    @cached_property
    def conversation(self) -> locomo.Conversation:
        """The LoCoMo conversation that is measured."""
        return locomo.typical(self.data / "locomo10.json", self.work / "data")

    def corpus(self, turns: int) -> tuple[Path, corpus.Made]:
        """A made corpus of so many turns, its files in the page cache."""
        place = self.work / "corpora" / f"turns-{turns}"
        made = corpus.folder(place, turns)
        for file in place.rglob("*"):
            if file.is_file():
                file.read_bytes()
        return place, made


@dataclass
class Section:
    """The rows of a section, and what else belongs to it."""

    rows: list[Json] = field(default_factory=list)
    more: Json = field(default_factory=dict)

    def add(
        self,
        found: Mapping[str, Sequence[Cost]],
        failed: Mapping[str, str],
        named: Mapping[str, Sequence[str]],
    ) -> None:
        """Rows of the commands in `named` (id: what, command) with their seconds and peaks, or why not."""
        for name, (what, command) in named.items():
            if name in found:
                costs = found[name]
                self.rows.append(
                    row(name, what, command, [c.seconds for c in costs], [c.peak_mb for c in costs])
                )
            elif name in failed:
                self.rows.append(left_out(name, what, failed[name]))


def start(bench: Bench) -> Section:
    """How long the command takes that needs no model, beside Python itself; and what it imports."""
    env = bench.env("start")
    named = {
        "python": ("Python alone", "python -c pass"),
        "help": ("`--help`", "smartsearch --help"),
        "version": ("`--version`", "smartsearch --version"),
        "formats": ("`formats`", "smartsearch formats"),
    }
    words = {"python": [sys.executable, "-c", "pass"]}
    words |= {name: [*bench.program, *named[name][1].split()[1:]] for name in named if name != "python"}
    tasks = {name: _command(command, env) for name, command in words.items()}
    section = Section()
    section.add(*interleaved(tasks, bench.runs * 2, warm=1), named)
    for name in ("help", "version", "formats"):
        traced = cost(words[name], env | {"PYTHONPROFILEIMPORTTIME": "1"})
        loaded = heavy(traced.err)
        section.rows.append(
            row(
                f"{name}-heavy",
                f"heavy packages that {named[name][0]} imports",
                f"PYTHONPROFILEIMPORTTIME=1 {named[name][1]}",
                [len(loaded)],
                unit="packages",
                names=loaded,
            )
        )
    return section


def heavy(importtime: str) -> list[str]:
    """Which of the heavy packages stand in what `-X importtime` writes."""
    modules = re.findall(r"^import time:[\s\d]+\|[\s\d]+\|\s*(\S+)", importtime, re.M)
    tops = {module.partition(".")[0] for module in modules}
    return [name for name in HEAVY if name in tops]


def _command(words: Sequence[str], env: Mapping[str, str]) -> Callable[[int], Cost]:
    return lambda _: cost(words, env)


def conversation(bench: Bench) -> Section:
    """Cold processes over one LoCoMo conversation, and where their time goes."""
    talk = bench.conversation
    asked = [question.text for question in talk.sample(bench.runs)]
    warm = bench.fresh("conversation-warm")
    none = ("--rank", "none")
    tasks: dict[str, Callable[[int], Cost]] = {
        "python": _command([sys.executable, "-c", "pass"], warm),
        "import": _command([sys.executable, "-c", "import smartsearch.cli.app"], warm),
        "none": lambda n: bench.query(asked[n], talk.path, warm, *none),
        "cold": lambda n: bench.query(asked[n], talk.path, bench.fresh("conversation-cold")),
        "warm-cache": lambda n: bench.query(asked[n], talk.path, warm),
    }
    named = {
        "python": ("Python alone", "python -c pass"),
        "import": ("import of the command line", 'python -c "import smartsearch.cli.app"'),
        "none": ("`--rank none`, one conversation, cold process", bench.said(talk.path, *none)),
        "cold": ("`query`, one conversation, cold process, cold cache", bench.said(talk.path)),
        "warm-cache": ("`query`, one conversation, cold process, warm cache", bench.said(talk.path)),
    }
    for question in asked:
        bench.query(question, talk.path, warm)
    found, failed = interleaved(tasks, bench.runs, warm=1)
    section = Section(more={"conversation": talk.name, "turns": talk.turns})
    section.add(found, failed, named)
    section.more["stages"] = {
        name: _stages([c.answer["timing_ms"] for c in found[name]], [c.seconds for c in found[name]])
        for name in ("none", "cold", "warm-cache")
        if name in found
    }
    if "cold" in found:
        section.more["candidates"] = summary([c.answer["candidates"] for c in found["cold"]])
    return section


def _stages(timings: Sequence[Mapping[str, float]], walls: Sequence[float] = ()) -> Json:
    """Seconds by stage, each summed up by itself; `outside` is what the process took besides."""
    stages = {stage: [t[stage] / 1000.0 for t in timings] for stage in timings[0]}
    if walls:
        stages["outside"] = [wall - t["total"] / 1000.0 for wall, t in zip(walls, timings)]
    return {stage: summary(spent) for stage, spent in stages.items()}


def warm(bench: Bench) -> Section:
    """One conversation in a warm process, and a cold shell that asks a warm server."""
    talk = bench.conversation
    asked = [question.text for question in talk.sample(2 * bench.questions + 1)]
    first, rest = asked[0], asked[1:]
    env = bench.fresh("warm")
    section = Section(more={"conversation": talk.name, "turns": talk.turns})
    with ExitStack() as stack:
        ours = stack.enter_context(Worker("ours", env, bench.threads))
        ours("open", path=str(talk.path))
        ours("ask", question=first)
        tasks: dict[str, Callable[[int], Json]] = {"warm": lambda n: ours("ask", question=rest[n])}
        own, refused = bench.fresh("daemon"), {}
        try:
            stack.enter_context(_server(bench, own, first, talk.path))
            tasks["daemon"] = lambda n: _asked(bench, rest[n], talk.path, own)
        except Failed as error:
            refused["daemon"] = str(error)
        found, failed = interleaved(tasks, len(rest))
    failed |= refused
    _warm_rows(bench, section, found, failed)
    return section


def _warm_rows(
    bench: Bench, section: Section, found: Mapping[str, Sequence[Json]], failed: Mapping[str, str]
) -> None:
    what = "`query`, one conversation, warm process"
    if "warm" in found:
        answers = found["warm"]
        section.rows.append(
            row("warm", what, "in one process: smartsearch.ask.library.ask(QUESTION, ...)",
                [a["ms"] / 1000.0 for a in answers], [a["peak_mb"] for a in answers])
        )  # fmt: skip
        section.more["stages"] = {"warm": _stages([a["timing_ms"] for a in answers])}
        section.more["candidates"] = summary([a["candidates"] for a in answers])
    else:
        section.rows.append(left_out("warm", what, failed["warm"]))
    through = "`query` from a cold shell through the server"
    if "daemon" in found:
        command = f"smartsearch serve; {bench.said(bench.conversation.path, daemon='always')}"
        answers = found["daemon"]
        walls = [a["seconds"] for a in answers]
        section.rows.append(row("daemon", through, command, walls, [a["peak_mb"] for a in answers]))
        over = [a["seconds"] - a["timing_ms"]["total"] / 1000.0 for a in answers]
        section.rows.append(
            row("daemon-overhead", "what the shell adds to the server's own time", command, over)
        )
    else:
        for name in ("daemon", "daemon-overhead"):
            section.rows.append(left_out(name, through, failed["daemon"]))


def _asked(bench: Bench, question: str, path: Path, env: Mapping[str, str]) -> Json:
    """One `query` through the server. Raises Failed where it was answered in another way."""
    done = bench.query(question, path, env, daemon="always")
    if done.answer["degraded"]:
        raise Failed(f"not by the server: {'; '.join(done.answer['degraded'])}")
    return {"seconds": done.seconds, "peak_mb": done.peak_mb, "timing_ms": done.answer["timing_ms"]}


@contextmanager
def _server(bench: Bench, env: Mapping[str, str], question: str, path: Path) -> Iterator[None]:
    """`smartsearch serve`, warm: it has answered `question`. Raises Failed where it does not in time."""
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen([*bench.program, "serve"], env=dict(env), **quiet)
    try:
        limit = time.monotonic() + READY
        while True:
            try:
                _asked(bench, question, path, env)
                break
            except Failed as error:
                if time.monotonic() > limit:
                    raise Failed(f"no answer from the server in {READY:.0f} s: {error}") from error
                time.sleep(0.5)
        yield
    finally:
        # `query --daemon always` may have started one of its own while ours was loading
        subprocess.run([*bench.program, "serve", "--stop"], env=dict(env), check=False, **quiet)
        server.terminate()
        try:
            server.wait(timeout=10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def batch(bench: Bench) -> Section:
    """LoCoMo's questions in one `batch`."""
    data = bench.data / "locomo10.json"
    lines = bench.work / "data" / f"every-{bench.every}.jsonl"
    asked = locomo.batch(data, lines, bench.every)
    rounds = 1 if asked > 100 else min(bench.runs, 3)
    words = [*bench.program, "batch", str(lines), str(data), "--progress", "none"]
    costs = [cost(words, bench.fresh("batch"), codes=(0,)) for _ in range(rounds)]
    what = f"`batch`, {asked:,} of LoCoMo's questions, cold process, cold cache"
    command = f"smartsearch batch {lines.name} locomo10.json"
    peaks = [c.peak_mb for c in costs]
    rate = row(
        "batch", what, command, [asked / c.seconds for c in costs], peaks, unit="questions/s", asked=asked
    )
    return Section([rate])


def long(bench: Bench) -> Section:
    """A chat of the size of BEAM's 500K in a warm process: new questions, then the same again."""
    path, kind = _long_chat(bench)
    asked = corpus.questions(bench.questions + 1)
    with Worker("ours", bench.fresh("long"), bench.threads) as ours:
        turns = ours("open", path=str(path))["turns"]
        ours("ask", question=asked[0])
        passes = [[ours("ask", question=question) for question in asked[1:]] for _ in range(2)]
    section = Section(more={"turns": turns, "kind": kind, "bytes": path.stat().st_size})
    command = "in one process: smartsearch.ask.library.ask(QUESTION, ...)"
    for name, what, answers in zip(
        ("long", "long-again"), ("new questions", "questions asked before"), passes
    ):
        section.rows.append(
            row(name, f"chat of BEAM-500K's size, warm process, {what}", command,
                [a["ms"] / 1000.0 for a in answers], [a["peak_mb"] for a in answers])
        )  # fmt: skip
    section.more["stages"] = {"long": _stages([a["timing_ms"] for a in passes[0]])}
    section.more["candidates"] = summary([a["candidates"] for a in passes[0]])
    return section


def _long_chat(bench: Bench) -> tuple[Path, str]:
    """BEAM's own chat of that size where the data has one, else one by rule."""
    for name in ("chat_trunecated.json", "chat.json"):
        for path in sorted((bench.data / "beam" / "500K").glob(f"*/{name}")):
            return path, "BEAM 500K"
    path = bench.work / "data" / f"long-{bench.tokens}.jsonl"
    corpus.long_chat(path, bench.tokens)
    return path, f"made by rule, about {bench.tokens:,} tokens"


def size(bench: Bench) -> Section:
    """The cost curve: cold processes over made corpora from 100 turns up."""
    section = Section(more={"sizes": {}})
    powers = [10**n for n in range(2, 8) if 10**n <= bench.largest]
    for turns in bench.sizes or powers:
        _size(bench, section, turns)
    return section


def _size(bench: Bench, section: Section, turns: int) -> None:
    place, made = bench.corpus(turns)
    section.more["sizes"][str(turns)] = {"files": made.files, "bytes": made.bytes, "sha256": made.sha256}
    rounds = max(2, min(bench.runs, len(corpus.FACTS)))
    facts = corpus.FACTS[:rounds]
    kept = bench.fresh(f"size-{turns}")
    asked: set[int] = set()
    """Questions whose vectors are in their cache."""

    def cold(n: int) -> Cost:
        asked.add(n)
        return bench.query(facts[n].question, place, bench.fresh(f"size-{n}"))

    def again(n: int) -> Cost:
        if n not in asked:
            cold(n)
        return bench.query(facts[n].question, place, bench.env(f"size-{n}"))

    tasks: dict[str, Callable[[int], Cost]] = {
        "none": lambda n: bench.query(facts[n].question, place, kept, "--rank", "none"),
        "query": cold,
        "query-warm": again,
    }
    named = {
        "none": (f"{turns:,} turns, `--rank none`", bench.said(place, "--rank", "none")),
        "query": (f"{turns:,} turns, cold process, cold cache", bench.said(place)),
        "query-warm": (f"{turns:,} turns, cold process, warm cache", bench.said(place)),
        "index-build": (f"{turns:,} turns, making the index", f"smartsearch index {place.name}"),
        "index-query": (f"{turns:,} turns, cold process, warm cache, with the index", bench.said(place)),
    }
    lacking: dict[str, str] = {}
    built: dict[str, list[Cost]] = {}
    try:
        words = [*bench.program, "index", str(place)]
        built = {"index-build": [cost(words, bench.fresh(f"index-{turns}"))]}
        indexed = bench.env(f"index-{turns}")
        for fact in facts:
            bench.query(fact.question, place, indexed)
        tasks["index-query"] = lambda n: bench.query(facts[n].question, place, indexed)
    except Failed as error:
        lacking = {"index-build": str(error), "index-query": str(error)}
    found, failed = interleaved(tasks, rounds, seconds=bench.seconds)
    ids = {name: f"turns-{turns}-{name}" for name in named}
    section.add(
        {ids[name]: some for name, some in (found | built).items()},
        {ids[name]: why for name, why in (failed | lacking).items()},
        {ids[name]: some for name, some in named.items()},
    )
    for one in section.rows:
        name = next((name for name in found if ids[name] == one["id"]), None)
        if name and "left_out" not in one:
            answers = [(fact.said, c.answer) for fact, c in zip(facts, found[name])]
            one["turns"], one["bytes"] = turns, made.bytes
            one["answered"] = sum(any(hit["text"] == said for hit in a["hits"][:10]) for said, a in answers)
            one["candidates"] = summary([a["candidates"] for _, a in answers])["median"]


def scan(bench: Bench) -> Section:
    """Our scan of raw bytes beside ripgrep's, over the largest corpus made, for a question's terms."""
    place, made = bench.corpus(min(bench.largest, 1_000_000))
    env = bench.env("scan")
    question = corpus.FACTS[1].question
    asked = bench.query(question, bench.corpus(100)[0], env, "--rank", "none").answer
    terms = sorted({term["text"] for term in asked["terms"] if term["hop"] == 1})
    listed = bench.work / "data" / "terms.txt"
    listed.parent.mkdir(parents=True, exist_ok=True)
    listed.write_text("\n".join(terms) + "\n", encoding="utf-8")
    section = Section(more={"turns": made.turns, "bytes": made.bytes, "files": made.files, "terms": terms})
    with Worker("scan", env, bench.threads) as ours:
        tasks: dict[str, Callable[[int], float]] = {
            "rg": lambda _: _ripgrep(["-c", "-f", str(listed)], place, env).seconds,
            "rg-1": lambda _: _ripgrep(["-j1", "-c", "-f", str(listed)], place, env).seconds,
            "scan": lambda _: ours("ask", terms=terms)["ms"] / 1000.0,
        }
        failed = {}
        try:
            ours("open", path=str(place))
        except Failed as error:
            failed["scan"] = str(error)
            del tasks["scan"]
        found, more = interleaved(tasks, bench.runs, warm=1)
    whole = {"none": lambda _: bench.query(question, place, env, "--rank", "none").seconds}
    for mine, theirs in zip((found, more), interleaved(whole, 1)):
        mine |= theirs
    named = {
        "rg": ("ripgrep", f"rg -c -i -F -f terms {place.name}"),
        "rg-1": ("ripgrep on one core", f"rg -j1 -c -i -F -f terms {place.name}"),
        "scan": (
            "our scan of raw bytes",
            "in one process: smartsearch.transcripts.large.lines: folded(data), places(data, term)",
        ),
        "none": ("all of `query --rank none`, once", bench.said(place, "--rank", "none")),
    }
    for name, (what, command) in named.items():
        if name in found:
            section.rows.append(row(f"scan-{name}", what, command, found[name], megabytes=made.bytes / 1e6))
        else:
            section.rows.append(left_out(f"scan-{name}", what, (failed | more)[name]))
    if "rg" in found and "scan" in found:
        shares = [theirs / own for theirs, own in zip(found["rg"], found["scan"])]
        section.rows.append(
            row("scan-share", "our scan's speed as a share of ripgrep's", "both above", shares, unit="times")
        )
    return section


def _ripgrep(options: Sequence[str], place: Path, env: Mapping[str, str]) -> Cost:
    """`rg -i -F`; that nothing is found is no failure. Raises Failed where there is no ripgrep."""
    program = shutil.which("rg")
    if program is None:
        raise Failed(NO_RG)
    return cost([program, "-i", "-F", *options, str(place)], env, codes=(0, 1))


def memory(bench: Bench) -> Section:
    """The memory of one server over many questions, each another one, most of them without models."""
    every = max(1, bench.asked // 10)
    words = ["benchmarks/speed/serve_memory.py", "-n", str(bench.asked), "--every", str(every)]
    words += ["--full-every", str(FULL_EVERY), "docs/samples"]
    program = [sys.executable, str(HERE / "serve_memory.py"), "--json", *words[1:-1]]
    done = cost([*program, str(HERE.parents[1] / words[-1])], bench.fresh("memory"))
    points = [json.loads(line) for line in done.out.splitlines()]
    held = [point["rss_mb"] for point in points if point["questions"]]
    section = Section(more={"points": points, "full_every": FULL_EVERY})
    what, command = "memory of a server", f"python {' '.join(words)}"
    section.rows.append(row("memory", f"{what}, every {every:,} questions", command, held, unit="MB"))
    grown = held[-1] / held[0]
    section.rows.append(
        row(f"memory-growth-{bench.asked}",
            f"{what}, at the end as a share of that after {every:,} questions", command,
            [grown], unit="times", asked=bench.asked)
    )  # fmt: skip
    return section


def rivals(bench: Bench) -> Section:
    """What a user would take instead, over the same conversation and questions, with the gold each finds."""
    talk = bench.conversation
    asked = talk.sample(bench.questions + 1)
    first, rest = asked[0], asked[1:]
    env = bench.fresh("rivals")
    section = Section(
        more={"conversation": talk.name, "turns": talk.turns, "questions": len(rest), "top": TOP}
    )
    _cold_rivals(bench, section, env)
    measured: dict[str, list[float]] = {}
    gold: dict[str, list[tuple[int, int]]] = {}
    peaks: dict[str, float] = {}
    failed: dict[str, str] = {}

    def take(name: str, answer: Json, wanted: frozenset[int], order: Sequence[int]) -> None:
        measured.setdefault(name, []).append(answer["ms"] / 1000.0)
        gold.setdefault(name, []).append((len(wanted), len(wanted.intersection(order[:TOP]))))
        peaks[name] = max(peaks.get(name, 0.0), answer["peak_mb"])

    with ExitStack() as stack:
        ready: dict[str, Worker] = {}
        for name in ("ours", "bm25", "minilm"):
            worker = stack.enter_context(Worker(name, env, bench.threads))
            try:
                worker("open", path=str(talk.path))
                ready[name] = worker
            except Failed as error:
                failed[name] = str(error)
        if "ours" in failed:
            raise Failed(failed["ours"])
        for number, question in enumerate((first, *rest)):
            for name, answer, order in _one_question(ready, talk.lines, question.text, env, number, failed):
                if number:
                    take(name, answer, question.gold, order)
    for name, (what, command) in RIVALS.items():
        if name in measured:
            section.rows.append(
                row(f"rival-{name}", what, command, measured[name], [peaks[name]] if peaks[name] else [],
                    **_beside(measured[name], gold[name], measured["ours"], gold["ours"]))
            )  # fmt: skip
        else:
            section.rows.append(left_out(f"rival-{name}", what, failed.get(name, "not measured")))
    return section


def _beside(
    seconds: Sequence[float],
    gold: Sequence[tuple[int, int]],
    ours: Sequence[float],
    our_gold: Sequence[tuple[int, int]],
) -> Json:
    """Gold there is and gold found; and what ours took and found over the same, first, questions."""
    return {
        "gold": sum(there for there, _ in gold),
        "found": sum(found for _, found in gold),
        "ours": round(float(np.median(ours[: len(seconds)])), 6),
        "ours_found": sum(found for _, found in our_gold[: len(gold)]),
    }


RIVALS = {
    "ours": ("smartsearch, warm process", "smartsearch.ask.library.ask(QUESTION, ...)"),
    "rg": (
        "ripgrep for the question's words without stop words, turns by how many of them they have",
        "rg -o -n -i -F -e WORD ... TURNS, a turn a line",
    ),
    "bm25": ("bm25s, warm", "bm25s.BM25 over content lemmas, get_scores"),
    "minilm": (
        "all-MiniLM-L6-v2 and numpy, turns encoded before",
        "SentenceTransformer.encode(QUESTION), one product",
    ),
}


def _one_question(
    ready: dict[str, Worker],
    lines: Path,
    question: str,
    env: Mapping[str, str],
    number: int,
    failed: dict[str, str],
) -> Iterator[tuple[str, Json, Sequence[int]]]:
    """Asks every system, in turns: its name, its answer with `ms`, its order."""
    answer = ready["ours"]("ask", question=question)
    yield "ours", answer, ready["ours"]("ranked", question=question)["order"]
    asks: dict[str, Callable[[], Json]] = {
        "rg": lambda: _words_by_ripgrep(question, lines, env),
        "bm25": lambda: ready["bm25"]("ask", question=question),
        "minilm": lambda: ready["minilm"]("ask", question=question),
    }
    names = [name for name in asks if name not in failed]
    first = number % len(names) if names else 0
    for name in names[first:] + names[:first]:
        try:
            answer = asks[name]()
        except Failed as error:
            failed[name] = str(error)
            continue
        yield name, answer, answer["order"]


def _words_by_ripgrep(question: str, lines: Path, env: Mapping[str, str]) -> Json:
    asked = [word for word in words_of(question) if len(word) > 2]
    kept = [word for word in asked if word not in stop_words()] or asked
    done = _ripgrep(["-o", "-n", *(part for word in kept for part in ("-e", word))], lines, env)
    return {"ms": done.seconds * 1000.0, "peak_mb": done.peak_mb, "order": by_words(done.out.decode())}


def by_words(found: str) -> list[int]:
    """Turns from `NUMBER:WORD` lines of `rg -o -n`: those with most different words first."""
    of_turn: dict[int, set[str]] = {}
    for line in found.splitlines():
        number, _, word = line.partition(":")
        of_turn.setdefault(int(number) - 1, set()).add(word.lower())
    return sorted(of_turn, key=lambda turn: (-len(of_turn[turn]), turn))


def _cold_rivals(bench: Bench, section: Section, env: Mapping[str, str]) -> None:
    """From the start of a process to its first answer, models and index made on the way."""
    talk = bench.conversation
    question = talk.questions[0].text

    def ours(_: int) -> tuple[float, float]:
        done = bench.query(question, talk.path, bench.fresh("rivals-cold"))
        return done.seconds, done.peak_mb

    def rival(name: str) -> Callable[[int], tuple[float, float]]:
        def first_answer(_: int) -> tuple[float, float]:
            begin = time.perf_counter()
            with Worker(name, env, bench.threads) as worker:
                worker("open", path=str(talk.path))
                answer = worker("ask", question=question)
                return time.perf_counter() - begin, answer["peak_mb"]

        return first_answer

    tasks = {"ours": ours, "bm25": rival("bm25"), "minilm": rival("minilm")}
    found, failed = interleaved(tasks, min(bench.runs, 3), warm=1)
    named = {
        "ours": ("smartsearch, cold process, cold cache", bench.said(talk.path)),
        "bm25": (
            "bm25s, cold process: read, index, ask",
            "start, transcripts.read, bm25s.BM25.index, get_scores",
        ),
        "minilm": (
            "all-MiniLM and numpy, cold process: load, encode all turns, ask",
            "start, encode(TURNS), encode(QUESTION)",
        ),
    }
    for name, (what, command) in named.items():
        if name in found:
            section.rows.append(row(f"rival-cold-{name}", what, command, *zip(*found[name])))
        else:
            section.rows.append(left_out(f"rival-cold-{name}", what, failed[name]))


SECTIONS: dict[str, Callable[[Bench], Section]] = {
    "start": start,
    "conversation": conversation,
    "warm": warm,
    "batch": batch,
    "long": long,
    "size": size,
    "scan": scan,
    "rivals": rivals,
    "memory": memory,
}
