"""Names of the grid, and what they stand for."""

from dataclasses import replace

import pytest

from smartsearch.bench import grid, presets
from smartsearch.config import Config, build, names
from smartsearch.errors import UsageError

BASE = Config()


def test_the_cross_product_has_every_combination_once():
    rows = grid.rows(["IF0", "IF3", "IF0"], ["ce", "rrf"], ["B0", "B1:500"], BASE)
    assert len(rows) == 8
    assert rows[0].name == "IF0 ce B0"
    assert len({row.name for row in rows}) == 8


def test_retrieval_names_change_the_config_as_the_paper_has_it():
    """Each is the paper's retrieval to the last setting, but for what its name says."""
    paper = build({"profile": "embedded"}, preset="paper", env={})
    changes = {"IP": {}, "I0": {"hops": 1, "prf": False}, "IF3": {"semantic": "off"}}
    changes["IF0"] = changes["I0"] | changes["IF3"]
    changes |= {"IF1": changes["IF0"] | {"prf": True}, "IF2": changes["IF0"] | {"hops": 3}}
    changes["AND"] = changes["IF0"] | {"mode": "and"}
    for name, changed in changes.items():
        found, wanted = grid.retrieval(name).config(BASE), replace(paper, **changed)
        for field in (*names("find"), "beside", "windows"):
            assert getattr(found, field) == getattr(wanted, field), (name, field)
    assert set(grid.RETRIEVALS) == {*changes, "I3", "ID"}
    assert grid.retrieval("I3").config(BASE) == BASE


def test_controls_are_added_to_a_retrieval():
    both = grid.retrieval("IF3+lemma+A2")
    assert (both.name, both.lemmas, both.config(BASE).dates) == ("IF3+A2+lemma", True, True)
    assert not grid.retrieval("IF3").config(BASE).dates
    assert grid.retrieval("IP+speakers").config(BASE).hop_speakers
    assert not grid.retrieval("IP").config(replace(BASE, hop_speakers=True)).hop_speakers


def test_rankers_take_what_the_name_leaves_open_from_the_config():
    assert grid.ranker("rrf", BASE).scorers == (("ce", 0.7), ("colbert", 0.3))
    mine = replace(BASE, weight_ce=0.4, weight_colbert=0.6, rrf_k=9)
    assert (grid.ranker("rrf", mine).k, grid.ranker("rrf", mine).scorers[0]) == (9, ("ce", 0.4))
    assert grid.ranker("rrf+plain", mine) == grid.ranker("rrf+plain", BASE)
    half = grid.ranker("rrf:0.5:20", BASE)
    assert (half.scorers, half.k) == ((("ce", 0.5), ("colbert", 0.5)), 20)
    assert grid.ranker("cascade", BASE).head == BASE.cascade
    assert grid.ranker("cascade:64", BASE).head == 64
    assert grid.ranker("mmr:0.6", BASE).trade_off == 0.6
    names = ("rrf:.7:60", "rrf:.5:60", "rrf:.7:20", "zscore:.6", f"cascade:{BASE.cascade}", "mmr:.7")
    said = [grid.ranker(name, BASE).name for name in names]
    assert said == ["rrf", "rrf:0.5", "rrf:0.7:20", "zscore:0.6", "cascade", "mmr:0.7"]


PAPER_RANKERS = {
    "R0": ("weight", {}),
    "R1": ("one", {"cross-encoder/ms-marco-MiniLM-L-12-v2": 1.0}),
    "R2": ("one", {"BAAI/bge-reranker-base": 1.0}),
    "R3": ("one", {"BAAI/bge-reranker-large": 1.0}),
    "R4a": ("rrf", {"BAAI/bge-reranker-large": 0.7, "answerdotai/answerai-colbert-small-v1": 0.3}),
    "R4a-eq": ("rrf", {"BAAI/bge-reranker-large": 0.5, "answerdotai/answerai-colbert-small-v1": 0.5}),
    "R5": ("rrf", {"mixedbread-ai/mxbai-rerank-large-v1": 0.7, "answerdotai/answerai-colbert-small-v1": 0.3}),
    "R6": ("rrf", {"mixedbread-ai/mxbai-rerank-large-v2": 0.7, "answerdotai/answerai-colbert-small-v1": 0.3}),
}
THREE = (
    "mixedbread-ai/mxbai-rerank-base-v1",
    "BAAI/bge-reranker-large",
    "answerdotai/answerai-colbert-small-v1",
)
PAPER_RANKERS |= {
    name: (kind, dict.fromkeys(THREE, 1 / 3))
    for name, kind in (("R4b", "rrf"), ("R4c", "zscore"), ("R4c-product", "product"))
}


PAPER_RANKERS |= {
    name: ("one", {model: 1.0})
    for name, model in (
        ("mxbai-xsmall", "mixedbread-ai/mxbai-rerank-xsmall-v1"),
        ("mxbai-base", "mixedbread-ai/mxbai-rerank-base-v1"),
        ("mxbai-large", "mixedbread-ai/mxbai-rerank-large-v1"),
        ("ColBERTv2", "colbert-ir/colbertv2.0"),
    )
}


