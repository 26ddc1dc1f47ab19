"""The page: its structure, that nothing in a transcript becomes markup, and that it loads nothing."""

import base64
import hashlib
import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartsearch.config import Config
from smartsearch.output import html
from smartsearch.types import Budget, Hit, HopTrace, Nearby, Result, Scores, Skipped, Term, Trace, Turn
from tests.output.samples import FULL, KITE, Outline, answer, dropped, hit, turn

HOSTILE = [
    *("<script>alert(1)</script>", "</style><script>alert(1)</script>"),
    *("</title><script>alert(1)</script>", '" onmouseover="alert(1)', "' onload='alert(1)"),
    *("<img src=x onerror=alert(1)>", "<svg/onload=alert(1)>", "</mark></p></article></main>"),
    *("<!-- a comment", "]]><![CDATA[", "&lt;script&gt; &#60;b&#62; &amp;", "javascript:alert(1)"),
    *("{{ 7 * 7 }} ${7 * 7}", "a\u202eb\u2066c\u2069", "\x00\x1b[31m\x07\x9b\x7f\x0c\r\n\t"),
    *("half \ud800 a pair \udfff", ""),
]


def page(given: Result, around: list[Nearby] | None = None, config: Config | None = None) -> str:
    return html.page(given, around or [], config or Config(alpha=0.5, top_k=5))


def sound(text: str) -> Outline:
    """The page's outline, if nothing is wrong with it."""
    outline = Outline(text)
    assert outline.faults == []
    ids = outline.values("id")
    assert len(ids) == len(set(ids))
    assert set(outline.values("aria-labelledby")) <= set(ids)
    assert {link.removeprefix("#") for link in outline.values("href")} <= set(ids)
    text.encode("utf-8")
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)
    return outline


def test_it_is_one_page_that_loads_and_runs_nothing():
    text = page(FULL)
    outline = sound(text)
    assert text.startswith('<!doctype html>\n<html lang="en">')
    names = {name for name, _ in outline.elements}
    assert not names & {
        *("script", "link", "img", "iframe", "object", "embed", "base", "form", "input", "image", "use")
    }
    attributes = {name for _, given in outline.elements for name in given}
    assert not {name for name in attributes if name.startswith("on")}
    assert attributes.isdisjoint(["src", "style", "srcset", "xlink:href"])
    bare = re.sub(r"sha256-[\w+/]+=", "", text)  # a digest in base64 may have two slashes
    assert not re.search(r"https?:|//|url\(|@import", bare)


def test_the_policy_lets_only_this_style_in():
    text = page(FULL)
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert style
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    said = next(value for value in Outline(text).values("content") if "default-src" in value)
    assert said == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert text.index("Content-Security-Policy") < text.index("<style>")


def test_sections_headings_and_what_they_hold():
    skipped = (Skipped("b.txt", "bytes", "is no text"),)
    outline = sound(page(replace(FULL, skipped=skipped, warnings=("mind <this>",))))
    assert [outline.count(name) for name in ("h1", "main", "header", "footer")] == [1] * 4
    sections = [given["id"] for name, given in outline.elements if name == "section"]
    assert sections == ["answer", "explained", "skipped"]
    for said in (
        *("Who flew the kite?", "2 turns of 7 candidates", "mind <this>", "b.txt: is no text", "fake-ce"),
    ):
        assert said in outline.text
    levels = [int(name[1]) for name, _ in outline.elements if re.fullmatch(r"h[1-6]", name)]
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_hits_stand_in_rank_order_with_speaker_date_place_scores_and_terms():
    outline = sound(page(FULL))
    assert [given["id"] for name, given in outline.elements if name == "article"] == ["hit-1", "hit-3"]
    assert outline.values("datetime") == ["2024-05-01T10:00:00", "2024-05-03T10:00:00"]
    for said in ("Ann 2024-05-01 10:00", "chats/a.txt:1", "0.8000", "10.80", "4.000", "2.00"):
        assert said in outline.text
    assert outline.count("mark", class_="h1", title="hop 1, NOUN, weight 2.00") == 2
    assert outline.count("mark", class_="h2", title="hop 2, HOP, weight 2.50") == 1


def test_a_hit_stands_among_the_turns_around_it_and_these_lead_to_their_own_place():
    around = [
        Nearby(0, (), (turn("who <b>", 2), turn("the other hit", 3))),
        Nearby(2, (turn("before", 2),), ()),
    ]
    outline = sound(page(FULL, around))
    assert outline.count("p", class_="near") == 3
    assert "who <b>" in outline.text
    given = [given for name, given in outline.elements if name == "a"]
    links = [link["href"] for link in given if link.get("class") == "also"]
    assert links == ["#hit-3"]


