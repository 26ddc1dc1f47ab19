"""What stands in a turn for a file that was sent with it: `[image beach.jpg]`, `[audio]`. Opens no file."""

from __future__ import annotations

from pathlib import PurePosixPath

_KINDS = {
    "image": "jpg jpeg png gif heic heif tif tiff bmp avif svg",
    "sticker": "webp was",
    "video": "mp4 mov m4v 3gp mkv avi webm mpeg mpg",
    "audio": "opus ogg oga m4a mp3 aac amr wav flac caf",
    "contact": "vcf",
}
_KIND_OF = {suffix: kind for kind, suffixes in _KINDS.items() for suffix in suffixes.split()}


def caption(name: str) -> str:
    """The caption for a file by its name or path: `[video VID-1.mp4]`, `[file plan.pdf]`."""
    name = PurePosixPath(name.replace("\\", "/")).name or name
    return shown(kind_of(name), name)


def shown(kind: str, name: str = "") -> str:
    """A caption of that kind, with the file's name where it is known."""
    return f"[{kind} {name}]" if name else f"[{kind}]"


def kind_of(name: str) -> str:
    """What a file is by its suffix: an image, a video, ..., or just a file."""
    return _KIND_OF.get(name.rpartition(".")[2].lower(), "file")
