"""Measures what a batch costs at size: `python benchmarks/scale.py --out .out/scale/record.json`.

Everything goes through the command `smartsearch batch`; `scale_page.py` makes reports/scale.md of the record.
Nothing else should run on the machine meanwhile: the record says what did. Parts that are measured again
replace those of before, the others stay.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent / "speed"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import corpus
from measure import busy, environment, instructions
from records import portable, read, write
from scale_cluster import cluster
from scale_watch import MARK, Failed, Watched, steady, watch

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
KIND = "smartsearch scale"
NO_RAY = "it is not installed: pip install 'smartsearch-cli[ray]'"
Json = dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """How much is measured. `users` by turns each; `asked` are questions for each user."""

    users: int = 16  # throughput: a question each
    turns: int = 200
    starts: int = 3
    rounds: int = 3  # throughput: everybody once in each
    by_turns: tuple[tuple[int, int], ...] = ((100, 8), (1_000, 4), (10_000, 2), (100_000, 2))
    asked: tuple[tuple[int, int], ...] = ((1, 4), (10, 2), (100, 1))
    ask_turns: int = 1_000
    ranked_asked: int = 100  # no more of them with the rankers
    driven: tuple[int, int] = (16, 32)  # users of 100 turns, questions for each: what the driver spends
    planned: int = 1_000_000
    written: int = 3_200


QUICK = Sizes(
    users=4,
    turns=30,
    starts=1,
    rounds=1,
    by_turns=((100, 2), (1_000, 1)),
    asked=((1, 2), (10, 1)),
    ask_turns=100,
    ranked_asked=10,
    driven=(8, 16),
    planned=20_000,
    written=320,
)


@dataclass(frozen=True)
class Job:
    """One run of the command: who does it, how many, and over what."""

    name: str
    what: str
    users: int
    turns: int
    asked: int = 1  # questions for each user
    engine: str = "local"  # in-order, local, ray
    workers: int = 1
    threads: int = 1
    rank: str = "ce,colbert"
    nodes: int = 0

    @property
    def questions(self) -> int:
        """All of them."""
        return self.users * self.asked


@dataclass(frozen=True)
class Bench:
    """Where it is done and how much."""

    work: Path
    cores: int
    sizes: Sizes

    def env(self, home: Path, mark: str) -> dict[str, str]:
        """An environment with caches of its own, this checkout, and the mark."""
        made = environment(home, self.work / "runtime")
        paths = [str(ROOT), *filter(None, made.get("PYTHONPATH", "").split(os.pathsep))]
        return made | {"PYTHONPATH": os.pathsep.join(dict.fromkeys(paths)), MARK: mark}

    def users(self, count: int, turns: int) -> tuple[list[Path], int]:
        """The folders of so many users with chats of so many turns each, and the bytes of all."""
        places = [self.work / "users" / f"of-{turns}" / f"user-{n:04}" for n in range(count)]
        made = [corpus.folder(place, turns, seed=n) for n, place in enumerate(places)]
        return places, sum(one.bytes for one in made)

    def run(self, job: Job, address: str = "", mark: str = "", before: Json | None = None) -> Json:
        """Do a job with empty caches, and all there is to say of it; `before` is what `idle` said."""
        folder = self.work / "run"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        places, size = self.users(job.users, job.turns)
        _write_questions(folder / "questions.jsonl", places, job.asked)
        mark = mark or secrets.token_hex(8)
        env = self.env(folder / "home", mark)
        out = folder / ("answers.jsonl" if job.engine == "in-order" else "out")
        words = _command(job, out.name, address)
        before = before or idle()
        print(f"  {job.name} ...", end=" ", flush=True)
        try:
            seen = watch([sys.executable, "-m", *words], env, mark, out, folder)
            row = {**_job(job, words, size, address), **before, **_figures(seen), **_answers(out, job)}
            row["vectors"] = _vectors(env)
        except Failed as error:
            print(f"failed: {error}")
            return {**_job(job, words, size, address), **before, "left_out": str(error)}
        print(f"{seen.seconds:.0f} s")
        return row


def idle() -> Json:
    """What the machine does before a run, which should be nothing."""
    return {"load": os.getloadavg()[0], "busy": busy()}


def throughput(bench: Bench) -> Json:
    """Questions a second of the in-order command, of workers and of Ray nodes on this machine.

    In rounds, for machines have slow hours: each row is the run of middle speed, with the speeds of all
    rounds in their order.
    """
    sizes = bench.sizes
    plain = {"users": sizes.users, "turns": sizes.turns}
    jobs = [Job("in-order", "in order, one process", engine="in-order", threads=bench.cores, **plain)]
    for workers in dict.fromkeys((1, 2, bench.cores)):
        threads = max(1, bench.cores // workers)
        what = f"{workers} worker{'s' if workers > 1 else ''} of {threads} thread{'s' if threads > 1 else ''}"
        jobs.append(Job(f"local-{workers}", what, workers=workers, threads=threads, **plain))
    if has_ray := find_spec("ray") is not None:
        for nodes in (1, 2, 3):
            what = f"Ray, {nodes} node{'s' if nodes > 1 else ''} of 1 CPU"
            jobs.append(Job(f"ray-{nodes}", what, engine="ray", nodes=nodes, workers=nodes, **plain))
    else:
        print(f"  no Ray: {NO_RAY}")
    rounds = [[_on_cluster(bench, job) for job in jobs] for _ in range(sizes.rounds)]
    rows = [_middle(runs, "steady") for runs in zip(*rounds, strict=True)]
    return {"rows": rows} | ({} if has_ray else {"no_ray": NO_RAY})


def _on_cluster(bench: Bench, job: Job) -> Json:
    """Do a job, on a cluster of its own if it asks for nodes; one that does not come up costs its row."""
    try:
        return _clustered(bench, job.nodes, [job])[0] if job.nodes else bench.run(job)
    except Failed as error:
        print(f"  {job.name}: {error}")
        return {**_job(job, _command(job, "out", ""), 0, ""), **idle(), "left_out": str(error)}


def _clustered(bench: Bench, nodes: int, jobs: Sequence[Job]) -> list[Json]:
    before, mark, home = idle(), secrets.token_hex(8), bench.work / "cluster"
    shutil.rmtree(home, ignore_errors=True)  # actors have the cluster's caches, not the command's
    start = time.perf_counter()
    with cluster(nodes, bench.env(home, mark)) as address:
        up = time.perf_counter() - start
        return [bench.run(job, address, mark, before) | {"cluster_seconds": up} for job in jobs]


def _middle(runs: Sequence[Json], by: str) -> Json:
    """The run of the middle; all of them in `all`, by what they are compared, None where one failed."""
    good = sorted((run for run in runs if "left_out" not in run), key=lambda run: run[by] or 0.0)
    chosen = good[len(good) // 2] if good else runs[0]
    return chosen | {"runs": len(good), "all": [run.get(by) for run in runs]}


def ray(bench: Bench) -> Json:
    """What Ray takes to start and to hand out, on one node of one CPU on this machine."""
    if find_spec("ray") is None:
        raise Failed(NO_RAY)
    what, (users, asked) = "Ray, 1 node of 1 CPU", bench.sizes.driven
    plain: dict[str, Any] = {"engine": "ray", "nodes": 1, "workers": 1}
    jobs = [
        Job("ray-start", f"{what}, one short chat", 1, 12, **plain),
        Job("ray-driver", f"{what}, no ranking", users, 100, asked, rank="none", **plain),
    ]
    return {"rows": _clustered(bench, 1, jobs)}


def start(bench: Bench) -> Json:
    """How long one worker takes until its first record, over a chat of 12 turns; the median run."""
    rows = []
    for rank in ("none", "ce,colbert"):
        job = Job(f"start-{rank}", f"one worker, one short chat, --rank {rank}", 1, 12, rank=rank)
        rows.append(_middle([bench.run(job) for _ in range(bench.sizes.starts)], "first"))
    return {"rows": rows}


def size(bench: Bench) -> Json:
    """What a question costs by the size of the user's chats, with nothing in memory or cache."""
    rows = []
    for turns, users in bench.sizes.by_turns:
        for rank in ("none", "ce,colbert"):
            what = f"{turns:,} turns, --rank {rank}"
            job = Job(f"size-{turns}-{rank}", what, users, turns, workers=bench.cores, rank=rank)
            rows.append(bench.run(job))
            if rank != "none" and "left_out" not in rows[-1]:
                _keep_record(bench)
    return {"rows": rows}


