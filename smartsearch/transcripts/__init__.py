"""Transcripts to turns: files, folders or standard input in, a `Corpus` out, one reader module a format."""

from smartsearch.text.times import to_iso
from smartsearch.transcripts.corpus import Lines, Parts, Watch, read, read_large
from smartsearch.transcripts.faults import FormatError, NotByLine
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
    "NotByLine",
    "Parts",
    "Source",
    "Watch",
    "detect",
    "read",
    "read_large",
    "to_iso",
]
