"""The command line in process: exit codes, streams, formats, errors; golden files pin what is printed.

`SMARTSEARCH_UPDATE_GOLDEN=1 pytest tests/cli` writes the golden files anew.
"""

import io
import json
import re
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from smartsearch.ask.door import Door
from smartsearch.cli.options import PANELS
from smartsearch.config import Config
from smartsearch.models import loading
from smartsearch.types import Term
from tests.cli.conftest import QUESTION, Ran, Run, check_golden
from tests.cli.fakes import fake_tools
from tests.output.samples import Outline
from tests.waiting import HANG


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("query.txt", []),
        ("query-context-turns.txt", ["-C1", "-n1"]),
        ("query-explain.txt", ["--explain", "-n2"]),
        ("query-explain-cut.txt", ["--explain", "-n2", "--alpha", "0.5", "--top-k", "5"]),
        ("query.json", ["--json"]),
        ("query-context-explain.json", ["--json", "-A1", "-B2", "-n1", "--explain", "--alpha", "0.5"]),
        ("query.jsonl", ["--format", "jsonl", "-n2"]),
        ("query.md", ["--format", "md", "-A1"]),
        ("query.context", ["--format", "context", "-n2", "-B1"]),
        ("query-files.txt", ["-l"]),
    ],
)
def test_output(run: Run, name: str, options: list[str]):
    ran = run("query", QUESTION, *options)
    assert ran.code == 0
    check_golden(name, ran.out)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("error-path.json", ["query", "x", "nowhere", "--json"]),
        ("error-usage.json", ["query", "x", "--candidates", "0", "--format=json"]),
        ("error-conversation.json", ["query", "x", "--conversation", "chart", "--format", "jsonl"]),
    ],
)
def test_errors_are_json_where_json_was_asked_for(run: Run, name: str, arguments: list[str]):
    ran = run(*arguments)
    assert ran.code == 2
    check_golden(name, ran.out)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["query", "x", "nowhere"], "nowhere"),
        (["query", "x", "--set", "hops=many"], "--set hops"),
        (["query"], "QUESTION"),
        (["query", ""], "QUESTION is missing"),
        (["query", "x", "--json", "--format", "md"], None),
        (["query", "x", "-l", "--format", "md"], "-l"),
        (["query", "x", "--candidates", "0"], "--candidates"),
        (["query", "x", "--rank", ""], "rank is ''"),
        (["query", "x", "--rank", "ce,none"], "rank is 'ce,none'"),
        (["query", "x", "--truncate", "some"], "--truncate"),
        (["query", "x", "--as", "best"], "--as"),
        (["query", "x", "--conversation", "chart"], "closest are chat"),
        (["query", "x", "--input-format", "fax"], "fax"),
        (["query", "x", "--fields", "who=sender"], "'who' is no field"),
        (["query", "x", "--fields", "text=a", "--input-format", "slack"], "slack has its own"),
        (["query", "x", "--nonsense"], "--nonsense"),
        (["quarry"], "quarry"),
        (["batch", "nowhere.jsonl", "--out", "o"], "nowhere.jsonl"),
        (["batch", "-", "-", "--out", "o"], "-"),
    ],
)
def test_errors_are_words_on_standard_error_and_exit_2(run: Run, arguments: list[str], said: str | None):
    ran = run(*arguments)
    assert ran.code == 2
    if said is not None:
        assert ran.out == ""
        assert ran.err.startswith("smartsearch: ")
        assert said in ran.err
        assert "Traceback" not in ran.err


def test_nothing_found_is_exit_1_and_still_json_and_a_page(run: Run):
    assert run("query", QUESTION, "--strict").code == 0
    assert run("query", "zebra", "--semantic", "off") == Ran(1, "", "")
    ran = run("query", "zebra", "--semantic", "off", "--json")
    assert (ran.code, ran.record["hits"], ran.record["candidates"]) == (1, [], 0)
    page = run("query", "zebra", "--semantic", "off", "--format", "html")
    assert (page.code, page.err, "Nothing was found" in page.out) == (1, "", True)


def test_a_page_shows_each_hit_among_its_neighbours_unless_told_otherwise(run: Run):
    ran = run("query", QUESTION, "--format", "html", "-n1")
    outline = Outline(ran.out)
    assert (ran.code, ran.err, outline.faults) == (0, "", [])
    assert "I went to the support group yesterday." in outline.text
    assert outline.count("p", class_="near") == 1  # the first turn has one after it, none before
    for more, near in (("-C0", 0), ("-A3", 3)):
        page = Outline(run("query", QUESTION, "--format", "html", "-n1", more).out)
        assert page.count("p", class_="near") == near
    pages = (ran.out, run("query", QUESTION, "--format", "html", "-n1", "--explain").out)
    assert len({re.sub(r"[\d.]+", "", page) for page in pages}) == 1, "--explain adds nothing"


