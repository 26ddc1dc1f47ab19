"""WhatsApp's own export of a chat: `_chat.txt` of an iPhone, `WhatsApp Chat with Maya.txt` of Android.

Two shapes: `[08.05.23, 13:56:01] Maya: text` (iPhone, always with seconds) and `5/8/23, 1:56 PM - Maya: text`
(Android, never). The phone's language chooses the order of the date, the clock, and the words for a picture
that was left out or a message that was deleted (whatsapp_words.py). What WhatsApp says itself is left out: a
line without `Name:`, and on an iPhone what begins with U+200E and names who does something, is a call, or
is told to the group in its own name. All else that begins so is kept: a phrase of a language, or for a kind
of message, that is not known here is a caption, a longer text a text. Times are the phone's, without an
offset.

Shapes and words as read by pauloneves/bolsozap, AbhijeetKrishnan/whatsapp-parser and a Dart class
`WhatsAppPatterns` that lists WhatsApp's own strings (`export_media_omitted`, `email_file_attached`, `zQ+5d`).
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from functools import cache, lru_cache, partial
from typing import NamedTuple

from smartsearch.text.times import MARKS, STAMP, Stamp
from smartsearch.transcripts.formats import whatsapp_words as words
from smartsearch.transcripts.formats.captions import bracketed, caption
from smartsearch.transcripts.formats.speakers import is_label
from smartsearch.transcripts.formats.textform import LOOKED_AT, Opened, Says, Told, above, numbers
from smartsearch.transcripts.source import Source

_NAME_LIMIT = 100  # a contact's name; what stands longer before a colon is a sentence
_PHRASE_LIMIT = 60  # WhatsApp's own words for a file or a deleted message are no longer
_OWN = "\u200e"  # stands before words of WhatsApp's own on an iPhone, and before file names

_OPENING = re.compile(
    rf"{_OWN}{{0,3}}(?P<open>\[)?{STAMP}(?(open)(?: \| \w[^|\]\n]{{3,30}})?\] ?|\s[-–]\s)", re.I
)
_TIGHT = re.compile(r"(?P<name>[^:\n]{1,60}):(?=[^\x00-\x7f])")
"""A name in a language that writes no blanks: `林子晴:還沒`."""
_STARTS = frozenset(f"[{_OWN}\u200f\u202a\u202b\ufeff")
_QUOTES = re.compile('["“”„«»「」]')
_ANDROID_FILE = re.compile(
    r"(?P<name>[^\n]{1,200}\.\w{2,5})(?: • [^\n()]{1,40})? \((?P<word>[^()\n]{3,40})\)"
)
_ANDROID_NAME = re.compile(r"(?:IMG|VID|AUD|PTT|STK|DOC)-\d{8}-WA\d{4,8}\.\w{2,5}")
_IPHONE_FILE = re.compile(r"<(?P<word>[^<>:\n]{2,30}): (?P<name>[^<>\n]{1,200})>")
_IPHONE_NAME = re.compile(r"\d{8}-")
_EDITED = re.compile(rf"\s{{0,3}}(?P<own>{_OWN}?)<(?P<word>[^<>\n:]{{5,60}})>\s{{0,3}}$")
_TITLE = re.compile(
    "|".join(re.escape(named).replace(r"\{\}", "(.{1,200})") for named in words.NAMED), re.I | re.S
)
_COPY = re.compile(r" ?\(\d{1,3}\)$")  # a second download of the same file


def detect(source: Source) -> bool:
    """Whether the file begins with a stamp in one of the two shapes and goes on so, and people speak in it.

    `[2023-05-08 13:56:01]`, which logs have too, needs a mark or a name of WhatsApp's, and so do a file
    that begins in the middle of a message and one that is named as Markdown.
    """
    lines = source.lines[:LOOKED_AT]
    openings = [here for line in lines if (here := _opening(line))]
    said = [here for here in openings if here.name and not is_label(here.name)]
    if not said:
        return False
    if _title(source):
        return True
    if _opening(source.first_line()) is None or len(openings) < 2 or len(said) * 4 < len(openings):
        return False
    if all(here.more and here.stamp.seconds for here in openings):
        logs = all(len(here.stamp.a) == 4 and here.stamp.mark == "-" for here in openings)
        return not logs or any(_OWN in line for line in lines)
    plain = not any(here.more or here.stamp.seconds for here in openings)
    return plain and source.suffix not in (".md", ".markdown")


def _opening(line: str) -> Opened | None:
    """A line that begins with a stamp: who said what, None where WhatsApp speaks; `more` on an iPhone."""
    if not line or not (line[0] in _STARTS or line[0].isdigit()):
        return None
    clean = line if line.isascii() else MARKS.sub("", line)
    found = _OPENING.match(clean)
    if not found:
        return None
    rest = clean[found.end() :]
    name, colon, text = rest.partition(": ")
    if not colon and (tight := _TIGHT.match(rest)):
        name, colon, text = tight["name"], ":", rest[tight.end() :]
    if not colon and rest.endswith(":"):
        name, colon = rest[:-1], ":"
    named = bool(colon) and len(name) <= _NAME_LIMIT and name[:1] != "<" and not _is_cut(name)
    name = _tidy(name) if named else ""
    stamp = Stamp.of(found)
    return Opened(name or None, text if name else "", stamp, found["open"] is not None)


@lru_cache(maxsize=4096)
def _tidy(name: str) -> str:
    """A name without marks, and without the `~` before one that is in nobody's contacts."""
    return " ".join(name.replace(_OWN, "").lstrip("~ \u202f").split())


@lru_cache(maxsize=4096)
def _is_cut(name: str) -> bool:
    """Whether a quotation begins in `name` and does not end: `Maya named the group "Trip` is no name."""
    return len(_QUOTES.findall(name)) % 2 == 1


