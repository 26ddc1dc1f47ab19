"""HTML out of calls: `tag("p", text, class_="said")`. Text is escaped unless it is Markup already."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from smartsearch.output.plain import seen

VOID = ("meta",)
"""Elements without an end tag."""

Attribute = str | float | None

_HARMLESS = re.compile(r"[A-Za-z0-9 .,:;()/#%_-]*")
"""Text that needs no escaping: most of a page, so it skips the five passes below."""


class Markup(str):
    """A piece of HTML, escaped where it had to be."""

    __slots__ = ()


def text(said: str) -> Markup:
    """`said` as HTML text: escaped, control characters spelt out, halves of surrogate pairs as U+FFFD."""
    if _HARMLESS.fullmatch(said):
        return Markup(said)
    whole = said.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return Markup(html.escape(seen(whole), quote=True))


def join(children: Iterable[str], between: str = "") -> Markup:
    """Children one after the other, text among them escaped."""
    return Markup(between.join(child if isinstance(child, Markup) else text(child) for child in children))


def tag(element: str, /, *children: str, **attributes: Attribute) -> Markup:
    """An element. `class_` is `class`, `aria_label` is `aria-label`; None leaves an attribute out."""
    said = "".join(_attribute(key, value) for key, value in attributes.items())
    if element in VOID:
        return Markup(f"<{element}{said}>")
    return Markup(f"<{element}{said}>{join(children)}</{element}>")


def _attribute(key: str, value: Attribute) -> str:
    if value is None:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if isinstance(value, str):
        return f' {name}="{text(value)}"'
    shown = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    return f' {name}="{shown}"'
