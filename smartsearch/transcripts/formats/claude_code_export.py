"""What Claude Code's `/export` writes, a session as a terminal shows it: `❯ prompt`, `⏺ answer`, `⎿ result`.

Older versions have `> ` before a prompt, some systems `●` before an answer; lines below stand two columns in.
An answer's block that has a result, or reads `Name(arguments)`, is a tool call. Left out: the banner,
thinking (`∴`, `✻ Thinking`), how long an answer took and recaps (`※`). Lines are wrapped and results cut;
there are no times.

Source: exports of versions 2.0 and 2.1 in public repositories, such as sflicker/claudec99, `docs/sessions`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.agent_log import Called, Event, Place, Returned, Said, turns
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_DETECT_LINES = 500
_HEAD = 400  # characters of a banner
_PROMPTS, _ANSWERS, _ASIDES, _RESULT = frozenset("❯>"), frozenset("⏺●"), frozenset("✻✢✳✶✽∴※"), "⎿"
_ANSWER = "⏺"
_BANNER = re.compile(r"[\s▐▝▛▜█▌╭╮│╰─*✻▘]{1,90}(?:Welcome to )?Claude Code\b")
_BLOCK = re.compile(rf"(?P<sign>[{''.join(_PROMPTS | _ANSWERS | _ASIDES)}])(?:\s(?P<text>.*))?$")
_RETURNED = re.compile(rf"\s{{2,6}}{_RESULT}(?P<text>.*)$")
_CALL = re.compile(r"(?P<tool>[\w.:-]{2,80}(?: - [\w.:-]{1,80})?(?: \(MCP\))?)\((?P<arguments>.*)", re.S)
_FOLDED = re.compile(r"\s*(?P<what>\S.{0,200}?) \(ctrl\+[a-z] to expand\)$")


def detect(source: Source) -> bool:
    """Whether a banner or a prompt begins the file, and answers and what only a terminal has follow."""
    lines = source.lines[:_DETECT_LINES]
    signs = {found["sign"] for line in lines if (found := _BLOCK.match(line))}
    if not signs & _ANSWERS:
        return False
    if _BANNER.match(source.text[:_HEAD]):
        return True
    ours = bool(signs & {"⏺", "❯"}) or any(map(_RETURNED.match, lines))
    return ours and bool(signs & _PROMPTS) and _BLOCK.match(source.first_line()) is not None


def read(source: Source) -> Iterator[Record]:
    """Turns in file order; what stands above the first of them is the banner."""
    yield from turns(source.path, "", _events(source))


def _events(source: Source) -> Iterator[Event]:
    for call, (number, sign, lines) in enumerate(_blocks(source.lines), 1):
        place = Place(Item(None, number), "", source.stem)
        said, results = _parts(lines)
        if sign in _ASIDES:
            continue
        if sign in _PROMPTS:
            if said:
                yield Said("user", said, "", place)
        elif results or _CALL.fullmatch(said):
            yield _called(said, str(call), place)
        else:
            yield from _answered(said, place)
        for first, text in results:
            yield Returned(str(call), text, "", place._replace(item=Item(None, number + first)))


def _blocks(lines: Sequence[str]) -> Iterator[tuple[int, str, list[str]]]:
    """Each block's first line by number, its sign and its lines; those of the program's asides end early."""
    prompts = {"❯"} if any(line.startswith("❯ ") for line in lines) else _PROMPTS
    number, sign, block = 0, "", list[str]()
    for at, line in enumerate(lines, 1):
        found = _BLOCK.match(line)
        if found and (found["sign"] not in _PROMPTS or found["sign"] in prompts):
            if sign:
                yield number, sign, block
            number, sign, block = at, found["sign"], [found["text"] or ""]
        elif sign in _ASIDES and sign != "∴" and line.strip() and not block[-1].strip():
            number, sign, block = at, _ANSWER, [line]  # folded calls below how long the last turn took
        elif sign in _PROMPTS and line.startswith("  ") and not (block[-1] or _RETURNED.match(line)):
            yield number, sign, block
            number, sign, block = at, _ANSWER, [line]
        else:
            block.append(line)
    if sign:
        yield number, sign, block


def _parts(lines: Sequence[str]) -> tuple[str, list[tuple[int, str]]]:
    """What a block says, and the results in it with the line each begins at."""
    said, results = list[str](), list[tuple[int, list[str]]]()
    for at, line in enumerate(lines):
        if found := _RETURNED.match(line):
            results.append((at, [found["text"].lstrip()]))
        elif results:
            results[-1][1].append(line.removeprefix("     "))
        else:
            said.append(line.removeprefix("  "))
    told = [(at, _joined(lines)) for at, lines in results]
    return _joined(said), [(at, text) for at, text in told if text]


def _joined(lines: Sequence[str]) -> str:
    return "\n".join(line.rstrip() for line in lines).strip()


def _called(said: str, call: str, place: Place) -> Event:
    found = _CALL.fullmatch(said)
    if not found:
        return Called(" ".join(said.split()), None, call, place)
    told = " ".join(filter(None, map(str.strip, found["arguments"].split("\n")))).removesuffix(")")
    return Called(found["tool"], {"command": told}, call, place)


def _answered(said: str, place: Place) -> Iterator[Event]:
    """An answer; its lines that stand for folded calls are captions."""
    lines = said.split("\n")
    folded = [found["what"] for line in lines if (found := _FOLDED.match(line))]
    text = _joined([line for line in lines if not _FOLDED.match(line)])
    if text:
        yield Said("assistant", text, "", place)
    for what in folded:
        yield Called(what, None, "", place)
