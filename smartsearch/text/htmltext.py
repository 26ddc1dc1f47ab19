"""HTML to plain text: words with the line breaks that a reader sees. Nothing else of the page is kept.

Not by `html.parser`: 60 KB of `<a ` took it 55 s (Python 3.11.7), and no transcript may hang a search.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

_TAG = re.compile(
    r"<(?:(?P<comment>!--)|(?P<end>/?)(?P<name>[a-zA-Z][a-zA-Z0-9]*)"
    r"(?:(?:[^<>\"'a-zA-Z0-9]|\"[^\"<]*\"|'[^'<]*')(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*)?>|[!?][^<>]*>)"
)
"""No part matches beyond the next `<`, so that a text is read once however many tags are torn."""

_ENDLESS = re.compile(r"&#[0-9]{100,};?")
"""A number too long to be a character; Python refuses to read 4,301 digits."""

_PARAGRAPHS = {
    *("address", "article", "aside", "blockquote", "center", "dl", "fieldset", "figcaption", "figure"),
    *("footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "main", "nav", "ol", "p", "pre"),
    *("section", "table", "tbody", "tfoot", "thead", "ul"),
}
_BLOCKS = _PARAGRAPHS | {"br", "dd", "div", "dt", "li", "tr"}
_HIDDEN = ("script", "style", "head", "title", "template")
_ENDS = {name: re.compile(rf"</{name}\b[^<>]*>", re.I) for name in _HIDDEN}
"""The end of content that is not shown, by the tag that begins it."""
_COMMENT_ENDS = re.compile("-->")
_SPACES = re.compile(r"\s+")


_ATTRIBUTE = re.compile(r"""([a-zA-Z-]{1,40})\s{0,8}=\s{0,8}("[^"<]*"|'[^'<]*'|[^\s"'<>=]+)""")
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
"""Elements without content, which have no end tag."""


class Element(NamedTuple):
    """An element of a piece of HTML: its name, its start tag, and where what it holds begins and ends."""

    name: str
    tag: str
    start: int
    end: int

    @property
    def attributes(self) -> dict[str, str]:
        """The values of its attributes, by their names in lower case."""
        found = _ATTRIBUTE.findall(self.tag)
        return {name.lower(): unescaped(value.strip("\"'")) for name, value in found}

    @property
    def classes(self) -> frozenset[str]:
        """The words of its `class`."""
        return frozenset(self.attributes.get("class", "").split()) if "class" in self.tag else frozenset()


def elements(html: str) -> list[Element]:
    """Every element, in the order of start tags. One that does not end holds the rest of `html`."""
    found: list[tuple[str, str, int]] = []
    ends: dict[int, int] = {}
    begun: dict[str, list[int]] = {}
    for tag in _TAG.finditer(html):
        name = tag["name"]
        if not name:
            continue
        name = name.lower()
        if tag["end"]:
            if begun.get(name):
                ends[begun[name].pop()] = tag.start()
            continue
        if name in _VOID:
            ends[len(found)] = tag.end()
        else:
            begun.setdefault(name, []).append(len(found))
        found.append((name, tag[0], tag.end()))
    return [Element(*one, ends.get(n, len(html))) for n, one in enumerate(found)]


def inside(html: str, word: str) -> str:
    """The HTML in the first element with `word` in its `class`, to the end where it does not end; or ""."""
    held, start, depth = "", 0, 0
    for tag in _TAG.finditer(html):
        name = (tag["name"] or "").lower()
        if held:
            depth += (-1 if tag["end"] else 1) if name == held else 0
            if not depth:
                return html[start : tag.start()]
        elif name and not tag["end"] and word in tag[0] and word in Element(name, tag[0], 0, 0).classes:
            if name in _VOID:
                return ""
            held, start, depth = name, tag.end(), 1
    return html[start:] if held else ""


def unescaped(text: str) -> str:
    """Text with characters for its `&amp;` and `&#38;`. Raises nothing, however long a number is."""
    return unescape(_ENDLESS.sub("\ufffd", text)) if "&" in text else text


