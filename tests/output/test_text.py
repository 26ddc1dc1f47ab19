import contextlib
import io
from dataclasses import replace

import pytest
from rich.cells import cell_len

from smartsearch.config import Config
from smartsearch.output import explain, plain, record, show, stream, terminal
from smartsearch.output.blocks import blocks
from smartsearch.serve.mcp import brief
from smartsearch.transcripts.nearby import nearby
from smartsearch.types import Budget, Corpus, Hit, Nearby, Result, Scores, Skipped, Term, Trace, Turn


def turn(text: str, n: int = 1, *, session: str = "s1", speaker: str = "Ann", **values: str) -> Turn:
    return Turn(
        text, speaker, "2024-05-01T10:00", path="a.txt", line=n, conversation="c", session=session, **values
    )


def hit(said: Turn, rank: int = 1, *words: str) -> Hit:
    terms = tuple(Term(w, "NOUN", 2.0) for w in words)
    index = next((n for n, other in enumerate(TALK.turns) if other.line == said.line), -1)
    return Hit(rank, said, Scores(2.0, 0.5, 0.1, 0.01), terms, index=index)


def result(*hits: Hit, **trace: object) -> Result:
    return Result("q?", "embedded", hits, Budget("none", 0, 0, 0.0, 0.0, 4, 5, "tok"), Trace(**trace))


TALK = Corpus(tuple(turn(f"turn {n}", n, session="s1" if n < 4 else "s2") for n in range(1, 7)))


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (turn("one\ntwo\r\nthree"), r"a.txt:1:[2024-05-01] Ann: one\ntwo\nthree"),
        (turn("red \x1b[31mtext\x07"), r"a.txt:1:[2024-05-01] Ann: red \x1b[31mtext\x07"),
        (turn("look", caption="a kite"), "a.txt:1:[2024-05-01] Ann: look (a kite)"),
        (Turn("hi", path="b.json", pointer="/0/session_1/2"), "b.json#/0/session_1/2:hi"),
        (turn("", caption="[media]"), "a.txt:1:[2024-05-01] Ann: ([media])"),
        (Turn("hi", path="b\n.txt"), r"b\n.txt:hi"),
        (Turn("日本語のテキスト", "花子", path="c.txt", line=2), "c.txt:2:花子: 日本語のテキスト"),
    ],
)
def test_a_turn_is_one_line(said: Turn, line: str):
    assert plain.turn_line(said) == line


def test_nearby_turns_stay_in_their_session():
    found = nearby(TALK, [hit(TALK.turns[2]), hit(TALK.turns[3])], before=2, after=2)
    assert [[t.text for t in n.before] for n in found] == [["turn 1", "turn 2"], []]
    assert [[t.text for t in n.after] for n in found] == [[], ["turn 5", "turn 6"]]


def test_context_lines_have_dashes_and_groups_are_parted():
    hits = [hit(TALK.turns[4]), hit(TALK.turns[1])]
    assert list(plain.lines(hits, nearby(TALK, hits, before=1))) == [
        *("a.txt-4-[2024-05-01] Ann: turn 4", "a.txt:5:[2024-05-01] Ann: turn 5", "--"),
        *("a.txt-1-[2024-05-01] Ann: turn 1", "a.txt:2:[2024-05-01] Ann: turn 2"),
    ]


def test_the_prompt_block_groups_sessions_and_tells_each_turn_once():
    hits = [hit(TALK.turns[4]), hit(TALK.turns[2]), hit(TALK.turns[1])]
    assert list(plain.context(hits, nearby(TALK, hits, before=1))) == [
        *("## conversation c, session s2, 2024-05-01", "(nearby) [2024-05-01] Ann: turn 4"),
        *("[2024-05-01] Ann: turn 5", "", "## conversation c, session s1, 2024-05-01"),
        *("(nearby) [2024-05-01] Ann: turn 1", "[2024-05-01] Ann: turn 2", "[2024-05-01] Ann: turn 3"),
    ]


