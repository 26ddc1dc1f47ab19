"""`smartsearch show`: places as they are printed, the list of what files hold, hits through a pipe."""

import io
import json
import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from smartsearch.cli import show as show_cli
from smartsearch.transcripts import corpus
from tests.cli.conftest import CHAT, QUESTION, Ran, Run
from tests.transcripts.build import zipped

SAMPLE = [
    {
        "sample_id": name,
        "conversation": {
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": f"D1:{n}", "text": f"{name} one {n}"} for n in (1, 2, 3)
            ],
            "session_2": [{"speaker": "Ben", "dia_id": "D2:1", "text": f"{name} two"}],
        },
    }
    for name in ("c-1", "c-2")
]


@pytest.fixture(autouse=True)
def sample(chats: Path) -> None:
    (chats / "locomo.json").write_text(json.dumps(SAMPLE), encoding="utf-8")


def test_a_turn_is_opened_in_its_conversation(run: Run):
    ran = run("show", "chat.txt:3", "-C1")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        "chat.txt-1-[2024-05-08] Mara: I went to the support group yesterday.\n"
        "chat.txt:2:[2024-05-08] Ilya: Wow, how was it?\\n  Tell me more!\n"
        "chat.txt-4-[2024-05-09] Ilya: My flatmate adopted a dog named Oscar.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "places"),
    [
        (["chat.txt:1", "-A1"], [":1:", "-2-"]),
        (["chat.txt:5", "-B0", "-A0"], [":5:"]),
        (["chat.txt:4", "-C1", "-A0"], ["-2-", ":4:"]),
        (["chat.txt:2-4", "-C0"], [":2:", ":4:"]),
        (["chat.txt:1", "chat.txt:5", "-C0"], [":1:", "--", ":5:"]),
        (["chat.txt:4", "--session"], ["-1-", "-2-", ":4:", "-5-"]),
        (["chat.txt:4:[2024-05-09] Ilya: My flatmate", "-C0"], [":4:"]),
        (["chat.txt:2", "--conversation"], ["-1-", ":2:", "-4-", "-5-"]),
        (["chat.txt", "--all"], [":1:", ":2:", ":4:", ":5:"]),
    ],
)
def test_how_much_is_shown(run: Run, arguments: list[str], places: list[str]):
    lines = run("show", *arguments).out.splitlines()
    assert [line.removeprefix("chat.txt")[: len(p)] for line, p in zip(lines, places, strict=True)] == places


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("locomo.json#/0/conversation/session_1/1", ["c-1 one 2"]),
        ("locomo.json#/1/conversation/session_2", ["c-2 two"]),
        ("locomo.json@D2:1", ["c-1 two", "c-2 two"]),
        ("locomo.json@c-2/D1:3", ["c-2 one 3"]),
        ("locomo.json@c-1/session_1", ["c-1 one 1", "c-1 one 2", "c-1 one 3"]),
        ("talk.json@talk", ["Is there a support group nearby?", "There is one on Mondays."]),
    ],
)
def test_places_without_lines(run: Run, place: str, said: list[str]):
    record = run("show", place, "--json").record
    turns = [t for e in record["places"][0]["excerpts"] for t in e["turns"]]
    assert [t["text"] for t in turns if t["asked"]] == said


def test_the_record_has_one_shape(run: Run):
    record = run("show", "locomo.json@c-1/D2:1", "--json").record
    keys = "schema_version tool_version places conversations missing skipped warnings"
    assert " ".join(record) == keys
    assert record["places"][0]["place"] == "locomo.json@c-1/D2:1"
    (turn,) = record["places"][0]["excerpts"][0]["turns"]
    assert turn == {
        **{"asked": True, "path": "locomo.json", "line": 0, "pointer": "/0/conversation/session_2/0"},
        **{"conversation": "c-1", "session": "session_2", "turn": "D2:1", "speaker": "Ben", "time": ""},
        "text": "c-1 two",
    }


