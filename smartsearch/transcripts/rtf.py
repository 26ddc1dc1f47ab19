"""The text of an RTF document, a line a paragraph: what TextEdit and WordPad save. Opens nothing.

Of its codes (Rich Text Format specification 1.9.1) those that stand for characters and line ends are kept;
fonts, colours, pictures and whatever else a reader may skip is left out.
"""

from __future__ import annotations

import codecs
import re

_TOKEN = re.compile(
    r"\\(?P<word>[a-z]{1,32})(?P<number>-?\d{1,10})? ?|\\'(?P<byte>[\da-f]{2})|\\(?P<symbol>[^a-z\d])"
    r"|(?P<brace>[{}])|(?P<text>[^\\{}\r\n]+)",
    re.I,
)
_SIGNS = {
    **dict.fromkeys(("par", "line", "row", "sect", "page"), "\n"),
    **dict.fromkeys(("tab", "cell"), "\t"),
    **{"emdash": "—", "endash": "–", "bullet": "•", "lquote": "‘", "rquote": "’"},
    **{"ldblquote": "“", "rdblquote": "”", "emspace": " ", "enspace": " "},
    **{"\n": "\n", "\r": "\n", "~": "\xa0", "_": "-", "\\": "\\", "{": "{", "}": "}"},
}
_SKIPPED = frozenset(
    ("fonttbl", "colortbl", "stylesheet", "info", "pict", "object", "header", "footer", "fldinst", "listtext")
)
"""Groups whose text is nobody's words."""


def text_of_rtf(data: bytes) -> str:
    """The text of a document; bytes that its code page does not have become U+FFFD."""
    written: list[str] = []
    page, shown, fallback, above = "cp1252", True, 1, list[tuple[bool, int]]()
    left = 0  # characters that stand for a Unicode one where a reader knows none
    held = bytearray()  # bytes of the code page, of which several may be one character
    for found in _TOKEN.finditer(data.decode("latin-1")):
        word, number = found["word"], int(found["number"] or 0)
        if held and not found["byte"]:
            written.append(held.decode(page, "replace"))
            held.clear()
        if found["brace"] == "{":
            above.append((shown, fallback))
        elif found["brace"]:
            shown, fallback = above.pop() if above else (True, 1)
        elif word == "ansicpg":
            page = _known(f"cp{number}") or page
        elif word == "uc":
            fallback = number
        elif word in _SKIPPED or found["symbol"] == "*":
            shown = False
        elif not shown:
            pass
        elif word == "u":
            written.append(chr(number % 65_536))
            left = fallback
        elif found["byte"] and left:
            left -= 1
        elif found["byte"]:
            held.append(int(found["byte"], 16))
        elif found["text"]:
            written.append(found["text"][left:])
            left = 0
        else:
            written.append(_SIGNS.get(word or found["symbol"], ""))
    said = "".join(written) + held.decode(page, "replace")
    return said.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _known(page: str) -> str:
    try:
        return codecs.lookup(page).name
    except LookupError:
        return ""
