"""Slack exports: from a folder and from a .zip, with the names of people and without."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest

from smartsearch.transcripts import read, read_large
from smartsearch.transcripts.formats.mentions import Mentions
from smartsearch.transcripts.formats.slack_text import Names, plain
from smartsearch.transcripts.large.indexing import build
from smartsearch.types import Corpus, Turn
from tests.transcripts.build import put, said

SAMPLE = Path(__file__).parent / "samples" / "slack"
USERS = [
    {"id": "U0000MAYA", "name": "maya.l", "profile": {"real_name": "Maya Lindqvist", "display_name": "Maya"}},
    {"id": "U000TARIK", "name": "tarik", "profile": {"real_name": "Tarik Benali", "display_name": ""}},
]
TS = "1709539260.000100"


def message(**more: Any) -> dict[str, Any]:
    return {"type": "message", "user": "U0000MAYA", "text": "hi", "ts": TS, **more}


def day(folder: Path, *messages: Any, **lists: Any) -> Corpus:
    """A channel of one day, read from its folder, with the lists given beside it."""
    for name, value in {"users": USERS, **lists}.items():
        if value is not None:
            put(folder, f"{name}.json", value)
    return read([str(put(folder, "boatyard/2024-03-04.json", list(messages)))])


def only(read_back: Corpus) -> Turn:
    (turn,) = read_back.turns
    return turn


def test_the_sample_from_its_folder() -> None:
    found = read([str(SAMPLE)])
    assert (found.skipped, found.warnings) == ((), ())
    boatyard = [turn for turn in found.turns if turn.conversation == "boatyard"]
    assert [(turn.speaker, turn.said) for turn in boatyard] == [
        (
            "Maya",
            "Morning @Inês! The hull survey is at 14:00 & the tide table (https://tides.example/mar) "
            "is here :sailboat:",
        ),
        ("Tarik Benali", "Who has the key for the winch shed?"),
        ("Tidewatch", "Tides for Monday\nHigh water: 11:42, 2.9 m\nLow water: 17:58, 0.4 m"),
        (
            "Inês",
            "It hangs behind the door in #boatyard's office, ask the harbour master (harbour@example.org)",
        ),
        ("Maya", "I moved it to the red box yesterday 🔑"),
        ("Tarik Benali", " [image hull-crack.jpg: Crack below the waterline]"),
        ("Maya", "Paint to order, @Tarik Benali:\n- two tins of primer\n- one of red :red_circle:"),
        ("Tarik Benali", "Found it. Γεια σου, κλειδί!"),
        (
            "Joon-ho Seo",
            "Guest here, survey report attached [file survey.pdf] "
            "[attached Osmosis explained Blisters in old hulls]",
        ),
    ]


def test_a_thread_is_a_session_with_the_message_that_opened_it_and_the_rest_are_days() -> None:
    turns = read([str(SAMPLE / "boatyard")]).turns
    opened = "1709539320.000100"
    assert [turn.session for turn in turns] == [
        *("2024-03-04", opened, "2024-03-04", opened, opened, "2024-03-04"),
        *("2024-03-05", opened, "2024-03-05"),
    ]
    assert turns[1].turn == opened


def test_ids_and_times_are_kept() -> None:
    turn = read([str(SAMPLE / "boatyard" / "2024-03-04.json")]).turns[0]
    assert (turn.turn, turn.time) == ("1709539260.000100", "2024-03-04T08:01:00+00:00")
    assert turn.pointer == "/1"


def test_direct_messages_have_the_names_of_their_members() -> None:
    titles = {turn.conversation: turn.title for turn in read([str(SAMPLE)]).turns}
    assert titles == {
        "boatyard": "",
        "D04XYZ123": "Maya, Tarik Benali",
        "mpdm-maya.l--tarik--ines-1": "Maya, Tarik Benali, Inês",
    }


@pytest.mark.parametrize("inside", ["", "harbour/"])
def test_from_a_zip_the_same_comes_as_from_the_folder(tmp_path: Path, inside: str) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as made:
        for file in sorted(SAMPLE.rglob("*.json")):
            made.write(file, f"{inside}{file.relative_to(SAMPLE)}")
    unpacked, packed = read([str(SAMPLE)]), read([str(path)])
    assert said(packed) == said(unpacked)
    assert [(t.conversation, t.session, t.title) for t in packed.turns] == [
        (t.conversation, t.session, t.title) for t in unpacked.turns
    ]
    assert (packed.skipped, packed.warnings) == ((), ())


def test_without_lists_the_message_names_its_writer_or_the_id_stays(tmp_path: Path) -> None:
    carried = message(
        user_profile={"display_name": "", "real_name": "Maya L."}, text="<@U000TARIK> <@U9|joe>?"
    )
    found = day(tmp_path, message(), carried, users=None)
    assert said(found) == [("U0000MAYA", "hi"), ("Maya L.", "@U000TARIK @joe?")]
    assert said(day(tmp_path, carried)) == [("Maya", "@Tarik Benali @joe?")]
    assert (found.skipped, found.warnings) == ((), ())


@pytest.mark.parametrize("broken", ["{", "[1, 2]", '{"ok": false}', ""])
def test_a_broken_list_costs_names_and_nothing_else(tmp_path: Path, broken: str) -> None:
    assert said(day(tmp_path, message(), users=broken, dms=broken)) == [("U0000MAYA", "hi")]


def test_the_users_of_a_whole_organisation_are_known_too(tmp_path: Path) -> None:
    assert only(day(tmp_path, message(), users=None, org_users=USERS)).speaker == "Maya"


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("<@U0000MAYA> and <@U000TARIK|tarik>", "@Maya and @Tarik Benali"),
        ("<@UNKNOWN1|joe> <@UNKNOWN2>", "@joe @UNKNOWN2"),
        ("<#C1|general> <#C2> <#C3|>", "#general #boats #C3"),
        ("<https://a.example>", "https://a.example"),
        ("<https://a.example|https://a.example>", "https://a.example"),
        ("<http://a.example|a.example>", "http://a.example"),
        ("<https://a.example/b|the plan>", "the plan (https://a.example/b)"),
        ("<mailto:a@b.example|a@b.example>", "a@b.example"),
        ("<!here> <!channel> <!subteam^S1|@crew> <!subteam^S2>", "@here @channel @crew @S2"),
        ("<!date^1392734382^{date}|Feb 18>", "Feb 18"),
        ("1 &lt; 2 &amp;&amp; 3 &gt; 2 &amp;lt;", "1 < 2 && 3 > 2 &lt;"),
        (":sailboat: *bold* `a < b`", ":sailboat: *bold* `a < b`"),
    ],
)
def test_markup_becomes_text(written: str, read_as: str) -> None:
    names = Names(Mentions({"U0000MAYA": "Maya", "U000TARIK": "Tarik Benali"}), Mentions({"C2": "boats"}))
    assert plain(written, names) == read_as


@pytest.mark.parametrize(
    ("more", "speaker", "text"),
    [
        ({"subtype": "bot_message", "username": "Deploy", "bot_id": "B1", "user": None}, "Deploy", "hi"),
        ({"user": "U0BOT0000", "bot_id": "B1", "bot_profile": {"name": "Rota"}}, "Rota", "hi"),
        ({"user": None, "bot_id": "B1"}, "B1", "hi"),
        ({"subtype": "me_message", "text": "waves"}, "Maya", "waves"),
    ],
)
def test_who_speaks(tmp_path: Path, more: dict[str, Any], speaker: str, text: str) -> None:
    turn = only(day(tmp_path, message(**more)))
    assert (turn.speaker, turn.text) == (speaker, text)


def test_a_comment_on_a_file_is_said_by_who_wrote_it(tmp_path: Path) -> None:
    comment = {"user": "U000TARIK", "comment": "too dark &amp; small"}
    more = {"subtype": "file_comment", "user": None, "text": "somebody commented", "comment": comment}
    turn = only(day(tmp_path, message(**more)))
    assert (turn.speaker, turn.text) == ("Tarik Benali", "too dark & small")


@pytest.mark.parametrize(
    "subtype", ["channel_join", "group_leave", "channel_topic", "pinned_item", "bot_add", "tombstone"]
)
def test_notices_are_left_out_without_a_word(tmp_path: Path, subtype: str) -> None:
    found = day(tmp_path, message(subtype=subtype))
    assert (found.turns, found.skipped, found.warnings) == ((), (), ())


def test_a_message_with_nothing_in_it_is_counted(tmp_path: Path) -> None:
    found = day(tmp_path, message(text=""), message())
    assert found.warnings == (f"{tmp_path}/boatyard/2024-03-04.json: 1 turn without text left out",)


def test_a_file_of_today_and_one_of_old(tmp_path: Path) -> None:
    new = message(files=[{"name": "a.png", "title": "a.png", "mimetype": "image/png"}, {"title": "Minutes"}])
    old = message(subtype="file_share", file={"name": "b.txt", "title": "Notes\nof May"})
    captions = [turn.caption for turn in day(tmp_path, new, old).turns]
    assert captions == ["[image a.png] [file Minutes]", "[file b.txt: Notes of May]"]


def worded(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def test_blocks_speak_where_the_text_is_empty(tmp_path: Path) -> None:
    rich = [
        ("section", [worded("see "), {"type": "link", "url": "https://a.example"}]),
        ("quote", [worded("as "), {"type": "user", "user_id": "U000TARIK"}, worded(" said")]),
        ("preformatted", [worded("make all")]),
    ]
    blocks = [
        {"type": "header", "text": {"type": "plain_text", "text": "Release"}},
        {"type": "rich_text", "elements": [{"type": f"rich_text_{k}", "elements": e} for k, e in rich]},
        {"type": "section", "fields": [{"type": "mrkdwn", "text": "by <@U0000MAYA>"}]},
        {"type": "divider"},
    ]
    turn = only(day(tmp_path, message(text="", blocks=blocks)))
    assert turn.text == "Release\nsee https://a.example\nas @Tarik Benali said\nmake all\nby @Maya"


def test_text_is_not_said_twice_where_blocks_repeat_it(tmp_path: Path) -> None:
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "hi"}}]
    assert only(day(tmp_path, message(blocks=blocks))).text == "hi"


def test_an_attachment_without_text_has_its_fallback(tmp_path: Path) -> None:
    turn = only(day(tmp_path, message(attachments=[{"fallback": "Build <https://ci.example|#7> failed"}])))
    assert turn.caption == "[attached Build #7 (https://ci.example) failed]"


def test_an_index_leaves_days_to_each_question_for_names_may_change(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("smartsearch.transcripts.large.indexing.SETTLED", 0.0)
    day(tmp_path / "export", message())
    (tmp_path / "export" / "chat.txt").write_text("Maya: hi\nJonas: hello\n")
    for new in (2, 0):  # the chat and the list of members
        built = build(str(tmp_path / "export"))
        assert [entry.kind for entry in built.skipped] == ["not_alone"]
        assert (built.files, built.new, built.unchanged) == (2, new, 2 - new)
    monkeypatch.setattr("smartsearch.transcripts.corpus._SLOW", 0)
    assert read_large([str(tmp_path / "export")]).warnings == ()  # no advice to index what cannot be
    (tmp_path / "export" / "later.txt").write_text("Maya: bye\nJonas: bye\n")
    assert len(read_large([str(tmp_path / "export")]).warnings) == 2


def test_the_lists_are_read_once_for_all_days(tmp_path: Path, monkeypatch: Any) -> None:
    from smartsearch.transcripts import onefile

    asked: list[str] = []
    neighbour = onefile.neighbour

    def counted(path: str, name: str, limits: Any) -> bytes | None:
        asked.append(name)
        return neighbour(path, name, limits)

    monkeypatch.setattr(onefile, "neighbour", counted)
    put(tmp_path, "users.json", USERS)
    for channel in ("boatyard", "office"):
        for date in ("2024-03-04", "2024-03-05"):
            put(tmp_path, f"{channel}/{date}.json", [message()])
    assert len(read([str(tmp_path)]).turns) == 4
    assert sorted(asked) == sorted(
        f"../{name}.json" for name in ("users", "org_users", "channels", "groups", "dms", "mpims")
    )


def test_the_lists_of_two_exports_are_not_mixed_up(tmp_path: Path) -> None:
    for name in ("one", "two"):
        put(tmp_path, f"{name}/users.json", [{"id": "U0000MAYA", "name": name}])
        put(tmp_path, f"{name}/boatyard/2024-03-04.json", [message()])
    assert [turn.speaker for turn in read([str(tmp_path)]).turns] == ["one", "two"]
