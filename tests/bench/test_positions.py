"""benchmarks/positions.py: the same facts in every place, and read back as they were put."""

import importlib.util
import re
from collections import defaultdict
from pathlib import Path

from smartsearch.bench.datasets import open_dataset

FILE = Path(__file__).parents[2] / "benchmarks" / "positions.py"
spec = importlib.util.spec_from_file_location("positions", FILE)
positions = importlib.util.module_from_spec(spec)
spec.loader.exec_module(positions)


def words(text):
    return set(re.findall(r"\w+", text.lower()))


def test_every_fact_stands_once_in_each_place_and_at_each_distance(tmp_path):
    positions.write(tmp_path / "one")
    positions.write(tmp_path / "two")
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()
    data = open_dataset(str(tmp_path / "one"))
    assert data.dropped == {}
    assert list(data.categories) == [*positions.PLACES, *positions.GAPS]
    stood = defaultdict(list)
    for group in data.groups():
        for question in group.questions:
            first, second = sorted(question.gold)
            among, gap = {**positions.PLACES, **positions.DISTANCES}[question.category]
            assert first in among
            assert second - first == gap
            one, two = (group.corpus.turns[place].text for place in (first, second))
            assert question.text.split(" of ")[1].split()[0] in one
            assert question.answer in two
            assert words(question.text) & words(two) == {"money"}
            stood[one, question.answer].append(question.category)
    assert len(stood) == positions.COPIES * positions.FACTS
    assert all(sorted(where) == list(data.categories) for where in stood.values())
