"""Text without colour: one line per turn for pipes, the block for a prompt, Markdown. Pure: strings out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smartsearch.types import Hit, Nearby, Result, Turn

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters but tab and newline: in a transcript they could drive the terminal it is shown on."""

ABSENT = 3
"""The most absent words listed."""

_JOINED = (
    "[\u0600-\u08ff\u0900-\u109f\u1780-\u18af\u2190-\u2bff\u3030\u303d"
    "\ufb50-\ufefc\ufe0f\U0001f000-\U0001faff]"
)
UNSEEN = re.compile(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    f"|(?<!{_JOINED})[\u200c\u200d]|[\u200c\u200d](?!{_JOINED})|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]"
)
"""Characters that show nothing: they reverse the direction of text, split a word, or carry hidden words.

Joiners between emoji, or between letters of scripts that join, do not count; alone they do.
"""

BREAKS = re.compile("\r\n|[\u2028\u2029]")
"""Line ends other than `\\n`, which readers treat differently."""


def safe(text: str) -> str:
    """`text` with control characters spelt out (`\\x1b`), without unseen ones; newlines, tabs kept."""
    whole = UNSEEN.sub("", BREAKS.sub("\n", text))
    return CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", whole)


def shown_path(path: str) -> str:
    """A file's name on one line, with deceptive characters spelt out."""
    return one_line(UNSEEN.sub(lambda match: escaped(match[0]), path))


def escaped(character: str) -> str:
    """A character as Python and JSON write it: `\\u202e`; beyond four digits `\\U000e0041`."""
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"


def seen(text: str) -> str:
    """`text` for a person's eyes: as `safe`, any line ending a newline."""
    return safe(text.replace("\r\n", "\n").replace("\r", "\n"))


def one_line(text: str) -> str:
    """`text` on one line: newlines as `\\n`, control characters spelt out."""
    return seen(text).replace("\n", "\\n")


def where(turn: Turn, mark: str = ":") -> str:
    """`path:line` or, in a format without lines, `path#pointer`."""
    path = shown_path(turn.path)
    if turn.line:
        return f"{path}{mark}{turn.line}"
    return f"{path}#{one_line(turn.pointer)}" if turn.pointer else path


def turn_line(turn: Turn, mark: str = ":") -> str:
    """`path:line:[date] speaker: text`; context has `-` for the mark, as grep does it."""
    return f"{where(turn, mark)}{mark}{one_line(turn.rendered)}"


def lines(hits: Sequence[Hit], nearby: Sequence[Nearby] | None = None) -> Iterator[str]:
    """One line per turn in rank order; with context, `--` between the groups."""
    from smartsearch.types import Nearby

    for n, hit in enumerate(hits):
        around = nearby[n] if nearby else Nearby(0)
        if nearby and n:
            yield "--"
        yield from (turn_line(turn, "-") for turn in around.before)
        yield turn_line(hit.shown)
        yield from (turn_line(turn, "-") for turn in after(hit, around))


def after(hit: Hit, around: Nearby) -> tuple[Turn, ...]:
    """The turns shown behind a hit: its context, or else its reply."""
    return around.after or ((hit.reply.shown,) if hit.reply else ())


def told(answer: Result) -> tuple[str, ...]:
    """The notes beside the hits: that they are weak, warnings, and stages left out."""
    weak = [weakness(answer)] if answer.weak and answer.hits else []
    return (*weak, *answer.warnings, *answer.trace.degraded)


def weakness(answer: Result) -> str:
    """The note of a weak answer."""
    return f"{unsaid(answer) or 'nothing answers this well'}: these are the nearest"


def unsaid(answer: Result) -> str:
    """A note of the question's weightiest words that no turn contains; empty if all are found.

    A warning names a word that others were searched for, unless they are forms of it.
    """
    mended = {term.source for term in answer.trace.terms if term.kind == "FUZZY"}
    absent = [term for term in answer.trace.absent if term.text not in mended]
    most = max((term.weight for term in absent), default=0.0)
    words = [f"'{one_line(term.text)}'" for term in absent if term.weight == most]
    who = "nothing that passes the filters" if answer.filters.keys() - {"speaker"} else "nothing"
    return f"{who} says {' or '.join(words[:ABSENT])}" if words else ""


def files(hits: Sequence[Hit]) -> list[str]:
    """The paths of hits that hold a term, or of all hits if none does; best first, each once."""
    matching = [hit for hit in hits if hit.terms] or hits
    return list(dict.fromkeys(shown_path(hit.turn.path) for hit in matching))


