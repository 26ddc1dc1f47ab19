"""A whole benchmark over a small dataset: rows, units, warm queries, failures, receipt."""

import json
import sys
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from smartsearch import systems
from smartsearch.bench import presets, scoring, session
from smartsearch.bench.receipt import receipt
from smartsearch.bench.session import Request
from smartsearch.bench.store import Store
from smartsearch.config import Config, build
from smartsearch.errors import InputError
from smartsearch.rank.scorer import Scorer
from smartsearch.retrieve.grep import Haystack
from smartsearch.systems.base import Card, Ranked
from smartsearch.systems.smartsearch.pipeline import ranked
from smartsearch.types import Hit, Scores, Trace
from tests.bench.conftest import QUESTIONS, scoring_of, tools_with_parser
from tests.conftest import search
from tests.transcripts.build import lines, put

CONFIG = Config()


@contextmanager
def quiet(title, total):
    yield lambda: None


def measured(chats: Path, tmp_path: Path, config: Config = CONFIG, **asked):
    planned = session.plan(Request(str(chats), **asked), config)
    with Store(tmp_path / "scores.db") as store:
        scoring = scoring_of(tools_with_parser(config), store, config)
        return planned, *session.measure(planned, scoring, quiet)


LIFTED = ("What about the dog?", "last message by Mara", "Oscar Mondays", "Who asked how it was?")
"""Of these what was typed, the last and a reply stand elsewhere than the scorers have them."""


@pytest.mark.parametrize("alpha", [0.01, 0.9])
def test_a_row_is_what_search_does(chats: Path, tmp_path: Path, alpha: float):
    """The reference row keeps, question by question, the very turns that a query keeps, as it orders them."""
    config, cut = replace(CONFIG, alpha=alpha), f"B2:{alpha}:60:4000+skip"
    more = [{"id": text, "question": text, "gold": ["chat.txt:2"]} for text in LIFTED]
    put(chats, "questions.jsonl", "".join(lines(question) for question in [*QUESTIONS, *more]))
    planned, record, outcome = measured(chats, tmp_path, config, rankers=("cascade",), cuts=(cut,), live=8)
    assert record["latency"]["questions"] == 8
    assert set(record["latency"]["stages"]) >= {"parse", "retrieve", "colbert", "crossencoder", "total"}
    assert record["latency"]["stages"]["total"]["p50"] > 0
    (group,) = planned.dataset.groups()
    moved = set()
    for question in group.questions:
        asked = (question.text, Haystack(group.corpus))
        result = search(*asked, config, tools_with_parser(config))
        order, kept = outcome.kept[question.id]
        assert [hit.index for hit in result.hits] == order[kept.fate == 0].tolist()
        replies = sum(hit.reply.turn.words for hit in result.hits if hit.reply)  # no part of a row
        assert result.budget.used_words == kept.words + replies
        plain = search(*asked, replace(config, lift=False), tools_with_parser(config))
        moved |= {question.id} if plain.hits != result.hits else set()
    assert moved >= {"last message by Mara"}


TURN = {"role": "user", "content": "the support group met"}
DATED = {
    **{"question_id": "q", "question": "Which support group met last week?", "question_date": "2023/05/15"},
    **{"haystack_dates": ["2023/03/02", "2023/05/10"], "haystack_session_ids": ["a", "b"]},
    **{"haystack_sessions": [[{**TURN, "has_answer": True}], [TURN]]},
}


@pytest.mark.parametrize("rank", [(), ("ce", "colbert")])
def test_a_relative_date_counts_from_the_questions_day_in_rows_and_in_warm_queries(tmp_path: Path, rank):
    """Of two equal turns the one of last week, as it was then, comes first, whatever today is."""
    data = tmp_path / "longmemeval_s.json"
    data.write_text(json.dumps([DATED]), encoding="utf-8")
    config = replace(CONFIG, rank=rank)
    _, record, outcome = measured(data, tmp_path, config, rankers=("weight", "cascade"), live=1)
    assert record["latency"]["questions"] == 1
    assert outcome.ranked["I3", "weight"]["q"] == [1, 0]