def test_what_a_reader_gets_is_the_excerpt_and_the_reply_to_what_asks():
    asks, says = TALK.turns[1], TALK.turns[2]
    reply = Hit(0, says, Scores(0.0), index=2, excerpt=replace(says, text="[...] 3"))
    asked = replace(hit(asks), excerpt=replace(asks, text="[...] 2?"), reply=reply)
    assert list(plain.lines([asked])) == [
        "a.txt:2:[2024-05-01] Ann: [...] 2?",
        "a.txt-3-[2024-05-01] Ann: [...] 3",
    ]
    block = list(plain.context([asked], [Nearby(1)]))
    assert block[1:] == ["[2024-05-01] Ann: [...] 2?", "[2024-05-01] Ann: [...] 3"]
    assert "> [...] 2?" in "\n".join(plain.markdown(result(asked)))
    assert "[...] 3" in drawn(asked)
    value = record.hit(asked)
    assert (value["text"], value["excerpt"]) == (asks.text, "[...] 2?")
    reply = value["reply"]
    assert (reply["line"], reply["text"], reply["excerpt"]) == (3, says.text, "[...] 3")
    told = brief.hit(asked, "abcdefgh", "a.txt:2", 160)
    assert told == "[abcdefgh] 2024-05-01 Ann | a.txt:2 | [...] 2? → Ann: [...] 3"


def test_files_are_named_once_best_first_and_by_meaning_only_where_no_term_is():
    others = [hit(Turn("x", path=path)) for path in ("b", "a", "b")]
    assert plain.files(others) == ["b", "a"]
    by_meaning = Hit(1, Turn("x", path="a"), Scores(0.0))
    by_words = Hit(2, Turn("dog", path="b"), Scores(2.0), (Term("dog", "NOUN", 2.0),))
    assert plain.files([by_meaning, by_words]) == ["b"]
    assert plain.files([by_meaning]) == ["a"]


def drawn(*hits: Hit, colour: bool = False, around: list[Nearby] | None = None, room: int = 0) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        screen = terminal.console(colour=colour)
        for lines in terminal.shown(blocks(hits, around or []), screen, room=room):
            for line in lines:
                screen.print(line)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")


def test_a_terminal_shows_when_in_which_chat_where_and_who_said_what(narrow: None):
    said = turn("the kite flew over the old harbour wall and was never seen again", turn="D1:3")
    assert drawn(hit(said, 1, "kite")) == (
        "1  2024-05-01 10:00  c  a.txt:1\n"
        " > Ann: the kite flew over the old harbour wall and was\n"
        "   never seen again\n"
    )


def test_the_reply_stands_below_and_a_question_above(narrow: None):
    talk = Corpus((turn("which kite?", 1), turn("the red one", 2, speaker="Ben"), turn("fine", 3)))
    answer = hit(talk.turns[1])
    answer = replace(answer, index=1)
    assert drawn(answer, around=nearby(talk, [answer], 1, 1)).splitlines()[1:4] == [
        "   Ann: which kite?",
        " > Ben: the red one",
        "   Ann: fine",
    ]


def test_a_long_turn_is_folded_around_the_matched_words(narrow: None):
    said = turn("First of all. " + "So it goes. " * 80 + "Then a kite flew by. " + "And on. " * 80)
    lines = drawn(hit(turn("x"), 1), replace(hit(said, 2, "kite"), index=9)).splitlines()[3:]
    assert len(lines) == 5
    assert lines[1].startswith(" > Ann: … So it goes.")
    assert "Then a kite flew by." in " ".join(line.strip() for line in lines)
    assert lines[-1].endswith("…")
    assert max(map(len, lines)) <= 60


def test_a_line_is_as_wide_as_the_screen_whatever_the_letters(narrow: None):
    said = turn("日本語のテキスト" * 60, title="a very long title of a chat that nobody reads to its end")
    wide = replace(said, path=f"{'deep/' * 30}a.txt")
    assert max(cell_len(line) for line in drawn(hit(wide, 1)).splitlines()) <= 60
    assert "a.txt:1" in drawn(hit(wide, 1))


