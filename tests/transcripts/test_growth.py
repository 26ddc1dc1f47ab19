"""Every reader is linear in every count: twice as much costs twice the work, memory a multiple of the input.

Work is counted (work.py) at n, 2n and 4n: rows, chats, members, depth of folders, people, messages, files
sent along, nesting, lines without a break. Those marked `fuzz` grow every list and every text of each sample.
A list is asked for its elements in C, which is not counted: what is sought in one often stands in a set.
"""

from __future__ import annotations

import copy
import json
import shutil
import sys
import tracemalloc
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from smartsearch.errors import InputError
from smartsearch.transcripts import FORMATS, Source, docx, onefile, read
from smartsearch.transcripts.corpus import read_one
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.files import Selection
from smartsearch.transcripts.formats import telegram_html
from tests.transcripts.build import document, lines, put, zipped
from tests.transcripts.test_fuzz import each_sample, is_one_document
from tests.transcripts.test_fuzz import put as put_sample
from tests.transcripts.test_stores import cursor, opencode
from tests.transcripts.work import growth, working

Made = str | list[str] | tuple[list[str], Selection]
"""What is read: paths, and what is left out of folders."""


def read_all(made: Made, known: str = "auto") -> None:
    paths, selection = made if isinstance(made, tuple) else (made, Selection())
    with suppress(InputError):
        read([paths] if isinstance(paths, str) else paths, selection, input_format=known)