@pytest.mark.parametrize("like", ["paper", "paper-locomo", "index-free"])
def test_the_row_of_the_paper_is_what_a_search_as_the_paper_does(chats: Path, tmp_path: Path, like: str):
    """Its very turns, question by question, its warm queries too; in one run with ours."""
    planned, record, outcome = measured(chats, tmp_path, like=like, live=4)
    assert planned.spec.reference == presets.REFERENCES[like]
    assert record["latency"]["questions"] == 4
    (group,) = planned.dataset.groups()
    config = build({"profile": "embedded"}, preset=like, env={})
    for question in group.questions:
        result = search(question.text, Haystack(group.corpus), config, tools_with_parser(CONFIG))
        order, kept = outcome.kept[question.id]
        assert [hit.index for hit in result.hits] == order[kept.fate == 0].tolist()
        assert result.budget.used_words == kept.words


def test_a_floor_is_of_the_raw_score_and_so_is_the_papers_tau(chats: Path, tmp_path: Path):
    """A calibration that makes all scores small moves no row of the paper's."""
    tools = tools_with_parser(CONFIG)
    names = (
        "IP ce+plain A1v2:0:2000",
        "IP ce+plain B2:0.5:60:4000",
        "IP ce A1v2:0:2000",
        "IP ce B2:0.5:60:4000",
    )
    ways = {"retrievals": ("IP",), "rankers": ("ce", "ce+plain"), "cuts": ("A1v2", "B2:.5")}
    planned = session.plan(Request(str(chats), **ways), CONFIG)

    def calibrated(question, texts):
        raw = tools.scorers["ce"](question, texts)
        return 1 / (1 + np.exp(-(3.0 * np.log(raw / (1 - raw)) - 9.0)))

    kept = {}
    for name, ce in (
        ("raw", tools.scorers["ce"]),
        ("calibrated", Scorer(calibrated, calibration=(3.0, -9.0))),
    ):
        with Store(tmp_path / f"{name}.db") as store:
            scoring = scoring_of(replace(tools, scorers=tools.scorers | {"ce": ce}), store, CONFIG)
            rows = session.measure(planned, scoring, quiet)[0]["rows"]
        kept[name] = {row["name"]: row["passages"] for row in rows}
    assert set(kept["raw"]) == set(names)
    differ = {name for name in names if kept["raw"][name] != pytest.approx(kept["calibrated"][name])}
    assert differ == {"IP ce B2:0.5:60:4000"}


def test_recall_and_losses_add_up_by_hand(chats: Path, tmp_path: Path):
    """q4 asks for a word nobody says; the rest of the gold, 4 turns, shares a word with its question."""
    _, record, _ = measured(chats, tmp_path, retrievals=("IF0",), rankers=("weight",), cuts=("B1:14",))
    (row,) = record["rows"]
    assert record["gold"] == {"turn": 5, "chunk": 4, "session": 4}
    assert row["recall"]["retrieved"]["micro"] == pytest.approx(4 / 5)
    assert row["recall"]["retrieved"]["any"] == pytest.approx(3 / 4)
    assert row["first"]["found"] == 3
    lost = row["lost"]
    assert lost["not retrieved"] == 1
    assert sum(lost.values()) + round(row["recall"]["kept"]["micro"] * 5) == 5
    assert set(row["by_category"]) == {"when", "where", "what"}
    assert row["by_category"]["where"]["recall"]["retrieved"]["micro"] == 1.0


@pytest.mark.reports
def test_every_preset_runs_and_is_json(chats: Path, tmp_path: Path):
    """But for `models`, whose models have to be pulled (test_models.py), and `systems`, which need real
    ones."""
    grids = tuple(name for name in presets.GRIDS if name not in ("models", "systems"))
    _, record, _ = measured(chats, tmp_path, grids=grids)
    names = [row["name"] for row in record["rows"]]
    assert presets.REFERENCE in names
    assert "I3+lemma cascade B1:2000" in names
    reference = next(row for row in record["rows"] if row["name"] == presets.REFERENCE)
    assert "against" not in reference
    assert all("against" in row for row in record["rows"] if row is not reference)
    json.dumps(record, allow_nan=False)


def test_scores_of_another_time_are_found_out(chats: Path, tmp_path: Path):
    """The store says what no model says now: told, with the file and the question."""
    config = replace(CONFIG, candidates=0)
    measured(chats, tmp_path, config, rankers=("rrf",))
    with Store(tmp_path / "scores.db") as store:
        rows = store._db.execute("select key from entries where kind = 'ce'").fetchall()
        for (key,) in rows:
            store.put("ce", key, np.nan_to_num(-store.get("ce", key), nan=np.nan))
    with pytest.raises(InputError, match=r"scores\.db.*question q\d.*another order") as told:
        measured(chats, tmp_path, config, rankers=("rrf",), live=4)
    assert "another --store" in told.value.hint


