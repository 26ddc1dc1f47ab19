"""search() end to end with fake scorers, and the inputs that must not raise."""

from dataclasses import replace

import numpy as np
import pytest

from smartsearch.config import Config, build
from smartsearch.models.tools import Tools
from smartsearch.rank.meaning import dense_search
from smartsearch.rank.scorer import Scorer
from smartsearch.rank.truncate import Tokenizer
from smartsearch.retrieve.grep import Haystack
from smartsearch.types import STAGES, Corpus, ModelInfo, Query
from tests.conftest import corpus, haystack, search


def overlap(question, texts):
    """The share of the question's words in each text: a scorer one can check by eye."""
    words = set(question.lower().strip("?").split())
    return np.array(
        [len(words & set(t.lower().replace(":", " ").split())) / (len(words) or 1) for t in texts]
    )


@pytest.fixture
def tools(parser):
    models = {name: ModelInfo(name, "fake", "0", "fp32") for name in ("parser", "ce", "colbert")}
    scorers = {"ce": Scorer(overlap), "colbert": Scorer(overlap)}
    return Tools(parser, scorers, Tokenizer("words", lambda t: len(t.split())), models)


CHAT = ("Mara: I adopted a dog", "Ilya: great", "Mara: my dog plays in the garden", "Ilya: rain again")


def test_the_turn_that_answers_comes_first_with_its_reasons(tools):
    result = search("When did Mara adopt a dog", haystack(*CHAT), Config(), tools)
    first = result.hits[0]
    assert first.turn.text == "I adopted a dog"
    assert {t.text for t in first.terms} == {"Mara", "adopt", "dog"}
    assert first.scores.match == 4.0 + 1.0 + 2.0
    assert (first.rank, first.hop) == (1, 1)


def test_the_trace_tells_every_stage(tools):
    result = search("When did Mara adopt a dog", haystack(*CHAT), Config(), tools)
    assert tuple(result.trace.timing_ms) == STAGES
    assert result.trace.hops[0].kind == "grep"
    assert result.trace.candidates == result.trace.hops[-1].total
    assert result.trace.models[0].role == "parser"
    assert result.budget.used_words == sum(h.turn.words for h in result.hits)
    assert result.budget.tau == pytest.approx(0.01 * max(h.scores.ce for h in result.hits))


@pytest.mark.parametrize(("rank", "tells"), [(("ce", "colbert"), True), (("ce",), False), ((), False)])
def test_how_sure_an_answer_is_is_told_only_where_both_rankers_tell(tools, rank, tells):
    sure = replace(tools, confidence={"bias": -9.0})
    result = search("When did Mara adopt a dog", haystack(*CHAT), Config(rank=rank), sure)
    assert (result.confidence is not None, result.weak) == (tells, tells)
    nowhere = search("Who mended FC-311?", haystack(*CHAT), Config(rank=rank), sure)
    assert nowhere.weak


@pytest.mark.parametrize(
    ("said", "days", "limit", "order"),
    [
        (["dog today", "dog dog"], ["02", "01"], 0, [1, 0]),
        (["nothing", "dog", "dog today", "today dog"], ["01"] * 4, 2, [2, 3]),  # ties as in the corpus
    ],
)
def test_time_order_on_request_comes_after_the_limit(tools, said, days, limit, order):
    turns = corpus(*(f"Mara: {text}" for text in said)).turns
    dated = tuple(replace(t, time=f"2024-01-{day}") for t, day in zip(turns, days, strict=True))
    result = search("dog today", Haystack(Corpus(dated)), Config(order="time", limit=limit), tools)
    assert [h.index for h in result.hits] == order


@pytest.mark.parametrize(("rank", "alpha"), [((), 0), (("colbert",), 0), (("ce", "colbert"), 0.01)])
def test_alpha_counts_only_with_a_cross_encoder(tools, rank, alpha):
    budget = search("dog", haystack(*CHAT), Config(rank=rank), tools).budget
    assert (budget.alpha, budget.tau > 0) == (alpha, alpha > 0)


