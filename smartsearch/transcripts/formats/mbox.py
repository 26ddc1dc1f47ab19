"""E-mail: `.mbox` files (Gmail's Takeout, Thunderbird, Apple Mail); single mails as `.eml`, `.emlx`, text.

Mails are turns, threads conversations: Gmail's (`X-GM-THRID`), else those of `References` and `In-Reply-To`,
else, for a `Re:` without either, the last one of the same subject. Of a mail stands what its author wrote
(mailtext.py); what it forwards is a mail of who wrote that, what was attached its caption. `.emlx`, Apple
Mail's, of which no real one could be seen, is a mail below a line with its length and above a property list.

`Source` holds decoded text: bytes above 127 that were no UTF-8 are lost to U+FFFD, which concerns old mail
sent as `8bit`. Headers are read under `email`'s old policy: `email.policy.default` takes nine times as long
(2,000 mails: 4.0 s against 0.45 s) and raises IndexError and KeyError for torn ones (Python 3.11).

Sources: RFC 4155 (mbox), RFC 5322, RFC 2045 to 2047; qmail's mboxrd for `>From `; Google Takeout, whose
borders are `From 17661...@xxx Mon May 08 13:56:00 +0000 2023`; Outlook's `Sent:` in mails saved as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timezone
from functools import cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats import chat
from smartsearch.transcripts.formats.captions import bracketed, caption
from smartsearch.transcripts.formats.form import Form
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.mailtext import (
    FIELDS,
    announced,
    forwarded,
    is_forwarded,
    of_html,
    own_words,
    person,
    quoted,
    time_told,
)
from smartsearch.transcripts.source import Source

if TYPE_CHECKING:
    from email.message import Message
    from email.policy import Policy

# A border follows a blank line, tells a time and precedes a header: any other `From ` is somebody's text.
_BORDER = re.compile(r"^From [^\r\n]{1,200}\d:\d\d[^\r\n]{0,40}\r?\n(?=[!-9;-~]{1,80}:|>From )", re.M)
_ESCAPED = re.compile(r"^>(>{0,40}From )", re.M)
_REPLY = re.compile(
    r"\s{0,8}(?:re|aw|antw|antwort|sv|vs|rif|ris|res|ref|odp|ynt|回复|回覆|答复|fwd?|wg|tr|rv|enc|i|doorst|vl|転送|转发|轉寄)"
    r"(?:\[\d{1,3}\])?\s?[:：]\s{0,8}",
    re.I,
)
_FORWARD = re.compile(
    r"\s{0,8}(?:fwd?|wg|tr|rv|enc|i|doorst|vl|vb|pd|ilt|転送|转发|轉寄)(?:\[\d{1,3}\])?\s?[:：]", re.I
)
_ABROAD = re.compile("|".join(rf"(?P<{name}>^(?:{words})\s?[:：])" for name, words in FIELDS.items()), re.M)
_SHOWN = re.compile(
    rf"^(?:{FIELDS['From']})\s?[:：].{{1,400}}(?:\n[^\n:：]{{1,20}}[:：].{{0,400}}){{2,6}}", re.M
)
_CHAINED = (
    r"(?:\A|(?<=\n\n)|^(?=From: .{1,400}\n(?:.{0,400}\n){0,2}Sent: ))(?=(?:.{1,400}\n){0,3}From: )"
    r"%s: .{1,400}\n(?:.{0,400}\n){0,2}(?:Sent|To|Date|Subject): "
)
_IDS = re.compile(r"<([^<>\s]{1,400})>")
_FROM_TIME = re.compile(r"[A-Z][a-z]{2} [A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d (?:[+-]\d{4} )?\d{4}")
_FOLD = re.compile(r"[\r\n]\s*")
_FLOWED = re.compile(r"(?<=[^\n-]) \n(?![>\n])")  # RFC 3676: a blank at a line's end is no end
_HEADER_LIMIT = 20_000
_ABOUT_LIMIT = 4_000
"""Characters of a header, and of one about a part (`Content-...`), which `email` reads in quadratic time."""
_MULTIPART = re.compile(r"^content-type:\s*multipart/", re.I | re.M)
_MULTIPARTS = 64
"""Parts of parts in a mail: in every line `email` looks for the end of each that is open."""
_TEXTS = ("text/plain", "text/html")
_FIELD = re.compile(r"(?P<name>[!-9;-~]{1,80}):(?P<value>.{0,400})")
_FIELDS = frozenset(
    (
        *("from", "to", "cc", "date", "sent", "subject", "message-id", "mime-version", "content-type"),
        *("received", "return-path", "delivered-to", "reply-to", "sender", "references", "in-reply-to"),
    )
)
_SURE = frozenset(("message-id", "mime-version", "received", "return-path", "sent"))
"""Fields that nobody writes above a text of another kind; else an address has to stand in one."""
_SINGLE = (".eml", ".emlx")
_TOP = 400
"""Lines in which the header of a single mail has to end."""
_NOTE = 25
"""Lines in which what is forwarded begins, below a note."""
_CLOCK = re.compile(r"\d:\d\d")
_HEADERS, _TALKS = 4, 50_000
"""Clocks that a mail has which tells one or two times, and characters in which a talk shows itself."""
_PLIST = re.compile(r"^<\?xml version=\S{1,9}(?: encoding=\S{1,12})?\?>\s{1,4}<!DOCTYPE plist", re.M)


def detect(source: Source) -> bool:
    """Whether the file begins with a `From ` line and a header, or with the header of a single mail."""
    return _is_box(source) or _begins(source, _in_english(source)) > 0 or _is_passed_on(source)


def _is_passed_on(source: Source) -> bool:
    """Whether a file is mails that somebody forwards, and no chat or document with some in it."""
    found = _passed_on(source)
    said = "\n".join(text for _, _, text in found)
    above = found[0][2].split("\n") if found and not found[0][0] else []
    noted = not any(line.startswith(("#", "```", "---")) for line in above)
    return bool(found) and noted and not (said and chat.detect(replace(source, text=said)))


def _passed_on(source: Source) -> list[tuple[str, str, str]]:
    """The mails that a file without a header forwards, and the words above them, of nobody."""
    begun = next((n for n, line in enumerate(source.lines[:_NOTE]) if is_forwarded(line)), None)
    mails = forwarded("\n".join(source.lines[begun:]).strip()) if begun is not None else []
    above = "\n".join(source.lines[:begun]).strip()
    return [("", "", above), *mails] if mails and above else mails


def _is_box(source: Source) -> bool:
    return _BORDER.match(source.text[:4096].lstrip()) is not None


def _in_english(source: Source) -> list[str]:
    """The lines of a file, the fields of mails that it begins with in English."""
    if not _ABROAD.match(source.first_line()):
        return source.lines
    text = "\n".join(source.lines)
    return _SHOWN.sub(lambda block: _ABROAD.sub(lambda found: f"{found.lastgroup}:", block[0]), text).split(
        "\n"
    )


def _begins(source: Source, lines: list[str]) -> int:
    """The line at which the header of a single mail begins, 0 where the file is none."""
    begun = next((n for n, line in enumerate(lines[:_TOP]) if line.strip()), 0)
    begun += lines[begun].strip().isdecimal()  # the length, in `.emlx`
    values: dict[str, str] = {}
    for line in lines[begun : begun + _TOP]:
        field = _FIELD.match(line)
        if field:
            values.setdefault(field["name"].lower(), field["value"])
        elif not values or (line.strip() and line[0] not in " \t"):
            return 0
        elif not line.strip():
            break
    known = values.keys() & _FIELDS
    addressed = any("@" in values.get(name, "") for name in ("from", "to"))
    sure = "from" in known and len(known) > 2 and (addressed or bool(known & _SURE))
    return begun + 1 if sure or (source.suffix in _SINGLE and len(known) > 1) else 0


def _mails(source: Source) -> Iterator[Item | FormatError]:
    """The mails, each with the thread it is of; one that is torn, or of too many parts, is reported."""
    found: list[Item] = []
    for line, border, whole in _box(source.text) if _is_box(source) else _single(source):
        text = _few_parts(whole)
        if len(text) < len(whole):
            told = f"a mail of more than {_MULTIPARTS} parts of parts, the rest not read"
            yield FormatError(told, line=line)
        try:
            mail = _mail(border, text)
            if mail["text"] or mail["caption"] or not mail["forwarded"]:
                found.append(Item(mail, line))
            at, number = 0, line + bool(border)
            for inner in mail["forwarded"]:
                begins, _, _ = inner[2].partition("\n")
                there = re.compile(rf"^[> ]{{0,20}}{re.escape(begins)}", re.M).search(text, at)
                end = there.start() if there else at
                at, number = end, number + text.count("\n", at, end)
                found.append(Item(_sent_on(mail, *inner), number))
        except (ValueError, LookupError, TypeError, AttributeError, AssertionError, RecursionError) as error:
            # What `email` raises for headers and parts that are torn in ways it does not expect.
            said = f"a mail that cannot be parsed ({type(error).__name__}: {error})"
            yield FormatError(said, line=line)
    threads = _threads([mail.value for mail in found])
    yield from (mail._replace(value=mail.value | {"of": of}) for mail, of in zip(found, threads))


def _single(source: Source) -> Iterator[tuple[int, str, str]]:
    """As `_box`, for a file that is one mail, or a chain of them as Outlook shows it."""
    lines = _in_english(source)
    begun = _begins(source, lines)
    if begun:
        text = "\n".join(lines[begun - 1 :])
        ends = list(_PLIST.finditer(text))[-1:] if lines[begun - 2 : begun - 1] else []
        end = ends[0].start() if ends else len(text)
        field, _, _ = text.partition(":")
        chained = re.compile(_CHAINED % re.escape(field), re.M | re.I)
        is_chain = source.suffix not in _SINGLE and chained.match(text)
        chain = [found.start() for found in chained.finditer(text)] if is_chain else [0]
        for start, last in pairwise([*chain, end]):
            yield begun, "", text[start:last]
            if len(chain) == 1 and source.suffix not in _SINGLE:
                yield from _history(begun, text[start:last])
            begun += text.count("\n", start, last)
    if not begun:
        yield from _passed(source)


def _passed(source: Source) -> Iterator[tuple[int, str, str]]:
    """As `_box`, for mails that a file forwards, each with those that it alone quotes."""
    mails, at = _passed_on(source), 0
    for name, sent, said in mails:
        first, _, _ = said.partition("\n")
        at = next(
            (n for n in range(at, len(source.lines)) if source.lines[n].lstrip("> ") == first.strip()), at
        )
        text = f'From: "{name}" <>\nSent: {sent}\nSubject: {source.stem}\n\n{said}'
        yield at + 1, "", text
        for line, border, below in _history(at + 1, text):
            words = below.partition("\n\n")[2].strip().partition("\n")[0]
            if not any(words in other for _, _, other in mails if other != said):
                yield line, border, below


def _history(line: int, text: str) -> Iterator[tuple[int, str, str]]:
    """As `_box`, the mails that one which stands alone quotes below its words: nothing else holds them."""
    header, _, _ = text.partition("\n\n")
    subject = next(
        (field for field in header.split("\n") if field.lower().startswith("subject:")), "Subject:"
    )
    for n, told, said in quoted(text.split("\n")):
        name, address, sent = announced(told)
        yield line + n, "", f'From: "{name or address}" <{address}>\nSent: {sent}\n{subject}\n\n{said}'


def _box(text: str) -> Iterator[tuple[int, str, str]]:
    """Each mail with the line it begins at and its `From ` line; an escaped `From ` in it as it was."""
    begins: list[re.Match[str]] = []
    for found in _BORDER.finditer(text):
        before = text[max(0, found.start() - 4) : found.start()].replace("\r", "")
        if before[-2:] == "\n\n" or not (begins or before.strip()) or text.startswith("From: ", found.end()):
            begins.append(found)
    line, counted = 1, 0
    for n, begin in enumerate(begins, 1):
        line += text.count("\n", counted, begin.start())
        counted = begin.start()
        end = begins[n].start() if n < len(begins) else len(text)
        yield line, begin.group(), _ESCAPED.sub(r"\1", text[begin.end() : end])


def _few_parts(text: str) -> str:
    """A mail up to the header that announces one part of parts too many."""
    if text.count("/") <= _MULTIPARTS:
        return text
    found = next(islice(_MULTIPART.finditer(text), _MULTIPARTS, None), None)
    return text[: found.start()] if found else text


@cache
def _policy() -> Policy:
    """`email`'s old policy, with headers cut before it reads them."""
    from email.policy import Compat32

    class Cut(Compat32):
        def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
            name, value = super().header_source_parse(sourcelines)
            if len(value) > _ABOUT_LIMIT:
                value = value[: _ABOUT_LIMIT if name.lower().startswith("content-") else _HEADER_LIMIT]
            return name, value

    return Cut()


