"""What a shell is told when it asks for completions: commands, options, values; nothing for files."""

import pytest

from smartsearch.cli import app as cli


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]):
    def output() -> str:
        with pytest.raises(SystemExit):
            cli.run([])
        return capsys.readouterr().out

    return output


@pytest.fixture
def complete(told, monkeypatch: pytest.MonkeyPatch):
    def asked(typed: str) -> list[str]:
        words = typed.split()
        monkeypatch.setenv("_SMARTSEARCH_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", typed)
        monkeypatch.setenv("COMP_CWORD", str(len(words) - (not typed.endswith(" "))))
        return told().split()

    return asked


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("smartsearch que", ["query"]),
        ("smartsearch query --trunc", ["--truncate"]),
        ("smartsearch query --truncate ", ["none", "fixed", "adaptive"]),
        ("smartsearch query --profile pap", ["paper", "paper-index-free"]),
        ("smartsearch query --input-format long", ["longmemeval"]),
        ("smartsearch models ver", ["verify"]),
        ("smartsearch query --format json", ["json", "jsonl"]),
        ("smartsearch setup --agent cl", ["claude-code", "claude-hook", "claude-desktop"]),
        ("smartsearch setup --print s", ["skill"]),
        ("smartsearch schema c", ["cache", "config"]),
        ("smartsearch query question chat", []),
        ("smartsearch query question @", ["@codex", "@all"]),
        ("smartsearch query question @co", ["@codex"]),
        ("smartsearch query question @ co", ["@codex"]),
        ("smartsearch mcp @ codex @ a", ["@all"]),
    ],
)
def test_what_is_offered(complete, typed, offered, tmp_path, monkeypatch: pytest.MonkeyPatch):
    """Bash takes an @ for a word of its own: `@ co` is what it says of `@co`."""
    (tmp_path / ".codex" / "sessions").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert complete(typed) == offered


def test_fish_and_zsh_are_told_too(told, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", "smartsearch query --trunc")
    monkeypatch.setenv("_SMARTSEARCH_COMPLETE", "complete_zsh")
    assert "--truncate" in told()
    monkeypatch.setenv("_SMARTSEARCH_COMPLETE", "complete_fish")
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    assert told().startswith("--truncate")
