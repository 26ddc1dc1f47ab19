"""Chats by a name: where programs keep them, and the user's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from smartsearch.ask.batch import Question
from smartsearch.ask.scope import Written
from smartsearch.config import Config, build, chats
from smartsearch.errors import ConfigError, InputError
from smartsearch.transcripts import named
from smartsearch.transcripts.named import resolved
from tests.transcripts.build import put


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    """A home with sessions of Codex, of Gemini CLI in two projects, and two folders of the user's own."""
    for folder in (".codex/sessions", ".gemini/tmp/b/chats", ".gemini/tmp/a/chats", "Chats/family", "old"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path


def settings(home: Path, text: str) -> None:
    put(home / ".config/smartsearch", "config.toml", text)


def test_a_name_stands_for_its_folders(home):
    settings(home, 'hops = 2\n\n[chats]\nfamily = ["~/Chats/family", "/nowhere"]\nold = "~/old"\n')
    assert resolved(["x", "@codex", "-"]) == ("x", f"{home}/.codex/sessions", "-")
    assert resolved(["@gemini-cli"]) == (f"{home}/.gemini/tmp/a/chats", f"{home}/.gemini/tmp/b/chats")
    assert resolved(["@family"]) == (f"{home}/Chats/family", "/nowhere")  # reading says that it is missing
    assert len(resolved(["@all"])) == 5
    assert "/nowhere" not in resolved(["@all"])
    assert resolved(["./@codex", "a@codex"]) == ("./@codex", "a@codex")
    assert build(env={}).hops == 2
    settings(home, '[chats]\ncodex = "~/old"\n')
    assert resolved(["@codex"]) == (f"{home}/old",), "the user's own comes before a known one"


def test_agents_in_editors_are_found_where_each_system_has_their_settings(home):
    places = (
        ".config/Cursor/User/globalStorage/state.vscdb",
        "Library/Application Support/Code/User/workspaceStorage/w1/chatSessions/s.json",
        ".cursor/projects/p/agent-transcripts/a/a.jsonl",
        "AppData/Roaming/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks/1/ui_messages.json",
        ".qwen/projects/p/chats/c.jsonl",
    )
    for place in places:
        put(home, place, "x")
    assert resolved(["@cursor"]) == (f"{home}/{places[2]}"[: -len("/a/a.jsonl")], f"{home}/{places[0]}")
    assert resolved(["@copilot"]) == (f"{home}/{places[1]}".removesuffix("/s.json"),)
    assert resolved(["@cline"])[0].endswith("roo-cline/tasks")
    assert resolved(["@qwen"]) == (f"{home}/.qwen/projects/p/chats",)
    assert len(resolved(["@all"])) == 8


def test_queries_and_lines_of_a_batch_take_names(home):
    scope = Written().scope(["@codex"], Config())
    assert scope.paths == (f"{home}/.codex/sessions",)
    line = Question("q1", 1, "who?", ("@gemini-cli",), {})
    assert len(Written().own(line, scope, Config())[0].paths) == 2


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("@codx", "unknown_chats", "did you mean @codex?"),
        ("@zzz", "unknown_chats", 'family = "~/Chats/family"; a path that begins with @ is ./@zzz'),
        ("@", "unknown_chats", "@claude-code, @codex, "),
        ("@claude-code", "path_not_found", "~/.claude/projects"),
        ("@gone", "path_not_found", "~/gone"),
    ],
)
def test_a_name_that_leads_nowhere_is_told(home, name, kind, said):
    settings(home, '[chats]\ngone = "~/gone"\n')
    with pytest.raises(InputError) as caught:
        resolved([name])
    assert caught.value.kind == kind
    assert said in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize(
    "text",
    [
        *('chats = "x"', "[chats]\na = 1", "[chats]\na = []", '[chats]\na = "Chats"'),
        *('[chats]\nall = "~/x"', '[chats]\n"a b" = "~/x"', '[chats]\na = ["~/x", 2]'),
    ],
)
def test_names_that_make_no_sense_are_refused(home, text):
    settings(home, text)
    with pytest.raises(ConfigError, match=r"config\.toml"):
        chats()
    assert build(env={})  # a question that asks for none of them goes on


def test_a_projects_file_may_not_name_chats(home):
    put(home / "project", ".smartsearch.toml", '[chats]\nfamily = "~/.ssh"\n')
    (said,) = build(env={}, folder=home / "project").notes
    assert "may not set 'chats'" in said
    assert chats() == {}


def test_without_a_home_nothing_is_there(monkeypatch):
    monkeypatch.setattr(named, "user_home", lambda: Path("/dev/null"))
    assert not any(one.there for one in named.every())
