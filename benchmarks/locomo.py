"""Score `smartsearch batch` on LoCoMo-10: retrieval, ranking and the cut, against the gold turns.

    python benchmarks/locomo.py LOCOMO10.json [--out DIR] [--every N] [--options '...']

Writes the questions, runs the batch command over them (resumable), and scores its output. Nothing
here is tuned on: the figures are only measured. Definitions: docs/benchmarks.md, seeds 1.5.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import re
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from smartsearch.config import Config
from smartsearch.models.profiles import tokenizer, verify
from smartsearch.truncate import truncate
from smartsearch.types import Hit, Scores, Turn

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
TOP = 62  # turns in 2,000 words at the paper's 32 words a turn (table 9)
EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


@dataclass(frozen=True)
class Question:
    """A LoCoMo question with its gold turn ids, those that exist in the conversation."""

    id: str
    text: str
    conversation: str
    category: int
    gold: frozenset[str]


@dataclass
class Dropped:
    """Evidence that names no turn, counted by reason."""

    malformed: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)


def questions(samples: list[dict[str, Any]], dropped: Dropped) -> Iterator[Question]:
    """Categories 1-4, evidence cleaned: `D8:6; D9:17` is two turns, `D:11:26` is D11:26, `D30:05` D30:5."""
    for sample in samples:
        turns = {
            turn["dia_id"]
            for name, session in sample["conversation"].items()
            if re.fullmatch(r"session_\d+", name)
            for turn in session
        }
        for number, qa in enumerate(sample["qa"]):
            if qa["category"] not in CATEGORIES:
                continue
            gold = frozenset(_gold(qa.get("evidence") or [], turns, dropped))
            yield Question(
                f"{sample['sample_id']}/{number}", qa["question"], sample["sample_id"], qa["category"], gold
            )


def _gold(evidence: Iterable[str], turns: set[str], dropped: Dropped) -> Iterator[str]:
    for text in evidence:
        found = [f"D{int(session)}:{int(turn)}" for session, turn in EVIDENCE.findall(text)]
        if not found:
            dropped.malformed.append(text)
        for name in found:
            if name in turns:
                yield name
            else:
                dropped.absent.append(name)


def receipt(data: bytes, options: str) -> dict[str, Any]:
    """What the results depend on: they are resumed only where all of it is the same."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return {
        "data_sha256": hashlib.sha256(data).hexdigest(),
        "options": options,
        "models": {status.role: status.revision for status in verify("embedded")},
        "commit": commit.stdout.strip(),
    }


def check_receipt(out: Path, now: dict[str, Any]) -> None:
    """Stop where the folder holds results of other data, options or models."""
    path = out / "receipt.json"
    before = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else now
    differ = [name for name in ("data_sha256", "options", "models") if before[name] != now[name]]
    if differ and (out / "results.jsonl").is_file():
        sys.exit(f"{out} holds results of another run ({', '.join(differ)} differ): give another --out")
    path.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")


def run_batch(data: Path, asked: list[Question], out: Path, options: list[str]) -> float:
    """Run the batch command over the questions; seconds of wall time. Resumes what is there."""
    path = out / "questions.jsonl"
    rows = ({"id": q.id, "question": q.text, "conversation": q.conversation} for q in asked)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    command = [sys.executable, "-m", "smartsearch", "batch", str(path), str(data), "--truncate", "none"]
    command += ["--out", str(out / "results.jsonl"), "--resume", *options]
    start = time.perf_counter()
    code = subprocess.run(command, check=False).returncode
    if code:
        sys.exit(f"smartsearch batch ended with {code}; its records tell why")
    return time.perf_counter() - start


@dataclass
class Tally:
    """Sums over questions with gold; micro counts gold turns, macro averages over questions."""

    questions: int = 0
    gold: int = 0
    candidates: int = 0
    found: dict[str, int] = field(default_factory=dict)
    fractions: dict[str, float] = field(default_factory=dict)
    every: dict[str, int] = field(default_factory=dict)
    some: dict[str, int] = field(default_factory=dict)
    first_ranks: list[int] = field(default_factory=list)
    words: dict[str, int] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)

    def add(self, measure: str, gold: frozenset[str], kept: Iterable[str]) -> None:
        hit = len(gold & set(kept))
        for table, value in ((self.found, hit), (self.every, hit == len(gold)), (self.some, hit > 0)):
            table[measure] = table.get(measure, 0) + int(value)
        self.fractions[measure] = self.fractions.get(measure, 0.0) + hit / len(gold)

    def report(self) -> dict[str, Any]:
        n = self.questions or 1
        ranks = self.first_ranks or [0]
        return {
            "questions": self.questions,
            "gold": self.gold,
            "candidates": round(self.candidates / n, 1),
            "first_gold_rank_mean": round(statistics.fmean(ranks), 2),
            "first_gold_rank_median": statistics.median(ranks),
            "recall": {
                measure: {
                    "micro": round(self.found[measure] / (self.gold or 1), 4),
                    "macro": round(self.fractions[measure] / n, 4),
                    "any": round(self.some[measure] / n, 4),
                    "all": round(self.every[measure] / n, 4),
                }
                for measure in self.found
            },
            "words": {m: round(v / n, 1) for m, v in self.words.items()},
            "tokens": {m: round(v / n, 1) for m, v in self.tokens.items()},
        }


