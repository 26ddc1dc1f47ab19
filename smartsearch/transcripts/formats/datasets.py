"""Data sets of dialogues and of questions about them, each as a declaration.

Structures as their cards and their files on GitHub and the Hugging Face Hub have them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from smartsearch.text.times import to_iso
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.formats.fields import kind, mapping, sequence, string
from smartsearch.transcripts.formats.form import Chat, Form
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.paths import shaped
from smartsearch.transcripts.source import Source


# LongMemEval (xiaowu0162/LongMemEval): questions, each with sessions, whose ids and dates stand beside them.
def questions(_: Source, item: Item) -> Iterator[Chat | FormatError]:
    """The haystack of a question."""
    if not isinstance(mapping(item.value).get("haystack_sessions"), list):
        yield item.fault("no `haystack_sessions` list here")
        return
    ids, dates = sequence(item.value, "haystack_session_ids"), sequence(item.value, "haystack_dates")
    for s, session in enumerate(item.elements("haystack_sessions")):
        if not isinstance(session.value, list):
            yield session.fault(f"{kind(session.value)} in the place of a session")
        date = to_iso(dates[s]) if s < len(dates) else ""
        about = str(ids[s]) if s < len(ids) else str(s + 1), date
        yield Chat(item, list(session.elements()), about=about)


# LoCoMo (snap-research/locomo): samples of a conversation in numbered, dated sessions. REALTALK
# (danny911kr/REALTALK): such a conversation without a sample around it, a time a turn.
_SESSION = re.compile(r"session_(\d{1,9})")


def _sessions(value: Any) -> str | None:
    """The key of the object with a sample's sessions, "" where it is that itself, None for none."""
    inner = mapping(value).get("conversation") if isinstance(value, dict) else None
    if isinstance(inner, dict) and any(key == "speaker_a" or _SESSION.fullmatch(key) for key in inner):
        return "conversation"
    whole = mapping(value)
    turns = [turn for key in whole if _SESSION.fullmatch(key) for turn in sequence(value, key)[:2]]
    found = any(
        "speaker" in turn and _locomo_text(turn) is not None for turn in turns if isinstance(turn, dict)
    )
    return "" if found else None


def _locomo_text(turn: dict[str, Any]) -> str | None:
    """A turn's text: REALTALK's and LoCoMo's own generator write it without mark-up under `clean_text`."""
    text = turn.get("clean_text", turn.get("text"))
    return text if isinstance(text, str) else None


def _locomo_said(turn: dict[str, Any], _: Any) -> str:
    text = _locomo_text(turn)
    if text is None:
        raise FormatError("a turn without a `text` string")
    return text


def _locomo(_: Source, item: Item) -> Iterator[Chat | FormatError]:
    key = _sessions(item.value)
    if key is None and isinstance(mapping(item.value).get("conversation"), dict):
        key = "conversation"
    if key is None:
        yield item.fault("no `conversation` object here")
        return
    inside = item.at(*key.split())
    held = inside.value
    for name in sorted(filter(_SESSION.fullmatch, held), key=lambda name: int(name.rpartition("_")[2])):
        if not isinstance(held[name], list):
            yield inside.at(name).fault(f"{kind(held[name])} in the place of a list of turns")
        date = to_iso(held.get(f"{name}_date_time"))
        yield Chat(item, list(inside.elements(name)), about=(name, date))


# BEAM's chat.json: batches of groups of turns, now and then anchored in time: an anchor holds until the next.
# A user's content ends in a marker such as `->-> 1,1`, which is no part of what was said.
_MARKER = re.compile(r"[\w,./()\s-]{,40}")


def _beam(source: Source) -> Iterator[Item | FormatError]:
    """The turns of all batches."""
    for item in source.items():
        value = mapping(item.value)
        if not isinstance(value.get("turns"), list):
            yield item.fault("no `turns` list here")
        time = to_iso(value.get("time_anchor"))
        for group in item.elements("turns"):
            if not isinstance(group.value, list):
                yield group.fault("not a list of turns")
            for one in group.elements():
                time = to_iso(mapping(one.value).get("time_anchor")) or time
                more = {"date": time, "session": str(value.get("batch_number", ""))}
                yield one._replace(value=one.value | more) if isinstance(one.value, dict) else one