def test_the_block_for_a_prompt(run: Run):
    assert run("show", "chat.txt:4", "-B1", "-A0", "--format", "context").out == (
        "## conversation chat, 2024-05-08\n"
        "(nearby) [2024-05-08] Ilya: Wow, how was it?\n    Tell me more!\n"
        "[2024-05-09] Ilya: My flatmate adopted a dog named Oscar.\n"
    )


@pytest.mark.parametrize(
    ("place", "nearest"),
    [
        ("chat.txt:99", "chat.txt:5"),
        ("locomo.json#/0/conversation/session_1/9", "locomo.json#/0/conversation/session_1/2"),
        ("locomo.json@c-22", "locomo.json#/1/conversation/session_1/0"),
        ("locomo.json:7", "locomo.json#/0/conversation/session_1/0"),
    ],
)
def test_a_place_that_is_not_there_names_the_nearest(run: Run, place: str, nearest: str):
    ran = run("show", place)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"smartsearch: {place}: there is no such turn")
    assert ran.err.endswith(f"the nearest is {nearest}\n")
    missing = run("show", place, "--json").record["missing"]
    assert [one["place"] for one in missing] == [place]
    assert nearest.startswith(missing[0]["nearest"]["path"])
    some = run("show", place, "chat.txt:1", "-C0")
    assert (some.code, some.out.count("\n"), place in some.err) == (0, 1, True)


def test_what_is_not_there_is_told_beside_what_is(run: Run):
    some = run("show", "no.txt:1", "chat.txt:1", "@nobody", "99", "-C0", "--json")
    assert (some.code, len(some.record["places"])) == (0, 1)
    assert [one["place"] for one in some.record["missing"]] == ["no.txt:1", "@nobody", "99"]
    none = run("show", "no.txt:1", "@nobody")
    assert (none.code, none.out) == (2, "")
    assert "no such file or folder: no.txt" in none.err


def test_a_line_between_turns_shows_the_one_before_and_says_so(run: Run, chats: Path):
    talk = "Ann: Hi there\nBen: Hello\n\n## Session 2 (2024-05-09)\n\nAnn: Back again\nBen: So am I\n"
    (chats / "two.md").write_text(f"# Trip\n\n{talk}", encoding="utf-8")
    ran = run("show", "two.md:6", "-C0")
    assert (ran.code, ran.out) == (0, "two.md:4:Ben: Hello\n")
    assert ran.err == "smartsearch: warning: two.md:6: no turn is there; this is the one before it\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.txt:3"], "no such file or folder: nowhere.txt"),
        (["chatt.txt:3"], "did you mean chat.txt?"),
        ([".:3"], ". is a folder"),
        (["chat.txt", "--session"], "--session needs a place"),
        (["chat.txt:1", "--session", "--conversation"], "disagree"),
        (["chat.txt:1", "--json", "--format", "context"], "disagree"),
        (["chat.txt:1", "--input-format", "fax"], "fax"),
        (["chat.txt:1", "--fields", "text"], "'text' is not NAME=KEY"),
        (["export.zip/nothing.txt:1"], "no such file in the archive"),
        (["3"], "there is no search that 3 could be a hit of"),
    ],
)
def test_errors(run: Run, chats: Path, monkeypatch, arguments: list[str], said: str):
    monkeypatch.setenv("XDG_CACHE_HOME", str(chats.with_name("cache")))
    zipped(chats / "export.zip", {"a@b/chat.txt": CHAT})
    ran = run("show", *arguments)
    assert (ran.code, ran.out) == (2, "") or "--json" in arguments
    assert said in (ran.err or ran.out)
    shown = "export.zip/a@b/chat.txt:5:[2024-05-10] Mara: Oscar is a lovely name.\n"
    assert run("show", "export.zip/a@b/chat.txt:5", "-C0").out == shown


