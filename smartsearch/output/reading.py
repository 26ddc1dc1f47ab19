"""Prints opened turns on a terminal: a heading per session, a bar beside the turns asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import groupby

from rich.text import Text

from smartsearch.output import opened as words
from smartsearch.output import stream, terminal
from smartsearch.output.opened import Opened
from smartsearch.output.plain import counted, header, one_line, seen, shown_path, where
from smartsearch.output.show import NOTES, View, draw, left_out, link_template
from smartsearch.transcripts.outline import Session
from smartsearch.transcripts.places import Excerpt
from smartsearch.types import Turn

BAR, ASKED = "┃ ", "bold yellow"
INDENT = "  "


def show(found: Opened, view: View) -> None:
    """Print what was opened, in the format asked for; what was missing or went wrong to standard error."""
    _print(found, view)
    for lost in found.missing:
        near = "" if lost.nearest is None else f"; the nearest is {where(lost.nearest)}"
        stream.talk(f"{one_line(lost.place)}: {lost.reason}{near}")
    if not view.quiet:
        stream.warn_of([*found.warnings, *left_out(found.skipped, view.named)], NOTES)


def _print(found: Opened, view: View) -> None:
    if view.format == "json":
        stream.write_json(words.result(found))
    elif view.format == "context":
        stream.write(words.context(found))
    elif not sys.stdout.isatty() and not stream.coloured(view.color) and not stream.linked(view.hyperlinks):
        stream.write(words.lines(found))
    else:
        _draw(found, view)


def _draw(found: Opened, view: View) -> None:
    template = link_template(view.hyperlinks)
    screen = terminal.console(colour=stream.coloured(view.color), linked=template is not None)
    for n, excerpt in enumerate(found.excerpts):
        draw(screen, [Text()] if n else [])
        draw(screen, _excerpt(excerpt, screen, template))
    draw(screen, _contents(found, template))


def _excerpt(excerpt: Excerpt, screen: terminal.Screen, template: str | None) -> Iterator[Text]:
    """A heading with the file, then each turn: who, when and the line on a line, what was said below."""
    first = excerpt.turns[0]
    file = terminal.linked(shown_path(first.path), first, template)
    file.stylize("dim")
    yield Text.assemble((header(first), "bold"), "  ", file)
    for turn, asked in zip(excerpt.turns, excerpt.asked, strict=True):
        yield Text()
        said = Text(seen(turn.captioned))
        head = _head(turn, first.date, template)
        for line in (head, *said.wrap(screen, max(screen.width - 2 * len(INDENT), 1))):
            line.rstrip()
            margin = Text(BAR, style=ASKED) if asked else Text(INDENT)
            yield Text.assemble(margin, line if line is head else Text.assemble(INDENT, line))


def _head(turn: Turn, day: str, template: str | None) -> Text:
    head = Text(one_line(turn.speaker), style="bold green")
    clock = turn.time[11:16]
    if turn.time and (clock or turn.date != day):
        stamp = clock if turn.date == day else f"{turn.date} {clock}".strip()
        head = Text.assemble(head, "  " if turn.speaker else "", (one_line(stamp), "cyan"))
    place = terminal.linked(
        f":{turn.line}" if turn.line else one_line(turn.turn or turn.pointer), turn, template
    )
    place.stylize("dim")
    return Text.assemble(head, "  " if head.plain and place.plain else "", place)


def _contents(found: Opened, template: str | None) -> Iterator[Text]:
    """Files, their conversations and the sessions of these, with what opens each."""
    for path, conversations in groupby(found.conversations, key=lambda c: c.path):
        file = terminal.linked(shown_path(path), Turn("", path=path), template)
        file.stylize("bold")
        yield file
        for conversation in conversations:
            name = one_line(conversation.title or conversation.name)
            told = Text.assemble(INDENT, (name, "bold green"), f"  {words.spanned(conversation.span)}")
            if len(conversation.sessions) == 1 and not conversation.sessions[0].name:
                yield Text.assemble(told, "  ", _opens(conversation.sessions[0], template))
                continue
            yield told
            for session in conversation.sessions:
                days = "" if session.name == session.span.first[:10] else words.days(session.span)
                told = Text.assemble(INDENT * 2, (one_line(session.name), "cyan"))
                for part in (counted(session.span.turns, "turn"), days):
                    told.append(f"  {part}" if part else "")
                yield Text.assemble(told, "  ", _opens(session, template))


def _opens(session: Session, template: str | None) -> Text:
    place = terminal.place(session.start, template)
    place.stylize("dim")
    return place
