"""`smartsearch live`, driven by keys on a screen that nobody sees."""

import asyncio
from dataclasses import replace

import pytest

pytest.importorskip("prompt_toolkit")
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from smartsearch.cli import live
from smartsearch.cli.options import FilterOptions
from smartsearch.config import Config
from smartsearch.errors import ExitCode, UsageError
from smartsearch.models import loading
from smartsearch.output import live as drawing
from smartsearch.systems.smartsearch import SmartSearch
from smartsearch.types import Budget, Hit, Result, Scores, Term, Trace, Turn
from tests.cli.fakes import fake_tools
from tests.waiting import HANG

CHAT = """\
[2025-03-01] Ana: the boat needs a new sail
[2025-03-02] Ben: which boat?
[2025-04-05] Ana: ours, the sail is torn
[2025-04-06] Ben: the café opens at nine
"""


class Screen(DummyOutput):
    def get_size(self):
        return Size(rows=20, columns=60)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    own = tmp_path / "chats"
    own.mkdir()
    (own / "chat.txt").write_text(CHAT, encoding="utf-8")
    monkeypatch.chdir(own)
    return own


@pytest.fixture
def session(folder, monkeypatch):
    monkeypatch.setattr(live, "PAUSE", 0.01)
    made = live.Session(FilterOptions(), None, Config(daemon="never", limit=live.MOST))
    ranked = [hit("ranked " + CHAT.splitlines()[2], 2)]
    found = Result("sail", "embedded", tuple(ranked), Budget("none", 0, 0, 0.0, 0.0, 0), Trace(), weak=True)
    monkeypatch.setattr(live.Session, "ranked", lambda self, question: found)
    return made


def hit(text, index, *words):
    terms = tuple(Term(word, "TOKEN", 1.0) for word in words)
    turn = Turn(text, "Ana", "2025-04-05", path="chat.txt", line=index + 1)
    return Hit(1, turn, Scores(1.0), terms, 1, index)


def keyed(session, *steps):
    """What the program returned after each key was typed and its condition, if it has one, came true."""
    with create_pipe_input() as pipe:
        app = live.application(session, input=pipe, output=Screen())

        async def typing():
            running = asyncio.ensure_future(app.run_async())
            for key, condition in steps:
                pipe.send_text(key)
                for _ in range(int(HANG / 0.01)):
                    if running.done() or (condition and condition()):
                        break
                    await asyncio.sleep(0.01)
            if not running.done():
                app.exit(result=-1)
            return await running

        return asyncio.run(typing())


def texts(fragments):
    return "".join(text for _, text in fragments)


def test_each_key_orders_the_turns_by_words_and_static_vectors(session, monkeypatch):
    static = loading._static()
    system = SmartSearch(replace(fake_tools(session.config), static=static))
    monkeypatch.setattr(session, "_opening", lambda: system)
    cut, tokens = [], static._tokens
    monkeypatch.setattr(static, "_tokens", lambda texts: cut.extend(texts) or tokens(texts))
    assert session.matched("sail boat")[0].index == 0
    assert session.matched("caf")[0].turn.text == "the café opens at nine"
    (first, *_) = session.matched("where to drink coffee")  # no word of it stands anywhere
    assert (first.index, first.terms) == (3, ())
    assert session.matched("") == session.matched("?") == []
    assert len(cut) == 4 + 3  # the turns once, each question once


def test_without_static_vectors_the_words_order_them_alone(session):
    session.config = replace(session.config, first="match")
    assert [hit.index for hit in session.matched("the sail boat")] == [0, 2, 1]  # then the newest


def test_after_a_pause_the_ranked_hits_stand_there_and_leaving_prints_the_place(session):
    state = session.state
    left = keyed(session, ("sail", lambda: state.stage == "ranked"), ("\x04", None))
    assert (left.path, left.line) == ("chat.txt", 3)
    foot = texts(drawing.foot(state, 60))
    assert foot == "nothing answers this well: these are the nearest  Esc leave", "a key fits whole or not"
    state.found((), "")
    assert texts(drawing.foot(state, 30)) == "Esc leave · Enter open"


def test_enter_opens_the_chat_at_the_hit(session):
    state = session.state
    keyed(session, ("sail", lambda: state.stage == "ranked"), ("\r", lambda: state.opened))
    assert [turn.text for turn in state.opened][state.asked] == "ours, the sail is torn"
    drawn = texts(drawing.body(state, 60, 20))
    assert "the café opens at nine" in drawn
    assert "chat.txt:3" in drawn
    assert state.close()
    assert not state.close()


