"""Every format there is, and the one place that decides which of them a file is in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import overload

from smartsearch.errors import InputError
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Format
from smartsearch.transcripts.source import Source

# In both lists the most particular first: the first that claims a file reads it. A new format is a file and
# a line here. The readers are imported when a file of their kind is met: their patterns take time to compile.


@cache
def json_formats() -> tuple[Format, ...]:
    """The formats that are made of JSON."""
    from smartsearch.transcripts.formats import (
        beam,
        chatgpt,
        claude_ai,
        claude_code,
        codex,
        discord,
        gemini_activity,
        gemini_cli,
        locomo,
        longmemeval,
        matrix,
        messenger,
        sidecars,
        signal,
        signal_export,
        sigtop,
        slack,
        telegram,
    )
    from smartsearch.transcripts.large import messages

    return (
        locomo.FORMAT,
        longmemeval.FORMAT,
        beam.FORMAT,
        slack.LISTS,
        slack.FORMAT,
        discord.FORMAT,
        telegram.FORMAT,
        matrix.FORMAT,
        messenger.FORMAT,
        signal.FORMAT,
        signal_export.FORMAT,
        sigtop.FORMAT,
        chatgpt.FORMAT,
        claude_ai.FORMAT,
        claude_code.FORMAT,
        codex.FORMAT,
        gemini_cli.FORMAT,
        gemini_activity.FORMAT,
        messages.FORMAT,
        sidecars.FORMAT,
    )


@cache
def text_formats() -> tuple[Format, ...]:
    """The formats that are not; prose, the last, is any text."""
    from smartsearch.transcripts.formats import (
        chat,
        element,
        imessage,
        irc,
        mbox,
        prose,
        signal_markdown,
        signal_text,
        subtitles,
        whatsapp,
    )

    return (
        mbox.FORMAT,
        subtitles.FORMAT,
        imessage.FORMAT,
        signal_text.FORMAT,
        signal_markdown.FORMAT,
        whatsapp.FORMAT,
        element.FORMAT,
        irc.FORMAT,
        chat.FORMAT,
        prose.FORMAT,
    )


class _Every(Sequence[Format]):
    """All formats, imported when somebody looks."""

    def __len__(self) -> int:
        return len(json_formats()) + len(text_formats())

    @overload
    def __getitem__(self, index: int) -> Format: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Format]: ...
    def __getitem__(self, index: int | slice) -> Format | Sequence[Format]:
        """The format, or formats, at `index`."""
        return (*json_formats(), *text_formats())[index]


FORMATS: Sequence[Format] = _Every()


def detect(source: Source) -> Format:
    """The format of a file. Raises FormatError `invalid_json`, or `unrecognised_json` with its outline."""
    for known in json_formats() if source.json.items else text_formats():
        if known.detect(source):
            return known
    names = ", ".join(known.name for known in json_formats() if not known.silent)
    message = f"JSON of no known chat format: {_outline(source)} (known: {names})"
    raise FormatError(message, kind="unrecognised_json")


def by_name(name: str) -> Format | None:
    """The format called `name`, None for `auto`. Raises InputError for a name that is none of them."""
    if name == "auto":
        return None
    for known in FORMATS:
        if known.name == name:
            return known
    names = ", ".join(["auto", *(known.name for known in FORMATS)])
    raise InputError(f"unknown input format {name!r}", hint=f"use one of: {names}", kind="unknown_format")


def _outline(source: Source) -> str:
    """What stands at the top of a JSON file: `a list of 3, the first an object with id, mapping`."""
    value = source.json.items[0].value
    if isinstance(value, list):
        return f"a list of {len(value):,}, the first {_shape(value[0])}" if value else "an empty list"
    return _shape(value)


def _shape(value: object) -> str:
    if isinstance(value, dict):
        keys = [str(key)[:40] for key in list(value)[:6]]
        more = ", ..." if len(value) > 6 else ""
        return f"an object with {', '.join(keys)}{more}" if keys else "an empty object"
    return f"a {type(value).__name__}"
