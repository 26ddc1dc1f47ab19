"""What dates of the question and a preferred speaker do to LoCoMo's gold (docs/decisions/0013).

    python benchmarks/filters_locomo.py dates locomo10.json
    python benchmarks/filters_locomo.py speaker locomo10.json --questions 100

`dates`: the questions that name a date, with `--no-dates` and without. `speaker`: questions that name a
speaker, the one named first preferred, kept alone, or neither. `--rank none` leaves the rankers out and takes
a tenth of the time.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace

from smartsearch.bench.datasets import open_dataset
from smartsearch.bench.types import BenchQuestion
from smartsearch.config import Config
from smartsearch.models import profiles
from smartsearch.retrieve.grep import Haystack
from smartsearch.systems.smartsearch.pipeline import search
from smartsearch.text.when import find
from smartsearch.transcripts.filters import speaks
from smartsearch.types import Corpus, fold

CUTS = (5, 10, 62)
Asked = tuple[BenchQuestion, Haystack, str]
"""A question, where it is asked, and the speaker that it names first."""
Way = Callable[[Asked], tuple[Haystack, Config]]


def questions(path: str) -> list[Asked]:
    """All questions with gold."""
    found: list[Asked] = []
    for group in open_dataset(path, format="auto", every=1).groups():
        haystack = Haystack(group.corpus)
        for question in group.questions:
            named = [name for name in haystack.names() if fold(name) in fold(question.text)]
            if question.gold:
                found.append((question, haystack, named[0] if named else ""))
    return found


def spread(items: Sequence[Asked], count: int) -> list[Asked]:
    """So many of them, evenly."""
    return [items[n * len(items) // count] for n in range(count)] if 0 < count < len(items) else list(items)


def alone(corpus: Corpus, name: str) -> Haystack:
    """The corpus with this speaker's turns to be found."""
    return Haystack(corpus, [n for n, turn in enumerate(corpus.turns) if speaks(name, turn.speaker)])


def main() -> None:
    """Print a line a way: the share of the gold among the candidates and in the first places."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("what", choices=("dates", "speaker"))
    options.add_argument("data")
    options.add_argument("--questions", type=int, default=0)
    options.add_argument("--rank", choices=("ce,colbert", "none"), default="ce,colbert")
    given = options.parse_args()
    base = Config(truncate="none", dates=given.what == "dates")
    if given.rank == "none":
        base = replace(base, rank=(), semantic="off")
    tools = profiles.load(base, cache=True)
    ways: dict[str, Way]
    if given.what == "dates":
        some = spread([asked for asked in questions(given.data) if find(asked[0].text)], given.questions)
        ways = {
            "without": lambda asked: (asked[1], replace(base, dates=False)),
            "dates": lambda asked: (asked[1], base),
        }
    else:
        some = spread([asked for asked in questions(given.data) if asked[2]], given.questions)
        ways = {
            "neither": lambda asked: (asked[1], base),
            "preferred": lambda asked: (asked[1], replace(base, speaker=(asked[2],))),
            "alone": lambda asked: (alone(asked[1].corpus, asked[2]), base),
        }
    gold = sum(len(asked[0].gold) for asked in some)
    print(f"{len(some)} questions, {gold} gold turns")
    for name, way in ways.items():
        kept = dict.fromkeys(("candidates", *CUTS), 0)
        for asked in some:
            haystack, config = way(asked)
            order = [hit.index for hit in search(asked[0].text, haystack, config, tools).hits]
            for cut in kept:
                kept[cut] += len(
                    set(asked[0].gold) & set(order if cut == "candidates" else order[: int(cut)])
                )
        print(f"{name:10}", "  ".join(f"{cut} {count / gold:.3f}" for cut, count in kept.items()))


if __name__ == "__main__":
    main()
