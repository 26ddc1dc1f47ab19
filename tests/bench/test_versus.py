"""Systems at equal words: blocks by hand, what a memory took, and the tables of a run."""

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from smartsearch.bench import blocks, grid, rivals, versus
from smartsearch.bench.results import summary
from smartsearch.bench.rivals import Rival, Running
from smartsearch.bench.run import Spec, run
from smartsearch.bench.session import Request, contexts, plan
from smartsearch.bench.store import Store
from smartsearch.config import Config
from smartsearch.llm import Spent
from smartsearch.retrieve.grep import Haystack
from smartsearch.systems.base import Card
from smartsearch.types import Turn
from tests.bench.conftest import scoring_of
from tests.conftest import corpus

CHUNKS = np.array([0, 0, 0, 1, 1, 2])
TOKENS = np.array([5, 7, 9, 20, 30, 40])
SAID = [frozenset(words.split()) for words in ("red", "kite", "bell", "red kite", "", "bell tower")]


def measured(kept, gold, wanted=""):
    parts = (CHUNKS, TOKENS, SAID, frozenset(wanted.split()))
    return blocks.of_kept(np.array(kept, dtype=np.int64), np.array(gold), *parts)


def test_blocks_by_hand():
    """Blocks 2, 0 and 1: of the answer's words they have bell; red, kite and bell; none."""
    found = measured([5, 0, 4, 1, 2], [0, 1, 2, 4], "red kite bell red")
    assert [found[name] for name in ("blocks", *blocks.HITS)] == [3, 1, 0, 1]
    assert [found[name] for name in blocks.GOLD] == [1, 0, 1]
    assert (found["cover blocks"], found["cover tokens"]) == (2, 40 + 5 + 7 + 9)
    both = measured([0, 1], [0, 1], "bell")  # two gold turns without a word of the answer
    assert [both[name] for name in (*blocks.HITS, *blocks.GOLD)] == [0, 0, 0, 0, 1, 0]
    assert measured([3, 4], [0, 1], "red kite")["two words"] == 1  # two words, of turns that are not gold
    assert measured([0, 3], [0], "red")["blocks"] == 0  # one gold turn: no question of several hops
    assert math.isnan(measured([4, 5], [4, 5], "red bell")["cover blocks"])
    nothing = measured([4, 5], [4, 5])
    assert (nothing["wanted"], math.isnan(nothing["cover tokens"])) == (False, True)


def system(name: str, steps: int, *, keeps: bool, asker: Any = None):
    """One whose memory takes so many steps, each of a tick and a call; killed after `stops`."""

    def prepare(haystack, folder, progress):
        for step in range(made.steps):
            asker.spent += Spent(1, 0, 10, 1)
            progress(step, made.steps)
            if step == made.stops:
                raise KeyboardInterrupt
        return SimpleNamespace(fingerprint="m", statistics={"facts": 3})

    card = Card(name, "", paper="p", needs="llm" if asker else "none", keeps=keeps)
    made = SimpleNamespace(card=card, fingerprint="f", prepare=prepare, asker=asker, steps=steps, stops=-1)

    def search(question, haystack, memory, config):
        asker.spent += Spent(1, 0, 100, 5)
        return SimpleNamespace(hits=[SimpleNamespace(index=2, rank=1)], told=[Turn("a theme")])

    made.search = search
    return made


def test_what_a_memory_took_is_known_to_later_runs_and_after_a_kill(tmp_path, monkeypatch):
    clock = iter(range(1000))
    monkeypatch.setattr(rivals, "time", SimpleNamespace(perf_counter=lambda: float(next(clock))))
    monkeypatch.setattr(Running, "_code", "")
    one = system("mem", 3, keeps=True, asker=SimpleNamespace(spent=Spent()))

    def ingest():
        return Running(one, Haystack(corpus("Mara: hello")), Config(), tmp_path).ingest

    one.stops = 1
    with pytest.raises(KeyboardInterrupt):
        ingest()
    one.stops, one.steps = -1, 1  # what is left
    whole = ingest()
    assert whole.spent == Spent(3, 0, 30, 3)
    assert whole.seconds == 2 + 2  # a tick each time it is noted: two before the kill, then one and the end
    one.steps = 0
    assert ingest() == ingest() == whole
    one.fingerprint, one.steps = "other settings", 1
    assert ingest().spent.calls == 1  # another memory, in the place of the first
    one.fingerprint, one.steps = "f", 3
    assert ingest().spent.calls == 3  # which is made anew
    one.steps = 0
    next((tmp_path / "systems").glob("*.json")).unlink()
    assert ingest() is None  # made by nobody knows whom
    one.card = Card("plain", "", paper="p")
    assert ingest() == ingest() == rivals.Ingest(1.0, Spent())  # the first time counts: nothing was warm