def grows(
    folder: Path, make: Callable[[Path, int], Made], n: int, known: str = "auto"
) -> dict[str, tuple[int, ...]]:
    """What grows faster than its input from n to 4n and from 4n to 16n: a step at one size is no growth."""
    read_all(make(folder / "first", max(1, n // 8)), known)  # imports and caches
    found: dict[str, tuple[int, ...]] = {}
    for least in (n, 4 * n):
        made = [make(folder / f"{least}-{times}", times * least) for times in (1, 2, 4)]
        with working() as work:
            more = growth([work(read_all, one, known) for one in made])
        found = {name: counts for name, counts in more.items() if least == n or name in found}
        if not found:
            break
    return found


# Samples, grown.


def renamed(value: Any, n: int) -> Any:
    """A copy whose strings of one word are its own, as ids are."""
    if isinstance(value, dict):
        return {key: renamed(inner, n) for key, inner in value.items()}
    if isinstance(value, list):
        return [renamed(inner, n) for inner in value]
    return f"{value}{n}" if isinstance(value, str) and value.isalnum() else value


@pytest.fixture
def read_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is looked at once in a file, however large it is, is left out: how much of it was explained."""
    monkeypatch.setattr(onefile, "_explain", lambda *_: None)


def format_of(sample: Path) -> str:
    known = read_one(str(sample))[1]
    return known.name if known else "auto"


Place = tuple[Any, ...]


def grown_places(value: Any) -> dict[Place, Place]:
    """Of each path of keys the first place with a list, an object of objects, or a text."""
    found: dict[Place, Place] = {}
    stack: list[tuple[Any, Place]] = [(value, ())]
    while stack:
        held, place = stack.pop()
        path = tuple("*" if isinstance(key, int) else key for key in place)
        inside = (
            list(held.items())
            if isinstance(held, dict)
            else list(enumerate(held))
            if isinstance(held, list)
            else []
        )
        table = isinstance(held, dict) and 2 * sum(isinstance(one, dict) for one in held.values()) > len(held)
        if table or isinstance(held, str) or (isinstance(held, list) and held):
            found.setdefault(path, place)
        stack += [(one, (*place, key)) for key, one in reversed(inside)]
    return found


def grown_at(value: Any, place: Place, n: int) -> Any:
    """A copy with so many more elements, or words, at a place."""
    value = copy.deepcopy(value)
    holder: Any = None
    held = value
    for key in place:
        holder, held = held, held[key]
    if isinstance(held, list):
        held += [renamed(held[at % len(held)], at) for at in range(n)]
    elif isinstance(held, dict):
        items = list(held.items())
        held.update(
            (f"{items[at % len(items)][0]}{at}", renamed(items[at % len(items)][1], at)) for at in range(n)
        )
    else:
        holder[place[-1]] = f"{held} " * n
    return value


def each_growth(sample: Path) -> Iterator[tuple[str, Callable[[int], str]]]:
    """All ways in which a sample is grown: the name of the place, and the text with n more there."""
    text = sample.read_text(encoding="utf-8", errors="replace")
    if sample.suffix in (".json", ".jsonl"):
        whole = is_one_document(sample)
        value = json.loads(text) if whole else [json.loads(line) for line in text.split("\n") if line]
        for path, place in grown_places(value).items():
            dump = json.dumps if whole else lambda all_lines: lines(*all_lines)
            yield f"{path}", lambda n, place=place, dump=dump: dump(grown_at(value, place, n))
        return
    yield "all", lambda n: f"{text}\n" * (max(4, 4_000 // len(text)) * n // 64)
    rows = text.split("\n")
    for at, row in enumerate(rows[:30]):
        before, behind = rows[:at], rows[at + 1 :]
        yield f"line {at + 1}, many times", lambda n, a=before, r=row, b=behind: "\n".join([*a, *[r] * n, *b])
        yield f"line {at + 1}, longer", lambda n, a=before, r=row, b=behind: "\n".join([*a, f"{r} " * n, *b])


@pytest.mark.fuzz
@each_sample
@pytest.mark.usefixtures("read_alone")
def test_whatever_there_is_more_of_in_a_sample_costs_no_more_for_each(tmp_path: Path, sample: Path) -> None:
    found = {}
    for number, (name, text) in enumerate(each_growth(sample)):

        def make(folder: Path, n: int, text: Callable[[int], str] = text) -> str:
            folder.mkdir(parents=True)
            path = put_sample(folder, sample, b"")
            path.write_text(text(n), encoding="utf-8", errors="replace")
            return str(path)

        if many := grows(tmp_path / str(number), make, 64, format_of(sample)):
            found[name] = many
        shutil.rmtree(tmp_path / str(number))
    assert not found


# What has counts of its own: stores, archives, folders and exports of many files.

NEEDS_311 = pytest.mark.skipif(sys.version_info < (3, 11), reason="sqlite3 reads no bytes before 3.11")
CHAT = "Maya: hi\nJonas: hello\n"


def cursor_chats(folder: Path, n: int, *, listed: bool = False, kept: bool = True) -> str:
    rows: dict[str, Any] = {}
    for at in range(n):
        heads = {"fullConversationHeadersOnly": [{"bubbleId": "b"}]} if listed else {}
        if kept:
            rows[f"composerData:c{at}"] = {"createdAt": 1767600000000 + at, **heads}
        rows[f"bubbleId:c{at}:b"] = {"type": 1, "bubbleId": "b", "text": f"hello {at}"}
    folder.mkdir()
    return str(cursor(folder / "state.vscdb", {"cursorDiskKV": rows}))


def cursor_messages(folder: Path, n: int) -> str:
    rows = {f"bubbleId:c:b{at}": {"type": 1, "bubbleId": f"b{at}", "text": "hi"} for at in range(n)}
    heads = [{"bubbleId": f"b{at}"} for at in range(0, n, 2)]
    folder.mkdir()
    rows["composerData:c"] = {"createdAt": 1, "fullConversationHeadersOnly": [*heads, {}]}
    return str(cursor(folder / "state.vscdb", {"cursorDiskKV": rows}))


def opencode_store(folder: Path, sessions: int, messages: int = 1, parts: int = 1) -> str:
    folder.mkdir()
    said = [(s, m) for s in range(sessions) for m in range(messages)]
    tables = {
        "session": {f"s{s}": {"id": f"s{s}", "title": f"t{s}"} for s in range(sessions)},
        "message": {
            f"m{s}.{m}": {"id": f"m{s}.{m}", "session_id": f"s{s}", "data": {"role": "user"}} for s, m in said
        },
        "part": {
            f"p{s}.{m}.{p}": {
                "id": f"p{s}.{m}.{p}",
                "message_id": f"m{s}.{m}",
                "data": {"type": "text", "text": "hi"},
            }
            for s, m in said
            for p in range(parts)
        },
    }
    return str(opencode(folder / "opencode.db", tables))


def archived(folder: Path, names: Iterable[str]) -> str:
    return str(zipped(folder / "a.zip", dict.fromkeys(names, CHAT)))


def numbered(n: int, before: str = "", behind: str = "") -> list[str]:
    return [f"{before}{at:06}{behind}.txt" for at in range(n)]


def named_members(folder: Path, n: int) -> list[str]:
    path = archived(folder, numbered(n))
    return [f"{path}/{name}" for name in numbered(n)]


def files(folder: Path, n: int, inside: str = "") -> str:
    for name in numbered(n):
        put(folder, f"{inside}{name}", CHAT)
    return str(folder)


def slack(folder: Path, n: int, *, messages: int = 0) -> str:
    """A day in each of n channels, with as many people, or so many messages in a room of them all."""
    people = [f"U{at:06}" for at in range(n)]
    put(folder, "users.json", [{"id": one, "name": f"maya{one}"} for one in people])
    rooms = [{"id": f"C{at:06}", "members": people[: None if messages and not at else 2]} for at in range(n)]
    named = [{**room, "name": f"c{at}"} for at, room in enumerate(rooms)]
    put(folder, "dms.json" if messages else "channels.json", rooms if messages else named)
    day = [
        {"type": "message", "ts": f"1683540000.{at:06}", "user": people[0], "text": "hi"}
        for at in range(messages or 1)
    ]
    for at in range(1 if messages else n):
        put(folder, f"{f'C{at:06}' if messages else f'c{at}'}/2023-05-08.json", day)
    return str(folder)


def discord(folder: Path, n: int) -> str:
    """An account's channels, each with a file of its own, and the list of all."""
    put(folder, "messages/index.json", {f"{10**17 + at}": f"room {at}" for at in range(20 * n)})
    put(folder, "account/user.json", {"username": "maya", "discriminator": "0"})
    for at in range(n):
        here = f"messages/c{10**17 + at}"
        put(folder, f"{here}/channel.json", {"id": f"{10**17 + at}", "type": 1})
        put(
            folder, f"{here}/messages.json", [{"ID": 1, "Timestamp": "2023-05-08 13:56:01", "Contents": "hi"}]
        )
    return str(folder)


def zulip(folder: Path, n: int) -> str:
    people = [{"id": at, "full_name": f"Maya {at}", "email": "a@b"} for at in range(n)]
    put(folder, "realm.json", {"zerver_realm": [{}], "zerver_userprofile": people})
    message = {"id": 1, "content": "hi", "date_sent": 1683540000, "recipient": 1, "sender": 1, "subject": "x"}
    for at in range(n):
        put(folder, f"messages-{at:06}.json", {"zerver_message": [message]})
    return str(folder)


def twitter(folder: Path, n: int) -> str:
    accounts = [{"account": {"accountId": f"{at}", "username": f"maya{at}"}} for at in range(n)]
    put(folder, "account.js", f"window.YTD.account.part0 = {json.dumps(accounts)}")
    sent = {
        "messageCreate": {"id": "1", "senderId": "1", "text": "hi", "createdAt": "2023-05-08T13:56:01.000Z"}
    }
    talk = [{"dmConversation": {"conversationId": "1-2", "messages": [sent]}}]
    for at in range(n):
        put(
            folder,
            f"direct-messages-part{at}.js",
            f"window.YTD.direct_messages.part{at} = {json.dumps(talk)}",
        )
    return str(folder)


def google_chat(folder: Path, n: int) -> str:
    who = {"name": "Maya", "email": "a@b"}
    put(folder, "g/group_info.json", {"members": [{"name": f"Maya {at}", "email": "a@b"} for at in range(n)]})
    sent = {
        "creator": who,
        "created_date": "Monday, May 8, 2023 at 1:56:01 PM UTC",
        "text": "hi",
        "topic_id": "t",
    }
    put(folder, "g/messages.json", {"messages": [{**sent, "message_id": f"{at}"} for at in range(n)]})
    return str(folder)


def text(name: str, make: Callable[[int], str]) -> Callable[[Path, int], str]:
    """One file, of a text."""
    return lambda folder, n: str(put(folder, name, make(n)))


def talk(n: int, *, people: int) -> str:
    """A chat of an iPhone in which people speak and WhatsApp tells something under somebody's name."""
    names = [f"Rower {at:05}" for at in range(people)]
    said = [f"[08.05.23, 13:56:{at % 60:02}] {name}: hi\n" for at, name in enumerate(names)]
    told = [
        f"[08.05.23, 13:57:{at % 60:02}] {names[0]}: \u200esomething was done by nobody {at}\n"
        for at in range(n)
    ]
    return "".join([*said, *told])


def telegram(inside: str) -> str:
    return f'<html><div class="message default clearfix" id="message1"><div class="body">{inside}'


def page(inside: str) -> str:
    head = '<html><div class="outer-cell x"><p class="mdl-typography--title">Gemini</p>'
    return f'{head}<p class="mdl-typography--body-1">a<br>2025-01-01 1:00:00<br>{inside}'


def said(number: int) -> dict[str, Any]:
    return {"id": f"m{number}", "type": "user", "timestamp": "2025-01-01T00:00:00Z", "content": "hi"}


def rewound(n: int) -> str:
    back = [one for at in range(1, n) for one in (said(-at), {"$rewindTo": f"m-{at}"})]
    return lines({"sessionId": "s", "projectHash": "p"}, *map(said, range(n)), *back)


def signal(n: int) -> str:
    """A Signal message of nothing but mentions."""
    ranges = [{"start": at, "mentionAci": "a"} for at in range(n)]
    body = {"body": "\ufffc" * n, "bodyRanges": ranges}
    item = {"chatId": "1", "authorId": "1", "dateSent": "1683554161000", "standardMessage": {"text": body}}
    head = [{"version": "1", "backupTimeMs": "1"}, {"recipient": {"id": "1", "contact": {"aci": "a"}}}]
    return lines(*head, {"chatItem": item})


def sigtop(n: int) -> str:
    """The same from Signal Desktop."""
    ranges = [{"start": at, "replacementText": "Maya"} for at in range(n)]
    about = {"conversationId": "1", "sent_at": 1683554161000, "schemaVersion": 1, "type": "incoming"}
    return json.dumps([{**about, "body": "\ufffc" * n, "bodyRanges": ranges}])


def mail(kind: str, body: str) -> str:
    head = "From a@b Mon May 08 13:56:00 2023\nFrom: a <a@b>\nSubject: x\n"
    return f"{head}Content-Type: {kind}\n\nhi\n{body}\n"


def nested_parts(n: int) -> str:
    """A mail of parts in parts, more than are read, and of many short lines in the innermost."""
    parts = (f"Content-Type: multipart/mixed; boundary=b{at}\n\n--b{at}\n" for at in range(70))
    return mail("multipart/mixed; boundary=b", "--b\n" + "".join(parts) + "\n" + "x\n" * n)


def tree(n: int, *, wide: bool) -> str:
    """A conversation of ChatGPT's: a chain of messages, or as many answers to one."""
    said = {
        "author": {"role": "user"},
        "content": {"content_type": "text", "parts": ["hi"]},
        "create_time": 1.0,
    }
    above = [0 if wide else at - 1 for at in range(n)]
    nodes = {
        f"n{at}": {"parent": f"n{above[at]}" if at else None, "children": [], "message": said}
        for at in range(n)
    }
    return json.dumps([{"mapping": nodes, "title": "x"}])


def replies(n: int) -> str:
    """Messages of OpenAssistant's, each a reply to the one before."""
    one = {"text": "hi", "role": "prompter", "created_date": "2023-05-08"}
    return lines(
        *({**one, "message_id": f"m{at}", "parent_id": f"m{at - 1}" if at else None} for at in range(n))
    )


def edits(n: int) -> str:
    """A log of VS Code's in which many requests come and go."""
    chat = {"kind": 0, "v": {"requests": [{"requestId": "r", "message": "hi"}] * n, "responderUsername": "x"}}
    return lines(chat, *({"kind": 3, "k": ["requests", 0]} for _ in range(n - 1)))


MARKDOWN = "## User\n\nhi\n\n## Assistant\n\nhello\n\n"

KINDS: dict[str, tuple[int, Callable[[Path, int], Made]]] = {
    "a store of Cursor's, chats": (60, cursor_chats),
    "a store of Cursor's, chats that list their messages": (
        60,
        lambda to, n: cursor_chats(to, n, listed=True),
    ),
    "a store of Cursor's, messages without chats": (60, lambda to, n: cursor_chats(to, n, kept=False)),
    "a store of Cursor's, messages in a chat": (60, cursor_messages),
    "a store of OpenCode's, sessions": (60, opencode_store),
    "a store of OpenCode's, messages": (60, lambda to, n: opencode_store(to, 1, n)),
    "a store of OpenCode's, parts": (60, lambda to, n: opencode_store(to, 1, 1, n)),
    "an archive, members": (8, lambda to, n: archived(to, numbered(n))),
    "an archive, members of other kinds": (40, lambda to, n: archived(to, [f"{at}.jpg" for at in range(n)])),
    "an archive, depth of a member": (500, lambda to, n: archived(to, ["x/" * n + "a.txt"])),
    "an archive, depth of archives in an archive": (
        500,
        lambda to, n: archived(to, ["x.zip/" * n + "a.txt"]),
    ),
    "an archive, dots before a member": (2000, lambda to, n: archived(to, ["./" * n + "a.txt"])),
    "an archive, depth where folders are left out": (
        500,
        lambda to, n: ([archived(to, ["x/" * n + "a.txt"])], Selection((), ("old", "*/old/", "**/b/c"))),
    ),
    "an archive, members that are named": (8, named_members),
    "a folder, files": (8, files),
    "Slack, channels and people": (8, slack),
    "Slack, messages in a room of many": (
        40,
        lambda to, n: slack(to, n, messages=n),
    ),
    "Discord, channels": (8, discord),
    "Zulip, files and people": (20, zulip),
    "X, files and accounts": (20, twitter),
    "Google Chat, people and messages": (60, google_chat),
    "WhatsApp, people": (100, text("_chat.txt", lambda n: talk(n, people=n))),
    "aider, messages without an end": (
        100,
        text("a.md", lambda n: "# aider chat started at 2025-05-23 16:51:58\n\n#### x  \n\n" + "> a\n" * n),
    ),
    "aider, messages below empty lines": (
        100,
        text(
            "a.md",
            lambda n: "# aider chat started at 2025-05-23 16:51:58\n\n#### x  \n" + "\n" * n + "> a\n" * n,
        ),
    ),
    "SpecStory, blocks without an end": (
        100,
        text(
            "a.md",
            lambda n: "<!-- Generated by SpecStory -->\n\n_**User**_\n\n" + "<think>\na\n<tool-use>\n" * n,
        ),
    ),
    "a chat with an assistant, sessions below each other": (
        100,
        text("a.md", lambda n: MARKDOWN + "## 2023-05-08\n\n---\n\n" * n + MARKDOWN),
    ),
    "Telegram's page, answers of a poll": (
        400,
        text(
            "a.html",
            lambda n: telegram('<div class="media_poll"><div class="answer">' + '<div class="answer">a' * n),
        ),
    ),
    "Telegram's page, links": (
        400,
        text("a.html", lambda n: telegram('<div class="text">' + '<a href="//x">a' * n)),
    ),
    "Telegram's page, messages": (60, text("a.html", lambda n: "<html>" + telegram("a")[6:] * n)),
    "a page of Gemini's, elements": (400, text("a.html", lambda n: page("<div class=x>" * n))),
    "Gemini CLI, messages taken back": (60, text("a.jsonl", rewound)),
    "VS Code, requests taken back": (100, text("a.jsonl", edits)),
    "ChatGPT, a long conversation": (100, text("a.json", lambda n: tree(n, wide=False))),
    "ChatGPT, many answers": (100, text("a.json", lambda n: tree(n, wide=True))),
    "OpenAssistant, replies to replies": (100, text("a.jsonl", replies)),
    "Signal, mentions": (200, text("main.jsonl", signal)),
    "Signal Desktop, mentions": (200, text("a.json", sigtop)),
    "Element, people": (
        100,
        text(
            "element.txt",
            lambda n: "".join(
                f"5/8/2023, 1:56:00 PM - {f'* N{at} waves' if at % 2 else f'N{at}: hi'}\n"
                for at in range(2 * n)
            ),
        ),
    ),
    "a mail, parameters": (500, text("a.mbox", lambda n: mail("text/plain" + ";a" * n, ""))),
    "a mail, quotes": (500, text("a.mbox", lambda n: mail('text/plain; a="' + ';"' * n, ""))),
    "a mail, parts": (100, text("a.mbox", nested_parts)),
    "a mail, fields": (100, text("a.mbox", lambda n: "From a 1:00\n" + "X: y\n" * n + "\nhi\n")),
    "a mail, quotations that are announced": (
        200,
        text("a.mbox", lambda n: "From a 1:00\nX: y\n\n" + "On 1 May somebody wrote\n:\n" * n + "> x\n"),
    ),
    "a mail, torn tags": (
        400,
        text("a.mbox", lambda n: "From a 1:00\nContent-Type: text/html\n\n" + "<script><title><!" * n),
    ),
    "mails in threads": (
        60,
        text(
            "a.mbox",
            lambda n: "".join(f"From a 1:00\nReferences: <{at}@x> <{at + 1}@x>\n\nx\n\n" for at in range(n)),
        ),
    ),
    "a mail, a long tag": (2000, text("a.mbox", lambda n: mail("text/html", "<" + "a" * n))),
    "Gemini, a long tag": (
        2000,
        text(
            "MyActivity.json",
            lambda n: json.dumps(
                [
                    {
                        "header": "Gemini Apps",
                        "title": "Prompted x",
                        "time": "2025-01-01T00:00:00Z",
                        "safeHtmlItem": [{"html": "<" + "a" * n}],
                    }
                ]
            ),
        ),
    ),
    "a heading of blanks": (2000, text("a.md", lambda n: f"Maya: a\nJonas: b\n# {' ' * n}x\n")),
    "a name of blanks": (2000, text("a.txt", lambda n: f"Maya: a\nJonas: b\nMaya: {' ' * n}\x0b\n")),
    "nested lists": (200, text("a.json", lambda n: "[" * n + "]" * n)),
}


LONG = (
    "a store of OpenCode's, sessions",
    "an archive, members that are named",
    "Discord, channels",
    "Zulip, files and people",
    "X, files and accounts",
    "Google Chat, people and messages",
    "WhatsApp, people",
    "SpecStory, blocks without an end",
    "Element, people",
    "a mail, parameters",
    "mails in threads",
)
"""Left to `make test-all`: a tenth of a second and more, by ways that others go too."""


def marks_of(kind: str) -> list[pytest.MarkDecorator]:
    return [*[NEEDS_311] * (" store " in kind), *[pytest.mark.fuzz] * (kind in LONG)]


def test_folders_in_folders_are_each_looked_up_once(tmp_path: Path) -> None:
    """By their whole paths, of which the system allows some thousand characters."""
    paths = [files(tmp_path / str(n), 1, "x/" * n) for n in (20, 40, 80)]
    read_all(paths[0])
    with working() as work:
        costs = [work(read_all, path) for path in paths]
    assert not growth([{name: n for name, n in cost.items() if name != "characters"} for cost in costs])
    assert [cost["scandir"] for cost in costs] == [21, 41, 81]
    assert max(cost["lstat"] for cost in costs) < 3 * 80


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=marks_of(kind)) for kind in KINDS])
def test_more_of_a_kind_costs_no_more_for_each(tmp_path: Path, kind: str) -> None:
    n, make = KINDS[kind]
    assert not grows(tmp_path, make, n)