def _mail(border: str, text: str) -> dict[str, Any]:
    """What a mail says, and what threads it: its own id, those it answers, and its subject."""
    from email import message_from_bytes
    from email.utils import parseaddr

    message = message_from_bytes(text.encode("utf-8", "replace"), policy=_policy())
    subject = _header(message, "Subject")
    sender = _header(message, "From")
    name, address = person(sender) if "," in sender.partition("<")[0] else parseaddr(sender)
    name = name if set(sender) & set('@<("') else sender
    body, captions = _content(message)
    time, when = _time(message, border)
    base = _base(subject)
    own, below = own_words(body, forwards=_FORWARD.match(subject) is not None)
    sent_on = forwarded(below)
    if not sent_on and "\n" in below:
        own = f"{own}\n\n{below}".strip()
    if not own and not sent_on and base != subject and not captions:
        own = body.strip()  # forwarded without a word: what is quoted is what was meant
    ids = _IDS.findall(_raw(message, "Message-ID"))
    answers = [*_IDS.findall(_raw(message, "References")), *_IDS.findall(_raw(message, "In-Reply-To"))]
    return {
        "text": own,
        "caption": captions,
        "forwarded": sent_on,
        "speaker": name or address,
        "time": time,
        "when": when,
        "id": ids[0] if ids else "",
        "answers": answers[:200],
        "thread": _raw(message, "X-GM-THRID").strip(),
        "subject": base,
        "replies": base != subject,
    }


