import json
import math
from dataclasses import replace

from smartsearch.config import Config
from smartsearch.errors import InputError, SearchTimeout
from smartsearch.output import explain, record
from smartsearch.types import STAGES, Budget, Dropped, Hit, Met, Result, Scores, Term, Trace, Turn


def answer(**changes: object) -> Result:
    turn = Turn("it rained", "Ann", "2024-05-01T10:00", path="a.txt", line=3)
    fuzzy = Term("rained", "FUZZY", 1.23456789, source="raind")
    hit = Hit(1, turn, Scores(1.23456789, None, 0.1 + 0.2, 1 / 61), (fuzzy,))
    drops = (Dropped(2, "tau", turn), Dropped(3, "budget", turn), Dropped(4, "tau", turn))
    budget = Budget("adaptive", 4000, 60, 0.03, 0.0123456789, 4, 5, "tok", drops)
    values = {"trace": Trace(terms=(fuzzy,), timing_ms={"total": 12.345})} | changes
    return Result("q", "embedded", (hit,), budget, **values)


def test_stages_are_the_pipelines():
    assert list(record.result(answer(), Config())["timing_ms"]) == list(STAGES)


def test_numbers_are_rounded_and_a_scorer_that_did_not_run_is_null():
    value = record.result(answer(), Config())
    scores = {"match": 1.234568, "ce": None, "colbert": 0.3, "rrf": 0.016393, "fused": None}
    assert value["hits"][0]["scores"] == scores
    assert value["budget"]["tau"] == 0.012346
    assert value["timing_ms"]["total"] == 12.3
    assert value["timing_ms"]["parse"] == 0.0


def test_a_fuzzy_term_names_the_word_of_the_question():
    value = record.result(answer(), Config())
    expected = {"text": "rained", "kind": "FUZZY", "weight": 1.234568, "hop": 1, "source": "raind"}
    assert value["terms"] == [expected]
    assert value["hits"][0]["why"] == {"terms": [expected], "hop": 1}


def test_what_was_not_read_is_counted_and_marked():
    """Those turns come last: by the cut's own rule they are out."""
    marked = Trace(candidates=90, estimates=("candidates", "budget", "hops"))
    value = record.result(answer(trace=marked), Config())
    assert list(value)[7:9] == ["candidates", "estimates"]
    assert value["estimates"] == ["candidates", "budget", "hops"]
    budget = replace(answer().budget, unread=80)
    assert record.budget(budget, Config())["dropped"] == {"top_k": 80, "tau": 2, "budget": 1}
    fixed = replace(budget, truncate="fixed")
    assert record.budget(fixed, Config())["dropped"] == {"top_k": 0, "tau": 2, "budget": 81}
    assert replace(budget, truncate="none").drops == {"tau": 2, "budget": 1}


def test_drops_are_counted_and_with_explain_listed():
    assert record.result(answer(), Config())["budget"]["dropped"] == {"top_k": 0, "tau": 2, "budget": 1}
    listed = record.result(answer(), Config(), explain=True)["dropped_hits"]
    assert [(d["rank"], d["reason"]) for d in listed] == [(2, "tau"), (3, "budget"), (4, "tau")]


def test_a_caption_is_shown_where_there_is_one():
    turn = Turn("look", "Ann", caption="a red kite")
    assert record.hit(Hit(1, turn, Scores(1.0)))["caption"] == "a red kite"
    assert "caption" not in record.hit(Hit(1, Turn("look"), Scores(1.0)))


def test_words_that_met_are_told_where_they_were_asked_for():
    met = Hit(1, Turn("an accordion", "Ann"), Scores(1.0), met=(Met("instrument", "accordion", 0.71),))
    value = record.hit(met)
    assert list(value)[-1] == "met"
    assert value["met"] == [{"asked": "instrument", "said": "accordion", "cosine": 0.71}]
    told = list(explain.lines(replace(answer(), hits=(met,)), Config()))
    assert "  1  instrument ~ accordion .71" in told[told.index("met:") :]
    assert "met:" not in list(explain.lines(answer(), Config()))


def test_lone_surrogates_become_replacement_characters():
    odd = {"path": "caf\udce9", "fine": "\U0001f600", "list": ["\ud800x"]}
    mended = {"path": "caf\ufffd", "fine": "\U0001f600", "list": ["\ufffdx"]}
    assert json.loads(record.dumps(odd)) == mended


def test_errors_say_kind_message_hint_and_whether_to_try_again():
    told = {"kind": "input", "message": "no file", "hint": "look", "retryable": False}
    assert record.error(InputError("no file", hint="look")) == {"error": told}
    assert record.error(SearchTimeout("slow"))["error"]["retryable"] is True


def test_scores_that_are_no_numbers_are_null():
    assert json.loads(record.dumps({"x": math.nan}))["x"] is None
