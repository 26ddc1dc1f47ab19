"""What --compress saves and costs: `python benchmarks/compress.py DATA [--every N]`.

Each question is ranked once; the ranked list is cut with every set of measures under several ceilings. Gold
counts as kept where the turn itself stays, or is merged into one that does.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from smartsearch.bench.datasets import open_dataset
from smartsearch.config import build
from smartsearch.models import profiles
from smartsearch.rank.truncate import truncate
from smartsearch.retrieve.grep import Haystack
from smartsearch.systems.smartsearch.pipeline import search
from smartsearch.types import Hit

MEASURES = (
    (),
    ("dates",),
    ("speakers",),
    ("repeats",),
    ("dates", "speakers"),
    ("dates", "speakers", "repeats"),
)
CUTS = {
    "the 62 best": {"truncate": "fixed", "budget": 1_000_000, "top": 62},
    "fixed, 2,000 words": {"truncate": "fixed", "budget": 2000},
    "adaptive .03, K 60, 4,000 words": {"truncate": "adaptive"},
    "fixed, 1,000 tokens": {"truncate": "fixed", "budget": 1_000_000, "tokens": 1000},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--every", type=int, default=8, help="every Nth question with gold")
    parser.add_argument("--out", type=Path, help="the figures as JSON")
    given = parser.parse_args()
    config = build({"truncate": "none"}, env={})
    tools = profiles.load(config, cache=True)
    tallies: dict[tuple[str, tuple[str, ...]], list[tuple[float, int, int]]] = {}
    seen = 0
    for group in open_dataset(str(given.data)).groups():
        haystack = Haystack(group.corpus)
        for question in group.questions:
            if not question.gold:
                continue
            seen += 1
            if (seen - 1) % given.every:
                continue
            ranked = search(question.text, haystack, config, tools).hits
            places = {id(group.corpus.turns[index]) for index in question.gold}
            for name, cut in CUTS.items():
                hits = ranked[: cut.get("top", len(ranked))]
                settings = {key: value for key, value in cut.items() if key != "top"}
                for measures in MEASURES:
                    chosen = build({**settings, "compress": measures}, env={})
                    kept, budget = truncate(hits, chosen, tools.tokenizer)
                    tallies.setdefault((name, measures), []).append(
                        (_share(kept, places), budget.used_words, budget.used_tokens)
                    )
            if sys.stderr.isatty():
                print(f"\r{seen}", end="", file=sys.stderr)
    rows = [
        {
            "cut": name,
            "measures": ",".join(measures) or "none",
            "questions": len(found),
            "kept": round(float(np.mean([kept for kept, _, _ in found])), 4),
            "words": round(float(np.mean([words for _, words, _ in found]))),
            "tokens": round(float(np.mean([tokens for _, _, tokens in found]))),
        }
        for (name, measures), found in tallies.items()
    ]
    print(table(rows))
    if given.out:
        given.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def _share(kept: Sequence[Hit], gold: set[int]) -> float:
    """The share of the gold turns that stay, as themselves or merged."""
    there = {id(turn) for hit in kept for turn in (hit.turn, *hit.also)}
    return len(gold & there) / len(gold)


def table(rows: Sequence[dict[str, object]]) -> str:
    """The rows as Markdown."""
    lines = ["| cut | compress | gold kept | words | tokens |", "|---|---|---:|---:|---:|"]
    lines += [f"| {r['cut']} | {r['measures']} | {r['kept']} | {r['words']} | {r['tokens']} |" for r in rows]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