def test_a_path_alone_lists_what_it_holds_and_its_lines_are_places(run: Run):
    first = "locomo.json#/{}/conversation/".format
    ran = run("show", ".")
    assert ran.out.splitlines() == [
        "chat.txt:1:conversation chat: 4 turns, Mara, Ilya, 2024-05-08 to 2024-05-10",
        f"{first('0')}session_1/0:conversation c-1, session session_1: 3 turns, Ann, 2023-05-08",
        f"{first('0')}session_2/0:conversation c-1, session session_2: 1 turn, Ben",
        f"{first('1')}session_1/0:conversation c-2, session session_1: 3 turns, Ann, 2023-05-08",
        f"{first('1')}session_2/0:conversation c-2, session session_2: 1 turn, Ben",
        "talk.json#/0:conversation talk: 2 turns, user, assistant",
    ]
    for line in ran.out.splitlines():
        assert run("show", line, "-C0").out.startswith(line.split(":conversation")[0] + ":")
    record = run("show", "locomo.json", "--json").record
    assert [c["conversation"] for c in record["conversations"]] == ["c-1", "c-2"]
    assert record["conversations"][0]["sessions"][1] == {
        **{"session": "session_2", "line": 0, "pointer": "/0/conversation/session_2/0", "turns": 1},
        **{"speakers": ["Ben"], "first": "", "last": ""},
    }


def test_files_that_cannot_be_read(run: Run, chats: Path):
    (chats / "broken.json").write_text("[{", encoding="utf-8")
    ran = run("show", "broken.json:1")
    assert (ran.code, ran.out) == (2, "")
    assert "nothing could be read\n  broken.json: " in ran.err
    assert run("show", "broken.json", "chat.txt").code == 0
    (chats / "empty.txt").write_text("", encoding="utf-8")
    assert run("show", "empty.txt").code == 1
    assert run("show", "empty.txt:3").code == 1
    (chats / "empty").mkdir()
    nothing = "smartsearch: warning: no transcripts found in empty\n"
    assert run("show", "empty") == Ran(1, "", nothing)


