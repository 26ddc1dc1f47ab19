"""Which lines of a text chat open a turn, and who speaks: line shapes and the rule for names. Keeps no state.

A line may open a turn in one of four styles:

| style | lines |
|---|---|
| `stamped` | `[time] Name: text`, `time - Name: text`, `Name [time]: text`, in a list or not |
| `##` (as many as there are) | `## Name`, `## Name (time)`, the text in the lines below |
| `bold` | `**Name:** text`, `**Name**: text`, `**Name** (time): text`, `[time] **Name**: text` |
| `plain` | `Name: text` |

What stands before the colon is a speaker when it is no label (`Note:`, `Title:`; see `_LABELS`) and
- is a role (`User`, `Assistant`, ...), or
- opens at least two turns of the file, or
- looks like a name: one to three words, each beginning with a capital (or in a script without case).
Emoji may stand before any of them, but then the name has to open two turns.
Under a time stamp any name but a label will do, and a line without one is a turn without a speaker (a
system line). Headings are more often titles than people, so there a name must be a role, or recur beside
another that does.
A web address or a time of day never is one: the colon must be followed by a space or the line's end.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from smartsearch.text.times import clock, to_iso

_ROLES = {
    "user": ("user", "human", "you", "me", "prompt", "you said", "question", "q"),
    "assistant": (
        *("assistant", "ai", "bot", "chatbot", "model", "chatgpt", "gpt", "claude", "gemini", "copilot"),
        *("response", "answer", "a", "chatgpt said", "claude said"),
    ),
    "system": ("system",),
    "tool": ("tool",),
}
_ROLE_OF = {word: role for role, words in _ROLES.items() for word in words}
_LABELS = frozenset(
    """
    note|notes|nb|ps|p.s|pps|edit|update|updated|todo|to do|done|fixme|warning|caution|important|tip|tips|hint
    info|debug|error|warn|trace|fatal|example|examples|for example|e.g|i.e|eg|ie|summary|result|results|output
    input|usage|see|see also|source|sources|reference|references|ref|link|links|url|http|https|mailto|ftp|file
    files|path|title|subject|re|fwd|fw|from|to|cc|bcc|date|time|when|where|what|why|who|how|day|days
    participants|members|topic|topics|agenda|location|place|address|phone|tel|email|mail|author|authors|version
    license|step|steps|next steps|action items|ingredients|instructions|pros|cons|total|price|cost|status|type
    name|key|value|tags|tag|id|optional|required|default|description|details|overview|conclusion|introduction
    background|goal|goals|action|actions|next|caption|image|photo|in short
    """.replace("\n", "|")
    .replace("    ", "")
    .split("|")
)

_EMOJI = "\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_PICTURED = re.compile(rf"[{_EMOJI}][{_EMOJI}\ufe0f\u200d\s]*")
"""Emoji before a name, with what joins them."""
_NAME = rf"(?P<name>(?:[+@~]?[^\W_]|[{_EMOJI}])[^:\[\]<>{{}}|\"“”*#`/\\=,;?!\t]{{0,39}}?|_[\w]{{1,30}})"
_BRACKETED = re.compile(r"[\[(](?P<stamp>[^\])]{4,40})[\])]\s*(?:[-–—|:]\s+)?")
_DAY = r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2}\.? [A-Za-z]{3,9}\.?,? \d{4}|[A-Za-z]{3,9}\.? \d{1,2},? \d{4}"
_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:\s?[apAP]\.?[mM]\b\.?)?(?:Z|[+-]\d{2}:?\d{2})?"
_BARE = re.compile(rf"(?P<stamp>(?:(?:{_DAY})(?:T|,?\s+(?:at )?))?{_TIME})(?:\s*[-–—|]\s+|\s+)(?=\S)")
_PLAIN = re.compile(rf"{_NAME}(?:\s?[\[(](?P<stamp>[^\])]{{1,40}})[\])])?\s?:(?:\s+(?P<text>\S.*)?)?$")
_BOLD = re.compile(
    r"(?P<mark>\*\*|__)(?P<inner>[^*]{1,80}?)(?P<in>:?)\s*(?P=mark)"
    r"(?:\s?[\[(](?P<stamp>[^\])]{4,40})[\])])?\s?(?P<out>:?)(?:\s+(?P<text>\S.*)?)?$"
)
_BULLET = re.compile(r"\s+(?:[-*+]\s+)?|[-*+]\s+")
_HEADING = re.compile(r"(?P<level>#{1,6})\s+(?P<inner>\S(?:.{0,78}[^\s#])?)[\s#]*$")
_HEADING_TIME = re.compile(  # of a heading, 80 characters at most
    r"(?P<name>.{1,80}?)\s{0,80}(?:[\[(](?P<in>[^\])]{1,80})[\])]|(?:\s[-–—|]|,)\s{1,80}(?P<out>.{1,80}))$"
)


@dataclass(frozen=True)
class Opening:
    """A line that may open a turn: its style, the stamp and the name as written, and the text after them."""

    style: str
    stamp: str
    name: str
    text: str


def opening(line: str) -> Opening | None:
    """What `line` opens if its name proves to be a speaker, or None for a line that can only continue."""
    if heading := _HEADING.match(line):
        return _heading(heading["level"], heading["inner"])
    bullet = _BULLET.match(line)
    bare = line[bullet.end() :] if bullet else line
    stamp, rest = _leading_stamp(bare)
    found = _BOLD.match(rest)
    if found and (found["in"] or found["out"]):
        inner_stamp, name = _leading_stamp(found["inner"])
        stamp = stamp or inner_stamp or (found["stamp"] if _is_time(found["stamp"]) else "")
        return Opening("bold", stamp, name.strip(), found["text"] or "")
    if bullet and not stamp:
        return None  # `- Name: text` is a list, not a chat
    if (found := _PLAIN.match(rest)) and len(found["name"].split()) <= 4:
        name, aside = found["name"].strip(), found["stamp"]
        if aside and not stamp and _is_time(aside):
            stamp = aside
        elif aside:
            name = f"{name} ({aside})"
        return Opening("stamped" if stamp else "plain", stamp, name, found["text"] or "")
    return Opening("stamped", stamp, "", rest) if stamp else None


def _leading_stamp(text: str) -> tuple[str, str]:
    """The time that `text` begins with, as written, and the rest; ("", text) when it begins with none."""
    found = _BRACKETED.match(text) if text[:1] in ("[", "(") else _BARE.match(text)
    if found and _is_time(found["stamp"]):
        return found["stamp"], text[found.end() :]
    return "", text


def _is_time(text: str | None) -> bool:
    return bool(text) and bool(clock(text or "") or to_iso(text))


def _heading(level: str, inner: str) -> Opening:
    found = _HEADING_TIME.match(inner)
    stamp = (found["in"] or found["out"]) if found else ""
    if found and _is_time(stamp):
        inner = found["name"]
    else:
        stamp = ""
    return Opening(level, stamp, inner.strip(" *_").removesuffix(":"), "")


def speakers(openings: Sequence[Opening], style: str) -> frozenset[str]:
    """The names that pass for speakers among the openings of one style."""
    counts = Counter(o.name for o in openings if o.style == style and o.name)
    if style.startswith("#"):
        names = {name for name in counts if role(name)}
        recurring = {name for name, n in counts.items() if n >= 2 and looks_like_name(name)}
        return frozenset(names | (recurring if len(recurring) >= 2 else set()))
    if style == "stamped":
        return frozenset(name for name in counts if not is_label(name))
    return frozenset(name for name, n in counts.items() if _passes(name, n))


def _passes(name: str, count: int) -> bool:
    if role(name):
        return True
    if is_label(name) or (count < 2 and _PICTURED.match(name)):
        return False  # `✅ Result: text` stands once in an answer
    return looks_like_name(name) or (count >= 2 and len(name.split()) <= 2)


def role(name: str) -> str:
    """`user`, `assistant`, `system` or `tool` when the name is a word for one, else ""."""
    return _ROLE_OF.get(name.casefold(), "")


def is_label(name: str) -> bool:
    """Whether the word before a colon is one that people put there without speaking."""
    return _bare(name).casefold().rstrip(".") in _LABELS


def looks_like_name(name: str) -> bool:
    """One to three words that each begin with a capital, or with a letter of a script without case."""
    words = _bare(name).split()
    return not is_label(name) and 1 <= len(words) <= 3 and all(_begins_like_name(word[0]) for word in words)


def _bare(name: str) -> str:
    """A name without emoji before it, unless there is no more to it."""
    return _PICTURED.sub("", name) or name


def _begins_like_name(letter: str) -> bool:
    return letter.isalpha() and not letter.islower()