def _says(source: Source) -> Says:
    """A message without text, such as a picture that can be seen once, is `no_text`."""
    chat, people = _title(source) or source.stem, cache(partial(_people, source.lines))
    begun = cache(lambda: next(filter(None, map(_opening, source.lines))))

    def said(here: Opened, below: list[str], _: Opened | None) -> tuple[str, str] | None:
        rest = (line if line.isascii() else MARKS.sub("", line) for line in below)
        event = partial(_is_event, here, chat, people, begun)
        return _said("\n".join([here.text, *rest]), event)

    return said


class _People(NamedTuple):
    """Who said what is not WhatsApp's, and all names, sorted, without those that begin with another."""

    spoken: set[str]
    names: list[str]

    def named_in(self, said: str) -> bool:
        """Whether one of the names stands in a text: of all of them the one sorted before a place tells."""
        for at in range(len(said)):
            rest = said[at : at + _NAME_LIMIT]
            before = bisect_right(self.names, rest)
            if before and rest.startswith(self.names[before - 1]):
                return True
        return False


def _people(lines: list[str]) -> _People:
    found, spoken, names = set[str](), set[str](), list[str]()
    for here in filter(None, map(_opening, lines)):
        found.add(here.name or "")
        if not here.text.startswith(_OWN):
            spoken.add(here.name or "")
    for name in sorted(found):
        if len(name) > 2 and not (names and name.startswith(names[-1])):
            names.append(name)
    return _People(spoken, names)


def _is_event(
    here: Opened, chat: str, people: Callable[[], _People], begun: Callable[[], Opened], said: str
) -> bool:
    """Whether WhatsApp tells in `said`, under the name of a speaker, what somebody did, or that it encrypts.

    It does so in few words; the second in a sentence that begins a chat, in whatever language.
    """
    said, speaker = said[:300], here.name or ""
    folded = said.casefold()
    if folded.startswith(words.CALLS) or any(word in folded for word in words.ENCRYPTED):
        return True
    if len(said) > _PHRASE_LIMIT and here == begun():
        return True
    if speaker == chat and chat not in people().spoken:
        return True
    return speaker in said or people().named_in(said)


def _said(text: str, is_event: Callable[[str], bool]) -> tuple[str, str] | None:
    """What a person wrote and the caption of what was sent with it; None for what WhatsApp wrote."""
    text = text.rstrip()
    if text.endswith(">"):
        text = _without_edited(text)
    own = text.startswith(_OWN)
    first, _, rest = text.partition("\n")
    bare = first.replace(_OWN, "").strip()
    if len(bare) <= _PHRASE_LIMIT:
        phrase = bare.casefold().rstrip(".。")
        if not rest and phrase in words.DELETED:
            return None
        if kind := _OMITTED.get(phrase):
            return _plain(rest), bracketed(kind)
    if file := _file(first, bare, text, rest):
        return file
    if own and not rest and "http" not in first:
        if is_event(bare):
            return None
        if len(bare) <= _PHRASE_LIMIT:
            return "", bracketed(bare)
    return _plain(text), ""


_OMITTED = {
    **{phrase: kind for kind, phrases in words.OMITTED.items() for phrase in phrases},
    **dict.fromkeys(words.OMITTED_MEDIA, "media"),
}


def _without_edited(text: str) -> str:
    found = _EDITED.search(text, max(0, len(text) - 80))
    if found and (found["own"] or found["word"].casefold().rstrip(".") in words.EDITED):
        phrase = f"<{found['word']}>".casefold()
        return text if phrase in words.OMITTED_MEDIA else text[: found.start()]
    return text


def _file(first: str, bare: str, text: str, rest: str) -> tuple[str, str] | None:
    """The words and the caption of a message with a file; None for one without."""
    if bare.endswith(")") and (found := _ANDROID_FILE.fullmatch(bare)):
        name = found["name"].strip()
        if found["word"].casefold() in words.ATTACHED or _ANDROID_NAME.fullmatch(name):
            return _plain(rest), caption(name)
    if "<" in text and (found := _IPHONE_FILE.search(text)):
        name = found["name"].strip()
        if found["word"].strip().casefold() in words.ATTACHED_AS or _IPHONE_NAME.match(name):
            before = _plain(text[: found.start()])
            if name.endswith(before.split(" • ")[0]):  # the file's own name, and how long it is
                before = ""
            return _plain(f"{before}\n{text[found.end() :]}"), caption(name)
    if _OWN in first and len(bare) <= 300:
        folded = bare.casefold()
        for phrase in words.OMITTED["file"]:
            if folded.endswith(phrase):
                return _plain(rest), caption(bare[: -len(phrase)].split(" • ")[0].strip())
    return None


def _plain(text: str) -> str:
    """Text without WhatsApp's marks and without the blanks at its lines' ends."""
    text = text.replace(_OWN, "")
    return "\n".join(line.rstrip() for line in text.split("\n")).strip() if "\n" in text else text.strip()


def _title(source: Source) -> str:
    """The chat's name by that of the file, or of the archive or folder around `_chat.txt`; "" if neither."""
    usual = ("_chat", "_chat.txt")
    name = unicodedata.normalize("NFC", _COPY.sub("", above(source, *usual))).strip()
    found = _TITLE.fullmatch(name)
    if not found:
        return name if source.stem in usual else ""
    return next(group for group in found.groups() if group).strip()


FORMS = {
    "whatsapp": Told(
        detect,
        lambda _: _opening,
        _says,
        time=lambda source: numbers(source, _opening),
        called=lambda source: _title(source) or source.stem,
    )
}