def test_the_papers_rankings_are_there_by_name():
    """Tables 2 and 9, with k 60; all see turns as the paper's, and are another row than the profile's."""
    found = {name: (one.kind, dict(one.scorers)) for name, one in grid.RANKERS.items()}
    assert found == PAPER_RANKERS
    for name, one in grid.RANKERS.items():
        assert grid.ranker(name, BASE) is one
        assert (one.name, one.plain, one.k, one.head) == (name, True, 60, 0)
    assert [name for name, one in grid.RANKERS.items() if not one.crossencoder] == ["R0", "ColBERTv2"]
    cascade = grid.ranker("cascade:9+plain", BASE)
    assert (cascade.name, cascade.plain, cascade.head) == ("cascade:9+plain", True, 9)


def test_cuts_have_budget_alpha_and_k():
    adaptive = grid.cut("B2:.03:60:4000")
    assert (adaptive.alpha, adaptive.top_k, adaptive.words) == (0.03, 60, 4000)
    assert grid.cut("B2") == grid.Cut("B2:0.03:60:4000", "adaptive", 4000, 0.03, 60)
    assert grid.cut("B1").words == 2000
    assert grid.cut("B1+C1C2").compress == ("dates", "speakers")
    assert grid.cut("B1+C1C2").name == "B1:2000+C1C2"
    assert grid.cut("B1+skip+C1") == grid.cut("B1:2000+C1+skip")
    assert (grid.cut("B2+skip").fill, grid.cut("B2").fill) == ("skip", "stop")
    assert grid.cut("B2+parts+skip") == grid.cut("B2+skip+parts")
    assert (grid.cut("B2+parts").parts, grid.cut("B2+parts").name) == (True, "B2:0.03:60:4000+parts")
    assert (grid.cut("A1v1").share, grid.cut("tail").share) == (0.2, 0.2)
    assert (grid.cut("A1v2").floor, grid.cut("A1v2:-4").floor) == (0.0, -4.0)
    assert grid.cut("B2:0").alpha == 0.0


@pytest.mark.parametrize(
    ("make", "name"),
    [
        *((grid.retrieval, "IF4"), (grid.retrieval, "IF0+A3"), (lambda n: grid.ranker(n, BASE), "bm25x")),
        *((lambda n: grid.ranker(n, BASE), "rrf:2"), (lambda n: grid.ranker(n, BASE), "ce:1")),
        *((lambda n: grid.ranker(n, BASE), "ce+alone"), (lambda n: grid.ranker(n, BASE), "R4d")),
        *((grid.cut, "B3"), (grid.cut, "B1:none"), (grid.cut, "B1:100:2"), (grid.cut, "B1:nan")),
        *((grid.cut, "B2+C3"), (grid.cut, "A1v1+C1"), (grid.cut, "tail+C1"), (grid.cut, "B0+skip")),
        (grid.cut, "B1+skip+skip"),
    ],
)
def test_a_name_that_is_none_is_told_with_those_there_are(make, name):
    with pytest.raises(UsageError) as caught:
        make(name)
    assert name.split(":")[0].split("+")[-1] in caught.value.message
    assert caught.value.hint


def test_a_cut_by_score_needs_a_ranking_with_the_cross_encoder():
    rows = grid.rows(["I3"], ["weight", "colbert", "ce"], ["B2:.03", "B2:0", "A1v2"], BASE)
    assert [row.name for row in rows] == [
        "I3 weight B2:0:60:4000",
        "I3 colbert B2:0:60:4000",
        "I3 ce B2:0.03:60:4000",
        "I3 ce B2:0:60:4000",
        "I3 ce A1v2:0:2000",
    ]


def test_the_grid_of_systems_has_their_ways_and_those_that_ask_a_model_where_there_is_one():
    ways = presets.rivals(["systems"], BASE)
    assert {"xmemory", "xmemory:no-split", "xmemory:memory-only", "qrmem:te", "qrmem:ges"} < set(ways)
    more = presets.rivals(["paper", "systems"], replace(BASE, llm=True, qr_model="./some"))
    assert set(more) - set(ways) == {"memorag:gist", "qrranker"}
    assert presets.rivals(["paper"], BASE) == presets.naive(["paper"]) == ()
    names = [row.name for row in presets.rows(["systems"], ["xmemory"], BASE, ["B1:250"])]
    (plain,) = presets.naive(["systems"])
    assert names == ["I3 cascade B1:250", f"{plain} B2:0:20:4000", "xmemory B1:250"]


def test_every_grid_holds_a_reference_row_and_the_papers_and_parses():
    for name in presets.GRIDS:
        rows = presets.rows([name], ["bm25"], BASE)
        names = {row.name for row in rows}
        assert names & set(presets.REFERENCES.values())
        like = {"index-free": "index-free", "systems": ""}.get(name, "paper")
        assert presets.REFERENCES[like] in names
        assert len({row.name for row in rows}) == len(rows)
        assert any(row.ranker.kind == "rival" for row in rows)