def _sent_on(mail: dict[str, Any], name: str, time: str, said: str) -> dict[str, Any]:
    """What one mail forwards as a mail of its own."""
    return mail | {
        "text": said,
        "caption": bracketed("forwarded by", mail["speaker"]),
        "speaker": name,
        "time": time,
        "when": _moment(time),
        "id": "",
        "answers": [mail["id"]] if mail["id"] else [],
        "replies": True,
    }


def _raw(message: Message, name: str) -> str:
    """The text of a header. `email` gives bytes above 127 as lone surrogates; this reads them as UTF-8."""
    values = (str(value) for key, value in message.raw_items() if key.lower() == name.lower())
    return next(values, "").encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _header(message: Message, name: str) -> str:
    """A header on one line with its encoded words decoded; as it stands where they are torn."""
    return _decoded(_FOLD.sub(" ", _raw(message, name)).strip())


def _decoded(written: str) -> str:
    from email.errors import HeaderParseError
    from email.header import decode_header

    if "=?" not in written:
        return written
    try:
        parts = decode_header(written)
    except HeaderParseError:
        return written
    return "".join(part if isinstance(part, str) else _text(part, charset) for part, charset in parts).strip()


def _text(data: bytes, charset: str | None) -> str:
    """Bytes in a mail's charset; what is no ASCII came through UTF-8 (see above) unless it was encoded."""
    try:
        return data.decode(charset or "utf-8", "replace")
    except (LookupError, ValueError, UnicodeError):
        return data.decode("utf-8", "replace")


