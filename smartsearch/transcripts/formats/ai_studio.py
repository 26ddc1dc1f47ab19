"""Google AI Studio's prompts as Drive keeps them: `chunkedPrompt` with `chunks`, a file a chat.

Structure from chats that were saved in public repositories and the samples of Sinity/polylogue
(tests/data/gemini_chunked_prompt). Left out: thoughts, settings, and what was typed but not sent. Code that
the model ran is text, and what came of it a turn of the tool.
"""

from __future__ import annotations

from collections.abc import Iterator

from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.agent_log import Event, Place, Returned, Said, no_object, turns
from smartsearch.transcripts.formats.captions import attachment, joined
from smartsearch.transcripts.formats.fields import mapping, objects, string
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_ROLES = {"user": "user", "model": "assistant"}
_FILES = {
    **dict.fromkeys(("driveDocument", "inlineFile", "inlineData", "fileData"), ""),
    **dict.fromkeys(("driveImage", "inlineImage"), "image/"),
    **dict.fromkeys(("driveVideo", "inlineVideo", "youtubeVideo"), "video/"),
    **dict.fromkeys(("driveAudio", "inlineAudio"), "audio/"),
}
"""Keys of files in a chunk, with the media type that each stands for."""


def claims(value: object) -> bool:
    """Whether a value is a prompt with chunks."""
    return isinstance(mapping(value, "chunkedPrompt").get("chunks"), list)


def read(source: Source) -> Iterator[Record]:
    """Turns in the order of the chunks, the system's instruction first."""
    for item in source.items():
        if not claims(item.value):
            yield item.fault("no `chunkedPrompt` with `chunks` here")
            continue
        name = string(item.value, "id") or source.stem
        title = string(item.value, "displayName", "title")
        yield from turns(source.path, title, _events(item, name))


def _events(item: Item, name: str) -> Iterator[Event]:
    if system := _text(mapping(item.value, "systemInstruction")):
        place = Item(None, item.line, f"{item.pointer}/systemInstruction")
        yield Said("system", system, "", Place(place, None, name))
    for chunk in item.elements("chunkedPrompt", "chunks"):
        yield from _chunk(chunk, name)


def _chunk(item: Item, name: str) -> Iterator[Event]:
    value = item.value
    role = _ROLES.get(string(value, "role"), "")
    if not isinstance(value, dict) or not role:
        yield item.fault("a chunk of no known `role`") if isinstance(value, dict) else no_object(item)
        return
    if value.get("isThought") is True:
        return
    place = Place(item, value.get("createTime"), name, string(value, "id"))
    code = string(mapping(value, "executableCode"), "code")
    files = [_file(key, held) for key, held in value.items() if key in _FILES and isinstance(held, dict)]
    text = "\n".join(filter(None, (_text(value), code)))
    yield Said(role, text, joined([*files, "[code]" if code else ""]), place)
    if output := string(mapping(value, "codeExecutionResult"), "output"):
        yield Returned("", output, "", place, "code")


def _text(value: dict[str, object]) -> str:
    """The text of a chunk, else of its parts that are no thoughts."""
    parts = [string(part, "text") for part in objects(value, "parts") if part.get("thought") is not True]
    return string(value, "text") or "".join(parts)


def _file(key: str, held: dict[str, object]) -> str:
    return attachment(string(held, "name", "displayName"), string(held, "mimeType") or _FILES[key])
