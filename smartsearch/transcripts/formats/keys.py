"""Which keys of a record say who speaks, what and when: the usual ones, or those that `--fields` names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from smartsearch.errors import UsageError
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.formats.fields import mapping, objects, string
from smartsearch.transcripts.formats.jsontext import Item, escaped

# Case, blanks and marks count for nothing: `createdAt` and `Created At` are `created_at`. The first that a
# record has wins.
_KEYS = """
speaker: speaker sender author name username nick nickname speaker_name sender_name author_name display_name
    from_name participant person from by posted_by user_name handle commenter uploader who first_name
    senders person_email sender_email author_email from_email de remitente absender expéditeur auteur
    remetente mittente отправитель автор sprecher verfasser autor autore afzender spreker nadawca odesílatel
    avsändare afsender avsender lähettäjä feladó gönderen pengirim nombre 发送者 发件人 昵称 送信者 発言者
    보낸사람 이름 von 发言人 от emisor poster from_user sent_by user_display_name role_name
text: content text message body utterance msg message_text message_body comment transcript body_text
    content_text mensaje nachricht mensagem messaggio texto сообщение текст 内容 消息 testo texte bericht
    tekst treść wiadomość zpráva meddelande besked contenu contenido contenuto melding viesti üzenet mesaj
    pesan メッセージ 本文 메시지 said speech sentence line_text chat_message inhalt
time: time timestamp created_at create_time date created_date ts datetime sent_at created_utc epoch
    posted_at published_at when at created start_time started_at start published fecha hora datum zeit
    uhrzeit zeitstempel heure дата время 时间 日期 godzina tijd tijdstip čas tid tidspunkt päivämäärä dátum
    tarih saat jour tanggal waktu ora data 日時 時刻 날짜 시간
conversation: conversation_id thread_id conversation channel chat room channel_name chat_name room_name
    channel_id chat_id room_id topic_id chat_session
session: session_id session
turn: id message_id uuid turn_identifier msg_id
role: role
"""
_USUAL = {
    field: tuple(words.split())
    for field, _, words in (row.partition(":") for row in re.split(r"\n(?! )", _KEYS.strip()))
}
_TIME = re.compile(
    "(?:message|msg|chat|local|server|event|sent|created|posted|received|utc|unix)?"
    "(?:timestamp|datetime|date|time)(?:utc|gmt|ms|iso|local|sent|created|received)?"
)
"""Other names of a time, without blanks and marks."""
_PAIRS = (
    *(("question", "answer"), ("query", "answer"), ("query", "response"), ("question", "response")),
    *(("prompt", "completion"), ("prompt", "response"), ("user", "assistant"), ("human", "assistant")),
)
"""What was asked and what was answered, where one record has both."""
_ASSESSED = (
    *(
        "rubric",
        "difficulty",
        "evidence",
        "gold",
        "gold_sessions",
        "options",
        "choices",
        "choice",
        "distractors",
    ),
    *("source_chat_ids", "supporting_facts", "context_ids", "is_correct"),
)
"""What a question has whose answer is known, as in a test: it is no talk."""
LISTS = ("messages", "conversations", "conversation")
"""Keys of lists of messages, which are read before any other."""
ANSWERED = ("response", "responses", "choices", "output", "outputs", "completion", "chosen", "rejected")
"""Where what answers a list of messages stands beside it."""
_GONE = ("deleted", "is_deleted", "deleted_at", "is_removed", "unsent", "is_unsent")
"""What a message has that was taken back."""
_AFTER_ROLE = ("user", "role", "sender_id", "author_id", "user_id", "from_id")
"""Who speaks where no other key says it: beside a role it is often the id of an account."""
_ANSWERS = ("replies", "children", "comments", "responses", "kids", "answers")
"""Lists of messages that answer the one they stand in."""
_UNDERSTOOD = (
    *(*_ANSWERS, *_GONE, "title", "type", "index", "reply_to", "reply_to_id", "parent_id", "edited"),
    *("edited_at", "edited_timestamp", "attachments", "files", "last_name"),
)
"""Keys whose values nobody misses."""
_NO_CHAT = (
    *("level", "severity", "levelname", "log_level", "logger", "logger_name", "hostname", "pid"),
    *("status_code", "http_method", "method", "price", "sku", "rating"),
)
"""What logs of programs and tables of goods have, and messages have not."""
_OWNERS = (
    *("displayName", "display_name", "global_name", "name", "username", "real_name", "full_name", "fullName"),
    *("public_name", "first_name", "nick", "login", "simpleText"),
)
"""Where the speaker is an object, what it calls them."""
_INNER = ("profile", "user", "emailAddress", "author", "attributes")
"""Where that object has the name in another one."""
_DIRECTIONS, _OUTGOING = ("Type", "type", "Direction", "direction"), ("outgoing", "sent", "out")
"""How iMazing and others tell the owner's messages, whose sender is empty."""
_SENT_ALONG = ("attachments", "files", "Attachment")
_LAST_NAME = ("last_name", "lastName", "surname", "family_name")
_MARKS = str.maketrans("", "", "_- .")
_KEPT = 64  # keys of one record whose places are kept
HEAD = 20
"""Records that are looked at to tell what a file is."""
_FEW = 5  # records; of more than these, each by another name, the names are those of things
_SHOWN, _TOLD = 7, 5
"""Keys that are shown of a record, and of the usual ones."""


