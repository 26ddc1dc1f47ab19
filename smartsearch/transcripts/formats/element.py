"""A Matrix room as Element's "Export chat, Plain text" writes it: `5/8/2023, 1:56:00 PM - Maya: text`.

The stamp is the browser's own (`toLocaleString`), in local time and always with seconds, which WhatsApp's
never has. Events ("Maya joined the room") have no `Name:` and are left out; what a reply quotes
(`<Maya "the first words..."> `) is not its author's and is cut. An emote, `* Maya Reis waves`, is "waves" of
the longest name that has spoken above, else of its first word.

Source: element-hq/element-web, `src/utils/exportUtils/PlainTextExport.ts` and `src/TextForEvent.tsx`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from smartsearch.text.times import MARKS, STAMP, Orders, Stamp, changes
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.captions import bracketed, caption
from smartsearch.transcripts.formats.speakers import is_label
from smartsearch.transcripts.source import Source

_DETECT_LINES = 500
_NAME_LIMIT = 100
_OPENING = re.compile(rf"{STAMP}\s-\s", re.I)
_QUOTES = re.compile('["“”«»„]')
# Of what is quoted 32 characters are left; it may have any sign in it, a heart (<3) too.
_QUOTED = re.compile(r'<(?:@[^<>"\n]{1,200}|[^<>"\n]{1,200}(?= "))(?: "[^\n]{1,40}?")?> ')
_SENT = re.compile(
    r"(?P<name>[^\n]{1,100}?) sent an? (?P<kind>image|sticker|video|file|audio)\b\.?(?: \([^()]{4,60}\))?"
)
_FILE = re.compile(
    r"(?P<name>[^\n()]{1,200}) \((?:File Attached|Media omitted[^()]{0,40}|Error fetching file)\)"
)
_EXPORT = re.compile(r"(?P<brand>[^-]{1,40}) - (?P<room>.{1,200}) - Chat Export - \d{4}-\d{2}-\d{2}.*", re.S)


def detect(source: Source) -> bool:
    """Whether the first line begins with a stamp that has seconds, all stamps have them, and people speak."""
    first = source.first_line()
    if not first[:1].isdigit() or not _opening(first):
        return False
    openings = [here for line in source.lines[:_DETECT_LINES] if (here := _opening(line))]
    said = [name for _, name, _ in openings if name and not is_label(name)]
    seconds = all(stamp.seconds for stamp, _, _ in openings)
    return seconds and len(openings) > 1 and bool(said) and len(said) * 4 >= len(openings)


def _opening(line: str) -> tuple[Stamp, str, str] | None:
    """The stamp, the speaker ("" for an event) and the text of a line that begins with a stamp."""
    if not line[:1].isdigit() and line[:1] not in "\u200e\u200f":
        return None
    clean = line if line.isascii() else MARKS.sub("", line).replace("\u200e", "")
    found = _OPENING.match(clean)
    if not found:
        return None
    stamp, rest = Stamp.of(found), clean[found.end() :]
    name, colon, text = rest.partition(": ")
    if colon and len(name) <= _NAME_LIMIT and len(_QUOTES.findall(name)) % 2 == 0:
        return stamp, name.strip(), text
    return stamp, "", rest


def _stamp(line: str) -> Stamp | None:
    here = _opening(line)
    return here[0] if here else None


def read(source: Source) -> Iterator[Record]:
    """Turns in file order; a room's events are left out."""
    orders = Orders.of_numbers((stamp.numbers for stamp in changes(source.lines, _stamp)), american_year=4)
    conversation = _room(source)
    names: set[str] = set()
    for item, (stamp, name, first), below in source.opened(_opening):
        text = "\n".join([first, *(line.rstrip() for line in below)])
        who, said, shown_file = _said(name, text, names)
        names.add(who)
        if who:
            yield turn(
                source.path,
                item,
                text=said,
                speaker=who,
                time=stamp.iso(orders.of_stamp(stamp)),
                caption=shown_file,
                conversation=conversation,
            )


def _said(name: str, text: str, names: set[str]) -> tuple[str, str, str]:
    """Who said what, and the caption of a file; nobody where the line tells an event."""
    if not name:
        if sent := _SENT.fullmatch(text.strip()):
            return sent["name"], "", bracketed(sent["kind"])
        if text.startswith("* "):
            who = _who(text[2:], names)
            return who, text[len(who) + 3 :].strip(), ""
        return "", "", ""
    if file := _FILE.fullmatch(text.strip()):
        return name, "", caption(file["name"])
    return name, _own_words(text), ""


def _who(deed: str, names: set[str]) -> str:
    """The longest known name that an emote begins with, else its first word."""
    ends = (end for end in range(min(len(deed) - 1, _NAME_LIMIT), 0, -1) if deed[end] == " ")
    return next((deed[:end] for end in ends if deed[:end] in names), deed.partition(" ")[0])


def _own_words(text: str) -> str:
    """A reply without what it quotes: `<Maya "..."> ` or, in later versions, lines of `> `."""
    if quoted := _QUOTED.match(text):
        return text[quoted.end() :].strip()
    lines = text.split("\n")
    last = len(lines) - 1
    said = next((n for n, line in enumerate(lines[:last]) if not line.startswith(">")), last)
    return "\n".join(lines[said:]).strip()


def _room(source: Source) -> str:
    """The room's name by the file's name, or by the archive's around `export.txt`."""
    path = PurePath(source.path)
    name = path.parent.name.removesuffix(".zip") if source.stem == "export" else source.stem
    found = _EXPORT.fullmatch(name)
    return found["room"] if found else name or source.stem
