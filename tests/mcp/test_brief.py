"""Hits as short lines, and turns under a ceiling of tokens, worked out by hand."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartsearch.rank.truncate import Tokenizer
from smartsearch.serve.mcp import brief
from smartsearch.serve.mcp.brief import Wanted
from smartsearch.types import Hit, Scores, Skipped, Term, Turn

WORDS = Tokenizer("words", lambda text: len(text.split()))
TURN = Turn("We met at the lighthouse.", "Ann", "2024-05-08T13:56:00", path="/r/a.txt", line=3)


def found(turn: Turn, *terms: Term) -> Hit:
    return Hit(1, turn, Scores(1.0), terms)


def test_an_id_is_of_the_place_and_the_text():
    assert brief.identity(TURN) == brief.identity(replace(TURN, time=""))
    changes = ({"line": 4}, {"path": "/b"}, {"text": "x"}, {"pointer": "/1"})
    others = [replace(TURN, **change) for change in changes]
    assert len({brief.identity(turn) for turn in (TURN, *others)}) == 5
    assert len(brief.identity(Turn("\udcff"))) == 8


def test_a_result_says_first_how_good_it_is():
    hit = {"hits": ["[abcdefgh] x | y"], "weak": True, "confidence": 0.2, "absent": ["kite"], "more": 1200}
    first = "weak; confidence 0.20; nobody says kite; 1,200 more with a higher `limit`"
    assert brief.text({**hit, "notes": ["n"]}) == f"{first}\n[abcdefgh] x | y\nnote: n"
    assert brief.text({"hits": [], "weak": True, "next": "t"}) == "nothing found\ntry: t"
    session = "-home-me-src-app/fe7a436f-2276-4780-8514-a97ab662b035.jsonl:12"
    shown = [brief.hit(found(TURN), "abcdefgh", place, 99) for place in (session, "summer-of-2019.txt:1204")]
    assert [line.split(" | ")[1] for line in shown] == ["…2b035.jsonl:12", "summer-of-2019.txt:1204"]


def test_a_long_turn_is_shown_from_its_beginning_or_around_its_best_term():
    filler = "word " * 40
    assert brief.excerpt(Turn(filler), (), 20) == "word word word word…"
    late = Turn(f"{filler}the red kite broke loose {filler}")
    terms = (Term("word", "NOUN", 1.0), Term("KITE", "NOUN", 4.0))
    line = brief.excerpt(late, terms, 60)
    assert "red kite broke loose" in line
    assert line[0] == line[-1] == "…"
    assert len(line) <= 60
    end = brief.excerpt(Turn(f"{filler}the red kite"), terms, 40)
    assert end.startswith("…")
    assert end.endswith("the red kite")


@given(st.text(max_size=400), st.text(min_size=1, max_size=5), st.integers(40, 120))
def test_a_line_is_one_line_and_no_longer_than_wanted(text: str, term: str, most: int):
    line = brief.excerpt(Turn(text), (Term(term, "NOUN", 1.0),), most)
    assert len(line) <= most
    assert not set(line) & {"\n", "\r", "\x1b", "\x00"}
    assert brief.clipped(text, most) == brief.clipped(text, most).strip()
    assert len(brief.clipped(text * 5, most)) <= most


def test_notes_are_few_and_short_and_files_left_out_are_counted():
    said = ["a turn was cut", "a turn was cut", "w" * 1000]
    some = brief.notes(said, [Skipped("b.bin", "unreadable", "no permission"), Skipped("c", "x", "y")])
    assert some == ["a turn was cut", f"{'w' * 299}…", "2 left out, such as b.bin: no permission"]
    many = brief.notes([f"note {n}" for n in range(20)], ())
    assert many == [*(f"note {n}" for n in range(5)), "and 15 more notes"]


def turn(line: int, words: int, session: str = "s") -> Turn:
    return Turn(" ".join(["w"] * words), path="/r/a.txt", line=line, session=session)


def wanted(line: int, words: int, distance: int = 0, name: str = "") -> Wanted:
    return Wanted(turn(line, words), line - 1, str(line), distance, name)


def test_what_was_asked_for_comes_before_what_is_near_and_order_is_as_said():
    asked = [
        wanted(5, 10, name="five"),
        wanted(4, 10, 1),
        wanted(6, 10, 1),
        wanted(3, 10, 2),
        wanted(2, 10, name="two"),
    ]
    full = brief.filled(asked, 50, WORDS)
    assert [w.place for w in full.turns] == ["2", "3", "4", "5", "6"]
    assert (full.used, full.left_out, full.cut, full.crowded_out) == (50, (), (), 0)
    tight = brief.filled(asked, 35, WORDS)
    assert [w.place for w in tight.turns] == ["2", "4", "5"]
    assert (tight.used, tight.crowded_out) == (30, 2)


def test_a_turn_asked_for_twice_or_as_a_neighbour_too_is_there_once():
    asked = [wanted(1, 5, name="a"), wanted(2, 5, 1), wanted(2, 5, name="b"), wanted(1, 5, 1)]
    full = brief.filled(asked, 99, WORDS)
    assert [(w.place, w.name) for w in full.turns] == [("1", "a"), ("2", "b")]


def test_a_turn_that_does_not_fit_is_cut_or_named():
    asked = [wanted(1, 60, name="a"), wanted(2, 100, name="b"), wanted(3, 10, name="c")]
    filled = brief.filled(asked, 100, WORDS)
    assert [w.place for w in filled.turns] == ["1", "2"]
    assert filled.turns[1].turn.text.endswith("w…")
    assert (filled.used, filled.cut, filled.left_out) == (100, ("b",), ("c",))
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(len(text))
        return len(text.split())

    book = Wanted(Turn("word " * 1_000_000, path="/r/a.txt", line=1), 0, "1", name="a")
    assert brief.filled([book], 20_000, Tokenizer("words", count)).used <= 20_000
    assert max(counted) <= brief.RESULT_CHARACTERS, "one as long as a book is not even counted whole"


def test_sessions_have_gaps_marks_and_indented_lines():
    two = Turn("one\n## two", "Ann", "2024-05-08T13:56:00", path="/r/a.txt", line=9, session="s")
    said = Wanted(two, 8, "9")
    turns = [wanted(1, 1, name="a"), wanted(2, 1, 1), said, Wanted(turn(1, 2, "t"), 20, "21")]
    records = brief.sessions(turns, {"/r/a.txt": "a.txt"})
    text = "\n".join(line for record in records for line in brief.session_lines(record))
    assert text.splitlines() == [
        "## a.txt, session s",
        "* 1 w",
        "  2 w",
        "  ...",
        "  9 [2024-05-08 13:56] Ann: one",
        "    ## two",
        "## a.txt, session t",
        "  21 w w",
    ]


@pytest.mark.parametrize("said", ["", "x", "\x1b" * 500, "long " * 400])
def test_no_result_is_longer_than_a_client_takes(said: str):
    def one(n: int) -> Wanted:
        told = Turn(f"{said}{n}", "S" * 70, "2024-05-08T13:56:00", path=f"/r/{n % 20}", line=n, session="s")
        return Wanted(told, n, str(n), n % 41, "name" if n % 41 == 0 else "")

    few = Tokenizer("few", lambda text: len(text) // 100)
    filled = brief.filled([one(n) for n in range(820)], 20_000, few)
    records = brief.sessions(filled.turns, {f"/r/{n}": "p" * 4000 for n in range(20)})
    text = "\n".join(line for record in records for line in brief.session_lines(record))
    assert len(text) <= brief.RESULT_CHARACTERS
    assert len(json.dumps(records)) <= 1.25 * brief.RESULT_CHARACTERS
    assert filled.turns