def text_of(html: str, *, mail: bool = False) -> str:
    """The text of a piece of HTML: a line a block, `- ` before list items, tabs between cells.

    Of a mail with empty lines as its author put them, and `> ` before what is quoted.
    """
    if "<" not in html and "&" not in html and not mail:
        return html.strip()
    return re.sub(r"\n{3,}", "\n\n", "\n".join(_shown(html, mail).lines)).strip("\n")


def lines_of(html: str) -> Iterator[tuple[str, int]]:
    """The lines of a page's text, each with the line of the page (1-based) on which it begins."""
    number, counted = 1, 0
    text = _shown(html)
    for line, at in zip(text.lines, text.places, strict=True):
        number += html.count("\n", counted, at)
        counted = max(counted, at)
        yield line, number


def _shown(html: str, mail: bool = False) -> _Text:
    text = _Text(mail)
    for piece, name, end, at in _pieces(html):
        if name:
            text.tag(name, end=end)
        else:
            text.add(piece, at)
    text.tag("p", end=True)
    return text


def _pieces(html: str) -> Iterator[tuple[str, str, bool, int]]:
    """What is shown, in order: a text as it stands with its place, or a tag as its name and whether it is an
    end tag.
    """
    at = 0
    for tag in _TAG.finditer(html):
        if tag.start() < at:
            continue  # in a comment or a script
        if tag.start() > at:
            yield html[at : tag.start()], "", False, at
        at = tag.end()
        name, end = (tag["name"] or "").lower(), bool(tag["end"])
        if tag["comment"]:
            at = _behind(html, _COMMENT_ENDS, at)
        elif name in _ENDS and not end:
            at = _behind(html, _ENDS[name], at)
        elif name:
            yield "", name, end, at
    if at < len(html):
        yield html[at:], "", False, at


def _behind(html: str, what: re.Pattern[str], at: int) -> int:
    """The position after the next match of `what`, or the end of the text."""
    found = what.search(html, at)
    return found.end() if found else len(html)


class _Text:
    """Collects lines, and the places of the page where they begin; preformatted text keeps its spaces."""

    def __init__(self, mail: bool) -> None:
        self.lines: list[str] = []
        self.places = array("q")
        self._line: list[str] = []
        self._at = 0
        self._pre = self._quoted = 0
        self._mail = mail

    def add(self, data: str, at: int) -> None:
        """Add the text between two tags, which begins at a place of the page."""
        lines = unescaped(data).split("\n") if self._pre else [_SPACES.sub(" ", unescaped(data))]
        for n, piece in enumerate(lines):
            if n:
                self._break(even_if_empty=True)
            if piece and (self._pre or self._line or piece.strip()):
                self._at = self._at if self._line else at + len(data) - len(data.lstrip())
                self._line.append(piece)

    def tag(self, name: str, *, end: bool) -> None:
        """Apply a tag to the lines."""
        if name in _BLOCKS:
            self._break(even_if_empty=self._mail and name == "br")
        if self._mail and name in _PARAGRAPHS and not end:
            self._break(even_if_empty=True)
        if self._mail and name == "blockquote":
            self._quoted = max(0, self._quoted + (-1 if end else 1))
        elif name == "pre":
            self._pre = max(0, self._pre + (-1 if end else 1))
        elif name == "li" and not end:
            self._line.append("- ")
        elif name in ("td", "th") and not end and self._line:
            self._line.append(" " if self._mail else "\t")
        elif name == "time" and self._line and self._line[-1][-1:].isalnum():
            self._line.append(" ")

    def _break(self, *, even_if_empty: bool = False) -> None:
        line = "".join(self._line)
        if line or even_if_empty:
            line = line.rstrip() if self._pre else re.sub(" +", " ", line).strip()
            self.lines.append(f"> {line}".rstrip() if self._quoted else line)
            self.places.append(self._at)
        self._line = []
