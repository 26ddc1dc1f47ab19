"""Transcripts to turns: files, folders or standard input in, a `Corpus` out, one reader module a format."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smartsearch.text.times import to_iso
    from smartsearch.transcripts.corpus import Lines, Parts, Watch, read, read_large
    from smartsearch.transcripts.faults import FormatError
    from smartsearch.transcripts.files import Limits
    from smartsearch.transcripts.format import Format
    from smartsearch.transcripts.registry import FORMATS, detect
    from smartsearch.transcripts.source import Source

__all__ = [
    "FORMATS",
    "Format",
    "FormatError",
    "Limits",
    "Lines",
    "Parts",
    "Source",
    "Watch",
    "detect",
    "read",
    "read_large",
    "to_iso",
]

_MODULES = {
    "corpus": ("Lines", "Parts", "Watch", "read", "read_large"),
    "faults": ("FormatError",),
    "files": ("Limits",),
    "format": ("Format",),
    "registry": ("FORMATS", "detect"),
    "source": ("Source",),
}


def __getattr__(name: str) -> Any:
    """What is imported when it is first asked for: the filters' names alone should not bring the readers."""
    if name == "to_iso":
        return getattr(import_module("smartsearch.text.times"), name)
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
