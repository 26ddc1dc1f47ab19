"""Labelled chats to groups of one right and several wrong texts: which turns, and how they are varied."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from smartsearch.rank.colbert import OnnxColbert
from smartsearch.rank.text import BEFORE, spoken_date
from smartsearch.rank.windows import windows
from smartsearch.training.chats import Chat, Group, Labelled
from smartsearch.training.names import pick_names, replace_names
from smartsearch.training.overlap import COMMON, Overlap, crop, words
from smartsearch.training.questions import first_person
from smartsearch.training.wrong import rankings, wrong_turns

MOST_GOLD = 6
"""The most right turns taken of a question: a list over many sessions must not crowd out the rest."""
TYPED = re.compile(r"\w+(?:[-.'’]\w+)*")
DATABLE = re.compile(r"(?!when)(?s:.)*\?$", re.IGNORECASE)


@dataclass(frozen=True)
class Mix:
    """How groups vary: shares in 0..1, `wrong` texts per group, `long` words kept of a turn (drawn).

    The mean of `long` bounds the cost of training; search shows a turn's first 128 tokens instead. `lower`,
    `terse`, `when` and `mine` are the shares of questions in lower case, reduced to content words, given
    their turn's date, and (of those about User) asked with "I"; `windows` is the share of groups whose long
    turns are one window, as in search, and not cropped.
    """

    wrong: int = 7
    long: tuple[int, ...] = (45, 60, 75)
    dated: float = 0.6
    context: float = 0.6
    lower: float = 0.15
    terse: float = 0.12
    when: float = 0.12
    mine: float = 0.15
    windows: float = 0.5


COMPLETE = Mix(long=(75,), dated=0.85, context=0.85, when=0.06)
"""For conversations with complete labels: nearly as search shows them."""


def _when(date: str, rng: random.Random) -> str:
    """` in May 2023` or ` on 8 May 2023` for a date, so that dates in questions meet dates of turns."""
    day, month, year = date.split()
    return rng.choice((f" in {month} {year}", f" in {month}", f" on {date}", f" on {month} {day}, {year}"))


def terse(question: str) -> str:
    """The question's content words in their order, in lower case; all of it where fewer than two remain."""
    kept = [word for word in TYPED.findall(question.lower()) if word not in COMMON]
    return " ".join(kept) if len(kept) > 1 else question


def _shared(about: set[str]) -> Callable[[str], int]:
    return lambda text: len(words(text) & about)


def render_group(chat: Chat, asked: Labelled, chosen: Sequence[int], mix: Mix, rng: random.Random) -> Group:
    """The turns `chosen`, the right one first, as models read them; names, dates and case are varied."""
    question, mapping, right = asked.question, dict[str, str](), chat.turns[chosen[0]]
    of_user = "User" in chat.names and asked.kind in ("memory", "statement")
    if of_user and rng.random() < mix.mine:
        question = first_person(question)
    elif rng.random() < chat.rename:
        keep = 0.5 if "Assistant" in chat.names else 0.0
        names = [name for name in chat.names if name != "Assistant" or rng.random() > keep]
        mapping = pick_names(names, rng, question)
    dated = rng.random() < mix.dated
    context = asked.context or rng.random() < mix.context
    limit, windowed = rng.choice(mix.long), rng.random() < mix.windows
    query, wanted = words(asked.question), words(asked.question) | words(asked.answer)
    date = spoken_date(right.time) if dated else ""
    if date and DATABLE.match(question) and rng.random() < mix.when:
        question = question[:-1].rstrip() + _when(date, rng) + "?"

    def text(i: int) -> str:
        turn = replace(chat.turns[i], time=chat.turns[i].time if dated else "")
        above = chat.turns[max(0, i - BEFORE) : i][::-1] if context else ()
        before = tuple(takewhile(lambda said: said.session == turn.session, above))
        about = wanted if i == chosen[0] else query
        if not windowed:
            turn = replace(
                turn, text=crop(turn.text, about if i == chosen[0] or rng.random() < 0.5 else set(), limit)
            )
        return replace_names(max(windows(turn, before), key=_shared(about)), mapping)

    question = replace_names(question, mapping)
    if rng.random() < mix.lower:
        question = question.lower().rstrip("?").rstrip()
    elif rng.random() < mix.terse:
        question = terse(question)
    texts = [text(i) for i in chosen]
    return Group(chat.source, asked.kind, chat.id, question, texts[0], texts[1:])


def make_groups(
    chat: Chat,
    questions: Sequence[Labelled],
    mix: Mix,
    rng: random.Random,
    miner: OnnxColbert | None = None,
    times: int = 1,
) -> Iterator[Group]:
    """Training groups of a chat's questions; one with several right turns gives a group for some of them.

    With a `miner` half of the wrong turns of complete questions are what it ranks high. All is done `times`
    times, with other names and other wrong turns.
    """
    overlap = Overlap([turn.spoken for turn in chat.turns])
    mined = rankings(miner, chat, [asked.question for asked in questions if asked.complete]) if miner else {}
    for asked in (one for _ in range(times) for one in questions):
        if asked.complete:
            gold: Sequence[int] = rng.sample(asked.gold, min(MOST_GOLD, len(asked.gold)))
        else:
            gold = asked.gold[: 2 if asked.kind == "question" else 1]
        for right in (i for i in gold if len(chat.turns[i].text) > 2):
            ranked = mined.get(asked.question, ())
            wrong = wrong_turns(chat, asked, right, overlap, mix.wrong, rng, ranked)
            if len(wrong) >= 4:
                yield render_group(chat, asked, [right, *wrong], mix, rng)


def make_trials(chats: Sequence[Chat], most: int, candidates: int, rng: random.Random) -> list[Group]:
    """Validation: questions of held-out chats with about `candidates` turns each, half of them by overlap.

    Short chats borrow turns of other held-out chats of their source. Rendered as search does:
    dated, with context, long turns not cropped.
    """
    shown = Mix(
        long=(100_000,), dated=0.9, context=1.0, lower=0.1, terse=0.0, when=0.0, mine=0.0, windows=0.0
    )
    mix = replace(shown, wrong=candidates - 1)
    pool = [(chat, asked) for chat in chats for asked in chat.questions if asked.kind != "fact"]
    trials = []
    for chat, asked in rng.sample(pool, min(len(pool), most)):
        spare = candidates - len(chat.turns)
        if spare > 0:
            others = [
                turn
                for other in chats
                if other.source == chat.source and other.id != chat.id
                for turn in other.turns
            ]
            chat = replace(chat, turns=(*chat.turns, *rng.sample(others, min(spare, len(others)))))
        overlap = Overlap([turn.spoken for turn in chat.turns])
        wrong = wrong_turns(chat, asked, asked.gold[0], overlap, candidates - 1, rng)
        trials.append(render_group(chat, asked, [asked.gold[0], *wrong], mix, rng))
    return trials