class Keys(NamedTuple):
    """The keys of one record, by what they say, in order of preference."""

    speaker: tuple[str, ...]
    after_role: tuple[str, ...]
    text: tuple[str, ...]
    time: tuple[str, ...]
    conversation: tuple[str, ...]
    session: tuple[str, ...]
    turn: tuple[str, ...]
    answers: tuple[str, ...]
    lists: tuple[str, ...]
    answered: tuple[str, ...]
    gone: tuple[str, ...]
    pair: tuple[str, ...]
    is_chat: bool


def keys_of(record: object) -> Keys:
    """What the keys of a record say; of what is no object, nothing."""
    names = tuple(record) if isinstance(record, dict) else ()
    return _kept(names) if len(names) <= _KEPT else _found(names)


def _found(names: Sequence[str]) -> Keys:
    by_plain: dict[str, list[str]] = {}
    for name in names:
        by_plain.setdefault(plain(name), []).append(name)

    def of(usual: Iterable[str]) -> tuple[str, ...]:
        return tuple(name for one in usual for name in by_plain.get(plain(one), ()))

    found = {field: of(usual) for field, usual in _USUAL.items() if field != "role"}
    times = (name for name in names if _TIME.fullmatch(plain(name)))
    found["time"] = tuple(dict.fromkeys((*found["time"], *times)))
    pairs = (of(pair) for pair in _PAIRS) if not (found["text"] or of(_ASSESSED)) else ()
    return Keys(
        **found,
        after_role=of(_AFTER_ROLE),
        answers=of(_ANSWERS),
        lists=tuple(name for name in LISTS if name in names),
        answered=tuple(name for name in ANSWERED if name in names),
        gone=of(_GONE),
        pair=next((pair for pair in pairs if len(pair) == len({*map(plain, pair)}) == 2), ()),
        is_chat=not of(_NO_CHAT),
    )


_kept = lru_cache(maxsize=256)(_found)


@lru_cache(maxsize=4096)
def plain(name: str) -> str:
    """A key without case, blanks and marks."""
    return name.translate(_MARKS).casefold()


def name_at(record: Any, keys: Iterable[str]) -> tuple[str, str]:
    """The first of `keys` that holds a name, a number, or an object with a name; and the name. Else ""."""
    for key in keys:
        found = record[key]
        if isinstance(found, list) and found:
            found = found[0]
        if isinstance(found, str):
            name = found
        elif isinstance(found, dict):
            inner = (found, *(mapping(found, one) for one in _INNER))
            name = next(filter(None, (string(one, *_OWNERS) for one in inner)), "")
        else:
            name = string(record, key)
        if name:
            last = string(record, *_LAST_NAME) if is_first(key) else ""
            return key, f"{name} {last}" if last else name
    own = any(str(record.get(key, "")).casefold() in _OUTGOING for key in _DIRECTIONS)
    return "", "Me" if own else ""


def is_first(key: str) -> bool:
    """Whether a key is that of a first name."""
    return plain(key) == "firstname"