HEADS = {
    "whatsapp": ("", "08/05/2023, 13:56 - Maya: ", "[08.05.23, 13:56:01] Maya: \u200e", "8/5/23, 1:56 PM"),
    "element": ("", "5/8/2023, 1:56:00 PM - Maya: ", "5/8/2023, 1:56:00 PM - "),
    "irc": ("", "13:56 <maya> ", "13:56 * maya ", "2023-05-08 13:56:01\t", "Session Start: "),
    "telegram-html": (
        *("<html>", '<html><div class="message default clearfix" id="message1">'),
        '<html><div class="message default clearfix" id="message1"><div class="text">',
    ),
    "gemini-html": (
        '<html><div class="outer-cell x"><p class="mdl-typography--title">',
        '<html><div class="outer-cell x"><p class="mdl-typography--title">Gemini</p><p class="body-1">a<br>',
        '<html><div class="outer-cell x"><p class="mdl-typography--body-1">a<br>2025-01-01 1:00:00<br>',
    ),
    "imessage": ("", "May 08, 2023  1:56:00 PM\nMaya\n", "May 08, 2023  1:56:00 PM "),
    "signal-text": (
        *("", "[2023-05-08 13:56:00] Maya: ", "[2023-05-08 13:56:00] "),
        *("[May 08, 2023 13:56:00] <Maya> ", "[May 08, 2023 13:56:00] *** <Maya> sent file "),
    ),
    "subtitles": ("", "WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n", "WEBVTT - "),
    "zoom": (
        "",
        "10:01:02 From a to Everyone:\n\t",
        "10:01:02 From ",
        "From a to Everyone:\n",
        "00:00:01\ta:\t",
    ),
    "kakaotalk": (
        "",
        "2023. 5. 8. 오후 1:56, a : ",
        "[a] [1:56 PM] ",
        'Date,User,Message\n2023-05-08 13:56:01,"a","',
    ),
    "line": ("", "[LINE] Chat history with a\n\n2023/05/08(Mon)\n13:56\ta\t", "2023.05.08 Monday\n13:56 a "),
    "sms-backup": ("", '<smses><sms body="', "<smses><mms "),
    "mbox": (
        *("", "From a 1:00\nSubject: x\n\n", "From a 1:00\nContent-Type: text/html\n\n"),
        *(f"From a 1:00\n{header}: " for header in ("Subject", "From", "References", "Content-Type")),
    ),
}
FILLS = (
    "1",
    "<a ",
    "\u200e<",
    "a: ",
    " ",
    "> On 1 wrote:",
    "[a](./",
    "“",
    '<a href="//x">',
    '<div class="text">',
)


