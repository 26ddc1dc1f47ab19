"""Do training texts share word n-grams with the evaluation sets? The figure for the model card."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from recipe.data import read_groups

WORD = re.compile(r"[a-z0-9']+")


def ngrams(text: str, size: int) -> set[tuple[str, ...]]:
    """The lower-cased word n-grams of a text."""
    found = WORD.findall(text.lower())
    return {tuple(found[i : i + size]) for i in range(len(found) - size + 1)}


def strings_in(value: Any) -> Iterator[str]:
    """All strings of a JSON value, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings_in(item)


def spoken_part(text: str) -> str:
    """A scored text without its date, speaker and context, so that only what was said is compared."""
    said = text.rpartition(" | ")[0] or text
    return re.sub(r"^(?:\[[^\]]*\] )?(?:[^:]{1,30}: )?", "", said)


def main(argv: Sequence[str]) -> int:
    """`python -m recipe overlap DATA_FOLDER EVAL_FOLDER`: counts and examples."""
    parser = argparse.ArgumentParser(prog="recipe overlap", description=__doc__)
    parser.add_argument("data", type=Path, help="folder with groups.jsonl")
    parser.add_argument("evaluation", type=Path, help="folder with the evaluation sets (JSON)")
    parser.add_argument("--size", type=int, default=8, help="words an n-gram")
    options = parser.parse_args(argv)
    seen: set[tuple[str, ...]] = set()
    for path in sorted(options.evaluation.rglob("*.json")):
        for text in strings_in(json.loads(path.read_text(encoding="utf-8"))):
            seen |= ngrams(text, options.size)
    groups = read_groups(options.data / "groups.jsonl")
    texts = {spoken_part(text): g.source for g in groups for text in g.texts}
    texts.update({g.question: f"{g.source} question" for g in groups})
    shared: dict[str, int] = {}
    examples: dict[str, str] = {}
    for text, source in texts.items():
        common = ngrams(text, options.size) & seen
        if common:
            shared[source] = shared.get(source, 0) + 1
            examples.setdefault(source, " ".join(min(common)))
    report = {
        "ngram": options.size,
        "eval_ngrams": len(seen),
        "texts": len(texts),
        "sharing": sum(shared.values()),
        "by_source": shared,
        "examples": examples,
    }
    print(json.dumps(report, indent=1))
    return 0