def test_with_little_room_fewer_blocks_are_shown_and_never_none():
    hits = [replace(hit(turn(f"turn {n}", n), n), index=n * 9) for n in (1, 2, 3)]
    assert [drawn(*hits, room=room).count(" > ") for room in (0, 1, 6, 8, 9)] == [3, 1, 2, 2, 3]


def test_matched_words_are_highlighted_whatever_their_case():
    assert drawn(hit(turn("Kite or kite?"), 1, "kite"), colour=True).count("\x1b[1;33m") == 3


def test_a_weak_answer_names_what_nothing_says():
    absent = tuple(Term(text, "NOUN", 2.0) for text in ("tesla", "buy"))
    assert plain.weakness(result(absent=absent)) == "nothing says 'tesla' or 'buy': these are the nearest"
    assert plain.weakness(result()) == "nothing answers this well: these are the nearest"
    mended = result(absent=(Term("takes", "VERB", 1.0),), terms=(Term("take", "FUZZY", 0.9, source="takes"),))
    assert plain.weakness(mended) == "nothing answers this well: these are the nearest"


def test_one_line_tells_what_was_left_out_of_folders():
    named, foreign = Skipped("a.json", "bad_record", "bad"), Skipped("d/b.json", "unrecognised_json", "odd")
    half = [Skipped("d/c.json", "bad_record", f"line {n}") for n in (1, 2)]
    one = list(show.left_out([named, foreign], ["a.json", "d"]))
    assert one == ["left out: a.json: bad", "left out: d/b.json: odd"]
    assert list(show.left_out([named, foreign, *half], ["a.json", "d"])) == [
        "left out: a.json: bad",
        "1 file and parts of 1 file left out: `smartsearch formats detect PATH` shows them",
    ]


def test_explain_has_a_column_for_the_score_of_any_other_scorer():
    hits = hit(turn("one")), replace(hit(turn("two", 2), 2), scores=Scores(2.0, more={"recency": 0.25}))
    shown = list(explain.lines(result(*hits), Config()))
    at = next(n for n, line in enumerate(shown) if "rank  match" in line)
    columns = [dict(zip(shown[at].split(), line.split())) for line in shown[at + 1 : at + 3]]
    assert [row["recency"] for row in columns] == ["-", "0.2500"]


def test_complaints_are_made_once(capsys: pytest.CaptureFixture[str]):
    answer = replace(result(), skipped=(Skipped("a", "k", "bad"),), warnings=("w\nx",))
    said: set[str] = set()
    show.complain(answer, said=said)
    show.complain(answer, said=said)
    err = capsys.readouterr().err
    assert err == "smartsearch: warning: w\\nx\nsmartsearch: warning: left out: a: bad\n"


def test_a_terminal_is_given_three_lines_of_warnings(capsys: pytest.CaptureFixture[str], monkeypatch):
    answer = replace(result(), warnings=tuple("abcde"))
    show.complain(answer)
    assert capsys.readouterr().err.count("warning: ") == 5
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    show.complain(answer)
    words = [line.split()[1] for line in capsys.readouterr().err.splitlines()]
    assert words == ["warning:", "warning:", "and"]


@pytest.mark.parametrize(
    ("choice", "env", "terminal", "expected"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"TERM": "dumb"}, True, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"CLICOLOR_FORCE": "1"}, False, True),
        ("auto", {"CLICOLOR_FORCE": "0"}, False, False),
        ("auto", {"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, True, False),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"FORCE_COLOR": "0"}, False, False),
        ("auto", {"FORCE_COLOR": "", "CLICOLOR_FORCE": ""}, False, False),
        ("auto", {"CLICOLOR": "0"}, True, False),
        ("auto", {"CLICOLOR": "1"}, False, False),
        ("auto", {"CLICOLOR": "0", "CLICOLOR_FORCE": "1"}, False, True),
        ("always", {"TERM": "dumb", "CLICOLOR": "0"}, True, True),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"CLICOLOR_FORCE": "1"}, True, False),
    ],
)
def test_colour(choice: str, env: dict[str, str], terminal: bool, expected: bool, monkeypatch):
    monkeypatch.setattr(stream.sys.stdout, "isatty", lambda: terminal, raising=False)
    assert stream.coloured(choice, env) is expected