def text_at(record: Any, keys: Iterable[str]) -> tuple[str, Any]:
    """As `value_at`; of an object its own text, or its parts."""
    key, found = value_at(record, keys)
    inner = _said_in(found) if found.__class__ is dict else None
    return key, found if inner is None else inner


def value_at(record: Any, keys: Iterable[str]) -> tuple[str, Any]:
    """The first of `keys` that holds something, and what; if none does, the first that is there."""
    key, found = "", None
    for name in keys:
        value = record[name]
        if value or found is None:
            key, found = name, value
        if value:
            break
    return key, found


def _said_in(value: dict[str, Any]) -> str | list[Any] | None:
    """The text in an object that stands for one: `{"body": "hi"}`, YouTube's `runs`, Jira's documents."""
    if isinstance(runs := value.get("runs"), list):
        return runs
    if value.get("type") == "doc":
        return _written(value).strip()
    return next((value[key] for key in keys_of(value).text if isinstance(value[key], str)), None)


def _written(node: dict[str, Any], depth: int = 20) -> str:
    """The text of a node of Atlassian's document format, and of those below it."""
    attributes = mapping(node, "attrs")
    said = string(node, "text") or string(attributes, "text", "shortName", "url")
    inner = (_written(one, depth - 1) for one in objects(node, "content")) if depth else ()
    ends = "\n" if node.get("type") in ("paragraph", "heading", "codeBlock", "hardBreak") else ""
    return f"{said}{''.join(inner)}{ends}"


def is_plain(record: Any, keys: Keys) -> bool:
    """Whether a record is a message that says something, and holds none of the usual lists of others."""
    if not keys.text or not (record.__class__ is dict and text_at(record, keys.text)[1]):
        return False
    if keys.lists and any(record[key].__class__ is list for key in keys.lists):
        return False
    return record.get("role").__class__ is str or bool(name_at(record, keys.speaker or keys.after_role)[1])


def is_gone(record: Any, keys: Keys) -> bool:
    """Whether a message was taken back."""
    return any(record[key] not in (None, False, "", 0) for key in keys.gone)


def are_messages(values: Sequence[object], *, far: bool = False) -> bool:
    """Whether nearly all of some records, the first of a file, have a speaker and a text.

    Not those of a log or a table of goods. Where each of several has another `name`, or a title, no other key
    tells the speaker and none the time, the names are those of things; `far` from the top of a file of two.
    """
    values = [one for one in values if mapping(one).get("type") == "message"] or values
    good, names, count = 0, list[str](), len(values)
    for value in values:
        if isinstance(value, dict):
            keys = keys_of(value)
            key, name = name_at(value, (*keys.speaker, *keys.after_role))
            said = text_at(value, keys.text)[1]
            said = said or (keys.text and next(filter(None, map(value.get, _SENT_ALONG)), None))
            untimed, of_thing = not value_at(value, keys.time)[1], plain(key) == "name"
            setting = untimed and of_thing and "value" in value
            good += bool(name and keys.is_chat and not setting and said and isinstance(said, str | list))
            names += [name] if untimed and (of_thing or "title" in value) else []
    few = 0 if far else 1 if all("title" in mapping(value) for value in values) else _FEW
    things = few < len(names) == count == len(set(names))
    return 4 * good >= 3 * count > 0 and not things


def said_of(records: Iterable[object]) -> str:
    """What users are told of the keys that some records, the first of a file, were read by.

    "" where that is plain: a role tells the speaker, or every key is understood and no thing is named.
    """
    used, left, understood = ["", "", ""], dict[str, None](), set(map(plain, _UNDERSTOOD))
    for value in records:
        if not isinstance(value, dict) or isinstance(value.get("role"), str):
            return ""
        if "from" in value and isinstance(value.get("value"), str):
            return ""
        keys = keys_of(value)
        who, said = (*keys.speaker, *keys.after_role), keys.text
        here = name_at(value, who)[0], value_at(value, said)[0], value_at(value, keys.time)[0]
        used = [before or key for before, key in zip(used, here, strict=True)]
        read = {*here, *keys.time, *keys.conversation, *keys.session, *keys.turn}
        filled = [key for key, held in value.items() if key not in read and held not in (None, "", False, [])]
        left.update(
            dict.fromkeys(key for key in filled if key in (*who, *said) or plain(key) not in understood)
        )
    if not left and plain(used[0]) != "name":
        return ""
    lost = f"; not read: {_listed(list(left))}" if left else ""
    named = (f"{field}={key}" for field, key in zip(("speaker", "text", "time"), used, strict=True) if key)
    return f"read as messages: {', '.join(named)}{lost}"


