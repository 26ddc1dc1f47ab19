"""Lines to tasks to shards: grouped by where they search, each line once, the same every time."""

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartsearch.ask.runs import plan
from smartsearch.ask.runs.plan import Plan, Shard
from smartsearch.errors import UsageError


def written(folder: Path, lines: list[object]) -> Path:
    path = folder / "q.jsonl"
    path.write_bytes(b"".join((x if isinstance(x, bytes) else json.dumps(x).encode()) + b"\n" for x in lines))
    return path


def tasks(path: Path) -> list[list[int]]:
    made = Plan(plan.read(path))
    return [made.lines(number) for number in range(len(made))]


def question(n: int, **more: object) -> dict[str, object]:
    return {"id": n, "question": f"what is {n}?", **more}


def test_lines_that_search_the_same_places_are_neighbours(tmp_path: Path):
    lines = [question(n, paths=[f"chat{n % 3}.txt"]) for n in range(192)]
    made = tasks(written(tmp_path, lines))
    assert made[0] == [1, 4, 7]
    assert [len(task) for task in made] == 3 * ([3] * 21 + [1])
    flat = [line for task in made for line in task]
    assert flat == [*range(1, 193, 3), *range(2, 193, 3), *range(3, 193, 3)]


def test_a_filter_makes_a_place_of_its_own_and_a_day_does_not(tmp_path: Path):
    own = [{"conversation": "a"}, {"now": "2024-01-01"}, {"conversation": "b"}, {"conversation": ["a"]}, {}]
    path = written(tmp_path, [question(n, **more) for n, more in enumerate(own)])
    made = plan.read(path)
    assert list(made.groups) == [0, 1, 2, 0, 1]
    assert made.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert [item.raw for item in made.items([1, 0])] == path.read_bytes().splitlines()[1::-1]


def test_large_groups_are_cut_and_small_ones_share_a_task_whole(tmp_path: Path):
    sizes = {"a": 20, "b": 20, "c": 70, "d": 5, "e": 5, "f": 1928}
    places = [place for place, size in sizes.items() for _ in range(size)]
    lines = [question(n, paths=[place]) for n, place in enumerate(places)]
    made = tasks(written(tmp_path, lines))
    assert [len(task) for task in made[:6]] == [20, 20, 32, 32, 16, 32]
    assert sum(map(len, made)) == len(lines)


def test_lines_that_cannot_be_asked_are_told_by_line(tmp_path: Path):
    lines = [
        question(1),
        b"nonsense",
        b"",
        question(1),
        {"id": "x"},
        question(2),
        b'{"id": ' + b"9" * 5000 + b"}",
    ]
    made = plan.read(written(tmp_path, lines))
    assert list(made.lines) == [1, 2, 4, 5, 6, 7]
    refused = {line: identity for line, (identity, _) in made.refused.items()}
    assert refused == {2: None, 4: 1, 5: "x", 7: None}
    assert made.refused[4][1].message == "the id 1 stands on line 1 already"


@given(st.lists(st.integers(0, 5), max_size=120), st.integers(1, 9))
def test_shards_hold_each_line_once(tmp_path_factory: pytest.TempPathFactory, groups: list[int], of: int):
    path = written(tmp_path_factory.mktemp("q"), [question(n, paths=[str(g)]) for n, g in enumerate(groups)])
    made = Plan(plan.read(path))
    numbers = [n for i in range(1, of + 1) for n in Shard(i, of).range(len(made))]
    assert numbers == list(range(len(made)))
    assert sorted(line for n in numbers for line in made.lines(n)) == list(range(1, len(groups) + 1))
    assert max((len(made.lines(n)) for n in numbers), default=0) <= 32


@pytest.mark.parametrize("text", ["0/4", "5/4", "2", "a/b", "1/0", "-1/2", "1/100000"])
def test_a_shard_that_is_none(text: str):
    with pytest.raises(UsageError, match="--shard is"):
        Shard.parse(text)