def questions(bench: Bench) -> Json:
    """What a question costs by how many there are of a user: reading and vectors are shared."""
    rows = []
    for asked, users in bench.sizes.asked:
        for rank in ("none", "ce,colbert"):
            if rank == "none" or asked <= bench.sizes.ranked_asked:
                what = f"{asked} question{'s' if asked > 1 else ''} for each user, --rank {rank}"
                turns = bench.sizes.ask_turns
                rows.append(bench.run(Job(f"asked-{asked}-{rank}", what, users, turns, asked, rank=rank)))
    return {"rows": rows}


def coordinator(bench: Bench) -> Json:
    """What the process that hands out and writes spends: alone, and with workers on short chats."""
    users, asked = bench.sizes.driven
    what = f"{bench.cores} workers, short chats, no ranking"
    job = Job("local-driver", what, users, 100, asked, workers=bench.cores, rank="none")
    rows = [bench.run(job)]
    record = bench.work / "record.json"
    if not record.is_file():
        bench.run(Job("record", "one record of 1,000 turns", 1, 1_000))
        _keep_record(bench)
    planned = _child(bench, "scale_coordinator.py", str(bench.sizes.planned), str(bench.work / "plan"))
    written = _child(
        bench, "scale_coordinator.py", str(bench.sizes.written), str(bench.work / "write"), str(record)
    )
    return {"rows": rows, "plan": planned, "write": written}