def known() -> str:
    """The usual keys in words, for an error about a file without them."""
    usual = {**_USUAL, "speaker": (*_AFTER_ROLE, *_USUAL["speaker"])}
    return "; ".join(
        f"{field}: {', '.join(usual[field][:_TOLD])}, ..." for field in ("speaker", "text", "time")
    )


def only_list(record: object) -> str:
    """The key of the one list of objects in a record, or "" where there is none, or are several."""
    lists = [key for key in mapping(record) if objects(record, key)]
    return lists[0] if len(lists) == 1 else ""


def said_by(record: object) -> str:
    """The keys of a record in words."""
    return _listed(list(mapping(record))) or "no keys"


def _listed(names: Sequence[str]) -> str:
    shown = [name[:40] for name in names[:_SHOWN]]
    return ", ".join([*shown, "..."] if len(names) > _SHOWN else shown)


class Named(NamedTuple):
    """The keys that `--fields` names: of each field its steps from the record to the value."""

    steps: tuple[tuple[str, tuple[str, ...]], ...]

    @classmethod
    def of(cls, written: str) -> Named:
        """What `speaker=sender,text=body,time=/meta/ts` names. Raises UsageError."""
        steps: dict[str, tuple[str, ...]] = {}
        for part in written.split(","):
            field, _, key = (piece.strip() for piece in part.partition("="))
            fault = (
                f"{part.strip()!r} is not NAME=KEY"
                if not (field and key)
                else f"{field!r} is no field"
                if field not in _USUAL
                else f"{field!r} is named twice"
                if field in steps
                else f"{key!r} is no JSON pointer: ~ is written ~0 there, / in a key ~1"
                if key.startswith("/") and "~" in key.replace("~0", "").replace("~1", "")
                else ""
            )
            if fault:
                hint = f"--fields speaker=KEY,text=KEY,time=KEY; fields are {', '.join(_USUAL)}"
                raise UsageError(f"--fields: {fault}", hint=hint)
            parts = [step.replace("~1", "/").replace("~0", "~") for step in key[1:].split("/")]
            steps[field] = tuple(parts) if key.startswith("/") else (key,)
        return cls(tuple(steps.items()))

    def has(self, record: object) -> bool:
        """Whether a record has one of the keys, or where a pointer to one begins."""
        return any(steps[0] in mapping(record) for _, steps in self.steps)

    def records(self, items: Sequence[Item]) -> list[Item]:
        """The records with the named values under the usual keys, which lose what else stands under these.

        Raises FormatError `unknown_field` where no record has a named key.
        """
        for _, steps in self.steps:
            if items and all(_at(item.value, steps) is None for item in items):
                key = steps[0] if len(steps) == 1 else "".join(f"/{escaped(step)}" for step in steps)
                said = f"--fields: no record has {key!r}; the first has {said_by(items[0].value)}"
                raise FormatError(said, kind="unknown_field")
        return [item._replace(value=self._renamed(item.value)) for item in items]

    def _renamed(self, record: object) -> object:
        if not isinstance(record, dict):
            return record
        values = {field: _at(record, steps) for field, steps in self.steps}
        taken = {plain(one) for field in values for one in _USUAL[field]}
        taken |= set(_AFTER_ROLE) if "speaker" in values else set()
        kept = {key: value for key, value in record.items() if plain(key) not in taken}
        if "time" in values:
            kept = {key: value for key, value in kept.items() if not _TIME.fullmatch(plain(key))}
        said = values.get("text")
        if isinstance(said, int | float) and not isinstance(said, bool):
            values["text"] = str(said)
        return kept | {_USUAL[field][0]: value for field, value in values.items() if value is not None}


def _at(value: object, steps: Sequence[str]) -> object:
    """The value that `steps` lead to from `value`, or None."""
    for step in steps:
        if isinstance(value, list):
            at = int(step) if len(step) < 9 and step.isdecimal() else len(value)
            value = value[at] if at < len(value) else None
        else:
            value = mapping(value).get(step)
    return value