def _base(subject: str) -> str:
    """A subject without `Re:`, `Fwd:` and their like."""
    for _ in range(20):
        found = _REPLY.match(subject)
        if not found:
            break
        subject = subject[found.end() :]
    return subject.strip()


def _content(message: Message) -> tuple[str, str]:
    """The text of a mail, plain if it has it, and captions for what is attached."""
    plain: list[str] = []
    html: list[str] = []
    captions: list[str] = []
    parts = [message]
    for part in parts:  # grows by the parts of parts; a mail that is attached is none of them
        kind = part.get_content_type()
        name = _decoded(_FOLD.sub(" ", part.get_filename() or ""))
        payload = part.get_payload()
        inside = payload[0] if isinstance(payload, list) and payload else None
        if kind == "message/rfc822" and inside is not None and not isinstance(inside, str):
            captions.append(bracketed("mail", _header(inside, "Subject")))
        elif isinstance(payload, list):
            parts += [inner for inner in payload if not isinstance(inner, str)]
        elif name or part.get_content_disposition() == "attachment":
            captions.append(caption(name) if name else bracketed("file"))
        elif kind in _TEXTS:
            (plain if kind == "text/plain" else html).append(_body(part))
    text = "\n".join(plain).strip()
    return (text if text else of_html("\n".join(html))), " ".join(captions)


