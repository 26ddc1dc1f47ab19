"""The picture of a question's graph: who stands where, and what a line says."""

from __future__ import annotations

import math
import re
from dataclasses import replace

from smartsearch.output import network
from smartsearch.output.network import BESIDE, HIGH, WIDE
from smartsearch.types import Graph, Link, Term, Turn
from tests.output.samples import FULL
from tests.output.test_html import HOSTILE, page, sound


def node(name: str, step: int = 0, segments: float = 1.0) -> Term:
    return Term(name, "ENTITY", segments, step)


TURNS = (Turn("Mara keeps <bees>.", "Ann"), Turn("Mara met Oona."))
GRAPH = Graph(
    (node("bees"), node("Mara", 1, 2.0), node("Oona", 2), node("Lone")),
    (Link(0, 1, (0,)), Link(1, 2, (0, 1), Turn("Mara was taught by Oona")), Link(0, 2, (1,))),
    TURNS,
)


def test_taken_entities_stand_inside_with_their_step_and_others_beside_them():
    made = network.picture(GRAPH)
    assert made
    titles = re.findall(r"<title>([^<]+)</title>", made.svg)
    assert "Mara: in 2 segments, taken in step 1" in titles
    assert "bees: in 1 segment" in titles
    assert not any(said.startswith("Lone") for said in titles)  # nothing relates it to one that was taken
    assert re.findall(r'class="step"[^>]*>(\d)<', made.svg) == ["1", "2"]
    assert "Entities taken: 2" in made.caption
    assert "1 of 1" in made.caption
    assert network.picture(GRAPH) == made


def test_a_line_says_the_sentence_or_what_the_model_wrote():
    made = network.picture(GRAPH)
    assert made
    lines = re.findall(r'<line class="([^"]+)"[^>]*><title>([^<]+)</title>', made.svg)
    assert lines == [
        ("link", "bees - Mara: Ann: Mara keeps &lt;bees&gt;."),
        ("link walked", "Mara - Oona: Mara was taught by Oona"),
        ("link", "bees - Oona: Mara met Oona."),
    ]


def test_nothing_taken_is_no_picture_and_many_are_drawn_as_far_as_they_can_be_read():
    assert network.picture(Graph((node("a"), node("b")), (Link(0, 1, (0,)),), TURNS)) is None
    nodes = (node("hub", 1), *(node(f"n{n}", 0, float(n)) for n in range(100)))
    made = network.picture(Graph(nodes, tuple(Link(0, n, (0,)) for n in range(1, 101)), TURNS))
    assert made
    assert made.svg.count("<circle") == BESIDE + 1
    assert "24 of 100" in made.caption
    assert ">n99<" in made.svg  # the one in most segments
    spots = [(float(x), float(y)) for x, y in re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', made.svg)]
    assert spots[0] == (WIDE / 2, HIGH / 2)
    assert all(0 < x < WIDE and 0 < y < HIGH for x, y in spots)
    assert min(math.dist(a, b) for n, a in enumerate(spots) for b in spots[:n]) > 15


def test_the_page_has_it_under_its_own_heading_and_no_text_becomes_markup():
    assert "graph" not in sound(page(FULL)).values("id")
    for said in HOSTILE:
        hostile = Graph((node(said, 1), node(said)), (Link(0, 1, (0,), Turn(said)),), (Turn(said, said),))
        outline = sound(page(replace(FULL, graph=hostile)))
        assert "graph" in outline.values("id")
        assert outline.count("line") > 0
