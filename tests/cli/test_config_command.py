"""`smartsearch config`: every setting with where its value came from."""

from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.fixture
def user_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    path = tmp_path / "config" / "smartsearch" / "config.toml"
    path.parent.mkdir(parents=True)
    return path


def shown(run: Run, *more: str) -> dict[str, tuple[object, str]]:
    rows = run("config", "show", "--json", *more).record["settings"]
    return {row["name"]: (row["value"], row["origin"]) for row in rows}


def test_the_nearest_source_wins_and_is_named(run: Run, chats: Path, user_file: Path, monkeypatch):
    user_file.write_text("alpha = 0.1\nhops = 2\nbudget = 500\n")
    project = chats / ".smartsearch.toml"
    project.write_text("hops = 1\nbudget = 600\n")
    monkeypatch.setenv("SMARTSEARCH_BUDGET", "700")
    found = shown(run)
    assert found["alpha"] == (0.1, str(user_file))
    assert found["hops"] == (1, str(project))
    assert found["budget"] == (700, "SMARTSEARCH_BUDGET")
    assert found["mode"] == ("or", "default")
    assert set(shown(run, "--changed")) == {"alpha", "hops", "budget"}
    assert set(shown(run, "mode", "hops")) == {"mode", "hops"}
    assert run("config", "path").out == f"{user_file}\n"


def test_the_table_tells_the_default_of_what_was_changed(run: Run, monkeypatch):
    monkeypatch.setenv("SMARTSEARCH_ALPHA", "0.2")
    monkeypatch.setenv("SMARTSEARCH_PRF", "off")
    assert run("config", "show", "--changed").out.splitlines() == [
        "name   value  origin",
        "prf    false  SMARTSEARCH_PRF (default true)",
        "alpha  0.2    SMARTSEARCH_ALPHA (default 0.01)",
    ]
    assert run("config", "show", "rank", "parser").out.splitlines() == [
        "name    value       origin",
        "parser  -           default",
        "rank    ce,colbert  default",
    ]


def test_a_variable_that_sets_nothing_is_named_with_the_nearest(run: Run, monkeypatch):
    monkeypatch.setenv("SMARTSEARCH_ALPAH", "0.2")
    monkeypatch.setenv("SMARTSEARCH_LLM_MODEL", "m")
    ran = run("config", "show")
    assert "SMARTSEARCH_ALPAH sets nothing; did you mean SMARTSEARCH_ALPHA?" in ran.err
    assert "LLM_MODEL" not in ran.err


def test_an_unknown_name_is_an_error_and_a_forbidden_key_a_warning(run: Run, chats: Path):
    ran = run("config", "show", "alpa")
    assert (ran.code, "did you mean alpha" in ran.err) == (2, True)
    (chats / ".smartsearch.toml").write_text('crossencoder = "/tmp/evil"\n')
    ran = run("config", "show", "--changed")
    assert (ran.code, "may not set 'crossencoder'" in ran.err, "evil" in ran.out) == (0, True, False)
