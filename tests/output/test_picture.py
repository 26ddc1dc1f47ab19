from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from smartsearch.config import Config
from smartsearch.output.picture import Canvas, drawn
from smartsearch.types import Budget, HopTrace, Result, Term, Trace
from tests.output.samples import FULL, KITE, answer, hit


def shown(given: Result, *, width: int = 80, ascii_only: bool = False, colour: bool = False) -> str:
    out = io.StringIO()
    system = "standard" if colour else None
    screen = Console(
        file=out, width=width, highlight=False, markup=False, force_terminal=colour, color_system=system
    )
    for block in drawn(given, Config(alpha=0.5, top_k=5, limit=2), Canvas(width, ascii_only)):
        screen.print(block)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def part(said: str, title: str) -> list[str]:
    """The lines under a title."""
    return said.split(f"{title}\n", 1)[1].split("\n\n")[0].splitlines()


def test_hops_are_a_tree_of_terms():
    assert part(shown(FULL), "how it was found") == [
        "Who flew the kite?",
        "├── hop 1  grep      +4 turns · 4 in all",
        "│   └── kite   NOUN   2.00 ████▊   in 2 hits",  # 2 of 2.5 are 38.4 eighths of 48
        "├── hop 2  entity    +1 turn · 5 in all",
        "│   └── Oscar  HOP    2.50 ██████  in 1 hit",
        "└── hop 2  semantic  +2 turns · 7 in all",
    ]


def test_the_table_has_a_line_for_each_rule_and_what_it_dropped():
    said = [line.strip("─ ") for line in part(shown(FULL), "scores")]
    order = [line.split()[0] if line[0].isdigit() else line for line in said]
    assert order == [
        "rank      ce      colbert        fused        match      place",
        *("1", "3"),
        "stayed and not shown: -n 2: 1 turn",
        "4",
        "ce below tau 0.4000 = 0.5 of the best ce, 0.8000: 1 turn",
        "2",
        "no room: 4000 words, fill stop: 1 turn",
        "5",
        "behind the first 5 (top_k): 2 turns",
        *("6", "7"),
    ]
    assert said[1].split() == [
        "1",
        "0.8000",
        "████",
        "10.800",
        "████",
        "4.000",
        "████",
        "2.00",
        "████",
        "chats/a.txt:1",
    ]


def test_what_does_not_cross_the_line_of_tau_fell_by_it():
    rows = part(shown(FULL), "the cut")
    assert rows[0] == "3 of 7 turns stay · adaptive · top_k 5 · alpha 0.5 · 4000 words · fill stop"
    line = next(row for row in rows if row.lstrip().startswith("tau 0.4"))
    assert (
        line.partition("│")[2] == "█─████─"
    )  # rank 2 is below tau, 7 was not read; 6 fell by top_k all the same
    assert next(row for row in rows if row.lstrip().startswith("fell ")).split("fell ")[1] == " t  bkk"
    assert rows[-1].strip() == "by t tau, b budget, k top_k"


def test_without_a_tau_there_is_no_plot():
    fixed = replace(FULL, budget=Budget("fixed", 2000, 0, 0.0, 0.0, 9, 12, "tok"))
    assert part(shown(fixed), "the cut") == [
        "2 of 2 turns stay · fixed · 2000 words · fill stop",
        "used: 9 words, 12 tokens (tok)",
    ]


def test_time_is_a_bar_by_stage():
    rows = part(shown(FULL, width=50), "time")
    assert rows[0] == "█" * 42 + " 100 ms"
    assert rows[1:] == [
        "█ read 10 ms   █ load 40 ms   █ parse 5.0 ms",
        "█ retrieve 5.0 ms   █ colbert 10 ms",
        "█ crossencoder 20 ms   █ fuse 5.0 ms",
        "█ truncate 5.0 ms   threads 2",
    ]


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_no_row_has_to_wrap(width: int):
    for ascii_only in (False, True):
        blocks = drawn(FULL, Config(), Canvas(width, ascii_only))
        lines = [block.plain for block in blocks if isinstance(block, Text)]
        prose = ("──", "--", "3 of 7")  # may wrap
        assert max(cell_len(line) for line in lines if not line.startswith(prose)) <= width


def test_ascii_where_the_terminal_may_have_no_more():
    said = shown(FULL, ascii_only=True)
    assert re.findall(r"[^\x00-\x7f]", said) == []
    assert "#" in said
    assert "+-- hop 1" in said


def test_without_colour_there_are_no_escapes_and_with_it_there_are():
    assert "\x1b" not in shown(FULL)
    assert "\x1b[32m" in shown(FULL, colour=True)


def test_long_and_wide_places_keep_their_end():
    said = shown(answer(hit(1, 0.8, path=f"{'日本語/' * 30}a.txt")))
    row = part(said, "scores")[1]
    assert row.endswith("/a.txt:1")
    assert "…" in row
    assert cell_len(row) <= 80


@pytest.mark.parametrize("text", ["\x1b]0;title\x07", "\x1b[2J", "a\nb", "\u202egnp", "[bold]x[/bold]"])
def test_what_comes_from_transcripts_cannot_drive_the_terminal(text: str):
    term = Term(text, "HOP", 2.0, source=text)
    trace = Trace((term,), (HopTrace(1, "entity", (term,), 1, 1),), 1, text, {}, (), (text,))
    hostile = answer(hit(1, 0.8, text, (KITE,), path=text, turn=text), query=text, profile=text, trace=trace)
    said = shown(hostile)
    assert not set(said) & set("\x1b\x07\u202e")
    assert "\nb" not in said


def test_nothing_found_is_a_picture_too():
    empty = answer(trace=Trace(hops=(HopTrace(1, "grep", (), 0, 0),)))
    assert part(shown(empty), "scores") == ["nothing was found"]