@pytest.mark.parametrize("fault", ["order", "candidates"])
def test_a_row_that_is_no_search_is_told(chats: Path, tmp_path: Path, monkeypatch, fault: str):
    """A row that leaves out a lift, or that finds others, is a fault of ours and no store's."""

    def other(*given):
        found = ranked(*given)
        places = range(len(found.candidates))
        return found.reordered(places[::-1] if fault == "order" else places[1:])

    monkeypatch.setattr(scoring, "ranked", other)
    with pytest.raises(InputError, match="another order than a search now") as told:
        measured(chats, tmp_path, live=4)
    assert "report it" in told.value.hint


def test_failures(chats: Path, tmp_path: Path):
    planned, _, outcome = measured(chats, tmp_path)
    blamed = session.blamed(planned, outcome, {"q1": True, "q2": False})
    kinds = blamed["all"]["overall"]["kinds"]
    assert kinds["LLM inference"] == 1
    assert sum(kinds.values()) == 4
    assert sum(blamed["all"]["overall"]["gold"].values()) == 5


def test_the_receipt_says_what_ran(chats: Path, tmp_path: Path):
    planned, record, _ = measured(chats, tmp_path)
    assert {presets.REFERENCE, presets.REFERENCES["paper"]} <= {row["name"] for row in record["rows"]}
    config = replace(CONFIG, cascade=64)
    tools = tools_with_parser(config)
    origin = receipt(["smartsearch", "bench", "my chats"], config, tools.models)
    signed = session.signed(record, planned, origin, tools)
    assert signed["run"]["config"] == {"cascade": 64}
    assert {model["role"] for model in signed["run"]["models"]} == {"parser", "crossencoder", "colbert"}
    assert len(signed["dataset"]["sha256"]) == 64
    assert signed["run"]["command"] == "smartsearch bench 'my chats'"
    assert signed["reference"] == presets.REFERENCE


class Stranger:
    """A system that is no plain search: it keeps a memory, and finds two turns of what it remembers."""

    card = Card("stranger", "the last two turns", fidelity="faithful", keeps=True)
    fingerprint = "settings"

    def __init__(self) -> None:
        self.folders: list[Path] = []

    def prepare(self, corpus, folder, progress):
        self.folders.append(folder)
        return Scoreless(f"{len(corpus)} turns")

    def search(self, question, corpus, memory, config):
        assert (config.system, config.truncate, config.limit) == ("stranger", "none", 0)
        turns = list(enumerate(corpus.corpus.turns))[::-1][:2]
        hits = tuple(Hit(n, turn, Scores(), index=i) for n, (i, turn) in enumerate(turns, 1))
        return Ranked(hits, Trace())


@dataclass(frozen=True)
class Scoreless:
    fingerprint: str


def test_a_system_added_tomorrow_is_measured_beside_ours(chats: Path, tmp_path: Path, monkeypatch):
    """What it does not find is not retrieved; its memory has a folder, and is part of the record."""
    made, here = Stranger(), sys.modules[__name__]
    monkeypatch.setattr(here, "CARDS", {"stranger": made.card}, raising=False)
    monkeypatch.setattr(here, "load", lambda config, tools: made, raising=False)
    monkeypatch.setitem(systems.SYSTEMS, "stranger", __name__)
    asked = {"rivals": ("stranger", "smartsearch", "full_context"), "cuts": ("B0",), "live": 2}
    _, record, _ = measured(chats, tmp_path, **asked)
    rows = {row["name"]: row for row in record["rows"]}
    assert rows["stranger B0"]["candidates"] == 2
    assert rows["stranger B0"]["recall"]["retrieved"]["micro"] == pytest.approx(2 / 5)  # turns 5 and 6
    assert rows["full_context B0"]["first"]["mean"] == pytest.approx((1 + 6 + 3 + 2) / 4)
    assert rows["full_context B0"]["recall"]["kept"]["micro"] == 1.0
    assert rows["smartsearch B0"]["recall"] == rows["I3 cascade B0"]["recall"]
    assert {folder.parent for folder in made.folders} == {tmp_path / "systems" / "stranger"}
    assert set(record["latency"]["rivals"]) == {"stranger", "smartsearch", "full_context"}
    assert set(record["systems"]) == {"stranger", "smartsearch", "full_context"}
    before = record["systems"]
    made.prepare = lambda corpus, folder, progress: Scoreless("other")
    assert measured(chats, tmp_path, **asked)[1]["systems"]["stranger"] != before["stranger"]