def test_the_dense_fallback_serves_a_question_without_a_hit(tools):
    result = search("again great zzz", haystack(*CHAT), Config(fuzzy=False), tools)
    assert "semantic" in [h.kind for h in result.trace.hops]
    assert result.hits
    off = search("zzz", haystack(*CHAT), Config(semantic="off"), tools)
    assert off.hits == ()
    assert search("?!", haystack(*CHAT), Config(), tools).hits == ()


def test_what_was_searched_instead_is_told(tools):
    result = search("Where does Petrra live?", haystack("Mara: Petra is here"), Config(), tools)
    assert result.warnings == ("no turn contains 'Petrra'; searched for petra",)
    near = search("zzz", haystack(*CHAT), Config(fuzzy=False), tools)
    assert (near.weak, near.warnings) == (True, ())


def test_a_best_turn_that_is_longer_than_the_budget_is_told(tools):
    chat = haystack("Mara: I adopted a dog " + "and then " * 20, *CHAT[1:])
    result = search("When did Mara adopt a dog", chat, Config(budget=10), tools)
    assert [hit.rank for hit in result.hits] == [1]
    assert result.warnings == ("a turn was cut to fit the budget",)
    result = search("When did Mara adopt a dog", chat, Config(budget=10, whole=True), tools)
    assert [hit.rank for hit in result.hits] == [2, 3]
    assert result.warnings == (
        "the best turn is longer than the budget and left out; --fill stop shows some of it",
    )


def test_what_ran_is_listed_and_nothing_else(tools):
    static = ModelInfo("static", "fake", "0", "int8")
    more = replace(tools, models={**tools.models, "static": static})

    def roles(question, tools=tools, **settings):
        result = search(question, haystack(*CHAT), Config(**settings), tools)
        assert result.hits
        return [model.role for model in result.trace.models]

    assert roles("dog dog", rank=("ce",), semantic="off") == ["parser", "ce"]
    assert roles("dog", rank=(), semantic="off") == ["parser"]
    assert roles("dog", rank=("ce",)) == ["parser", "ce"]
    assert roles("dog", rank=("ce",), first="match") == ["parser", "ce", "colbert"]  # the dense fallback ran
    assert roles("dog", more, rank=()) == ["parser", "static"]
    assert roles("dog", more, rank=(), first="match") == ["parser", "colbert"]


def test_negative_scores_keep_the_order_and_at_least_one(tools):
    low = replace(tools, scorers=tools.scorers | {"ce": Scorer(lambda q, t: overlap(q, t) * 1e-30)})
    assert search("Mara dog", haystack(*CHAT), Config(), low).hits


EDGE_CASES = {
    "no corpus": (),
    "one passage": ("Mara: dog",),
    "identical turns": ("Mara: dog",) * 200,
    "one speaker": tuple(f"Mara: dog number {i}" for i in range(2_000)),
    "long turn": ("Mara: " + "dog " * 50_000,),
    "another script": ("Мара: собака живёт дома", "Мара: 五月に犬を飼った"),
    "empty text": ("Mara: ", "", "Mara: dog"),
}


@pytest.mark.parametrize("lines", EDGE_CASES.values(), ids=EDGE_CASES.keys())
def test_edge_cases_do_not_raise(tools, lines):
    hay = haystack(*lines)
    for question in ("When did Mara adopt the dog?", "", "?", "собака", "五月", "dog " * 3000):
        result = search(question, hay, Config(), tools)
        assert result.budget.used_words <= 4000
        assert len(result.hits) <= 60


def test_the_dense_search_reads_a_long_turn_whole(tools):
    """The scorer sees 800 characters of a text, as the models see 128 tokens."""
    short = {"colbert": Scorer(lambda q, texts: overlap(q, [text[:800] for text in texts]))}
    hay = haystack(
        *CHAT, "Ilya: " + "It rained and the bus was late again today. " * 40 + "An aardvark came."
    )
    dense = dense_search(Query("an aardvark", ()), hay, Config(), short)
    assert dense is not None
    assert dense(1) == [len(CHAT)]


