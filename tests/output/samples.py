"""Answers made by hand for the tests of the page."""

from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser

from smartsearch.types import Budget, Dropped, Hit, HopTrace, ModelInfo, Result, Scores, Term, Trace, Turn

KITE = Term("kite", "NOUN", 2.0)
OSCAR = Term("Oscar", "HOP", 2.5, 2)
TIMES = {"read": 10.0, "load": 40.0, "parse": 5.0, "retrieve": 5.0, "rank": 35.0, "truncate": 5.0}
TIMES |= {"total": 100.0, "colbert": 10.0, "crossencoder": 20.0}


def turn(text: str, line: int, **values: str) -> Turn:
    given = {"speaker": "Ann", "time": f"2024-05-{line:02}T10:00:00", "path": "chats/a.txt", "session": "s1"}
    return Turn(text, line=line, **(given | values))


def hit(
    rank: int, ce: float | None, text: str = "a kite", terms: Sequence[Term] = (KITE,), **values: str
) -> Hit:
    scores = Scores(2.0, ce, 10.0 + (ce or 0.0), 0.016 / rank, None if ce is None else 5.0 - rank)
    return Hit(rank, turn(text, rank, **values), scores, tuple(terms), 1, rank - 1)


def dropped(rank: int, reason: str, ce: float | None, **values: str) -> Dropped:
    return Dropped(rank, reason, turn(f"turn {rank}", rank, **values), Scores(1.0, ce, 8.0))


def answer(*hits: Hit, fell: Sequence[Dropped] = (), hidden: Sequence[Hit] = (), **changes: object) -> Result:
    """alpha 0.5 of the best score 0.8, so tau 0.4; top_k 5."""
    budget = Budget("adaptive", 4000, 5, 0.5, 0.4, 9, 12, "tok", tuple(fell), hidden=tuple(hidden))
    steps = (HopTrace(1, "grep", (KITE,), 4, 4), HopTrace(2, "entity", (OSCAR,), 1, 5))
    models = (ModelInfo("crossencoder", "fake-ce", "abc", "int8"),)
    steps = (*steps, HopTrace(2, "semantic", (), 2, 7))
    trace = Trace((KITE, OSCAR), steps, 7, timing_ms=TIMES, models=models)
    return replace(Result("Who flew the kite?", "embedded", hits, budget, trace, 2), **changes)


FULL = answer(
    hit(1, 0.8, "Oscar flew a kite", (KITE, OSCAR)),
    hit(3, 0.5, "the Kite again"),
    fell=(
        dropped(2, "tau", 0.2),
        dropped(5, "budget", 0.41),
        dropped(6, "top_k", 0.6),
        dropped(7, "top_k", None),
    ),
    hidden=(hit(4, 0.45),),
)
"""Seven ranked turns: 1 and 3 shown, 4 hidden, 2 below tau, 5 without room, 6 and 7 behind top_k."""


class Outline(HTMLParser):
    """A page as its elements; says on the way what does not balance."""

    VOID = ("meta",)

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.faults: list[str] = []
        self.words: list[str] = []
        self.feed(page)
        self.close()
        self.faults += [f"{name} is not closed" for name in self.open]

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        self.faults += [f"{tag} has {name} twice" for name in set(names) if names.count(name) > 1]
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing")

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    def handle_comment(self, data):
        self.faults.append(f"a comment: {data}")

    @property
    def text(self) -> str:
        return "".join(self.words)

    def values(self, name: str) -> list[str]:
        return [str(attributes[name]) for _, attributes in self.elements if name in attributes]

    def count(self, tag: str, **wanted: str) -> int:
        return sum(
            tag == name and all(attributes.get(key.rstrip("_")) == value for key, value in wanted.items())
            for name, attributes in self.elements
        )
