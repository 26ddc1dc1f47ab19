"""The tools in process, with fake models: what is found, expanded and said, and what is not."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import anyio
import pytest

from smartsearch.ask.library import Library
from smartsearch.ask.scope import Written
from smartsearch.config import Config
from smartsearch.errors import InputError, ModelError, SmartsearchError
from smartsearch.serve.mcp import roots as module
from smartsearch.serve.mcp import status
from smartsearch.serve.mcp.arguments import ExpandArguments, SearchArguments
from smartsearch.serve.mcp.roots import Roots
from smartsearch.serve.mcp.tools import Answers
from smartsearch.serve.mcp.worker import State
from smartsearch.serve.models import Models
from smartsearch.serve.warm import shelf
from smartsearch.transcripts.files import Selection
from tests.cli.conftest import CHAT, MESSAGES, QUESTION
from tests.cli.fakes import fake_tools
from tests.contract import hold
from tests.mcp import read

Make = Callable[..., Answers]


@pytest.fixture
def chats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "chats"
    folder.mkdir()
    (folder / "chat.txt").write_text(CHAT, encoding="utf-8")
    (folder / "talk.json").write_text(json.dumps(MESSAGES), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shelf, "SETTLED", -1.0)
    return folder


@pytest.fixture
def make(chats: Path) -> Make:
    def made(*paths: str, config: Config | None = None, **filters: tuple[str, ...]) -> Answers:
        written = Written(**filters)
        roots = Roots(paths or [str(chats)], Selection(written.globs, written.excludes))
        config = config or Config()
        return Answers(roots, written, config, Models(config, fake_tools))

    return made


def search(answers: Answers, question: str = QUESTION, **more: object) -> dict:
    record = answers.search(SearchArguments(question=question, **more)).record
    hold(record, "mcp")
    return read(record)


def lines(record: dict) -> list[str]:
    return [hit["line"] for hit in record["hits"]]


def test_a_search_gives_short_lines_and_how_good_they_are_or_what_to_try(make: Make):
    reply = make().search(SearchArguments(question=QUESTION, limit=1))
    (name,) = reply.ids
    hit = f"[{name}] 2024-05-08 Mara | chat.txt:1 | I went to the support group yesterday."
    more = reply.record["more"]
    assert reply.record == {"hits": [hit], "weak": False, "absent": ["join"], "more": more}
    assert reply.text.splitlines() == [f"nobody says join; {more} more with a higher `limit`", hit]
    assert search(make(), "What of Mara's xylophone?")["absent"] == ["xylophone"]
    record = search(make(config=Config(semantic="off", pool=0)), "zebra")
    assert (record["hits"], "more" in record) == ([], False)
    assert record["next"].startswith("other words")


def test_a_name_without_chats_yet_is_said_and_its_chats_are_found_when_they_come(make, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    answers = make("@qwen")
    for _ in range(2):
        reply = answers.search(SearchArguments(question=QUESTION))
        assert reply.record["hits"] == []
        (note,) = reply.record["notes"]
        assert note.startswith("nothing is where @qwen leads: ~/.qwen/projects/*/chats")
    work = SimpleNamespace(state=State(), busy=False, waiting=0, served=0)
    told = status.told(answers._roots, Config(), 50, work).record
    hold(told, "mcp")
    assert (told["roots"], told["notes"]) == ([], [note])
    (tmp_path / ".qwen" / "projects" / "x").mkdir(parents=True)
    (tmp_path / "chats").rename(tmp_path / ".qwen" / "projects" / "x" / "chats")
    found = search(answers)
    assert found["hits"][0]["place"] == "chat.txt:1"
    assert "notes" not in found


def test_a_folder_that_is_gone_since_the_start_is_said(make: Make, chats: Path):
    answers = make()
    chats.rename(chats.with_name("away"))
    reply = answers.search(SearchArguments(question=QUESTION)).record
    assert (reply["hits"], reply["notes"]) == ([], [f"no such file or folder: {os.path.realpath(chats)}"])


def test_paths_narrow_the_search(make: Make, chats: Path):
    files = {hit["place"].split("#")[0] for hit in search(make(), paths=("talk.json",))["hits"]}
    assert files == {"talk.json"}
    answers = make()
    name = search(answers, limit=1)["hits"][0]["id"]
    hits = search(answers, "nearby", paths=(name,))["hits"]
    assert all(hit["place"].startswith("chat.txt:") for hit in hits)
    with pytest.raises(InputError, match="not below what is served"):
        search(make(), paths=("talk.json", "../other"))
    with pytest.raises(InputError) as caught:
        search(make(), paths=("tolk.json",))
    assert Roots([str(chats)]).worded(caught.value).hint == "did you mean talk.json?"


def test_the_words_of_a_turn_are_no_reason_to_leave_out_its_line(make: Make, chats: Path):
    (chats / "long.txt").write_text("\n".join(f"Ann: owl {'word ' * 3000}{n}" for n in range(9)))
    assert len(search(make(), "owl", paths=("long.txt",), limit=50)["hits"]) == 9


def test_settings_and_filters_of_the_command_line_hold(make: Make):
    assert len(search(make(config=Config(limit=1)), limit=50)["hits"]) == 1
    by_time = search(make(config=Config(order="time")), "Oscar support", limit=2)
    assert [hit.get("date") for hit in by_time["hits"]] == sorted(hit.get("date") for hit in by_time["hits"])
    budgeted = search(make(config=Config(budget=10)), "Oscar support", limit=50)
    assert (len(budgeted["hits"]), "did not fit" in budgeted["notes"][0]) == (1, True)
    answers = make(excludes=("talk*",))
    assert all(hit["place"].startswith("chat.txt") for hit in search(answers)["hits"])
    for call in (lambda: search(answers, paths=("talk.json",)), lambda: expand(answers, "talk.json#/0")):
        with pytest.raises(InputError) as caught:
            call()
        assert caught.value.kind == "not_served"


def test_changed_files_are_noticed(make: Make, chats: Path):
    answers = make()
    assert not [line for line in lines(search(answers, "Zebra")) if "Zebra" in line]
    with (chats / "chat.txt").open("a") as file:
        file.write("[2024-05-11 09:00] Ilya: A Zebra met Oscar.\n")
    assert lines(search(answers, "Zebra Oscar"))[0] == "A Zebra met Oscar."


def test_broken_files_and_what_was_done_without_are_noted(make: Make, chats: Path):
    (chats / "bad.json").write_text("[{")
    notes = search(make(), "Oskar")["notes"]
    assert notes[-1].startswith("1 left out, such as bad.json: ")
    assert any("no turn contains 'Oskar'; searched for oscar" in note for note in notes)
    noted = make(config=Config(limit=1, notes=("there/.smartsearch.toml sets limit = 1",)))
    assert "there/.smartsearch.toml sets limit = 1" in search(noted)["notes"]


def expand(answers: Answers, *ids: str, **more: int) -> dict:
    record = answers.expand(ExpandArguments(ids=ids, **more)).record
    hold(record, "mcp")
    return record


def texts(record: dict) -> list[str]:
    return [turn["text"] for session in record["sessions"] for turn in session["turns"]]


def test_an_id_becomes_the_whole_turn_with_those_around_it(make: Make, chats: Path):
    answers = make()
    found = search(answers, "adopted dog")["hits"][0]
    assert (found["place"], found["line"]) == ("chat.txt:4", "My flatmate adopted a dog named Oscar.")
    reply = answers.expand(ExpandArguments(ids=(found["id"],), around=1))
    assert reply.text.splitlines() == [
        "## chat.txt, conversation chat",
        "  2 [2024-05-08 13:57] Ilya: Wow, how was it?",
        "      Tell me more!",
        "* 4 [2024-05-09 10:00] Ilya: My flatmate adopted a dog named Oscar.",
        "  5 [2024-05-10 09:00] Mara: Oscar is a lovely name.",
        "",
        f"{reply.record['used_tokens']} of 2,000 tokens ({reply.record['tokenizer']})",
    ]
    alone = make(str(chats / "chat.txt"))
    assert search(alone, "adopted dog")["hits"][0]["id"] == found["id"]


def test_what_is_missing_is_named_and_the_rest_given(make: Make):
    record = expand(make(), "chat.txt:1", "chat.txt:77", "aaaaaaaa", "../x.txt:1", "chat.txt", around=0)
    assert texts(record) == ["I went to the support group yesterday."]
    assert [(entry["id"], entry["kind"]) for entry in record["missing"]] == [
        ("chat.txt:77", "no_turn"),
        ("aaaaaaaa", "unknown_id"),
        ("../x.txt:1", "outside_roots"),
        ("chat.txt", "no_place"),
    ]
    with pytest.raises(InputError) as caught:
        expand(make(), "aaaaaaaa")
    assert caught.value.kind == "unknown_id"


def test_an_id_whose_file_changed_is_stale_and_one_that_became_a_link_out_is_not_expanded(make: Make, chats):
    answers = make()
    found = search(answers, "adopted dog")["hits"][0]
    (chats / "chat.txt").write_text(f"[2024-05-01 10:00] Zoe: A new first line.\n{CHAT}")
    with pytest.raises(InputError) as caught:
        expand(answers, found["id"])
    assert caught.value.kind == "stale_id"
    found = search(answers, "adopted dog")["hits"][0]
    assert "missing" not in expand(answers, found["id"])
    (chats / "chat.txt").rename(chats.with_name("chat.txt"))
    (chats / "chat.txt").symlink_to(chats.with_name("chat.txt"))
    with pytest.raises(InputError) as caught:
        expand(answers, found["id"])
    assert caught.value.kind == "outside_roots"


def test_ids_are_remembered_up_to_a_number(make: Make, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "REMEMBERED", 2)
    answers = make()
    first = [hit["id"] for hit in search(answers, "support group", limit=2)["hits"]]
    later = [hit["id"] for hit in search(answers, "Oscar", limit=2, paths=("chat.txt",))["hits"]]
    assert set(first).isdisjoint(later)
    assert "missing" not in expand(answers, *later)
    with pytest.raises(InputError):
        expand(answers, *first)


@pytest.mark.parametrize("blank", [0, 1, 3])
def test_a_large_file_is_expanded_without_being_parsed(make: Make, chats: Path, monkeypatch, blank: int):
    """Beyond some size JSONL is scanned, and a line is found by halving, blank and broken lines between."""
    monkeypatch.setattr(Library.__init__, "__defaults__", (None, 0, None))
    names = [f"Owl{chr(97 + n // 10)}{chr(97 + n % 10)}" for n in range(60)]
    said = [f"Here is {name}." for name in names]
    rows = [json.dumps({"role": "user", "content": text}) + "\n" * (1 + blank) for text in said]
    rows[30] = "{broken\n"
    (chats / "big.jsonl").write_text("".join(rows))
    answers = make(str(chats / "big.jsonl"))
    for n in (0, 29, 31, 59):
        found = search(answers, names[n])["hits"][0]
        assert found["line"] == said[n]
        assert texts(expand(answers, found["id"], around=0)) == [found["line"]]
        assert texts(expand(answers, found["place"], around=0)) == [found["line"]]
    with pytest.raises(InputError):
        expand(answers, "big.jsonl:9999")


def test_a_ceiling_of_tokens_holds_and_is_told(make: Make, chats: Path):
    (chats / "long.txt").write_text("\n".join(f"Ann: {'owl ' * 100}{n}" for n in range(20)))
    answers = make()
    full = expand(answers, "long.txt:10", around=5, tokens=20_000)
    assert (len(texts(full)), {"cut", "neighbours_left_out"} & full.keys()) == (11, set())
    tight = answers.expand(ExpandArguments(ids=("long.txt:10", "long.txt:15"), around=5, tokens=150))
    assert tight.record["used_tokens"] <= 150
    assert tight.record["cut"] == ["long.txt:15"]
    assert "cut to fit: long.txt:15" in tight.text
    assert tight.record["neighbours_left_out"] > 0


def test_status_tells_what_is_served(chats: Path):
    state = State("ready", ({"id": "fake-ce"},), 10**12)
    work = SimpleNamespace(state=state, busy=False, waiting=2, served=3)
    reply = status.told(Roots([str(chats)]), Config(), 50, work)
    hold(reply.record, "mcp")
    assert (reply.record["models_state"], reply.record["models"]) == ("ready", [{"id": "fake-ce"}])
    assert reply.record["roots"] == [{"path": str(chats)}]
    warm = reply.record["warm"]
    assert warm.pop("rss_bytes") > 10**12
    assert warm == {"working": False, "waiting": 2, "served": 3}
    assert json.loads(reply.text)["roots"] == reply.record["roots"]


def test_models_that_cannot_be_loaded_are_an_error_until_they_can(make: Make, chats: Path):
    tries: list[int] = []

    def load(config: Config):
        tries.append(1)
        if len(tries) < 3:
            raise ModelError("no such model", hint="smartsearch models pull", kind="model_missing")
        return fake_tools(config)

    models = Models(Config(), load)
    answers = Answers(Roots([str(chats)]), Written(), Config(), models)
    needless = Answers(
        Roots([str(chats)]), Written(), Config(system="grep"), Models(Config(system="grep"), load)
    )
    needless.prepare()
    assert texts(expand(needless, search(needless, "adopted dog")["hits"][0]["id"], around=0))
    assert tries == [], "a system that needs no models loads none"
    answers.prepare()
    assert models.state == "failed: no such model"
    with pytest.raises(SmartsearchError) as caught:
        search(answers)
    assert caught.value.kind == "model_missing"
    assert search(answers)["hits"]
    assert (models.state, len(tries)) == ("ready", 3)


def test_the_current_folder_does_not_matter(make: Make):
    answers = make("chats")
    search(answers)
    os.chdir("/")
    assert texts(expand(answers, "chat.txt:1", around=0)) == ["I went to the support group yesterday."]
    assert search(answers)["hits"]


def test_filters_narrow_a_search_and_expand_still_shows_the_turns_around(make: Make):
    answers = make(config=Config(now="2024-05-12"))
    dated = search(answers, "support Oscar", since="2024-05-09", until="2024-05-09")
    assert lines(dated) == ["My flatmate adopted a dog named Oscar."]
    between = search(answers, "support Oscar", since="3d", until="2d")
    assert {hit["date"] for hit in between["hits"]} == {"2024-05-09", "2024-05-10"}
    hits = search(answers, "support group", roles=("assistant",))["hits"]
    assert {hit["speaker"] for hit in hits} == {"assistant"}
    shown = answers.expand(ExpandArguments(ids=(dated["hits"][0]["id"],), around=1)).record
    assert "Oscar is a lovely name." in json.dumps(shown)
    for wrong in (
        {"since": "whenever"},
        {"roles": ("boss",)},
        {"since": "2024-05-09", "until": "2024-05-01"},
    ):
        with pytest.raises(InputError):
            search(answers, "support", **wrong)


def test_secrets_are_masked_where_that_is_set_and_ids_still_lead_to_their_turns(make: Make, chats):
    said = "Mara: the wifi password: hunter2 works\nIlya: thanks, hunter2 it is\n"
    (chats / "wifi.txt").write_text(said, encoding="utf-8")
    answers = make(config=Config(redact=True))
    found = search(answers, "wifi password")
    assert "hunter2" not in json.dumps(found)
    shown = answers.expand(ExpandArguments(ids=(found["hits"][0]["id"],))).record
    assert "hunter2" not in json.dumps(shown)
    assert "[redacted: password]" in json.dumps(shown)


def test_what_a_client_is_told_is_masked_errors_and_notes_too(chats: Path):
    door = pytest.importorskip("smartsearch.serve.mcp.server").Door
    from mcp.shared.exceptions import MCPError
    from mcp.types import CallToolRequestParams

    secret = "Blau65Xy8z"
    config = Config(redact=True)
    served = door(Roots([str(chats)]), config, lambda _: None)
    call = CallToolRequestParams(name="search", arguments={f"password={secret}": 1})
    hit = {"place": f"x{secret}y:1"}
    told = [
        served._failed(InputError(f"password={secret}: no such file", hint=f"not password={secret}")),
        served._result({"notes": [f"token={secret}1"], "hits": [hit]}, f"key: {secret}"),
        anyio.run(served._call, None, call),
    ]
    with pytest.raises(MCPError) as error:
        anyio.run(served._call, None, CallToolRequestParams(name=f"password={secret}"))
    assert secret not in repr(told) + str(error.value)
    assert secret in repr(door(Roots([str(chats)]), Config(), lambda _: None)._failed(InputError(secret)))
