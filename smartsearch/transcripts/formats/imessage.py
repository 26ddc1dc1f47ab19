"""iMessage and SMS as imessage-exporter's `--format txt` writes them, a file a chat.

A message is a line with its time, a line with its sender, its text, and a blank line:

    May 08, 2023  1:56:00 PM (Read by you after 2 minutes)
    Maya Reis
    Are you there?

Replies stand twice: indented below what they answer, and again in their own place, which is the one that is
read. Tapbacks, effects, events and the exporter's notes are left out; of an edited message the last wording
is kept. Times are local, without an offset.

Source: ReagentX/imessage-exporter, `src/exporters/txt.rs` and, of late, `src/exporters/txt/mod.rs`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from smartsearch.text.times import to_iso
from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.captions import bracketed, caption
from smartsearch.transcripts.formats.form import Form
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_DETECT_LINES = 400
_TIME = r"[A-Z][a-z]{2} \d{2}, \d{4} {1,2}\d{1,2}:\d{2}:\d{2} [AP]M"
_HEAD = re.compile(rf"(?P<indent> {{0,40}})(?P<time>{_TIME})(?: \(Read by [^()\n]{{1,160}}\))?$")
_EVENT = re.compile(rf"{_TIME} \S")
_EDITED = re.compile(r"Edited .{1,60}? later: ")
_PATH = re.compile(r"(?:~/|/|[A-Za-z]:\\|attachments/|[\w .()-]{1,80}/)[^\n]{1,400}\.(?!\d+$)\w{2,5}$")
_STICKER = re.compile(r"(?:[A-Z][a-z]{1,12} )?Sticker from .{1,100}?(?:: | not found!)")
_EFFECT = re.compile(
    r"Sent with (?:Confetti|Echo|Fireworks|Balloons|Heart|Lasers|Shooting St\w+|Sparkles|Spotlight"
    r"|Slam|Loud|Gentle|Invisible Ink)"
)
_NOTES = frozenset(
    (
        *("This message responded to an earlier message.", "This message was deleted from the conversation!"),
        *("SharePlay Message", "Started sharing location!", "Stopped sharing location!"),
        "Unable to format announcement!",
    )
)
_NUMBERED = re.compile(r" - \d{1,9}$")  # a named group's file ends in its number
_MISSING = "Attachment missing!"
_TAPBACK = re.compile(r" {4}.{1,200}|.{1,80} by .{1,100}")
_UNSENT = re.compile(r".{1,100} (?:unsent (?:a message|this message part)|deleted a message)[.!]")


def detect(source: Source) -> bool:
    """Whether the first line is a time, alone or with an event, and a time alone has a sender below."""
    lines, first = source.lines[:_DETECT_LINES], source.first_line()
    if not (_HEAD.match(first) or _EVENT.match(first)):
        return False
    heads = [n for n, line in enumerate(lines) if _HEAD.match(line)]
    return any(n + 2 < len(lines) and lines[n + 1].strip() and not _HEAD.match(lines[n + 1]) for n in heads)


def _messages(source: Source) -> Iterator[Item]:
    """The messages as they stand, those indented in one behind it."""
    here: Item | None = None
    below: list[Item] = []
    for number, line in enumerate(source.lines, 1):
        head = _HEAD.match(line)
        event = _EVENT.match(line) and (
            not here or (here.value["lines"] and not source.lines[number - 2].strip())
        )
        if head and head["indent"] and here:
            below.append(_opened(number, head))
        elif (
            head or event
        ):  # an event stands alone after a blank line; an edited message begins so without one
            yield from [here, *below] if here else below
            here, below = _opened(number, head) if head else None, []
        elif here:
            into = (below[-1] if below and (line.startswith(" ") or not line.strip()) else here).value
            if not into["sender"] and line.strip():
                into["sender"] = line.strip()
            else:
                into["lines"].append(line)
    yield from [here, *below] if here else below


def _opened(number: int, head: re.Match[str]) -> Item:
    return Item({"indented": bool(head["indent"]), "time": head["time"], "sender": "", "lines": []}, number)


def _said(value: dict[str, Any], _: Any) -> tuple[str, str]:
    """The text and the captions of a message's lines."""
    texts: list[str] = []
    captions: list[str] = []
    reacting = False
    for line in value["lines"]:
        bare = line.strip()
        if bare in ("Tapbacks:", "Reactions:"):
            reacting = True
        elif reacting and (not bare or _TAPBACK.fullmatch(line)):
            continue
        elif bare in _NOTES or _EFFECT.fullmatch(bare) or _UNSENT.fullmatch(bare):
            continue  # what the exporter says of a message
        elif bare == _MISSING:
            captions.append(bracketed("file"))
        elif _STICKER.match(bare):
            captions.append(bracketed("sticker"))
        elif _PATH.fullmatch(bare):
            captions.append(caption(bare))
        else:
            reacting = False
            texts.append(line.rstrip())
    return _last_wording("\n".join(texts).strip()), " ".join(captions)


def _last_wording(text: str) -> str:
    """Of `time first words` and lines of `Edited 5 seconds later: words` the last words; else the text."""
    first = re.match(rf"{_TIME} ", text)
    if not first:
        return text
    edits = list(_EDITED.finditer(text))
    at = edits[-1].end() if edits else first.end()
    return text[at:].strip()


_FORM = Form(
    items=_messages,
    about=lambda _, __, all_: {_placed(one.value) for one in all_ if not one.value["indented"]},
    text=_said,
    speaker="sender",
    time=lambda value, _: to_iso(value["time"]),
    skip=lambda value, placed: value["indented"] and _placed(value) in placed,
)


def _placed(value: dict[str, Any]) -> tuple[str, str]:
    return value["time"], value["sender"]


def read(source: Source) -> Iterator[Record]:
    """Turns in file order."""
    yield from _FORM.read(source, _NUMBERED.sub("", source.stem))
