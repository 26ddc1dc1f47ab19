"""Chats in notes of Obsidian, a callout a message: `> [!user]+`, `> [!assistant] model`, as plugins do.

A heading above names the speaker, a `> [!metadata]` callout or the callout's own title may have the time,
`> [!tools]` what was called. Other callouts, but for reasoning, and text below a message belong to it.

Source: session notes of allenhutchison/obsidian-gemini (Gemini Scribe) in public vaults, and its
`src/agent/session-history.ts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from smartsearch.text.times import to_iso
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.speakers import role
from smartsearch.transcripts.formats.tool_calls import caption
from smartsearch.transcripts.source import Source

_DETECT_LINES = 500
_CALLOUT = re.compile(r"> ?\[!(?P<kind>[\w-]{1,40})\][+-]?[^\S\n]*(?P<title>.{0,200})$")
_HEADING = re.compile(r"#{1,6}\s+(?P<name>\S.{0,100}?)[\s#]*$")
_TIME = re.compile(r"\|\s{0,8}(?:Time|Date|Timestamp)\s{0,8}\|(?P<time>[^|]{4,80})\|", re.I)
_CALLED = re.compile(r"\W{0,8}`(?P<tool>[\w.:-]{1,100})`(?P<told>[^→]*)")
_REASONING = frozenset({"think", "thinking", "thought", "thoughts", "reasoning"})


def detect(source: Source) -> bool:
    """Whether callouts of a user and of an assistant are in the file's beginning."""
    kinds = (found["kind"] for line in source.lines[:_DETECT_LINES] if (found := _CALLOUT.match(line)))
    return {"user", "assistant"} <= set(map(role, kinds))


@dataclass
class _State:
    """The message being read and what the lines above it tell of it."""

    source: Source
    title: str = ""
    name: str = ""
    time: str = ""
    role: str = ""
    line: int = 0
    lines: list[str] = field(default_factory=list)
    captions: list[str] = field(default_factory=list)

    def close(self) -> Iterator[Record]:
        """The message so far, if there is one; calls with no answer yet wait for it."""
        text = "\n".join(self.lines).strip()
        if self.role or text:
            told = " ".join(self.captions) if self.role == "assistant" else ""
            self.captions = [] if told else self.captions
            said = self.name or self.role
            item = Item(None, self.line)
            about = {"role": self.role, "conversation": self.source.stem, "title": self.title}
            yield turn(self.source.path, item, text, said, self.time, told, **about)
        self.role, self.line, self.lines, self.name, self.time = "", 0, [], "", ""


def read(source: Source) -> Iterator[Record]:
    """A turn for each callout of a user or an assistant, in file order."""
    state = _State(source)
    for number, kind, title, lines in _blocks(source.lines):
        heading = _HEADING.match(lines[0]) if not kind else None
        if state.role and (role(kind) or kind == "metadata" or heading):
            yield from state.close()
        if role(kind):
            if state.lines and not state.name:
                yield from state.close()  # what stands above the first message is nobody's
            state.role, state.line, state.time = role(kind), number, to_iso(title) or state.time
            state.lines += lines
        elif kind == "metadata":
            state.time = next(
                (to_iso(found["time"].strip()) for line in lines if (found := _TIME.search(line))), ""
            )
        elif kind == "tools":
            calls = (_CALLED.match(line) for line in lines)
            state.captions += [caption(call["tool"], call["told"].strip()) for call in calls if call]
        elif heading and not state.title and lines[0].startswith("# "):
            state.title = heading["name"]
        elif heading:
            yield from state.close()
            state.name = heading["name"]
        elif kind not in _REASONING and lines[0].strip() not in ("", "---"):
            state.lines += [f"[!{kind}] {title}".strip(), *lines] if kind else lines
            state.line = state.line or number
    yield from state.close()


def _blocks(lines: Sequence[str]) -> Iterator[tuple[int, str, str, list[str]]]:
    """Each callout by the number of its first line, kind, title and lines; each other line by itself."""
    number = lines.index("---", 1) + 1 if lines[0] == "---" and "---" in lines[1:60] else 0
    while number < len(lines):
        first = number
        found = _CALLOUT.match(lines[number])
        number += 1
        if not found:
            yield number, "", "", [lines[first]]
            continue
        while number < len(lines) and lines[number].startswith(">") and not _CALLOUT.match(lines[number]):
            number += 1
        below = [line.removeprefix(">").removeprefix(" ").rstrip() for line in lines[first + 1 : number]]
        yield first + 1, found["kind"].casefold(), found["title"].strip(), below