PARTS: dict[str, Callable[[Bench], Json]] = {
    "start": start,
    "throughput": throughput,
    "size": size,
    "questions": questions,
    "coordinator": coordinator,
    "ray": ray,
}


def _write_questions(file: Path, places: Sequence[Path], asked: int) -> None:
    """So many questions over each user's chats, other ones for the next user."""
    lines = [
        {"id": f"{place.name}/{n}", "question": text, "paths": [str(place)]}
        for user, place in enumerate(places)
        for n, text in enumerate(_questions(user, asked))
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def _questions(user: int, asked: int) -> list[str]:
    first = user % len(corpus.FACTS)
    return corpus.questions(first + asked, seed=user)[first:]


def _command(job: Job, out: str, address: str) -> list[str]:
    words = ["smartsearch", "batch", "questions.jsonl", "--out", out, "--rank", job.rank]
    words += ["--now", "2026-01-01", "--progress", "none"]
    if job.engine != "in-order":
        words += ["--engine", job.engine, "--workers", str(job.workers)]
    if address:
        words += ["--address", address]
    return [*words, "--threads", str(job.threads * (job.workers if job.engine == "local" else 1))]


def _job(job: Job, words: Sequence[str], size: int, address: str) -> Json:
    command = " ".join(words)
    return {
        "id": job.name,
        "what": job.what,
        "command": command.replace(address, "HOST:PORT") if address else command,
        "engine": job.engine,
        "workers": job.workers,
        "threads": job.threads,
        "nodes": job.nodes,
        "rank": job.rank,
        "users": job.users,
        "turns": job.turns,
        "questions": job.questions,
        "chat_bytes": size,
    }


def _figures(seen: Watched) -> Json:
    """What was seen from outside."""
    if not seen.records:
        raise Failed("no record was seen to appear")
    kinds = ("worker", "command", "ray")
    return {
        "seconds": seen.seconds,
        "first": seen.records[0][0],
        "steady": steady(seen.records),
        "cpu": {kind: seen.cpu(kind) for kind in kinds},
        "peak": {kind: seen.peak(kind) for kind in kinds},
        "processes": {kind: seen.count(kind) for kind in kinds},
        "together": seen.together,
    }


def _answers(out: Path, job: Job) -> Json:
    """What the records and the manifest say. Raises Failed where a question was not answered."""
    found: Json = {}
    if job.engine == "in-order":
        lines = out.read_bytes().splitlines()
    else:
        lines = next(out.glob("answers-*.jsonl")).read_bytes().splitlines()
        manifest = json.loads(next(out.glob("manifest-*.json")).read_bytes())
        (found["session"],) = manifest["sessions"]
        found["inputs"] = manifest["inputs"]["files"]
    records = [json.loads(line) for line in lines]
    failed = [record["error"]["message"] for record in records if "error" in record]
    if failed or len(records) != job.questions:
        raise Failed(f"{len(records)} records of {job.questions}, {len(failed)} failed: {failed[:1]}")
    stages = records[0]["timing_ms"]
    found["stages"] = {
        stage: statistics.fmean(record["timing_ms"].get(stage, 0.0) for record in records) for stage in stages
    }
    found["candidates"] = statistics.fmean(record["candidates"] for record in records)
    found["record_bytes"] = statistics.fmean(map(len, lines)) + 1
    return found


def _vectors(env: Mapping[str, str]) -> Json:
    """Turns whose ColBERT vectors the run has kept, and their bytes on disk."""
    said = subprocess.run(
        [sys.executable, "-m", "smartsearch", "cache", "status", "--json"],
        env=dict(env),
        capture_output=True,
        check=False,
    )
    if said.returncode:
        raise Failed("smartsearch cache status failed")
    status = json.loads(said.stdout)["cache"][0]
    return {"turns": status["turns"], "bytes": status["bytes"]}


def _keep_record(bench: Bench) -> None:
    """The first record of the last run, for the coordinator to write many times."""
    answers = next((bench.work / "run" / "out").glob("answers-*.jsonl"))
    (bench.work / "record.json").write_bytes(answers.read_bytes().splitlines()[0])


def _child(bench: Bench, script: str, *arguments: str) -> Json:
    """What a script beside this one measures in a process of its own."""
    print(f"  {script} {arguments[0]} ...", end=" ", flush=True)
    for place in (bench.work / "plan", bench.work / "write"):
        shutil.rmtree(place, ignore_errors=True)
    before = idle()
    done = subprocess.run(
        [sys.executable, str(HERE / script), *arguments],
        env=bench.env(bench.work / "home", ""),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Failed(f"{script}: {done.stderr.strip()[-300:]}")
    print("done")
    return {**before, **json.loads(done.stdout.splitlines()[-1])}


def _measured(name: str, bench: Bench, *, quick: bool) -> Json:
    """A part with where it comes from; one that fails as a whole says so."""
    from smartsearch.bench.receipt import receipt
    from smartsearch.config import build

    print(name, flush=True)
    begin = time.perf_counter()
    found: Json = {"quick": quick, "instructions": instructions(), "load": os.getloadavg()[0]}
    words = ["python", "benchmarks/scale.py", *sys.argv[1:]]
    found["receipt"] = receipt(words, build({}, env={}, home=bench.work), {})
    try:
        found |= PARTS[name](bench)
    except Failed as error:
        print(f"  left out: {error}")
        found["left_out"] = str(error)
    found["seconds"] = round(time.perf_counter() - begin, 1)
    return found


@contextmanager
def _place(work: Path) -> Iterator[Path]:
    """The folder of what is made; what only a run needs goes with it."""
    (work / "runtime").mkdir(parents=True, exist_ok=True)
    try:
        yield work
    finally:
        for name in ("run", "plan", "write", "cluster", "runtime", "home"):
            shutil.rmtree(work / name, ignore_errors=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--out", type=Path, default=ROOT / ".out" / "scale" / "record.json", help="the record, a JSON file")
    add("--work", type=Path, default=ROOT / ".out" / "scale" / "work", help="made chats and runs: 100 MB")
    add("--only", default="", help=f"these parts, comma-separated: {', '.join(PARTS)}")
    add("--users", type=int, default=0, help="throughput: users, a question each; more are steadier")
    add("--rounds", type=int, default=0, help="throughput: how often everybody runs")
    add("--quick", action="store_true", help="see that all works: two minutes, figures of no worth")
    given = parser.parse_args(arguments)
    wanted = given.only.split(",") if given.only else list(PARTS)
    if unknown := [name for name in wanted if name not in PARTS]:
        parser.error(f"no part {unknown[0]!r}: one of {', '.join(PARTS)}")
    sizes = QUICK if given.quick else Sizes()
    wished = {name: value for name in ("users", "rounds") if (value := getattr(given, name))}
    sizes = replace(sizes, **wished)
    from smartsearch.config import Config

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what was started is ended in any case
    record = read(given.out, KIND) if given.out.is_file() else {"kind": KIND, "version": 1, "parts": {}}
    given.out.parent.mkdir(parents=True, exist_ok=True)
    with _place(given.work.resolve()) as work:
        bench = Bench(work, Config().cores, sizes)
        for name in wanted:
            found = portable(_measured(name, bench, quick=given.quick), {str(work): "WORK"})
            before = record["parts"].get(name, {})
            if "left_out" in found and before.get("rows"):
                continue  # what was measured before is worth more
            record["parts"][name] = found
            write(given.out, record)
    shown = os.path.relpath(given.out)
    print(f"{shown}\nnow: python benchmarks/scale_page.py --record {shown}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
