"""SMS and MMS of Android in the XML of SMS Backup & Restore: `sms-20230508135601.xml`.

Each message, `sms` with a `body` or `mms` with `parts`, is parsed by itself: a torn one costs no other, and
no entity can be declared. Who exported speaks as `Me`, others by the name of their number. Drafts are
left out.

Sources: SynTech's "Fields in XML backup files", msgvault's and other readers on GitHub; no backup of a
person's was looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import starmap
from xml.etree import ElementTree

from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.formats.captions import attachment, joined
from smartsearch.transcripts.formats.form import Form
from smartsearch.transcripts.formats.jsontext import Item

_ROOT = re.compile(r"<smses[\s>]|<[sm]ms\s[^<>]{0,400}\bdate=\"\d")
_BEGINS = re.compile(r"<(?P<kind>sms|mms)\s")
_ENDS = {"sms": re.compile(r"/>|</sms>"), "mms": re.compile(r"</mms>|(?<=\")\s{0,8}/>\s{0,8}$")}
_HALVES = re.compile(r"&#(?P<high>5[5-6]\d{3});&#(?P<low>5[6-7]\d{3});")
_NO_SIGN = re.compile(r"&#(?:x0*(?:[0-8bcef]|1[0-9a-f])|0*(?:[0-8]|1[124-9]|2\d|3[01]|5[5-7]\d{3}));", re.I)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_ABSENT = ("", "null", "(Unknown)")
_DRAFT = "3"
_RECEIVED = "1"
_FROM = "137"
"""Of an address: who sent the message."""


def _item(line: int, kind: str, xml: str) -> Item | FormatError:
    """A message, or the fault of one that is no XML."""
    try:
        return Item(_message(kind, ElementTree.fromstring(xml)), line)
    except (ElementTree.ParseError, ValueError) as error:
        return FormatError(f"a message that is no XML ({str(error).partition(':')[0]})", line=line)


def _speaker(value: dict[str, str], names: dict[str, str]) -> str:
    sender = value["from"] or value["address"]
    return names.get(sender, sender) if value["box"] == _RECEIVED else "Me"


def _elements(text: str) -> Iterator[tuple[int, str, str]]:
    """The XML of each message, with its line and its kind: no attribute can hold a `<`."""
    line, counted = 1, 0
    begins = list(_BEGINS.finditer(text))
    for n, begin in enumerate(begins):
        line += text.count("\n", counted, begin.start())
        counted = begin.start()
        whole = text[begin.start() : begins[n + 1].start() if n + 1 < len(begins) else len(text)]
        whole = whole.partition("</smses>")[0]
        ends = list(_ENDS[begin["kind"]].finditer(whole))
        xml = whole[: ends[-1].end()] if ends else whole
        yield line, begin["kind"], _mended(xml)


def _mended(xml: str) -> str:
    """XML without references and characters that it may not have; halves of an emoji are one."""
    if "&#" in xml:
        xml = _NO_SIGN.sub("\ufffd", _HALVES.sub(_whole, xml))
    return _CONTROL.sub("\ufffd", xml)


def _whole(found: re.Match[str]) -> str:
    high, low = int(found["high"]), int(found["low"])
    if 0xD800 <= high < 0xDC00 <= low < 0xE000:
        return chr(0x10000 + ((high - 0xD800) << 10) + low - 0xDC00)
    return "\ufffd"


def _message(kind: str, found: ElementTree.Element) -> dict[str, str]:
    """What a message says, however it was sent."""
    sms = kind == "sms"
    text, caption = (found.get("body", "").strip(), "") if sms else _parts(found)
    senders = [_known(one, "address") for one in found.iter("addr") if one.get("type") == _FROM]
    return {
        "date": found.get("date", ""),
        "address": _known(found, "address"),
        "name": _known(found, "contact_name"),
        "box": found.get("type" if sms else "msg_box", ""),
        "from": next((one for one in senders if one and one != "insert-address-token"), ""),
        "text": text if sms else "\n".join(filter(None, (_known(found, "sub"), text))),
        "caption": caption,
    }


def _parts(found: ElementTree.Element) -> tuple[str, str]:
    """The words and the captions of an MMS; its layout (SMIL) is neither."""
    texts, captions = [], []
    for part in found.iter("part"):
        kind = part.get("ct", "")
        if kind.startswith("text/plain"):
            texts.append(_known(part, "text"))
        elif kind != "application/smil":
            name = next((known for key in ("name", "cl", "fn") if (known := _known(part, key))), "")
            captions.append(attachment(name, kind))
    return "\n".join(filter(None, texts)), joined(captions)


def _known(found: ElementTree.Element, key: str) -> str:
    value = found.get(key, "").strip()
    return "" if value in _ABSENT else value


FORMS = {
    "sms-backup": Form(
        detect=lambda source: _ROOT.search(source.text[:4096]) is not None,
        items=lambda source: starmap(_item, _elements(source.text)),
        about=lambda _, __, messages: {
            one.value["address"]: one.value["name"] for one in messages if one.value["name"]
        },
        text="text",
        speaker=_speaker,
        caption=(lambda value, _: value["caption"],),
        conversation=lambda value, _: value["name"] or value["address"].replace("~", ", "),
        skip=lambda value, _: value["box"] == _DRAFT,
        sort=True,
    )
}
