"""Links: which terminals have them, what they point to, and that no name or template can break out of one."""

import zipfile
from pathlib import Path

import pytest

from smartsearch.output import links, stream

XTERM = {"TERM": "xterm-256color"}


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, False),
        (XTERM, False),
        ({**XTERM, "TERM_PROGRAM": "iTerm.app"}, True),
        ({**XTERM, "TERM_PROGRAM": "vscode"}, True),
        ({**XTERM, "TERM_PROGRAM": "WezTerm"}, True),
        ({**XTERM, "TERM_PROGRAM": "Apple_Terminal"}, False),
        ({**XTERM, "VTE_VERSION": "7006"}, True),
        ({**XTERM, "VTE_VERSION": "5000"}, False),
        ({**XTERM, "VTE_VERSION": "x"}, False),
        ({**XTERM, "WT_SESSION": "a-b"}, True),
        ({**XTERM, "KONSOLE_VERSION": "220401"}, True),
        ({**XTERM, "KONSOLE_VERSION": "190401"}, False),
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM": "foot-extra"}, True),
        ({"TERM": "linux", "WT_SESSION": "x"}, False),
        ({"TERM": "dumb", "TERM_PROGRAM": "vscode"}, False),
        ({"TERM": "dumb", "FORCE_HYPERLINK": "1"}, True),
        ({"TERM": "xterm-kitty", "FORCE_HYPERLINK": "0"}, False),
        ({"TERM": "xterm-kitty", "FORCE_HYPERLINK": ""}, True),
        ({"TERM": "screen", "STY": "1.x", "VTE_VERSION": "7006"}, False),
        ({"TERM": "tmux-256color", "TMUX": "/tmp/x", "VTE_VERSION": "7006"}, False),
        ({"TERM": "tmux", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "3.3a"}, False),
        ({"TERM": "tmux", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "3.4"}, True),
        ({"TERM": "tmux", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "next-3.6"}, True),
    ],
)
def test_terminals_with_links(env: dict[str, str], expected: bool):
    assert links.supported(env) is expected


@pytest.mark.parametrize(
    ("choice", "terminal", "expected"),
    [("auto", True, True), ("auto", False, False), ("always", False, True), ("never", True, False)],
)
def test_a_pipe_has_links_only_if_it_must(choice: str, terminal: bool, expected: bool, monkeypatch):
    monkeypatch.setattr(stream.sys.stdout, "isatty", lambda: terminal, raising=False)
    assert stream.linked(choice, {"TERM": "xterm-kitty", "FORCE_HYPERLINK": "1"}) is expected


def test_a_file_is_named_whole_with_its_host(monkeypatch):
    monkeypatch.setattr(links, "_host", lambda: "desk")
    assert links.url("/chats/a b.txt", 3) == "file://desk/chats/a%20b.txt"
    assert links.url("/chats/ä#?;%.txt", 3) == "file://desk/chats/%C3%A4%23%3F%3B%25.txt"
    assert links.url("-", 3) == ""


@pytest.mark.parametrize(
    ("template", "line", "made"),
    [
        ("vscode://file{path}:{line}", 12, "vscode://file/c/a.txt:12"),
        ("vscode://file{path}:{line}", 0, "vscode://file/c/a.txt:1"),
        ("txmt://open?url=file://{path}&line={line}", 3, "txmt://open?url=file:///c/a.txt&line=3"),
        ("x://{path}\x1b]0;t\x07 {other}", 1, "x:///c/a.txt%1B]0;t%07%20{other}"),
    ],
)
def test_an_editor_opens_it_at_the_line(template: str, line: int, made: str):
    assert links.url("/c/a.txt", line, template) == made


def test_a_file_in_an_archive_is_the_archive(tmp_path: Path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("chat.txt", "Ann: hi")
    monkeypatch.setattr(links, "_host", lambda: "")
    assert links.url(f"{tmp_path}/export.zip/chat.txt", 1) == f"file://{tmp_path}/export.zip"