CUTS = {
    "2000 words": Config(truncate="fixed", budget=2000),
    "alpha .03, K 60, 4000 words": Config(truncate="adaptive", alpha=0.03, top_k=60, budget=4000),
    "alpha 0, K 60, 4000 words": Config(truncate="adaptive", alpha=0.0, top_k=60, budget=4000),
}


def score(question: Question, record: dict[str, Any], tallies: Iterable[Tally]) -> None:
    """Add one question's measures to each tally."""
    hits = [_hit(raw) for raw in record["hits"]]
    ids = [hit.turn.turn for hit in hits]
    ranks = {name: rank for rank, name in enumerate(ids, start=1)}
    cuts = {name: truncate(hits, config, tokenizer()) for name, config in CUTS.items()}
    for tally in tallies:
        tally.questions += 1
        tally.gold += len(question.gold)
        tally.candidates += record["candidates"]
        tally.add("retrieved", question.gold, ids)
        for top in (1, 3, 5, 10, TOP):
            tally.add(f"top {top}", question.gold, ids[:top])
        for name, (kept, budget) in cuts.items():
            tally.add(name, question.gold, [hit.turn.turn for hit in kept])
            tally.words[name] = tally.words.get(name, 0) + budget.used_words
            tally.tokens[name] = tally.tokens.get(name, 0) + budget.used_tokens
        found = [ranks[name] for name in question.gold if name in ranks]
        if found:
            tally.first_ranks.append(min(found))


def _hit(raw: dict[str, Any]) -> Hit:
    turn = Turn(raw["text"], raw["speaker"], raw["time"], raw.get("caption", ""), turn=raw["turn"])
    scores = raw["scores"]
    return Hit(raw["rank"], turn, Scores(scores["match"], scores["ce"], scores["colbert"], scores["rrf"]))


def latency(records: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Median and 95th percentile of each stage, milliseconds, over warm queries."""
    stages: dict[str, list[float]] = {}
    for record in records:
        for stage, spent in record["timing_ms"].items():
            stages.setdefault(stage, []).append(spent)
    return {
        stage: {"p50": round(statistics.median(v), 1), "p95": round(sorted(v)[int(len(v) * 0.95)], 1)}
        for stage, v in stages.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="locomo10.json")
    parser.add_argument("--out", type=Path, default=Path(".out/locomo"), help="where runs and the report go")
    parser.add_argument("--every", type=int, default=1, help="take every Nth question only")
    parser.add_argument("--options", default="", help="options for smartsearch batch, as one string")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    raw = args.data.read_bytes()
    dropped = Dropped()
    asked = list(questions(json.loads(raw), dropped))[:: args.every]
    origin = receipt(raw, args.options)
    check_receipt(args.out, origin)
    seconds = run_batch(args.data, asked, args.out, shlex.split(args.options))
    by_id = {q.id: q for q in asked}
    total, categories = Tally(), {c: Tally() for c in CATEGORIES}
    records = []
    for line in (args.out / "results.jsonl").open(encoding="utf-8"):
        record = json.loads(line)
        question = by_id.get(record["id"])
        if question is None or "error" in record:
            continue
        record_small = {k: record[k] for k in ("timing_ms", "candidates", "models", "threads")}
        records.append(record_small)
        if question.gold:
            score(question, record, (total, categories[question.category]))
    report = {
        **origin,
        "asked": len(asked),
        "answered": len(records),
        "wall_seconds_this_run": round(seconds, 1),
        "evidence_dropped": {"malformed": dropped.malformed, "absent": dropped.absent},
        "machine": platform.processor() or platform.machine(),
        "threads": records[0]["threads"] if records else 0,
        "command": " ".join(sys.argv),
        "all": total.report(),
        "by_category": {f"{c} {name}": categories[c].report() for c, name in CATEGORIES.items()},
        "latency_ms": latency(records) if records else {},
    }
    (args.out / "report.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    show(report)


def show(report: dict[str, Any]) -> None:
    rows = {"all": report["all"], **report["by_category"]}
    print(f"{'':<16}{'questions':>10}{'gold':>6}{'cand':>7}{'first':>7}{'median':>8}", end="")
    measures = list(report["all"]["recall"])
    print("".join(f"{m[:12]:>13}" for m in measures))
    for name, row in rows.items():
        print(
            f"{name:<16}{row['questions']:>10}{row['gold']:>6}{row['candidates']:>7}"
            f"{row['first_gold_rank_mean']:>7}{row['first_gold_rank_median']:>8}",
            end="",
        )
        print("".join(f"{row['recall'].get(m, {}).get('micro', 0):>13}" for m in measures))
    print("tokens", report["all"]["tokens"], "words", report["all"]["words"])
    print("latency ms", report["latency_ms"].get("total"), "answered", report["answered"])


if __name__ == "__main__":
    main()
