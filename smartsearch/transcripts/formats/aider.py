"""Aider's `.aider.chat.history.md`: prompts as `#### text`, its own messages as `> text`, answers bare.

Every run of the program appends `# aider chat started at 2025-05-23 16:51:58`: a session, and the day of its
turns. Aider ends the lines of a prompt and the last line of a message with two spaces; answers, which may
have such headings and quotations too, end theirs with none. A file in which some tool has cut these spaces is
read by the beginnings of lines alone. What aider says itself (edits, commits, output of commands) is a turn
of the role `tool`; a message of several lines has `> ` before its first alone.

Source: Aider-AI/aider, `aider/io.py` and `split_chat_history_markdown` of `aider/utils.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.agent_log import Event, Place, Returned, Said, turns
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_START = re.compile(r"# aider chat started at \d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\s*$")
_NAME = ".aider.chat.history"
_LONG = 2000  # lines of one message: output of a command
_STARTED, _PROMPT, _MESSAGE, _ANSWER = "# aider chat started at ", "#### ", "> ", ""


def detect(source: Source) -> bool:
    """Whether the first line tells when aider was started, or the file is named and begins as aider's are."""
    first = source.first_line()
    return bool(_START.match(first)) or (source.stem == _NAME and first.startswith((_PROMPT, _MESSAGE)))


def read(source: Source) -> Iterator[Record]:
    """A turn for each prompt, for each run of aider's messages and for each answer."""
    yield from turns(source.path, "", _events(source))


def _events(source: Source) -> Iterator[Event]:
    session = ""
    conversation = source.folder if source.stem == _NAME else source.stem
    for kind, first, block in _blocks(source.lines):
        if kind == _STARTED:
            session = block[0].removeprefix(_STARTED).strip()
            continue
        text = "\n".join(line.removeprefix(kind).rstrip() for line in block).strip()
        first += next((at for at, line in enumerate(block) if line.strip()), 0)
        place = Place(Item(None, first), session[:10], conversation, session=session)
        if text and kind == _MESSAGE:
            yield Returned("", text, "", place, "aider")
        elif text and text != "<blank>":
            yield Said("user" if kind == _PROMPT else "assistant", text, "", place)


def _blocks(lines: Sequence[str]) -> Iterator[tuple[str, int, list[str]]]:
    """Lines of one kind, their beginning and the first one's number; a blank line ends a prompt."""
    spaced = any(line.startswith(_PROMPT) and line.endswith("  ") for line in lines)
    kind, block, message = _ANSWER, list[str](), 0
    written = False  # there is more in the block than empty lines
    for number, line in enumerate(lines, 1):
        own = _MESSAGE if number <= message else _kind(line, spaced)
        if own == _MESSAGE and spaced and number > message and not line.endswith("  "):
            message = _end(lines, number) if kind != _ANSWER or not written else 0
            own = _MESSAGE if message else _ANSWER
        blank = not line.strip()
        if block and (kind == _STARTED or (kind == _PROMPT if blank else own != kind)):
            yield kind, number - len(block), block
            kind, block, written = _ANSWER, [], False
        kind = kind if blank and block else own
        written = written or bool(line)
        block.append(line)
    yield kind, len(lines) + 1 - len(block), block


def _kind(line: str, spaced: bool) -> str:
    """What a line begins with, of those beginnings that mean something."""
    if _START.match(line):
        return _STARTED
    if line.startswith(_PROMPT) and (line.endswith("  ") or not spaced):
        return _PROMPT
    return _MESSAGE if line.startswith(_MESSAGE) else _ANSWER


def _end(lines: Sequence[str], number: int) -> int:
    """The last line of a message of several, which ends with two spaces, or 0 if it has none."""
    for at in range(number + 1, min(number + _LONG, len(lines)) + 1):
        line = lines[at - 1]
        if _START.match(line) or line.startswith(_PROMPT):
            return 0
        if line.endswith("  "):
            return at
    return 0
