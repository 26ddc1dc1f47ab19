"""LoCoMo's conversations and questions as the measurements take them: one conversation, or all at once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from measure import Failed

from smartsearch.bench.datasets import open_dataset
from smartsearch.bench.types import BenchQuestion, Group

TYPICAL = 600
"""Turns of the conversation that is taken: the paper's average."""


@dataclass(frozen=True)
class Conversation:
    """One conversation as a file of its own, and its questions with gold."""

    path: Path
    name: str
    turns: int
    questions: tuple[BenchQuestion, ...]

    @property
    def lines(self) -> Path:
        """The same as text, a turn a line, for tools that read lines."""
        return self.path.with_suffix(".txt")

    def sample(self, count: int) -> list[BenchQuestion]:
        """So many of its questions, spread evenly over them."""
        count = min(count, len(self.questions))
        return [self.questions[n * len(self.questions) // count] for n in range(count)]


def _groups(data: Path) -> list[Group]:
    if not data.is_file():
        raise Failed(f"no {data.name}")
    return list(open_dataset(str(data)).groups())


def typical(data: Path, folder: Path) -> Conversation:
    """The conversation nearest to 600 turns, written to `folder`. Raises Failed without the data."""
    group = min(_groups(data), key=lambda group: abs(len(group.corpus.turns) - TYPICAL))
    samples = json.loads(data.read_text(encoding="utf-8"))
    sample = next(one for one in samples if one["sample_id"] == group.conversation)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{group.conversation}.json"
    path.write_text(
        json.dumps([{key: sample[key] for key in ("sample_id", "conversation")}]), encoding="utf-8"
    )
    with_gold = tuple(question for question in group.questions if question.gold)
    found = Conversation(path, group.conversation, len(group.corpus.turns), with_gold)
    spoken = (" ".join(turn.spoken.split()) for turn in group.corpus.turns)
    found.lines.write_text("".join(f"{said}\n" for said in spoken), encoding="utf-8")
    return found


def batch(data: Path, file: Path, every: int) -> int:
    """Writes every Nth question as a line for `smartsearch batch`; how many. Raises Failed without data."""
    lines = list(_lines(_groups(data)))[::every]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return len(lines)


def _lines(groups: Sequence[Group]) -> Iterator[str]:
    for group in groups:
        for question in group.questions:
            yield json.dumps(
                {"id": question.id, "question": question.text, "conversation": group.conversation}
            )
