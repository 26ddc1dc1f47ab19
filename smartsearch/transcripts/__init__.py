"""Transcripts to turns: files, folders or standard input in, a `Corpus` out, one reader module a format."""

from smartsearch.transcripts.corpus import read
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.files import Limits
from smartsearch.transcripts.format import Format
from smartsearch.transcripts.registry import FORMATS, detect
from smartsearch.transcripts.source import Source
from smartsearch.transcripts.times import to_iso

__all__ = ["FORMATS", "Format", "FormatError", "Limits", "Source", "detect", "read", "to_iso"]