def context(
    hits: Sequence[Hit], nearby: Sequence[Nearby], measures: Sequence[str] = (), weak: str = ""
) -> Iterator[str]:
    """The block for a prompt: sessions by their best hit, turns within in the order they were said.

    The note on a `weak` answer is the first line, after `# `.

    A turn that is only there as context is marked `(nearby)`. A turn's further lines are indented, so
    that they cannot pass for turns. `measures` write it shorter (compress.py).
    """
    from smartsearch.rank.compress import legend, writing

    if weak:
        yield f"# {weak}"
    sessions: dict[tuple[str, str, str], dict[int, tuple[Turn, bool]]] = {}
    for hit, around in zip(hits, nearby, strict=True):
        turns = sessions.setdefault((hit.turn.path, hit.turn.conversation, hit.turn.session), {})
        first = around.index - len(around.before)
        for offset, turn in enumerate((*around.before, hit.shown, *around.after)):
            own = first + offset == around.index
            if own or first + offset not in turns:
                turns[first + offset] = (turn, own)
        if hit.reply:
            turns[hit.reply.index] = (hit.reply.shown, True)
    every = [turn for turns in sessions.values() for turn, _ in turns.values()]
    short = writing(every, measures)
    if short.short:
        yield one_line(legend(short.short))
        yield ""
    for number, turns in enumerate(sessions.values()):
        ordered = [turns[index] for index in sorted(turns)]
        if number:
            yield ""
        yield f"## {header(ordered[0][0])}"
        date = ordered[0][0].date
        for turn, own in ordered:
            if short.dates and turn.date != date:
                date = turn.date
                yield f"[{date}]" if date else "[no date]"
            said = in_block(short.line(turn), stamped=bool(turn.time) and not short.dates)
            yield said if own else f"(nearby) {said}"


_OURS = re.compile(r"\s*[#(\[\\]")


def in_block(rendered: str, *, stamped: bool) -> str:
    """A turn for the block of a prompt: further lines are indented, so that they cannot pass for turns.

    A turn without our date that begins as our own lines do (`##`, `[`, `(nearby)`) gets a backslash.
    """
    said = safe(rendered).replace("\n", "\n  ")
    ours = not stamped and _OURS.match(unicodedata.normalize("NFKC", said[:80]))
    return f"\\{said}" if ours else said


def header(turn: Turn) -> str:
    """`conversation conv-26, session session_1, 2023-05-08`, or the path where the source has no ids."""
    named = {"conversation": turn.title or turn.conversation, "session": turn.session}
    parts = [f"{name} {value}" for name, value in named.items() if value]
    return one_line(", ".join([*(parts or [shown_path(turn.path)]), *([turn.date] if turn.time else [])]))


def markdown(answer: Result, nearby: Sequence[Nearby] | None = None) -> Iterator[str]:
    """A heading with the question and a numbered list of quotes with their places."""
    from smartsearch.types import Nearby

    yield f"# {unmarked(one_line(answer.query))}"
    for n, hit in enumerate(answer.hits):
        turn = hit.shown
        said_by = f"**{unmarked(one_line(turn.speaker))}**" if turn.speaker else "**turn**"
        stamp = f", {unmarked(one_line(turn.date))}" if turn.time else ""
        identity = f" ({unmarked(one_line(turn.turn))})" if turn.turn else ""
        yield f"\n{hit.rank}. {said_by}{stamp}, {code(where(turn))}{identity}\n"
        around = nearby[n] if nearby else Nearby(0)
        for other in around.before:
            yield quoted(f"(nearby) {other.rendered}") + "\n   >"
        yield quoted(turn.captioned)
        for other in after(hit, around):
            yield "   >\n" + quoted(f"(nearby) {other.rendered}")


def quoted(text: str) -> str:
    """`text` as a Markdown quote inside a list item."""
    return "\n".join(f"   > {line}" for line in unmarked(safe(text)).split("\n"))


_MARKUP = re.compile(r"<(?=[A-Za-z/!?])|(?<=!)\[|(?<=\])[(:]")


def unmarked(text: str) -> str:
    """`text` in which Markdown finds no HTML, no image and no link: nothing runs, nothing is loaded.

    The `<` of a tag as an entity, for a backslash in front of ours would undo one.
    """
    return _MARKUP.sub(lambda found: "&lt;" if found[0] == "<" else f"\\{found[0]}", text)


def code(text: str) -> str:
    """`text` between backticks, more of them than it holds."""
    most = max(map(len, re.findall("`+", text)), default=0)
    fence, pad = "`" * (most + 1), " " if most else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def counted(number: int, noun: str) -> str:
    """`1 turn`, `1,234 turns`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def clipped(text: str, most: int) -> str:
    """`text` in `most` characters, its beginning."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines, each column as wide as its widest cell."""
    widths = [max(cells(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(
            cell + " " * (width - cells(cell)) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in rows
    ]


def wrapped(row: Sequence[str], width: int) -> list[str]:
    """The cells of a row in lines of `width` columns, those after the first indented; no cell is broken."""
    lines: list[str] = []
    for cell in filter(None, row):
        if lines and cells(lines[-1]) + 2 + cells(cell) <= width:
            lines[-1] += f"  {cell}"
        else:
            lines.append(f"    {cell}" if lines else cell)
    return lines


def cells(text: str) -> int:
    """Columns that `text` takes on a terminal: two for an ideograph or emoji, none for a combining mark."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
