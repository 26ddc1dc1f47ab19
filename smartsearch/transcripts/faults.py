"""The error of a file or record that was recognised and does not fit. It becomes a `Skipped`, not a stop."""

from __future__ import annotations

from smartsearch.errors import SmartsearchError


class FormatError(Exception):
    """What does not fit, with its place in the file: `line` (1-based) and `pointer` (RFC 6901) where known.

    `kind` names the case for `Skipped`: `bad_record`, `no_text`, `invalid_json`, `unrecognised_json`,
    `unrecognised_table`, `unrecognised_xml`, `unrecognised_html`, `unknown_field`, `binary`,
    `damaged_archive`, `encrypted` or `too_large`. What no reader foresaw is `reader_failed`. A `notice` is
    no fault: a warning about the file.
    """

    def __init__(self, message: str, *, pointer: str = "", line: int = 0, kind: str = "bad_record") -> None:
        place = [f"line {line}"] if line else []
        place += [f"at {pointer}"] if pointer else []
        super().__init__(f"{' '.join(place)}: {message}" if place else message)
        self.kind = kind
        self.pointer = pointer
        self.line = line


class NotByLine(Exception):
    """A file, or a line of it, cannot be read line by line (lines.py): it has to be read whole."""


class IndexFault(NotByLine, SmartsearchError):
    """An index cannot be used, or not any more: the transcripts have to be read."""

    kind = "index"