def _unmarked(value: dict[str, Any], _: Any) -> str:
    content = _content(value, None)
    said, _, marker = content.rpartition("->->")
    return said.rstrip() if said and _MARKER.fullmatch(marker) else content


def _content(value: dict[str, Any], _: Any) -> str:
    content = value.get("content")
    if not isinstance(content, str):
        raise FormatError("a turn without a `content` string")
    return content


# Data sets: SAMSum (`dialogue`, a line a turn), MediaSum (`utt` and `speaker`, side by side), HH-RLHF
# (`chosen` and `rejected`, which begin alike) and UltraChat (`data`, in turns).
_TURN = re.compile(r"(?:^|\n)(?P<name>[^:\n]{1,60}): ?")
_SIDES = re.compile(r"\n\n(?P<name>Human|Assistant): ?")
_ROLES = {"Human": "user", "Assistant": "assistant"}


def _dialogue(_: Source, item: Item) -> Iterator[Chat]:
    found: list[tuple[str, str, str]] = []
    value = item.value
    for key, begins in (("dialogue", _TURN), ("chosen", _SIDES), ("rejected", _SIDES)):
        said = string(value, key).replace("\r\n", "\n")
        heads = list(begins.finditer(said))
        ends = [*(head.start() for head in heads[1:]), len(said)]
        turns = [(key, head["name"], said[head.end() : end].strip()) for head, end in zip(heads, ends)]
        found += [turn for turn in turns if ("chosen", *turn[1:]) not in found]
    names, texts = sequence(value, "speaker"), sequence(value, "utt") or sequence(value, "data")
    for n, text in enumerate(texts):
        name = names[n] if n < len(names) else ("Human", "Assistant")[n % 2]
        key = f"{'utt' if names else 'data'}/{n}"
        found += [(key, str(name), text)] if isinstance(text, str) else []
    messages = [
        Item(
            {"name": _ROLES.get(name, name), "role": _ROLES.get(name, ""), "text": text, "turn": str(n)},
            item.line,
            f"{item.pointer}/{key}",
        )
        for n, (key, name, text) in enumerate(found, 1)
    ]
    yield Chat(item, messages)


def _is_dialogue(value: Any) -> bool:
    held = mapping(value)
    said, data = string(held, "dialogue"), sequence(held, "data")
    chosen = string(held, "chosen").startswith("\n\nHuman:") and "rejected" in held
    chat = held.keys() <= {"id", "data"} and len(data) > 1 and all(isinstance(one, str) for one in data)
    return ("summary" in held and len(_TURN.findall(said)) > 1) or chosen or chat or _is_broadcast(held)


_is_broadcast = shaped("utt[] speaker[]")

FORMS = {
    "longmemeval": Form(
        claims="haystack_sessions",
        parted=questions,
        inside="haystack_sessions",
        name="question_id",
        kinds=(object,),
        text=_content,
        role="role",
        time=lambda _, session: session[1],
        session=lambda _, session: session[0],
        turn="#",
    ),
    "locomo": Form(
        claims=lambda value: _sessions(value) is not None,
        parted=_locomo,
        inside="conversation",
        name="sample_id",
        text=_locomo_said,
        speaker="speaker",
        time=lambda value, session: to_iso(value.get("date_time")) or session[1],
        caption=(lambda value, _: string(value, "blip_caption"),),
        session=lambda _, session: session[0],
        turn="dia_id",
    ),
    "beam": Form(
        claims="batch_number turns",
        items=_beam,
        about=lambda source, _, __: source.folder if source.stem == "chat" else "",
        name=lambda _, folder: folder,
        text=_unmarked,
        role="role",
        session="session",
    ),
    "dialogues": Form(
        claims=_is_dialogue,
        parted=_dialogue,
        inside="dialogue",
        text="text",
        speaker="name",
        role="role",
        turn="turn",
    ),
}
