"""How a kind of JSON holds its messages, as a declaration (`Form`), and the one reader that goes by it.

Paths and shapes are those of paths.py. What none can say is a function of a message, or a conversation, and
of what `about` knows of the conversation: the names of people, say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from types import SimpleNamespace
from typing import Any, NamedTuple

from smartsearch.text.longtimes import time_of
from smartsearch.text.times import instant
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.agent_log import Event, Place, no_object, turns
from smartsearch.transcripts.formats.blocks import events_of
from smartsearch.transcripts.formats.branch import Node, shown
from smartsearch.transcripts.formats.captions import joined
from smartsearch.transcripts.formats.fields import (
    in_time,
    kind,
    last_part,
    mapping,
    misfit,
    string,
    unwrapped,
)
from smartsearch.transcripts.formats.jsontext import Item, escaped
from smartsearch.transcripts.formats.paths import EACH, Pick, Reads, at, path, shaped, value_of
from smartsearch.transcripts.source import Source

TALK = {"user": "user", "assistant": "assistant"}
"""The roles of most forms."""


class Chat(NamedTuple):
    """A conversation: where it stands, its messages, its name, its title and what is known about it."""

    item: Item
    messages: Sequence[Item]
    name: str = ""
    title: str = ""
    about: Any = None

    @property
    def value(self) -> dict[str, Any]:
        """What is told of the conversation."""
        return self.item.value if isinstance(self.item.value, dict) else {}


@dataclass(frozen=True)
class Form:
    """Where conversations and messages stand in a file, and where in a message its parts do.

    A record is of the form by `claims`. `chats` are the paths from it to lists of conversations, or objects
    of them by id; without such it is one. `inside` are those from a conversation to its messages, listed or
    by id, `first` leads to a message before these, "" to the conversation itself. Without any of these, or
    where `alone` says so, a record is a message of the file, whose conversations are parted `by` an id.
    `items` gives the records of other files than plain JSON, or of a log that is played back, or
    conversations; `parted` those of a record that no path leads to.

    `name` and `title` are read of a conversation, as is `called`: what people call it is its name, but its
    title where another one of the file is called so too. For messages of the file it is the first record
    that has the shape `head`. `parent` is the id above a message, or a place in `inside`, and of such a tree
    the branch to `leaf` is read. `within` leads from a place to the message. `replies` are lists of messages
    that answer one. `thread` is the id of the message that one answers to: both share it as their session.

    `turn` is a message's id, "#" its number. `says` is the key of the text, which is of one of the `kinds`;
    a function that reads `text` may give a caption too, or None for no turn. The `speaker` is who has the
    `role` unless it is told. With `roles` messages are those of a model and its tools: by its `kind` one is
    said in a role, "" by nobody; any other kind than these is a fault, but where "*" has a role ("*": its
    own name). `message` leads to the object with the `content`. `typed` and `result` leave what the user
    typed of a text and what a tool wrote. `joins` is the id that pieces of one message share. `events` makes
    of a message what that does not.
    """

    claims: str | tuple[str, ...] | Callable[[Any], bool] = ""
    detect: Callable[[Source], bool] | None = None
    items: Callable[[Source], Iterable[Item | Chat | FormatError]] = Source.items
    parted: Callable[[Source, Item], Iterable[Chat | FormatError]] | None = None
    chats: str = ""
    inside: str = ""
    first: str | None = None
    by: Pick = ""
    within: str = ""
    alone: bool = False
    head: str = ""
    about: Callable[[Source, Item, Sequence[Item]], Any] | None = None
    name: Pick = "id"
    title: Pick | tuple[Pick, ...] = "title"
    called: Pick = ""
    numbered: bool = False
    parent: Pick = ""
    leaf: Pick = ""
    replies: str = ""
    thread: Pick = ""
    sort: bool | Reads = False

    says: str = ""
    kinds: tuple[type, ...] = (str,)
    text: Pick = ""
    speaker: Pick = ""
    time: Pick = "timestamp createdAt created_at time ts date create_time"
    caption: tuple[Reads, ...] = ()
    turn: Pick = "id"
    session: Pick = ""
    role: Pick = ""
    conversation: Pick = ""
    skip: Reads | None = None

    kind: Pick = "role"
    roles: Mapping[str, str] = field(default_factory=dict)
    message: Pick = ""
    content: str = "content"
    joins: Pick = ""
    cwd: Pick = ""
    typed: Callable[[str], str] = str
    result: Callable[[str], str] = str
    events: Callable[[Item, Place, Chat], Iterable[Event] | None] | None = None

    @cached_property
    def has(self) -> Callable[[Any], bool]:
        """Whether a record is of the form."""
        if callable(self.claims):
            return self.claims
        return shaped(*([self.claims] if isinstance(self.claims, str) else self.claims))

    @cached_property
    def _alone(self) -> bool:
        """Whether a record without conversations is a message."""
        return self.alone or not (self.chats or self.inside or self.parted)

    @cached_property
    def _of(self) -> Any:
        """What reads each part, made once."""
        texts = ("name", "called", "by", "parent", "leaf", "thread", "turn", "session", "role")
        found = {key: path(getattr(self, key)) for key in (*texts, "conversation", "kind", "joins", "cwd")}
        titles = [path(way) for way in (self.title if isinstance(self.title, tuple) else [self.title])]
        return SimpleNamespace(
            **found,
            titles=titles,
            title=titles[0],
            text=path(self.text or self.says),
            speaker=path(self.speaker or self.role),
            time=value_of(self.time),
            message=value_of(self.message) if self.message else None,
        )

    def read(self, source: Source, unnamed: str = "") -> Iterator[Record]:
        """Turns of a file in the form, chat after chat, and faults; `unnamed` is what no name is told of."""
        chats: list[Chat | FormatError] = []
        own: list[Item] = []
        parted = self.parted or (self._found if self.chats or self.inside else None)
        for item in self.items(source):
            if isinstance(item, FormatError | Chat):
                chats.append(item)
                continue
            found = list(parted(source, item)) if parted else []
            chats += found
            if not found and self._alone:
                own.append(item)
            elif not found:
                chats.append(_no_chat(item, self.chats or self.inside or "messages"))
        if own:
            has = shaped(self.head)
            head = next((one for one in own if self.head and has(one.value)), Item({}, 0))
            chats += [self._chat(source, head, messages) for messages in self._grouped(own)]
        of, known = self._of, [chat for chat in chats if isinstance(chat, Chat)]
        called = [of.called(chat.value, chat.about) if self.called else "" for chat in known]
        names, shared = iter(called), Counter(called)
        places = {place: n for n, place in enumerate(dict.fromkeys(chat.item[1:] for chat in known), 1)}
        for chat in chats:
            if isinstance(chat, FormatError):
                yield chat
                continue
            name, n = next(names), places[chat.item[1:]]
            many = f"{source.stem}#{n}" if self.numbered or len(places) > 1 else source.stem
            if name and shared[name] == 1:
                chat = chat._replace(name=name)
            else:
                title = name or chat.title or of.title(chat.value, chat.about)
                name = chat.name or of.name(chat.value, chat.about) or unnamed or many
                chat = chat._replace(name=name, title=title)
            yield from self._spoken(source, chat) if self.roles else self._turns(source.path, chat)

    def _found(self, source: Source, item: Item) -> Iterator[Chat | FormatError]:
        """The conversations of a record: those in it, or itself."""
        held = [way for way in self.chats.split() if isinstance(at(item.value, way), list | dict)]
        for one in (e for way in held for e in _elements(item, way)) if held else [item]:
            ways = [way for way in self.inside.split() if isinstance(at(one.value, way), list | dict)]
            ways = [EACH] if isinstance(one.value, list) and self.alone else ways
            if ways:
                opened = [] if self.first is None else [one.at(*self.first.split())]
                listed = (message for way in ways for message in _elements(one, way, bool(self.parent)))
                yield self._chat(source, one, [*opened, *listed])
            elif held and isinstance(one.value, dict):
                yield _no_chat(one, self.inside)
            elif held:
                yield one.fault(f"{kind(one.value)} in the place of a conversation")

    def _grouped(self, messages: list[Item]) -> Iterable[list[Item]]:
        """The messages of a file, those of each conversation together."""
        groups: dict[str, list[Item]] = {}
        for one in messages if self.by else ():
            key = self._of.by(one.value, None) if isinstance(one.value, dict) else ""
            groups.setdefault(key, []).append(one)
        return groups.values() or [messages]

    def _chat(self, source: Source, item: Item, messages: Sequence[Item]) -> Chat:
        return Chat(item, messages, about=self.about(source, item, messages) if self.about else None)

    def _ordered(self, chat: Chat) -> list[tuple[Item, str]]:
        """The messages to be read, in order, with the ids of those that they stand in as replies."""
        found = self._answered(chat) if self.replies else [(one, "") for one in chat.messages]
        if self.parent:
            found = self._on_branch(found, chat)
        if self.within:
            found = [(_inner(one, self.within), own) for one, own in found if not self._is_empty(one.value)]
        if self.sort and len(found) > 1 and not self.replies:
            return [(one, "") for one in in_time((one for one, _ in found), self._when(chat.about))]
        return found

    def _on_branch(self, messages: list[tuple[Item, str]], chat: Chat) -> list[tuple[Item, str]]:
        """The messages of the branch to the leaf, among those without an id, which are on none."""
        of, about, within = self._of, chat.about, self.within
        leaf, values = of.leaf(chat.value, about), [mapping(one.value) for one, _ in messages]
        inner = [mapping(value.get(within, value)) for value in values]
        names = [(within and string(v, "id")) or of.turn(said, about) for v, said in zip(values, inner)]
        times = [] if leaf in names else [time_of(unwrapped(of.time(said, about))) for said in inner]
        nodes = [
            Node(name, of.parent(value, about), time)
            for name, value, time in zip_longest(names, values, times, fillvalue="")
            if name
        ]
        placed = [n for n, name in enumerate(names) if name]
        kept = [placed[n] for n in shown(nodes, leaf)]
        aside = [n for n, name in enumerate(names) if not name]
        order = [*aside, *kept] if kept != sorted(kept) else sorted([*aside, *kept])
        return [messages[n] for n in order]

    def _answered(self, chat: Chat) -> list[tuple[Item, str]]:
        """The messages, each with those behind it that answer it, however deep."""
        of, messages, when = self._of, chat.messages, self._when(chat.about)
        messages = in_time(messages, when) if self.sort else messages
        found, waiting = list[tuple[Item, str]](), [(one, "") for one in reversed(messages)]
        while waiting:
            item, above = waiting.pop()
            below = item.elements(self.replies)
            answers = in_time(below, when) if self.sort else list(below)
            own = above or (answers and (of.turn(item.value, None) or str(of.time(item.value, None)))) or ""
            found.append((item, own))
            waiting += [(one, own) for one in reversed(answers)]
        return found

    def _is_empty(self, value: Any) -> bool:
        """Whether a value is a node of a tree that holds no message."""
        return isinstance(value, dict) and "id" in value and value.get(self.within, 0) is None

    def _when(self, about: Any) -> Callable[[Any], float | None]:
        """What tells when a message was said, for comparison with others of its conversation."""
        sort = self.sort
        return (lambda value: sort(value, about)) if callable(sort) else self._moment

    def _moment(self, value: Any) -> float | None:
        sent = unwrapped(self._of.time(value, None)) if isinstance(value, dict) else None
        if isinstance(sent, str):
            return float(sent) if sent.isdecimal() and len(sent) < 20 else instant(sent)
        return float(sent) if isinstance(sent, int | float) and abs(sent) < 1e300 else None

    def _turns(self, path: str, chat: Chat) -> Iterator[Record]:
        of, about, skip, says, shows = self._of, chat.about, self.skip, self.says, self.caption
        messages, kinds = self._ordered(chat), (type(None), *self.kinds)
        role_of = of.role if self.role and self.speaker else None
        turn_of = of.turn if self.turn != "#" else None
        session_of = of.session if self.session else None
        conversation_of = of.conversation if self.conversation else None
        values = [item.value for item, _ in messages if isinstance(item.value, dict)] if self.thread else []
        threads = {of.thread(value, about) for value in values}
        for n, (item, thread) in enumerate(messages, 1):
            value = item.value
            if not isinstance(value, dict) or not isinstance(value.get(says), kinds):
                yield item.fault(str(misfit(value, says, *self.kinds)))
                continue
            try:
                if skip and (left := skip(value, about)):
                    if isinstance(left, FormatError):
                        yield item.fault(str(left), left.kind)
                    continue
                text = of.text(value, about)
                if text.__class__ is tuple:
                    text, caption = text
                elif text is None:
                    continue
                else:
                    caption = joined([one(value, about) for one in shows]) if shows else ""
                speaker, sent = of.speaker(value, about), of.time(value, about)
                own = turn_of(value, about) if turn_of else str(n)
                if threads and not thread:
                    thread = of.thread(value, about) or (own if own in threads else "")
                yield turn(
                    path,
                    item,
                    text.strip(),
                    speaker,
                    time_of(unwrapped(sent) if sent.__class__ is dict else sent),
                    caption,
                    role=role_of(value, about) if role_of else speaker if self.role else "",
                    conversation=(conversation_of and conversation_of(value, about)) or chat.name,
                    session=thread or (session_of(value, about) if session_of else ""),
                    turn=own,
                    title=chat.title,
                )
            except FormatError as error:  # its mentions
                yield item.fault(str(error), error.kind)

    def _spoken(self, source: Source, chat: Chat) -> Iterator[Record]:
        events = (event for item, _ in self._ordered(chat) for event in self._events(item, chat))
        title = chat.title or (self._titled(chat) if self._alone else "")
        yield from turns(source.path, title, events)

    def _titled(self, chat: Chat) -> str:
        """The last title that a record of a log gives, the most telling first, else the last folder."""
        values = [one.value for one in reversed(chat.messages) if isinstance(one.value, dict)]
        titles = (title(value, chat.about) for title in self._of.titles for value in values)
        folders = (last_part(self._of.cwd(value, chat.about)) for value in values if self.cwd)
        return next(filter(None, titles), "") or next(filter(None, folders), "")

    def _events(self, item: Item, chat: Chat) -> Iterable[Event]:
        value, of, about = item.value, self._of, chat.about
        if self.says and (wrong := misfit(value, self.says, *self.kinds)):
            return [item.fault(str(wrong))]
        if not isinstance(value, dict):
            return [no_object(item)]
        if self.skip and (left := self.skip(value, about)):
            return [item.fault(str(left), left.kind)] if isinstance(left, FormatError) else []
        what = of.kind(value, about)
        role = self.roles.get(what, self.roles.get("*")) if what else None
        if role is None:
            key = self.kind if isinstance(self.kind, str) else "role" if what is None else "type"
            return [item.fault(f"a record of no known `{key}`")]
        if not role:
            return []
        role = what if role == "*" else role
        own, sent = of.turn(value, about), of.time(value, about)
        place = Place(
            item,
            unwrapped(sent) if sent.__class__ is dict else sent,
            (self.conversation and of.conversation(value, about)) or chat.name,
            own,
            of.session(value, about) if self.session else "",
        )
        if self.events and (made := self.events(item, place, chat)) is not None:
            return made
        joins = of.joins(value, about) if self.joins else ""
        return events_of(
            role,
            of.message(value, about) if of.message else value,
            self.content,
            place,
            joins if role == "call" else joins or own or f"{item.line}{item.pointer}",
            self.typed,
            self.result,
        )


def _elements(item: Item, way: str, named: bool = True) -> Iterator[Item]:
    """The elements of a list, or of an object: if `named`, their key is the `id` of those without one."""
    held = at(item.value, way)
    if isinstance(held, dict):
        place = f"{item.pointer}/{way}/" if way != EACH else f"{item.pointer}/"
        for key, one in held.items():
            if named and isinstance(one, dict) and not string(one, "id"):
                one = one | {"id": key}
            yield Item(one, item.line, place + escaped(key))
    else:
        yield from item.elements(*way.split("/")) if way != EACH else item.elements()


def _no_chat(item: Item, ways: str) -> FormatError:
    return item.fault(f"no conversation with `{ways.split()[0]}` here")


def _inner(item: Item, way: str) -> Item:
    """What stands at `way` in a value, with its id unless it has one; the value where nothing does."""
    if not isinstance(item.value, dict) or way not in item.value:
        return item
    inner = item.value[way]
    if isinstance(inner, dict) and "id" in item.value and not string(inner, "id"):
        inner = inner | {"id": item.value["id"]}
    return Item(inner, item.line, f"{item.pointer}/{way}")