def _body(part: Message) -> str:
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    charset = part.get_content_charset()
    whole = str(part.get("Content-Transfer-Encoding", "")).strip().lower() in ("base64", "quoted-printable")
    decoded = not whole and (not data.isascii() or (charset or "").startswith(("utf-16", "utf-32")))
    text = _text(data, "utf-8" if decoded else charset)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _FLOWED.sub(" ", text) if part.get_param("format") == "flowed" else text


def _time(message: Message, border: str) -> tuple[str, float]:
    """When a mail was written: ISO 8601 with its offset, and seconds; by the `From ` line if need be."""
    from email.utils import parsedate_to_datetime

    for written in (_raw(message, "Date"), *_FROM_TIME.findall(border)[:1]):
        try:
            found = parsedate_to_datetime(written) if written.strip() else None
        except (ValueError, TypeError, IndexError, OverflowError):
            found = None
        if found is None or found.year < 1970:
            continue
        aware = found if found.tzinfo else found.replace(tzinfo=timezone.utc)
        return found.isoformat(timespec="seconds"), aware.timestamp()
    if iso := time_told(_raw(message, "Date") or _raw(message, "Sent")):
        return iso, _moment(iso)
    return "", datetime.max.replace(tzinfo=timezone.utc).timestamp()


def _moment(iso: str) -> float:
    """Seconds since 1970 of a time, for comparison."""
    told = datetime.fromisoformat(iso)
    return (told if told.tzinfo else told.replace(tzinfo=timezone.utc)).timestamp()


def _threads(mails: list[dict[str, Any]]) -> list[str]:
    """The thread of each mail."""
    above: dict[str, str] = {}

    def root(id_: str) -> str:
        while (up := above.get(id_, id_)) != id_:
            above[id_] = above.get(up, up)
            id_ = up
        return id_

    for mail in mails:
        own, answers = mail["id"], mail["answers"]
        first = root(answers[0]) if answers else ""
        for id_ in (*answers[1:], *([own] if own and first else [])):
            if root(id_) != first:
                above[root(id_)] = first
    threads: list[str] = []
    by_subject: dict[str, str] = {}
    for mail in mails:
        subject = mail["subject"].casefold()
        threads.append(
            mail["thread"]
            or (root(mail["answers"][0]) if mail["answers"] else "")
            or (by_subject.get(subject, "") if mail["replies"] else "")
            or (root(mail["id"]) if mail["id"] else mail["subject"])
        )
        by_subject[subject] = threads[-1]
    return threads


_FORM = Form(
    items=_mails,
    by="of",
    about=lambda _, __, mails: min(mails, key=lambda mail: mail.value["when"]).value["subject"],
    title=lambda _, subject: subject,
    text="text",
    speaker="speaker",
    time="time",
    caption=(lambda value, _: value["caption"],),
    conversation="of",
    sort=lambda value, _: value["when"],
)


def read(source: Source) -> Iterator[Record]:
    """The mails; or the talk that a single one holds, as those that helpdesks and meetings send do."""
    may_talk = not _is_box(source) and len(_CLOCK.findall(source.text[:_TALKS])) > _HEADERS
    mails = [mail for mail in _mails(source) if isinstance(mail, Item)] if may_talk else []
    talk = _talk(source, mails[0].value["text"]) if len(mails) == 1 else None
    yield from chat.read(talk) if talk else _FORM.read(source)


def _talk(source: Source, text: str) -> Source | None:
    """A mail's text, on the lines where it stands, if it is turns with their times."""
    lines = text.split("\n")
    head = chat.head_of(lines)
    above = source.lines.index(lines[0]) if lines[0] in source.lines else 0
    return Source(source.path, "\n" * above + text) if head and head.has_time else None