@pytest.mark.parametrize("name", HEADS)
def test_a_line_without_a_break_is_looked_at_once(name: str) -> None:
    (known,) = (known for known in FORMATS if known.name == name)

    def read_line(source: Source) -> None:
        known.detect(source)
        assert all(True for _ in known.read(source))

    with working() as work:
        for head, fill in product(HEADS[name], FILLS):
            read_line(Source("export", f"{head}{fill * 9}\n"))  # what is loaded when it is asked for
            made = [Source("export", f"{head}{fill * (n // len(fill))}\n") for n in (500, 1_000, 2_000)]
            assert all(len(source.lines) >= 2 for source in made)
            assert not growth([work(read_line, one) for one in made]), (head, fill)


# Memory.


def peak(call: Callable[..., object], *given: object) -> int:
    """The most bytes that a call holds at a time."""
    tracemalloc.start()
    try:
        call(*given)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


MULTIPLE = 24
"""Bytes held for a byte of a page or of a document's XML: a line of one letter takes as many."""
BESIDE = 500_000
"""Bytes held beside that."""
TAGS = ("<div>", "<div class='answer'>", "a<p>", "<pre>\n")
PAGES: dict[str, Callable[[str], str]] = {
    "a.html": telegram,
    "text.html": lambda inside: telegram(f'<div class="text">{inside}'),
    "MyActivity.html": page,
    "a.mbox": lambda inside: f"From a 1:00\nSubject: x\nContent-Type: text/html\n\n{inside}",
}