def test_the_papers_preset_does_none_of_ours(tools):
    """Codes, quotes, lifts, replies and the order of time are ours; confidence too."""
    question = 'last "dog plays" of FC-311'
    lines = (
        "Mara: is there a dog?",
        "Ilya: yes",
        "Ilya: FC-311 is down",
        *(f"Mara: dog {n}" for n in range(9)),
    )
    sure = replace(tools, confidence={"bias": -9.0})
    ours = search(question, haystack(*lines), build(preset=""), sure)
    paper = search(question, haystack(*lines), build(preset="paper"), sure)
    assert {t.kind for t in ours.trace.terms} >= {"PHRASE", "CODE"}
    assert not {t.kind for t in paper.trace.terms} & {"PHRASE", "CODE", "NUMBER", "COMPOUND"}
    assert ours.weak
    assert (paper.confidence, paper.weak) == (None, False)
    scores = [hit.scores.rrf for hit in paper.hits]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("preset", ["paper", "index-free"])
def test_as_the_paper_each_candidate_is_read_once_whole_and_alone(tools, preset):
    """Every candidate and no other; no date, neighbour or window; no word mended, no score calibrated."""
    seen: dict[str, list[str]] = {"ce": [], "colbert": []}

    def noting(name):
        def call(question, texts):
            seen[name] += texts
            return overlap(question, texts) * 0.9 + 0.05

        return Scorer(call, calibration=(0.5, -2.0))

    more = ("Mara: the dog " + "and the garden " * 300, "Mara: rain", "Mara: and rain")
    hay = Haystack(Corpus(tuple(replace(t, time="2024-05-08") for t in corpus(*CHAT, *more).turns)))
    both = replace(tools, scorers={name: noting(name) for name in seen})
    config = build({"profile": "embedded"}, preset=preset, env={})
    result = search("Mara's gardn dog yesterday", hay, config, both)
    read = [hay.corpus.turns[i].spoken.strip() for i in (0, 2, 4, 5, 6)]
    assert sorted(seen["ce"]) == sorted(read)
    assert sorted(seen["colbert"]) == (sorted(read) if preset == "paper" else [])
    assert result.trace.candidates == 5
    assert {step.kind for step in result.trace.hops} <= {"grep", "entity", "prf"}
    best = max(overlap("Mara's gardn dog yesterday", read)) * 0.9 + 0.05
    own = 1 / (1 + np.exp(-(np.log(best / (1 - best)) + 2.0) / 0.5))
    assert max(hit.scores.ce for hit in result.hits) == pytest.approx(own)
    assert result.budget.tau == pytest.approx(0.03 * own)


def test_as_the_paper_the_dense_search_reads_turns_as_the_rankers_do(tools):
    seen = []

    def noting(question, texts):
        seen.extend(texts)
        return overlap(question, texts)

    noted = replace(tools, scorers=tools.scorers | {"colbert": Scorer(noting)})
    config = build({"profile": "embedded"}, preset="paper", env={})
    search("What about trombones?", haystack(*CHAT), config, noted)
    assert sorted(seen[: len(CHAT)]) == sorted(CHAT)


def test_a_code_comes_first_whatever_the_rankers_say(tools):
    lines = (*(f"Mara: dog FC number {n}" for n in range(80)), "Ilya: FC-311")
    against = replace(tools, scorers=tools.scorers | {"ce": Scorer(lambda q, t: -overlap(q, t))})
    result = search("FC-311", haystack(*lines), Config(), against)
    assert result.hits[0].turn.text == "FC-311"
    assert "FC-311" in {
        hit.turn.text for hit in search("dog of FC-311", haystack(*lines), Config(), against).hits
    }