def pipe(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


@pytest.mark.parametrize("options", [["--json"], ["--format", "jsonl"], []])
def test_what_query_prints_show_opens(run: Run, monkeypatch: pytest.MonkeyPatch, options: list[str]):
    printed = run("query", QUESTION, "-n0", *options).out
    hits = run("query", QUESTION, "-n0", "--json").record["hits"]
    pipe(monkeypatch, printed)
    places = run("show", "-", "-C0", "--json").record["places"]
    shown = [t["text"] for p in places for e in p["excerpts"] for t in e["turns"]]
    assert shown == [hit["text"] for hit in hits]


def test_a_hit_is_found_though_its_file_has_grown_at_the_top(run: Run, chats: Path, monkeypatch):
    printed = run("query", "Oscar", "chat.txt", "--json", "-n1").out
    said = json.loads(printed)["hits"][0]["text"]
    (chats / "chat.txt").write_text(CHAT.splitlines()[0] + "\n" + CHAT, encoding="utf-8")
    pipe(monkeypatch, printed)
    ran = run("show", "-", "-C0")
    assert said in ran.out
    assert "moved since the search" in ran.err


@pytest.mark.parametrize(
    ("piped", "code", "said"),
    [
        ('{"hits": []}', 1, ""),
        ('{"error": {"message": "no such file: x"}}', 2, "no such file: x"),
        ('{"hits": [{"path": "-", "line": 1, "text": "x"}]}', 1, "read from a pipe"),
        ('{"hits": [{"path": "gone.txt", "line": 1, "text": "x"}]}', 2, "gone.txt"),
        ("neither\n", 2, "neither"),
    ],
)
def test_what_a_pipe_can_bring(run: Run, monkeypatch, piped: str, code: int, said: str):
    pipe(monkeypatch, piped)
    ran = run("show", "-")
    assert (ran.code, ran.out) == (code, "")
    assert said in ran.err


def test_paths_in_a_pipe_are_listed_and_a_place_whose_file_is_gone_is_told_beside_the_others(
    run: Run, monkeypatch
):
    pipe(monkeypatch, "chat.txt\ntalk.json\n")
    assert [line.split(":")[0] for line in run("show", "-").out.splitlines()] == ["chat.txt", "talk.json#/0"]
    pipe(monkeypatch, "chat.txt:1:hi\nnosuch.txt:3:ho\n")
    ran = run("show", "-", "-C0")
    assert (ran.code, ran.out.count("\n")) == (0, 1)
    assert "nosuch.txt:3: no such file" in ran.err


def test_a_place_that_is_not_there_in_a_file_with_a_broken_line(run: Run, chats: Path):
    (chats / "torn.jsonl").write_text('{"role": "user", "content": "hi"}\n{broken\n', encoding="utf-8")
    ran = run("show", "torn.jsonl:99")
    assert (ran.code, ran.out) == (1, "")
    assert "there is no such turn" in ran.err
    assert run("show", "torn.jsonl:99", "--json").record["missing"][0]["place"] == "torn.jsonl:99"


def test_a_terminal_shows_a_bar_beside_the_turn(run: Run):
    out = run("show", "chat.txt:2", "-C1", "--color", "always").out
    plain = re.sub(r"\x1b\[[0-9;]*m", "", out)
    assert plain == (
        "conversation chat, 2024-05-08  chat.txt\n"
        "\n"
        "  Mara  13:56  :1\n"
        "    I went to the support group yesterday.\n"
        "\n"
        "┃ Ilya  13:57  :2\n"
        "┃   Wow, how was it?\n"
        "┃     Tell me more!\n"
        "\n"
        "  Ilya  2024-05-09 10:00  :4\n"
        "    My flatmate adopted a dog named Oscar.\n"
    )


@pytest.mark.parametrize("columns", ["40", "20", "0", "7", "x"])
def test_narrow_screens_wide_characters_and_long_words(run: Run, chats: Path, monkeypatch, columns: str):
    said = f"花子: {'日本語のテキスト' * 12}\nBen: {'long' * 60} 👩‍👩‍👧‍👦🎉 {'x' * 90}\n花子: はい\nBen: ok\n"
    (chats / "wide.txt").write_text(said, encoding="utf-8")
    monkeypatch.setenv("COLUMNS", columns)
    ran = run("show", "wide.txt:1", "--color", "always")
    lines = re.sub(r"\x1b\[[0-9;]*m", "", ran.out).splitlines()
    widest = {"40": 40, "20": 20, "7": 20}.get(columns, 80)
    assert max(cell_len(line) for line in lines) <= widest
    assert "".join(lines).count("日本語のテキスト"[0]) == 12
    assert len([line for line in lines if line.startswith("┃")]) > 3


def test_a_place_in_a_large_file_is_opened_without_reading_it_all(run: Run, chats: Path, monkeypatch):
    rows = [{"role": "user", "content": f"said {n}", "session": str(n % 2)} for n in range(1, 41)]
    (chats / "big.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    parsed: list[str] = []
    whole = corpus.read_one
    monkeypatch.setattr(corpus, "read_one", lambda path, **more: parsed.append(path) or whole(path, **more))
    usual = [run("show", place, "-C1", "--json").record for place in ("big.jsonl:20", "big.jsonl:99")]
    assert parsed == ["big.jsonl"] * 2
    parsed.clear()
    monkeypatch.setattr(show_cli, "UNPARSED_ABOVE", 100)
    monkeypatch.setattr(show_cli, "REACH", 5)
    assert run("show", "big.jsonl:20", "-C1", "--json").record == usual[0]
    turns = usual[0]["places"][0]["excerpts"][0]["turns"]
    assert [turn["text"] for turn in turns] == ["said 18", "said 20", "said 22"]
    assert parsed == []
    assert run("show", "big.jsonl:99", "-C1", "--json").record == usual[1]
    assert parsed == ["big.jsonl"]