def test_a_fast_query_tells_which_words_met_and_none_of_a_secret(run: Run, chats: Path, monkeypatch):
    said = "Mara: I play the accordion, password: violin7-Cello!\n"
    (chats / "chat.txt").write_text(said, encoding="utf-8")
    static = loading._static()
    monkeypatch.setattr(loading, "load_tools", lambda config: replace(fake_tools(config), static=static))
    asked = ["query", "which instrument", "chat.txt", "--fast"]
    ran = run(*asked, "--json", "--explain", "--redact")
    (hit,) = ran.record["hits"]
    assert (ran.code, ran.record["confidence"], hit["scores"]["ce"]) == (0, None, None)
    assert ("violin" in hit["text"], "static" in hit["scores"]) == (False, True)
    (met,) = hit["met"]
    assert (met["asked"], met["said"], list(met)[2:]) == ("instrument", "accordion", ["cosine"])
    assert "#   1  instrument ~ violin7 ." in run(*asked, "--explain").out
    assert "met" not in run(*asked, "--json").record["hits"][0]


def test_what_is_given_for_one_side_wins_over_both(run: Run):
    both = run("query", QUESTION, "-n1", "-C2", "-A0", "--json").record["hits"][0]
    assert both["context"]["after"] == []
    assert "context" not in run("query", QUESTION, "-n1", "-C0", "--json").record["hits"][0]