def test_systems_are_compared_at_the_cut_nearest_to_two_thousand_words(tools, chats: Path, tmp_path: Path):
    request = Request(str(chats), rankers=("ce", "weight"), cuts=("B1:24", "B1:9"), rivals=("grep",))
    planned = plan(request, Config())
    assert [row.name for row in planned.spec.compared] == ["I3 ce B1:24", "grep B1:24"]
    ours = tuple(row for row in planned.spec.rows if row.ranker.kind != "rival")
    assert Spec(ours, planned.spec.reference).compared == ()
    with Store(tmp_path / "run" / "scores.db") as store:
        outcome = run(planned.dataset, planned.spec, scoring_of(tools, store, Config()), tools.tokenizer)
    record = {**summary(outcome), "run": {}, "latency": None}
    compared = record["compared"]
    assert compared["systems"]["I3 ce"]["against"]["500"] == {}
    gap = compared["systems"]["grep"]["against"]["500"]["difference"]
    kept = [one["kept"]["500"]["micro"] for one in compared["systems"].values()]
    assert gap == pytest.approx(kept[1] - kept[0], abs=1e-5)
    assert compared["systems"]["grep"]["memory"]["fidelity"] == "baseline"
    equal, evidence, by_category = versus.compared(record)
    assert [line[0] for line in equal.rows] == ["smartsearch (I3 ce)", "grep"]
    assert equal.rows[1][-2:] == ("0", "0")
    assert [line[1] for line in equal.rows] == ["approximate", "baseline"]
    assert by_category.head == ("system", "what", "when", "where")
    assert evidence.rows[0][0] == "smartsearch (I3 ce)"


@pytest.mark.parametrize(
    ("profile", "name", "expected"),
    [
        ("paper", "IP rrf+plain", "faithful"),
        ("paper", "I3 cascade", "approximate"),
        ("embedded", "IP rrf+plain", "approximate"),
    ],
)
def test_only_the_papers_way_with_the_papers_models_is_faithful(profile, name, expected):
    assert versus.fidelity({"run": {"profile": profile}}, name) == expected


def test_what_a_question_asked_of_a_language_model_is_known_when_its_ranking_is_kept(
    tools, chats: Path, tmp_path: Path, monkeypatch
):
    monkeypatch.setattr(Running, "_code", "")
    asker = SimpleNamespace(spent=Spent(), endpoint=SimpleNamespace(model="tiny"))
    one = system("mem", 2, keeps=True, asker=asker)
    planned = plan(Request(str(chats), cuts=("B1:24",), rivals=("grep",)), Config())
    rows = grid.rival_rows(["mem"], ("B1:24", "B1:9"))
    answered = (*planned.spec.answered, "mem B1:24")
    asking = (Rival("mem", lambda *_: one, True),)
    spec = Spec((*planned.spec.rows, *rows), planned.spec.reference, asking, answered)
    spec = replace(spec, rows=tuple(row for row in spec.rows if row.ranker.name != "grep"))
    with Store(tmp_path / "run" / "scores.db") as store:
        for steps in (2, 0):
            one.steps = steps
            outcome = run(planned.dataset, spec, scoring_of(tools, store, Config()), tools.tokenizer)
            assert outcome.spent["mem"] == {"ingest": Spent(2, 0, 20, 2), "query": Spent(4, 0, 400, 20)}
            _, read = next(contexts(replace(planned, spec=spec), outcome, "mem B1:24"))
            assert read.startswith("a theme\n[")  # what the memory tells, kept as the ranking is, then turns
    assert one.asker.spent.calls == 2 + 4
    assert outcome.asked["mem"]["model"] == "tiny"


def test_calls_and_tokens_are_those_of_memories_and_questions():
    spent = {"calls": 12, "prompt_tokens": 3000, "completion_tokens": 40}
    result = {"run": {"asked": {"xmemory": {"ingest": spent, "query": {**spent, "calls": 7}}}}}
    assert versus.asked(result, "xmemory") == ("12 / 7", "3,040 / 3,040")
    assert versus.asked(result, "bm25") == ("0", "0")
