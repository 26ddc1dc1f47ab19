"""HTML to plain text: words with the line breaks that a reader sees. Nothing else of the page is kept."""

from __future__ import annotations

import re
from html.parser import HTMLParser

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
_UNSEEN = frozenset({"script", "style", "head", "template"})


def text_of(html: str) -> str:
    """The text of a piece of HTML: a line a block, `- ` before list items, tabs between cells."""
    if "<" not in html and "&" not in html:
        return html.strip()
    reader = _Reader()
    reader.feed(html)
    reader.close()
    lines = (
        line.strip() if not line.startswith("\x00") else line[1:] for line in "".join(reader.out).split("\n")
    )
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


class _Reader(HTMLParser):
    """Collects text; the lines of preformatted text are marked by a NUL, which HTML cannot hold."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.out: list[str] = []
        self.unseen = self.pre = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - as html.parser calls it
        self.unseen += tag in _UNSEEN
        self.pre += tag == "pre"
        if tag in _BLOCKS:
            self.line()
        if tag == "pre":
            self.out.append("\x00")
        elif tag == "li":
            self.out.append("- ")
        elif tag in ("td", "th") and self.out and not self.out[-1].endswith("\n"):
            self.out.append("\t")

    def handle_endtag(self, tag: str) -> None:
        self.unseen -= tag in _UNSEEN and self.unseen > 0
        self.pre -= tag == "pre" and self.pre > 0
        if tag in _BLOCKS and tag not in ("br", "hr"):
            self.line()

    def handle_data(self, data: str) -> None:
        if self.unseen:
            return
        data = data.replace("\x00", " ")
        self.out.append(data.replace("\n", "\n\x00") if self.pre else re.sub(r"\s+", " ", data))

    def line(self) -> None:
        """Begin a new line unless one has just begun."""
        if self.out and not self.out[-1].endswith("\n"):
            self.out.append("\n")
