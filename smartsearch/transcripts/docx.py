"""The text of a Word document, a line a paragraph: what transcripts of meetings come as. Opens nothing.

A `.docx` is a ZIP archive with its words in `word/document.xml` (ECMA-376, part 1, 11.3.10 and 17.3). Of
these stand here runs of text, tabs and breaks; what was deleted, and the second copy of a text box that is
there for old programs, are left out. Entities are refused: no document has any, and they may stand for
gigabytes.
"""

from __future__ import annotations

import zipfile
import zlib
from io import BytesIO, StringIO
from typing import IO
from xml.parsers import expat

from smartsearch.transcripts import archive
from smartsearch.transcripts.faults import FormatError

_PART = "word/document.xml"
_LIMIT = 1 << 28
"""Bytes of XML: a transcript of a day is some megabytes."""
_RATIO = 30
"""Bytes of XML that a packed byte may become: what Word writes packs to a tenth or a twentieth."""
_TAG = 1 << 24
"""Bytes of a tag, which the parser looks at anew with every block: pictures may stand in one."""
_BLOCK = 1 << 20
_WORDS = ("wordprocessingml/2006/main t", "ooxml/wordprocessingml/main t")
_SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}


def text_of_docx(data: bytes) -> str | None:
    """The text of a document, None for an archive that is none. Raises FormatError `damaged_archive`,
    `encrypted` or `too_large`.
    """
    try:
        with zipfile.ZipFile(BytesIO(data)) as parts:
            if _PART not in parts.namelist():
                return None
            with parts.open(_PART) as part:
                return _Text().of(part, min(_LIMIT, archive.allowed(len(data), _RATIO)))
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError) as error:
        raise FormatError(f"a damaged .docx ({error})", kind="damaged_archive") from None
    except RuntimeError:
        raise FormatError("a .docx with a password", kind="encrypted") from None


class _Text:
    """The words of a document while it is parsed."""

    def __init__(self) -> None:
        self.text = StringIO()
        self.inside = False
        self.copies = 0

    def of(self, xml: IO[bytes], most: int) -> str:
        """What the XML says, of which no more than a block is held. Raises FormatError."""
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._said
        parser.EntityDeclHandler = _refused
        read = 0
        try:
            while block := xml.read(_BLOCK):
                parser.Parse(block)
                read += len(block)
                if read > most or read - parser.CurrentByteIndex > _TAG:
                    said = "a .docx that unpacks to far more than a document does; save it as text"
                    raise FormatError(said, kind="too_large")
            parser.Parse(b"", True)
        except expat.ExpatError as error:
            if not self.text.tell():
                raise FormatError(f"a damaged .docx ({error})", kind="damaged_archive") from None
        return self.text.getvalue()

    def _start(self, name: str, _: object) -> None:
        kind = name.rpartition(" ")[2]
        self.copies += kind == "Fallback"
        self.inside = name.endswith(_WORDS)
        if kind in _SIGNS and not self.copies and "wordprocessingml" in name:
            self.text.write(_SIGNS[kind])

    def _end(self, name: str) -> None:
        kind = name.rpartition(" ")[2]
        self.copies -= kind == "Fallback"
        self.inside = False
        if kind == "p" and "wordprocessingml" in name and not self.copies:
            self.text.write("\n")

    def _said(self, text: str) -> None:
        if self.inside and not self.copies:
            self.text.write(text)


def _refused(*_: object) -> None:
    raise FormatError("a .docx that declares entities", kind="damaged_archive")