MARKUP = ("<w:p/>", "<w:br/>", "<w:p><w:r><w:t>Maya: hi</w:t></w:r></w:p>", "<w:t>ab</w:t>")
SIZED = [*((name, page, tag) for (name, page), tag in product(PAGES.items(), TAGS))]
SIZED += [("a.docx", document, tag) for tag in MARKUP]


@pytest.mark.parametrize(("name", "make", "tag"), SIZED)
def test_a_page_or_a_document_takes_a_small_multiple_of_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, make: Callable[[str], str | bytes], tag: str
) -> None:
    monkeypatch.setattr(telegram_html, "_TAGS", 500)
    read_all(str(put(tmp_path, name, make(tag))))  # imports
    made = make(tag * (40_000 // len(tag)))
    assert peak(read_all, str(put(tmp_path, name, made))) < MULTIPLE * len(made) + BESIDE


def test_a_document_that_unpacks_to_far_more_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smartsearch.transcripts.archive.FREE", 100_000)
    monkeypatch.setattr(docx, "_BLOCK", 10_000)
    data = document("<w:p/>" * 50_000, packed=zipfile.ZIP_DEFLATED)
    path = put(tmp_path, "a.docx", data)
    put(tmp_path, "b.txt", CHAT)
    found = read([str(tmp_path)])
    assert [(skip.path, skip.kind) for skip in found.skipped] == [(str(path), "too_large")]
    assert len(found.turns) == 2
    assert peak(read_all, str(path)) < 600_000


def test_a_tag_without_an_end_is_not_looked_at_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docx, "_BLOCK", 10_000)
    monkeypatch.setattr(docx, "_TAG", 50_000)
    assert docx.text_of_docx(document(f'<w:p w:x="{"a" * 40_000}"/>')) == "\n"
    with pytest.raises(FormatError, match="unpacks to far more"):
        docx.text_of_docx(document(f'<w:p w:x="{"a" * 80_000}"/>'))
