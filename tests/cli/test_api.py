"""The Python API gives what the command gives."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest

from smartsearch import Result, Searcher, search
from smartsearch.ask import api
from smartsearch.errors import ConfigError, InputError, SmartsearchError, UsageError
from smartsearch.models import loading
from tests.cli.conftest import QUESTION, Run
from tests.cli.fakes import fake_tools
from tests.contract import hold


@pytest.fixture(autouse=True)
def fresh():
    """No system of another test stays loaded."""
    api._system.cache_clear()


def untimed(record: dict) -> dict:
    return {key: value for key, value in record.items() if key != "timing_ms"}


@pytest.mark.parametrize("options", [{}, {"since": "2024-05-09"}, {"only_speaker": "Mara", "candidates": 5}])
def test_a_result_is_the_commands(run: Run, options: dict[str, object]):
    typed = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    record = run("query", QUESTION, "chat.txt", "-n", "3", "--json", *typed).record
    found = search(QUESTION, "chat.txt", limit=3, **options)
    hold(found.json(), "query")
    assert (len(found), list(found), bool(found)) == (len(found.hits), list(found.hits), True)
    assert not search("dog", "chat.txt", since="2030")
    assert untimed(found.json()) == untimed(record)
    lines = [line for line in repr(found).splitlines() if not line.startswith("# ")]
    assert lines == run("query", QUESTION, "chat.txt", "-n", "3", *typed).out.splitlines()
    context = run("query", QUESTION, "chat.txt", "-n", "3", "--format", "context", *typed).out
    assert f"{found.context()}\n" == context


def test_a_batch_is_the_commands(run: Run, tmp_path: Path):
    questions = [
        {"id": "a", "question": QUESTION},
        {"id": "b", "question": "dog", "paths": ["talk.json"]},
        {"id": "c", "question": "dog", "only_speaker": "Nobody"},
        {"id": "c", "question": "again"},
        {"question": "no id"},
    ]
    file = tmp_path / "q.jsonl"
    file.write_text("\n".join(map(json.dumps, questions)))
    ran = run("batch", str(file), "chat.txt", "--since", "2024-05")
    came = list(Searcher("chat.txt", since="2024-05").batch(questions))
    assert list(map(untimed, came)) == [untimed(json.loads(line)) for line in ran.out.splitlines()]
    assert [record["id"] for record in Searcher("chat.txt").batch(["dog", "cat"])] == [1, 2]
    came = list(Searcher("chat.txt").batch([None, {"id": 1, "question": "dog", "paths": [Path("chat.txt")]}]))
    assert [record.get("error", {}).get("kind") for record in came] == ["input", None]


def test_the_models_stay_and_the_transcripts_are_read_once(monkeypatch):
    loads: list[object] = []
    monkeypatch.setattr(loading, "load_tools", lambda config: loads.append(config) or fake_tools(config))
    searcher = Searcher(["chat.txt", Path("talk.json")])
    assert len(searcher.search(QUESTION, limit=1).hits) == 1
    Path("chat.txt").unlink()
    assert searcher.search(QUESTION, since=date(2024, 5, 9)).hits[0].turn.time >= "2024-05-09"
    assert search(QUESTION, "talk.json").hits
    assert len(loads) == 1


def test_a_notebook_shows_a_table_that_runs_nothing():
    found = search("kiln", turns=[{"speaker": "<b>Ann", "text": "the <script>kiln</script> cracked"}])
    page = found._repr_html_()
    assert [part in page for part in ("<table>", "&lt;script&gt;", "&lt;b&gt;Ann")] == [True] * 3
    assert "<script" not in page
    assert "nothing found" in Result(**(vars(found) | {"hits": ()}))._repr_html_()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"sinse": "x"}, UsageError),
        ({"candidates": "many"}, ConfigError),
        ({"since": "whenever"}, UsageError),
        ({"llm": True, "system": "xmemory"}, UsageError),
        ({"paths": ["nowhere"]}, InputError),
        ({"only_speaker": "Nobody"}, InputError),
        ({"turns": ["a line"]}, InputError),
        ({"limit": -1}, ConfigError),
        ({"paths": []}, UsageError),
        ({"since": 2024}, UsageError),
        ({"since": ["2024", "2025"]}, UsageError),
        ({"glob": 3}, UsageError),
        ({"fields": "speaker=by", "head": "NAME: TEXT"}, UsageError),
    ],
)
def test_what_is_wrong_is_told(options: dict, error: type[SmartsearchError]):
    with pytest.raises(error) as caught:
        search("x", **options)
    assert caught.value.hint


def test_a_question_takes_filters_of_which_one_needs_no_list_and_no_settings():
    assert {hit.turn.path for hit in search("support group", glob="*.txt")} == {"chat.txt"}
    assert {hit.turn.path for hit in search("support group", exclude="*.txt")} == {"talk.json"}
    narrowed = Searcher().search("support group", paths=Path("talk.json"), role="user")
    assert {(hit.turn.path, hit.turn.speaker) for hit in narrowed} == {("talk.json", "user")}
    with pytest.raises(UsageError, match="empty"):
        Searcher().search("support group", paths=[])
    with pytest.raises(UsageError, match="fast"):
        Searcher().search("support group", fast=True)


def test_turns_are_read_as_the_reader_of_json_reads_them_whatever_the_first_ones_hold():
    turns = [{"role": "user", "content": "the kiln cracked"}, {"speaker": "Bo", "text": "when?"}]
    hit = search("What cracked in the kiln?", turns=turns).hits[0]
    assert (hit.turn.pointer, hit.turn.text) == ("/0", "the kiln cracked")
    turns = [{"speaker": "Ann", "text": None}, {"text": "the kiln cracked"}, {"by": "Bo", "text": "when?"}]
    assert {hit.turn.text for hit in search("the kiln?", turns=turns)} == {"the kiln cracked", "when?"}
    (hit,) = search("kiln", turns=[{"by": "Bo", "line": "the kiln"}], fields="speaker=by,text=line")
    assert (hit.turn.speaker, hit.turn.text) == ("Bo", "the kiln")


def test_a_time_limit_in_another_thread_is_told():
    with ThreadPoolExecutor(1) as pool, pytest.raises(UsageError, match="main thread"):
        pool.submit(search, "dog", "chat.txt", timeout=60).result()


def test_the_command_does_without_it():
    code = "import sys, smartsearch.__main__; sys.exit('smartsearch.ask.api' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
