"""Parts of messages in Gemini's form, `text`, `inlineData` and `functionResponse`, for agents that use it."""

from __future__ import annotations

from smartsearch.transcripts.formats.agent_log import parts
from smartsearch.transcripts.formats.fields import mapping, sequence, string


def said(content: object) -> tuple[str, str]:
    """The text of a content, a string, a part or parts, and a caption for files in it; no thoughts."""
    listed = content if isinstance(content, list) else [content]
    found = [
        part
        for part in listed
        if isinstance(part, str) or (isinstance(part, dict) and not part.get("thought"))
    ]
    text, caption = parts(found)
    files = ["[image]" if _is_image(part) else "[file]" for part in found if _is_file(part)]
    return text, " ".join([caption, *files]).strip()


def _is_file(part: object) -> bool:
    return bool(mapping(part, "inlineData") or mapping(part, "fileData"))


def _is_image(part: object) -> bool:
    data = mapping(part, "inlineData") or mapping(part, "fileData")
    return string(data, "mimeType").startswith("image/")


def result(call: object) -> str:
    """What a tool gave the model, else what was shown of it, else its error."""
    texts = [response(mapping(part, "functionResponse")) for part in sequence(call, "result")]
    text = "\n".join(text for text in texts if text)
    return text or string(call, "resultDisplay", "error")


def response(part: object) -> str:
    """The text of a `functionResponse`."""
    return string(mapping(part, "response"), "output", "error", "content")
