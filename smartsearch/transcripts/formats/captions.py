"""What stands in a caption for a picture, a file or anything else that is not text: `[image beach.jpg]`."""

from __future__ import annotations

import re
from collections.abc import Iterable

_ENDINGS = {
    "image": "jpg jpeg png gif webp heic heif avif bmp svg tif tiff",
    "contact": "vcf",
    "video": "mp4 mov webm mkv avi m4v 3gp mpeg mpg",
    "audio": "mp3 m4a ogg oga opus wav flac aac amr caf",
}
_STICKER = re.compile(r"STK-.*\.webp$|.*\.was$", re.I)
_NOUNS = {ending: noun for noun, endings in _ENDINGS.items() for ending in endings.split()}


def attachment(name: str, mime: str = "") -> str:
    """`[image beach.jpg]`: by media type where it says, else by the ending of the name, else `[file ...]`."""
    noun = mime.partition("/")[0]
    if noun not in _ENDINGS:
        noun = _NOUNS.get(name.lower().rpartition(".")[2], "file")
    return bracketed(noun, name)


def caption(name: str) -> str:
    """The `attachment` of a path that a telephone wrote: its name without folders; stickers are called so."""
    name = name.replace("\\", "/").rpartition("/")[2] or name
    return bracketed("sticker", name) if _STICKER.match(name) else attachment(name)


def bracketed(noun: str, *details: str) -> str:
    """`[poll Pizza or soup?]`: a noun and what is known of it, on one line."""
    return f"[{' '.join([noun, *' '.join(details).split()])}]"


def polled(question: str, answers: Iterable[str], noun: str = "poll") -> str:
    """A question, or the head of a list, with what may be answered."""
    return bracketed(noun, question, " / ".join(filter(None, answers)))


def joined(parts: Iterable[str]) -> str:
    """The captions of one turn, empty ones left out."""
    return " ".join(part for part in parts if part)


def linked(label: str, url: str) -> str:
    """A link as text: its label and its address, or one of them where they say the same."""
    label, url = label.strip(), url.removeprefix("mailto:").removeprefix("tel:").strip()
    if not url or url in label or label in url:
        return label if url in label else url or label
    return f"{label} ({url})"
