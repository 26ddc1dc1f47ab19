"""The text of a Word document, a line a paragraph: what transcripts of meetings come as. Opens nothing.

A `.docx` is a ZIP archive with its words in `word/document.xml` (ECMA-376, part 1, 11.3.10 and 17.3). Of
these stand here runs of text, tabs and breaks; what was deleted, and the second copy of a text box that is
there for old programs, are left out. Entities are refused: no document has any, and they may stand for
gigabytes.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from xml.parsers import expat

from smartsearch.transcripts.faults import FormatError

_PART = "word/document.xml"
_LIMIT = 1 << 28
"""Bytes of XML: a transcript of a day is some megabytes."""
_WORDS = ("wordprocessingml/2006/main t", "ooxml/wordprocessingml/main t")
_SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}


def text_of_docx(data: bytes) -> str | None:
    """The text of a document, None for an archive that is none. Raises FormatError `damaged_archive`,
    `encrypted` or `too_large`.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if _PART not in archive.namelist():
                return None
            with archive.open(_PART) as part:
                xml = part.read(_LIMIT + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError) as error:
        raise FormatError(f"a damaged .docx ({error})", kind="damaged_archive") from None
    except RuntimeError:
        raise FormatError("a .docx with a password", kind="encrypted") from None
    if len(xml) > _LIMIT:
        raise FormatError(f"a .docx of more than {_LIMIT:,} bytes of text", kind="too_large")
    return _Text().of(xml)


class _Text:
    """The words of a document while it is parsed."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.inside = False
        self.copies = 0

    def of(self, xml: bytes) -> str:
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._said
        parser.EntityDeclHandler = _refused
        try:
            parser.Parse(xml, True)
        except expat.ExpatError as error:
            if not self.parts:
                raise FormatError(f"a damaged .docx ({error})", kind="damaged_archive") from None
        return "".join(self.parts)

    def _start(self, name: str, _: object) -> None:
        kind = name.rpartition(" ")[2]
        self.copies += kind == "Fallback"
        self.inside = name.endswith(_WORDS)
        if kind in _SIGNS and not self.copies and "wordprocessingml" in name:
            self.parts.append(_SIGNS[kind])

    def _end(self, name: str) -> None:
        kind = name.rpartition(" ")[2]
        self.copies -= kind == "Fallback"
        self.inside = False
        if kind == "p" and "wordprocessingml" in name and not self.copies:
            self.parts.append("\n")

    def _said(self, text: str) -> None:
        if self.inside and not self.copies:
            self.parts.append(text)


def _refused(*_: object) -> None:
    raise FormatError("a .docx that declares entities", kind="damaged_archive")