def test_control_c_leaves_without_a_place_and_nothing_found_is_an_exit_of_one(session):
    assert keyed(session, ("\x04", None)) == ExitCode.NOTHING
    assert keyed(session, ("sail", lambda: session.state.hits), ("\x03", None)) == ExitCode.INTERRUPTED


def test_filters_are_lines_of_their_own(session):
    state = session.state
    keyed(
        session,
        ("/since 2025-04-01\r", lambda: "since" in state.filters),
        ("/only-speaker Ben\r", lambda: "only_speaker" in state.filters),
    )
    assert state.filters["since"][0].startswith("2025-04-01")
    assert state.filters["only_speaker"] == ("Ben",)
    assert [hit.turn.text for hit in session.matched("boat café")] == ["the café opens at nine"]
    session.command("/clear")
    assert len(session.matched("boat café")) == 3


def test_a_filter_behind_the_question_filters_and_the_question_stays(session, monkeypatch):
    asked, state = [], session.state
    monkeypatch.setattr(
        live.Session, "matched", lambda self, question: asked.append((question, dict(state.filters))) or []
    )
    keyed(
        session,
        ("boat /since 2025-04-01", lambda: asked and asked[-1][0] == "boat"),
        ("\r", lambda: "since" in state.filters and asked[-1][1]),
    )
    assert "since" in dict(asked[-1][1])
    assert asked[-1][0] == "boat"
    assert not any("2025" in question for question, _ in asked)


def test_keys_do_not_go_into_the_question_while_a_chat_is_open(session):
    state = session.state
    keyed(
        session,
        ("sail", lambda: state.stage == "ranked"),
        ("\r", lambda: state.opened),
        ("x", None),
        ("\x1b", lambda: not state.opened),
        ("\r", lambda: state.opened),
    )
    assert state.opened
    assert state.stage == "ranked"


@pytest.mark.parametrize("line", ["/sinz 3", "/since", "/", "/since neverday", "/only-speaker Zed"])
def test_a_wrong_line_is_said_and_changes_nothing(session, line):
    keyed(session, (f"{line}\r", lambda: session.state.message))
    assert session.state.message
    assert not session.state.filters
    assert session.matched("boat")


def test_a_long_turn_is_shown_from_its_match_on_and_what_could_drive_the_terminal_is_spelt_out(session):
    found = hit("x" * 300 + " needle " + "y" * 300, 0, "needle")
    session.state.found([found], "ranked")
    first = texts(drawing.body(session.state, 60, 20)).split("\n")[0]
    assert "needle" in first
    assert len(first) == 60
    assert first.endswith("…")
    session.state.found([hit("\x1b]0;owned\x07 sail", 0, "sail")], "ranked")
    assert "\x1b" not in texts(drawing.body(session.state, 60, 20))


def test_moving_stays_within_the_hits(session):
    state = session.state
    state.found([hit("a", 0), hit("b", 1)], "ranked")
    state.move(-1)
    assert state.chosen == 0
    state.move(10)
    assert state.chosen == 1
    state.found([hit("b", 1), hit("a", 0)], "ranked")
    assert state.chosen == 0  # the chosen turn stays chosen


@pytest.mark.parametrize(
    ("name", "made"),
    [("vi", ["vi", "+3"]), ("emacs -nw", ["emacs", "-nw", "+3"]), ("code --wait", ["code", "--wait", "-g"])],
)
def test_the_editor_opens_at_the_line(session, folder, monkeypatch, name, made):
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", name)
    *first, last = live.editor(hit("x", 2).turn)
    assert first == made
    assert last.startswith(str(folder / "chat.txt"))
    with pytest.raises(UsageError, match="no file"):
        live.editor(Turn("x", path="a.zip/b.txt"))


def test_a_bare_smartsearch_begins_it_only_among_chats(folder):
    assert live.is_here()
    (folder / "chat.txt").write_text("just a note\n\nand another\n")
    assert not live.is_here()
    (folder / "chat.txt").unlink()
    assert not live.is_here()


def test_masked_secrets_stay_masked_and_open_their_chat(session, folder):
    key = "sk-" + "a1B2" * 12
    (folder / "chat.txt").write_text(f"{CHAT}[2025-04-07] Ana: the key is {key}\n", encoding="utf-8")
    session.config = Config(redact=True)
    session.state.found(session.matched("key"), "found")
    session.open()
    assert session.state.hit.turn.text == session.state.opened[-1].text == "the key is [redacted: api key]"
    assert session.chosen.text == f"the key is {key}"