def test_a_meter_beside_a_score_is_its_place_among_all_ranked_turns():
    outline = sound(page(FULL))
    meters = [given["value"] for name, given in outline.elements if name == "meter"]
    assert meters[::4] == ["1", "0.5"]  # of the cross-encoder: .8 and .5, between .2 and .8
    assert set(outline.values("aria-hidden")) == {"true"}


@pytest.mark.parametrize(
    "time", ["2024", "99999-01-01", "soon", "2024-02-30", "0001-01-01", "9999-12-31T23:59:59+14:00"]
)
def test_odd_dates_break_no_page(time: str):
    sound(page(answer(hit(1, 0.8, time=time), hit(2, 0.7, time="2024-05-01T10:00:00+02:00"))))


@pytest.mark.parametrize(
    "scores",
    [Scores(2.0), Scores(2.0, 0.5), Scores(2.0, None, 9.0), Scores(2.0, 0.0, 0.0), Scores(2.0, 1.0, -3.0)],
)
def test_a_ranker_that_did_not_run_has_no_score(scores: Scores):
    bare = Budget("adaptive", 4000, 60, 0.0, 0.0, 9)
    text = page(answer(replace(hit(1, None), scores=scores), budget=bare))
    sound(text)
    both = scores.ce is not None and scores.colbert is not None
    assert ("not read" in text) is not both


def test_nothing_found_is_a_page_too():
    budget, trace = Budget("adaptive", 4000, 60, 0.0, 0.0, 0), Trace(hops=(HopTrace(1, "grep", (), 0, 0),))
    empty = Result("zebra?", "embedded", (), budget, trace)
    outline = sound(page(empty))
    assert "Nothing was found" in outline.text


def everywhere(said: str) -> tuple[Result, list[Nearby]]:
    """An answer with `said` wherever a transcript, a question or a setting can bring it."""
    term = Term(said, "HOP", 2.0, 2, said)
    own = Turn(said, said, "2024-05-01T10:00", said, said, said, 1, said, said, said, said, said)
    found = Hit(1, own, Scores(2.0, 0.8, 10.0, 0.01, 4.0), (KITE, term), 1, 1)
    trace = Trace((term,), (HopTrace(1, "entity", (term,), 1, 1),), 2, said, {}, (), (said,))
    fell = replace(dropped(2, "tau", 0.1), turn=own)
    skipped = (Skipped(said, said, said),)
    whole = answer(found, fell=[fell], query=said, profile=said, trace=trace, skipped=skipped)
    whole = replace(whole, warnings=(said,))
    return whole, [Nearby(1, (own,), (own,))]


@pytest.mark.parametrize("said", HOSTILE)
def test_nothing_in_a_transcript_becomes_markup(said: str):
    hostile, plain = (page(*everywhere(text)) for text in (said, "word"))
    outline = sound(hostile)
    ours = [(name, sorted(given)) for name, given in outline.elements if name != "mark"]
    theirs = [(name, sorted(given)) for name, given in sound(plain).elements if name != "mark"]
    if said:
        assert ours == theirs
    assert "<script" not in hostile


@given(st.text(alphabet=st.characters(), min_size=1, max_size=120))
def test_no_text_changes_the_elements_of_the_page(said: str):
    drawn = [
        [name for name, _ in sound(page(*everywhere(text))).elements if name != "mark"]
        for text in (said, "word")
    ]
    assert drawn[0] == drawn[1]


def test_bidirectional_marks_are_left_out_and_controls_spelt():
    whole, around = everywhere("a\u202eb\x1b")
    assert "ab\\x1b" in sound(page(whole, around)).text


def test_a_turn_of_a_megabyte_shows_its_start_and_where_its_terms_are():
    long = answer(hit(1, 0.8, f"{'so on ' * 180_000}the kite at last"))
    text = page(long, [Nearby(0, (turn("y" * 1_000_000, 2),), ())])
    assert len(text) < 80_000
    assert 'weight 2.00">kite</mark> at last' in text
    assert "characters left out" in text


def test_a_long_text_is_cut_wherever_it_stands():
    text = page(*everywhere("<x>" * 40_000))
    sound(text)
    assert len(text) < 300_000
