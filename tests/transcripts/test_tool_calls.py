"""Tool calls: in one line, and what of them runs smartsearch or only names it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from smartsearch.transcripts.formats import own_calls
from smartsearch.transcripts.formats.own_calls import ids, is_own, is_result, runs
from smartsearch.transcripts.formats.tool_calls import caption
from tests.counting import steps
from tests.transcripts.work import growth, working


@pytest.mark.parametrize(
    "command",
    [
        "smartsearch query 'when did Maya move?' chats",
        "cd ~/notes && smartsearch query x",
        "cat chat.txt | smartsearch query x -",
        "/opt/venv/bin/smartsearch index chats",
        "python -m smartsearch query x",
        "PYTHONPATH=. python3.11 -X utf8 -m smartsearch query x",
        "timeout 30 uv run smartsearch query x | head",
        "uvx --from smartsearch-cli smartsearch query x",
        'bash -lc "cd a; smartsearch query x"',
        'FOUND="$(smartsearch query x)"',
        "echo $(smartsearch query x)",
        "if smartsearch query x; then echo found; fi",
        "ls\nsmartsearch query x",
        "smartsearch query \"what's new",
        "C:\\\\tools\\\\smartsearch.exe query x",
    ],
)
def test_a_command_that_runs_it(command: str) -> None:
    assert runs(command)


@pytest.mark.parametrize(
    "command",
    [
        "grep -rn smartsearch README.md",
        "pip install smartsearch-cli",
        "cd smartsearch && ls",
        "git clone https://git.example/smartsearch.git",
        "git commit -m 'docs\n\nsmartsearch reads archives'",
        "python -m pytest tests/smartsearch",
        "bash install.sh smartsearch",
        "vim smartsearch/cli/app.py",
        "mysmartsearch query x",
        "",
    ],
)
def test_a_command_that_only_names_it(command: str) -> None:
    assert not runs(command)


@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        ("mcp__smartsearch__query", None, True),
        ("SmartSearch:query", {}, True),
        ("Bash", {"command": "smartsearch query x"}, True),
        ("shell", {"command": ["bash", "-lc", "smartsearch query x"]}, True),
        ("exec_command", json.dumps({"cmd": "smartsearch query x"}), True),
        ("Write", {"file_path": "a.sh", "content": "smartsearch query x"}, False),
        ("Bash", {"command": "ls smartsearch"}, False),
        ("Bash", None, False),
        ("Bash", "not JSON about smartsearch", False),
        ("Bash", {"command": 7}, False),
    ],
)
def test_a_call_is_its_own_by_the_tools_name_or_the_command(tool: str, given: Any, expected: bool) -> None:
    assert is_own(tool, given) is expected


def test_ids_are_found_in_messages_of_both_interfaces() -> None:
    openai = {"tool_calls": [{"id": "a", "function": {"name": "smartsearch_query", "arguments": "{}"}}]}
    anthropic = {
        "content": [{"type": "tool_use", "id": "b", "name": "Bash", "input": {"command": "smartsearch"}}]
    }
    other = {"tool_calls": [{"id": "c", "function": {"name": "weather"}}, {"function": None}, 5]}
    assert ids([openai, anthropic, other, None]) == {"a", "b"}
    assert is_result({"role": "tool", "tool_call_id": "a"}, {"a"})
    assert is_result({"role": "tool", "name": "smartsearch_query"}, set())
    assert not is_result({"role": "tool", "tool_call_id": "c"}, {"a"})
    assert not is_result({"role": "user", "tool_call_id": "a"}, {"a"})


@pytest.mark.parametrize("piece", ["a=", '"$(', "$(", "bash -c '", ";", "\\", "smartsearch "])
def test_no_command_takes_long(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of twice the length costs twice as much, and what stands behind the part looked at nothing."""
    with working() as work:
        costs = [work(runs, f"echo smartsearch {piece * (n // len(piece))}") for n in (400, 800, 1_600)]
    assert not growth(costs)
    monkeypatch.setattr(own_calls, "_LOOKED_AT", 400)
    assert len({steps(runs, f"echo smartsearch {piece * n}") for n in (400, 4_000)}) == 1


@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        ("Bash", {"description": "State", "command": "git status"}, "[Bash: git status]"),
        ("Edit", {"old_string": "a", "file_path": "/b.py"}, "[Edit: /b.py]"),
        ("Grep", {"path": "/src", "pattern": "unit"}, "[Grep: unit]"),
        ("shell", {"command": ["bash", "-lc", "ls  -l\n"]}, "[shell: ls -l]"),
        ("shell", {"command": ["tail", "-1", "kiln.log"]}, "[shell: tail -1 kiln.log]"),
        ("ask", {"questions": [{"options": ["a"], "question": "Which one?"}]}, "[ask: Which one?]"),
        ("web.run", {"search_query": [{"q": "tide table"}]}, "[web.run: tide table]"),
        ("wait", {"seconds": 5}, "[wait: 5]"),
        ("wait", {"flag": True, "list": [], "none": None}, "[wait]"),
        ("apply_patch", "*** Begin Patch\n+a", "[apply_patch: *** Begin Patch +a]"),
        ("", None, "[tool]"),
    ],
)
def test_the_most_telling_argument_is_shown(tool: str, given: Any, expected: str) -> None:
    assert caption(tool, given) == expected


def test_arguments_nested_without_end_are_survived() -> None:
    deep: Any = "x"
    for _ in range(5000):
        deep = [deep]
    assert caption("t", deep) == "[t]"
