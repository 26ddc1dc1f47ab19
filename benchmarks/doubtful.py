"""Writes LoCoMo without the gold turns whose label is doubtful by our own reading: never the headline.

    python benchmarks/doubtful.py locomo10.json sound.json
    smartsearch bench sound.json

`locomo_labels.tsv` names each by question and turn, with a kind and a reason. We read all 138 questions
of which the shipped rankers lost a gold turn (466 gold turns, 63 doubtful), and 160 drawn at random from the
other 1,398 (232, 13 doubtful). The list is incomplete, and a figure without its turns flatters smartsearch.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

LIST = Path(__file__).with_name("locomo_labels.tsv")
KINDS = {
    "beside": "a turn at most two away holds what is asked, this one does not",
    "topic": "it is about something else",
    "empty": "a greeting, thanks, assent or a question",
    "speaker": "it is the other person's, or the question names the wrong one",
    "answer": "the answer does not follow from it",
}


def labels() -> list[dict[str, str]]:
    """The list in its order; `read` says which of the questions read a label stood in: `lost` or `found`."""
    with LIST.open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def sound(samples: list[dict[str, Any]]) -> int:
    """Take doubtful turns out of the evidence of LoCoMo's samples; gives how many there were."""
    listed = {(label["question"], label["turn"]) for label in labels()}
    taken = 0
    for sample in samples:
        for number, asked in enumerate(sample["qa"]):
            named = [
                turn for item in asked.get("evidence") or () for turn in re.split(r"[;\s]+", item) if turn
            ]
            kept = [turn for turn in named if (f"{sample['sample_id']}/{number}", turn) not in listed]
            taken += len(named) - len(kept)
            asked["evidence"] = kept
    return taken


def main(argv: Sequence[str]) -> int:
    """Write the second file from the first, and say how many turns were taken out."""
    if len(argv) != 2:
        print(__doc__)
        return 2
    samples = json.loads(Path(argv[0]).read_text(encoding="utf-8"))
    taken = sound(samples)
    Path(argv[1]).write_text(json.dumps(samples), encoding="utf-8")
    print(f"{taken} of {len(labels())} doubtful gold turns taken out")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
