"""HTML that no other reader takes: its text by the grammar of text chats, or nothing, and what to do.

A page that is no chat as text is not read: what it says stands among menus and lists. What names a page's
maker is in its markup: classes of Tyrrrz/DiscordChatExporter's templates, of Facebook's and Instagram's
download, of Google's My Activity, as their parsers in public repositories use them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from smartsearch.text.htmltext import lines_of
from smartsearch.transcripts.explained import swallowed
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats import chat
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

_OPENINGS = ("<!doctype html", "<html")
_HEAD = 1 << 18
"""Characters in which a page shows whose it is, and what: style sheets stand before what they are for."""
_MAKERS = (
    ("chatlog__", "DiscordChatExporter's HTML; export the channel with format JSON"),
    ("_a6-g", "Facebook's or Instagram's HTML; download your information with format JSON"),
    ("_3-95", "Facebook's or Instagram's HTML; download your information with format JSON"),
    ("outer-cell mdl-cell", "Google's My Activity, and nothing of Gemini Apps in it"),
    ("Exported Data", "Telegram's HTML, and no messages in it; export the chat with format JSON"),
)
_UNKNOWN = "an HTML page of no known chat; export the chat as JSON or text"


def is_html(source: Source) -> bool:
    """Whether a file is an HTML page, by its name or by how it begins."""
    return source.suffix in (".html", ".htm") or source.text[:500].lstrip().lower().startswith(_OPENINGS)


detect = is_html
"""Only asked about what no reader of a kind of HTML claims."""


def told(source: Source) -> str:
    """The head that was inferred from the page's text; "" for none."""
    return chat.told(_page(list(lines_of(source.text)), source))


def read(source: Source) -> Iterator[Record]:
    """The turns of the page's text on the lines where they stand; else a fault that says what to export."""
    head = source.text[:_HEAD]
    page, made = _page(list(lines_of(head)), source), [said for mark, said in _MAKERS if mark in head]
    cited = "<cite>" in head and chat.detect(page)  # as transcripts of podcasts are
    if made or not (cited or chat.is_stamped(page)):
        yield FormatError(next(iter(made), _UNKNOWN), kind="unrecognised_html")
        return
    lines = list(lines_of(source.text))
    page = _page(lines, source)
    records = list(chat.read(page))
    turns = [record for record in records if isinstance(record, Turn)]
    if len({turn.speaker for turn in turns} - {""}) < 2:  # a programme, a list of news
        yield FormatError(_UNKNOWN, kind="unrecognised_html")
        return
    odd = swallowed(replace(page, path=""), turns, lambda number: lines[number - 1][1])
    times = [turn.time for turn in turns if turn.time]
    if times and times[0] > times[-1] and all(one >= later for one, later in pairwise(times)):
        turns.reverse()  # the latest stood first
    for turn in turns:
        yield replace(turn, line=lines[turn.line - 1][1])
    yield from (record for record in records if isinstance(record, FormatError) and record.kind == "no_text")
    if odd:
        yield FormatError(odd, kind="notice")


def _page(lines: Sequence[tuple[str, int]], source: Source) -> Source:
    return replace(source, text="\n".join(line for line, _ in lines))
