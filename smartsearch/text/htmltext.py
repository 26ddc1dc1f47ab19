"""HTML to plain text: words with the line breaks that a reader sees. Nothing else of the page is kept.

Not by `html.parser`: 60 KB of `<a ` took it 55 s (Python 3.11.7), and no transcript may hang a search.
"""

from __future__ import annotations

import re
from html import unescape

_TAG = re.compile(
    r"<(?:(?P<comment>!--)|(?P<end>/?)(?P<name>[a-zA-Z][a-zA-Z0-9]*)"
    r"(?:(?:[^<>\"'a-zA-Z0-9]|\"[^\"<]*\"|'[^'<]*')(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*)?>|[!?][^<>]*>)"
)
"""No part goes past the next `<`, so that a text is looked at once however many tags in it are torn."""

_ENDLESS = re.compile(r"&#[0-9]{100,};?")
"""A number that is no character, and that Python refuses to read from 4,301 digits on."""

_BLOCKS = frozenset(
    {
        *(
            "address",
            "article",
            "blockquote",
            "dd",
            "div",
            "dl",
            "dt",
            "figure",
            "footer",
            "form",
            "h1",
            "h2",
        ),
        *("h3", "h4", "h5", "h6", "header", "hr", "main", "nav", "ol", "p", "pre", "section", "table", "tr"),
        *("ul", "li", "br"),
    }
)
_ENDS = {name: re.compile(rf"</{name}\b[^<>]*>", re.I) for name in ("script", "style", "head", "template")}
"""How what is not shown ends, by the tag that it begins with."""
_COMMENT_ENDS = re.compile("-->")


def unescaped(text: str) -> str:
    """Text with characters for its `&amp;` and `&#38;`. Raises nothing, however long a number is."""
    return unescape(_ENDLESS.sub("\ufffd", text)) if "&" in text else text


def text_of(html: str) -> str:
    """The text of a piece of HTML: a line a block, `- ` before list items, tabs between cells."""
    if "<" not in html and "&" not in html:
        return html.strip()
    text, at = _Text(), 0
    for tag in _TAG.finditer(html):
        if tag.start() < at:
            continue  # in a comment or a script
        text.add(html[at : tag.start()])
        at = tag.end()
        name = (tag["name"] or "").lower()
        if tag["comment"]:
            at = _behind(html, _COMMENT_ENDS, at)
        elif name in _ENDS and not tag["end"]:
            at = _behind(html, _ENDS[name], at)
        elif name:
            text.tag(name, end=bool(tag["end"]))
    text.add(html[at:])
    return text.whole()


def _behind(html: str, what: re.Pattern[str], at: int) -> int:
    """Where the text goes on after the pattern `what`: at the end where it does not come."""
    found = what.search(html, at)
    return found.end() if found else len(html)


class _Text:
    """Lines as they come; those of preformatted text keep their spaces."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._line: list[str] = []
        self._pre = 0

    def add(self, data: str) -> None:
        """Take up what stands between two tags."""
        if not data:
            return
        pieces = unescaped(data).split("\n") if self._pre else [re.sub(r"\s+", " ", unescaped(data))]
        for n, piece in enumerate(pieces):
            if n:
                self._break(even_if_empty=True)
            if piece and (self._pre or self._line or piece.strip()):
                self._line.append(piece)

    def tag(self, name: str, *, end: bool) -> None:
        """Take up what a tag does to the lines."""
        if name in _BLOCKS:
            self._break()
        if name == "pre":
            self._pre = max(0, self._pre + (-1 if end else 1))
        elif name == "li" and not end:
            self._line.append("- ")
        elif name in ("td", "th") and not end and self._line:
            self._line.append("\t")

    def whole(self) -> str:
        """All lines, without empty ones at the ends and more than one in a row."""
        self._break()
        return re.sub(r"\n{3,}", "\n\n", "\n".join(self._lines)).strip("\n")

    def _break(self, *, even_if_empty: bool = False) -> None:
        line = "".join(self._line)
        if line or even_if_empty:
            self._lines.append(line.rstrip() if self._pre else re.sub(" +", " ", line).strip())
        self._line = []