@pytest.fixture
def weak(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(*arguments: object):
        one = whole(*arguments)
        trace = replace(one.result.trace, absent=(Term("tesla", "NOUN", 2.0),))
        return replace(one, result=replace(one.result, weak=True, confidence=0.1, trace=trace))

    whole = Door.find
    monkeypatch.setattr(Door, "find", found)


def test_a_weak_answer_is_told_and_a_script_can_tell_it(run: Run, weak: None):
    whole = run("query", QUESTION, "--json")
    assert (whole.code, whole.record["weak"], whole.record["confidence"]) == (0, True, 0.1)
    assert whole.record["absent"] == ["tesla"]
    said = "smartsearch: warning: nothing says 'tesla': these are the nearest\n"
    for form, told in (("text", said), ("context", said), ("md", said), ("json", "")):
        ran = run("query", QUESTION, "--format", form, "--strict")
        assert (ran.code, bool(ran.out), ran.err) == (1, True, told)
    assert run("query", QUESTION, "--format", "context").out.startswith("# nothing says 'tesla': these")
    assert run("query", QUESTION, "-q").err == ""
    assert run("query", QUESTION, "-l").out
    assert run("query", QUESTION, "-l", "--strict") == Ran(1, "", said)
    page = Outline(run("query", QUESTION, "--format", "html").out)
    assert "nothing says 'tesla'" in page.text


@pytest.fixture
def many(chats: Path) -> None:
    (chats / "more.txt").write_text("".join(f"Ann: support group {n}\n" for n in range(40)))


@pytest.mark.parametrize(("form", "most"), [("text", 10), ("md", 10), ("json", 20), ("jsonl", 20)])
def test_a_pipe_gets_a_few_hits_unless_told_otherwise(run: Run, many: None, form: str, most: int):
    def hits(*options: str) -> int:
        ran = run("query", QUESTION, "--format", form, *options)
        assert (ran.code, ran.err) == (0, "")
        if form == "json":
            assert len(ran.record["hits"]) + ran.record["hidden"] == everything
            return len(ran.record["hits"])
        return sum(line[:1].isdecimal() if form == "md" else bool(line) for line in ran.out.splitlines())

    everything = len(run("query", QUESTION, "--json", "-n0").record["hits"])
    assert everything > 40
    assert (hits(), hits("-n0"), hits("-n3")) == (most, everything, 3)


def test_what_a_pipe_leaves_out_is_counted_for_a_person_alone(run: Run, many: None, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    everything = len(run("query", QUESTION, "--format", "context", "-n0").out.splitlines())
    ran = run("query", QUESTION)
    assert re.search(r"smartsearch: \d+ more: -n 0 shows all\n$", ran.err)
    for options in (["--json"], ["-q"], ["-n0"]):
        assert "more" not in run("query", QUESTION, *options).err
    assert len(run("query", QUESTION, "--format", "context").out.splitlines()) == everything
    assert sorted(run("query", QUESTION, "-l").out.split()) == ["chat.txt", "more.txt", "talk.json"]


def test_who_says_what_the_filters_leave_out_is_named(run: Run):
    ran = run("query", "the dog Oscar", "--only-speaker", "user")
    assert "2 turns say 'Oscar' (Ilya, Mara), left out by --only-speaker" in ran.err


def test_a_terminal_gets_the_best_five_and_show_opens_them(run: Run, chats: Path, monkeypatch):
    names = ("Ann", "Ben", "Cleo", "Dan", "Eva", "Fi", "Gus")
    said = "".join(f"{name}: the support group of {name}\n" for name in names)
    (chats / "chat.txt").write_text(said.replace(":", ": hm\nLou: well\nPat: then\nZoe:"), encoding="utf-8")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("LINES", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    shown = [run("query", "support group", "chat.txt", *more).out for more in ([], ["-n0"], ["-n2"])]
    assert [len(re.findall(r"(?m)^ ?\d+  ", text)) for text in shown] == [5, 7, 2]
    assert "2 more: -n 0 shows all" in shown[0]
    ran = run("show", "2", "-C0", "--json")
    assert ran.err == "smartsearch: hit 2 of 'support group'\n"
    opened = ran.record["places"][0]["excerpts"][0]["turns"][0]
    place = f"{opened['path']}:{opened['line']}"
    assert re.search(rf"(?m)^2  {place}$", shown[2])
    monkeypatch.chdir("/")
    moved = run("show", "2", "-C0", "--json", "-q")
    assert (moved.code, moved.err) == (0, "")
    assert moved.record["places"][0]["excerpts"][0]["turns"][0]["text"] == opened["text"]


def test_an_environment_that_says_how_many_is_heard(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("SMARTSEARCH_LIMIT", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    assert len(re.findall(r"(?m)^\d+  ", run("query", QUESTION).out)) == 1


def test_standard_input_is_read_only_when_asked_for_and_a_person_is_told_that_it_waits(run: Run, monkeypatch):
    piped = io.TextIOWrapper(io.BytesIO(b"Zoe: the support group is on Friday\nMax: thanks\n"))
    monkeypatch.setattr("sys.stdin", piped)
    assert "Zoe" not in run("query", QUESTION).out
    monkeypatch.setattr(piped, "isatty", lambda: True, raising=False)
    ran = run("query", QUESTION, "-")
    assert (ran.out.startswith("-:1:Zoe: the support"), "Ctrl-D" in ran.err) == (True, True)


def test_warnings_and_skipped_files_are_told_on_standard_error_and_in_json(run: Run, chats: Path):
    (chats / "broken.json").write_text("[{", encoding="utf-8")
    ran = run("query", QUESTION, "--json")
    assert ran.code == 0
    assert [s["path"] for s in ran.record["skipped"]] == ["broken.json"]
    assert "smartsearch: warning: left out: broken.json: " in ran.err


def test_a_folder_of_foreign_files_costs_a_line(run: Run, chats: Path):
    for n in range(3):
        (chats / f"foreign{n}.json").write_text(json.dumps({"k" * 40: 1, "l" * 40: n}), encoding="utf-8")
        (chats / f"notes{n}.md").write_text("Nothing but prose here.\n", encoding="utf-8")
    ran = run("query", QUESTION, ".", "foreign2.json", "--json")
    assert len(ran.record["skipped"]) == 3
    prose, named, others = ran.err.splitlines()
    assert "notes0.md and 2 more: no chat format recognised, read as prose, a paragraph a turn" in prose
    assert "left out: foreign2.json: JSON of no known chat format: an object with k" in named
    assert len(named) < 150
    assert others.endswith("2 files left out: `smartsearch formats detect PATH` shows them")
    assert run("query", QUESTION, ".", "-q").err == ""
    assert "no such file" in run("query", QUESTION, "nowhere", "-q").err


def test_options_reach_the_config_and_presets_yield_to_them(run: Run, monkeypatch: pytest.MonkeyPatch):
    seen: list[Config] = []
    monkeypatch.setattr(loading, "load_tools", lambda config: seen.append(config) or fake_tools(config))
    given = "--as paper-locomo --budget 50 --set prf=off --fuzzy --rank colbert,ce --candidates 7"
    run("query", QUESTION, *given.split(), "--order", "time", "--threads", "1")
    config = seen[0]
    assert (config.truncate, config.budget, config.prf, config.fuzzy) == ("fixed", 50, False, True)
    assert (config.rank, config.candidates) == (("colbert", "ce"), 7)
    assert (config.order, config.cores) == ("time", 1)


def test_as_paper_is_method_and_models_and_a_profile_goes_over_it(run: Run, monkeypatch: pytest.MonkeyPatch):
    seen: list[Config] = []
    monkeypatch.setattr(loading, "load_tools", lambda config: seen.append(config) or fake_tools(config))
    monkeypatch.setenv("SMARTSEARCH_POOL", "9")
    saids = ("--as paper", "--as paper --profile embedded", "--profile paper")
    found = [run("query", QUESTION, *said.split()).out for said in saids]
    assert [(config.profile, config.pool) for config in seen] == [("paper", 0), ("embedded", 0), ("paper", 9)]
    monkeypatch.setenv("SMARTSEARCH_LIMIT", "1")
    again = [run("query", QUESTION, *said.split()).out for said in saids]
    assert again[:2] == found[:2]
    assert again[2].count("\n") == 1 < found[2].count("\n")


@pytest.mark.parametrize(
    ("said", "hint"),
    [("hopz=1", "did you mean hops?"), ("hops", "did you mean hops?"), ("hops=many", "mend the value")],
)
def test_a_setting_that_makes_no_sense_is_told(run: Run, said: str, hint: str):
    ran = run("query", QUESTION, "--set", said)
    assert (ran.code, ran.err.startswith("smartsearch: --set hop"), hint in ran.err) == (2, True, True)


def test_any_setting_can_be_set_and_an_option_of_its_own_is_the_same(run: Run):
    hops = [step["kind"] for step in run("query", QUESTION, "--json", "--set", "hops=1").record["hops"]]
    assert "entity" not in hops
    ways = (["--budget", "20"], ["--set", "budget=20"])
    same = [run("query", QUESTION, "--json", *how).record for how in ways]
    assert same[0]["hits"] == same[1]["hits"]
    assert len(run("query", QUESTION, "--json", "--set", "limit=1").record["hits"]) == 1


def test_a_hybrid_of_the_paper_is_told(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(loading, "load_tools", fake_tools)
    (told,) = run("query", QUESTION, "--json", "--profile", "paper").record["warnings"]
    assert "typed" in told
    assert "--as paper" in told
    (told,) = run("query", QUESTION, "--json", "--as", "paper", "--top-k", "9").record["warnings"]
    assert "top_k differ" in told
    for clean in (["--as", "paper"], ["--as", "paper", "--profile", "embedded"], []):
        assert run("query", QUESTION, "--json", *clean).record["warnings"] == []


def test_a_question_that_takes_too_long_is_a_timeout(run: Run, monkeypatch: pytest.MonkeyPatch):
    loaded, end = [], threading.Event()

    def slow(config: Config):
        loaded.append(end.wait(HANG))

    monkeypatch.setattr(loading, "load_tools", slow)
    ran = run("query", QUESTION, "--timeout", "0.2", "--json")
    assert not loaded, "it waited for what is slow"
    end.set()
    assert (ran.code, ran.record["error"]["kind"], ran.record["error"]["retryable"]) == (2, "timeout", True)


def test_a_bug_is_an_internal_error_and_its_traceback_on_request(run: Run, monkeypatch: pytest.MonkeyPatch):
    def bug(config: Config):
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(loading, "load_tools", bug)
    ran = run("query", QUESTION, "--json")
    assert (ran.code, ran.record["error"]["kind"], ran.err) == (2, "internal", "")
    monkeypatch.setenv("SMARTSEARCH_DEBUG", "1")
    assert "Traceback" in run("query", QUESTION, "--json").err


def test_ctrl_c_is_130(run: Run, monkeypatch: pytest.MonkeyPatch):
    def interrupted(*arguments: object):
        raise KeyboardInterrupt

    monkeypatch.setattr(Door, "find", interrupted)
    assert run("query", QUESTION).code == 130


@pytest.mark.parametrize("line", ["--help", "-h", "", "query -h", "batch --help", "models", "models pull -h"])
def test_help(run: Run, line: str):
    ran = run(*line.split())
    assert ran.code == 0
    assert "Usage: smartsearch" in ran.out
    assert re.fullmatch(r"smartsearch \d+\.\d+\.\d+\n", run("--version").out)


def test_help_fits_a_screen_and_says_how_to_see_all(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "80")
    short, whole = (run("query", option).out for option in ("--help", "--help-all"))
    assert len(short.splitlines()) <= 40
    assert max(map(len, short.splitlines())) <= 80 + 4  # an example may be longer
    assert "smartsearch query --help-all" in short
    listed = re.findall(r"^  (?:-\w, )?(--[a-z-]+)", short, re.MULTILINE)
    assert {"--limit", "--json", "--since", "--strict"} <= set(listed)
    assert all(option[:15] in whole for option in listed)
    assert run("query", "-n", "x", "boat").err.endswith("smartsearch query --help\n")


def test_help_groups_the_options(run: Run):
    text = run("query", "--help-all").out
    elsewhere = ("Data", "Grid", "Language model", "Run folder")
    places = [text.index(f"─ {panel} ─") for panel in PANELS if panel not in elsewhere]
    assert places == sorted(places)
