"""Labelled chats to groups of one right and several wrong texts: hold-out, wrong turns, variation, files."""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from smartsearch.rank.text import MONTHS, scored_text
from smartsearch.training.chats import Chat, Group, Labelled
from smartsearch.training.mine import Miner
from smartsearch.training.names import pick_names, replace_names
from smartsearch.training.overlap import Overlap, crop, words
from smartsearch.training.sources_chat import read_chats
from smartsearch.training.sources_real import read_real
from smartsearch.training.sources_wiki import read_wiki
from smartsearch.training.sources_written import KINDS, written_chats
from smartsearch.training.wrong import wrong_turns

COMPLETE = ("written", "asked")
"""Sources whose labels are complete: all questions are taken, and what a model ranks high may be wrong."""

CEILING = {
    ("realmem", "memory"): 3600,
    ("realmem", "fact"): 1600,
    ("realmem", "exchange"): 1200,
    ("realmem", "statement"): 1600,
    ("friendsqa", "question"): 2300,
    ("friendsqa", "exchange"): 700,
    ("friendsqa", "statement"): 1000,
    ("lifebench", "question"): 1900,
    ("lifebench", "statement"): 700,
    ("lifebench", "exchange"): 500,
    ("topical_chat", "exchange"): 2600,
    ("topical_chat", "statement"): 1600,
    ("chitchat", "exchange"): 9000,
    ("chitchat", "statement"): 9000,
    ("irc", "reply"): 9000,
    ("qmsum", "question"): 900,
    ("nqg", "question"): 1300,
    ("qed", "question"): 900,
    ("nq_oracle", "question"): 900,
    **{(source, kind): 100_000 for source in COMPLETE for kind in KINDS},
}
"""Questions of each source and kind: chats weigh more than encyclopedic text, labels more than rules."""

MOST_GOLD = 6
"""Right turns of a question that are taken: a list over many sessions must not crowd out the rest."""


@dataclass(frozen=True)
class Mix:
    """How groups vary: shares in 0..1, `wrong` texts a group, `long` the words kept of a turn, drawn a group.

    The mean of `long` bounds the cost of training; search shows a turn's first 128 tokens instead.
    `together` right turns of a complete question share a group, against the same wrong ones.
    """

    wrong: int = 7
    long: tuple[int, ...] = (30, 40, 50, 75)
    dated: float = 0.6
    context: float = 0.6
    lower: float = 0.15
    when: float = 0.12
    mine: float = 0.15
    held_out: float = 0.08
    together: int = 1


WRITTEN = Mix(long=(75,), dated=0.85, context=0.85, when=0.06)
"""For conversations with complete labels: nearly as search shows them."""
TWICE = 2
"""Renderings of each of their groups, with other names and other wrong turns."""


def held_out(chat: Chat, share: float) -> bool:
    """Whether a chat is for validation only: by a hash of its id; one person of the ten-person sources;
    of the written ones each author's third."""
    if chat.source in ("realmem", "lifebench"):
        return chat.id.startswith(("Sophie_Dubois", "yinhao"))
    if chat.source == "written":
        return chat.id.partition("_")[0].endswith("3")
    if chat.source == "irc":
        return chat.id.startswith(("dev", "test"))
    key = f"{chat.source} {chat.id}"
    if chat.source in ("chitchat", "asked"):
        key = f"chitchat {chat.id.removeprefix('P').partition('-')[0]}"  # whole people
    digest = hashlib.sha256(key.encode()).digest()
    return digest[0] / 256 < (0.15 if chat.source == "friendsqa" else share)


def first_person(question: str) -> str:
    """A question about `User` as the user asks it: `What does User plan` becomes `What do I plan`."""
    for pattern, new in (
        (r"\bUser's\b", "my"),
        (r"\b([Dd])oes User\b", r"\1o I"),
        (r"\b([Ii])s User\b", r"am I"),
        (r"\b([Hh])as User\b", r"\1ave I"),
        (r"\bUser\b", "I"),
        (r"\btheir\b", "my"),
        (r"\bthem\b", "me"),
    ):
        question = re.sub(pattern, new, question)
    return question[:1].upper() + question[1:]


def _when(time: str, rng: random.Random) -> str:
    """` in May 2023` or ` on 8 May 2023` for a date, so that dates in questions meet dates of turns."""
    year, month, day = time[:10].split("-")
    name = MONTHS[int(month) - 1]
    return rng.choice(
        (
            f" in {name} {year}",
            f" in {name}",
            f" on {int(day)} {name} {year}",
            f" on {name} {int(day)}, {year}",
        )
    )


def render_group(
    chat: Chat, asked: Labelled, chosen: Sequence[int], mix: Mix, rng: random.Random, rights: int = 1
) -> Group:
    """The texts of `chosen` (`rights` right turns first) as models read them; names, dates, case varied."""
    right = chosen[0]
    question, mapping = asked.question, dict[str, str]()
    mine = chat.source == "realmem" and asked.kind in ("memory", "statement") and rng.random() < mix.mine
    if mine:
        question = first_person(question)
    elif rng.random() < chat.rename:
        keep = 0.5 if "Assistant" in chat.names else 0.0
        names = [name for name in chat.names if name != "Assistant" or rng.random() > keep]
        mapping = pick_names(names, rng, question)
    dated = rng.random() < mix.dated
    context = asked.context or rng.random() < mix.context
    limit = rng.choice(mix.long)
    query, wanted = words(asked.question), words(asked.question) | words(asked.answer)
    datable = dated and chat.turns[right].time and re.match(r"(?!when)(?s:.)*\?$", question, re.IGNORECASE)
    if datable and rng.random() < mix.when:
        question = question[:-1].rstrip() + _when(chat.turns[right].time, rng) + "?"

    def text(i: int) -> str:
        turn, before = chat.turns[i], chat.turns[i - 1] if i else None
        if before is not None and before.session != turn.session:
            before = None
        about = wanted if i in chosen[:rights] else query if rng.random() < 0.5 else set()
        turn = replace(turn, text=crop(turn.text, about, limit), time=turn.time if dated else "")
        return replace_names(scored_text(turn, before if context else None), mapping)

    question = replace_names(question, mapping)
    if rng.random() < mix.lower:
        question = question.lower().rstrip("?").rstrip()
    texts = [text(i) for i in chosen]
    return Group(chat.source, asked.kind, chat.id, question, texts[0], texts[rights:], texts[1:rights])


def make_groups(
    chat: Chat, questions: Sequence[Labelled], mix: Mix, rng: random.Random, miner: Miner | None = None
) -> Iterator[Group]:
    """Training groups of a chat's questions; one with several right turns gives a group for some of them."""
    overlap = Overlap([turn.spoken for turn in chat.turns])
    complete = [asked.question for asked in questions if asked.complete]
    mined = dict(zip(complete, miner.rankings(chat, complete), strict=True)) if miner and complete else {}
    for asked in questions:
        ranked = mined.get(asked.question, ())
        most = MOST_GOLD if asked.complete else 2 if asked.kind == "question" else 1
        gold = rng.sample(asked.gold, min(most, len(asked.gold))) if asked.complete else asked.gold[:most]
        gold = [right for right in gold if len(chat.turns[right].text) > 2]
        together = mix.together if asked.complete else 1
        for start in range(0, len(gold), together):
            rights = gold[start : start + together]
            wrong = wrong_turns(chat, asked, rights[0], overlap, mix.wrong, rng, ranked)
            if len(wrong) >= 4:
                yield render_group(chat, asked, [*rights, *wrong], mix, rng, len(rights))


def make_trials(chats: Sequence[Chat], most: int, candidates: int, rng: random.Random) -> list[Group]:
    """Validation: questions of held-out chats with about `candidates` turns each, half of them by overlap.

    Short chats borrow turns of other held-out chats of their source. Rendered as search does:
    dated, with context, long turns not cropped.
    """
    mix = Mix(long=(100_000,), dated=0.9, context=1.0, lower=0.1, when=0.0, mine=0.0, wrong=candidates - 1)
    pool = [(chat, asked) for chat in chats for asked in chat.questions if asked.kind != "fact"]
    trials = []
    for chat, asked in rng.sample(pool, min(len(pool), most)):
        spare = candidates - len(chat.turns)
        if spare > 0:
            others = [
                t
                for other in chats
                if other.source == chat.source and other.id != chat.id
                for t in other.turns
            ]
            chat = replace(chat, turns=(*chat.turns, *rng.sample(others, min(spare, len(others)))))
        overlap = Overlap([turn.spoken for turn in chat.turns])
        wrong = wrong_turns(chat, asked, asked.gold[0], overlap, candidates - 1, rng)
        trials.append(render_group(chat, asked, [asked.gold[0], *wrong], mix, rng))
    return trials


def write_groups(path: Path, groups: Iterable[Group]) -> None:
    """JSONL, one group a line."""
    with path.open("w", encoding="utf-8") as file:
        for group in groups:
            file.write(json.dumps(group.record(), ensure_ascii=False) + "\n")


def read_groups(path: Path) -> list[Group]:
    """The groups of a file that `write_groups` wrote."""
    return [Group(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def cap(
    chats: Sequence[Chat], ceiling: Mapping[tuple[str, str], int], rng: random.Random
) -> dict[int, list[Labelled]]:
    """At most `ceiling` questions of each (source, kind), drawn at random: index of the chat to questions."""
    kept: dict[int, list[Labelled]] = {}
    counts: Counter[tuple[str, str]] = Counter()
    pool = [(i, asked) for i, chat in enumerate(chats) for asked in chat.questions]
    for i, asked in rng.sample(pool, len(pool)):
        key = (chats[i].source, asked.kind)
        if counts[key] < ceiling.get(key, 1000):
            counts[key] += 1
            kept.setdefault(i, []).append(asked)
    return kept


def build(
    train: Path,
    out: Path,
    seed: int,
    miner: Miner | None = None,
    share: float = 1.0,
    written: bool = True,
    together: int = 1,
    real: bool = False,
) -> dict[str, int]:
    """Write `groups.jsonl` and `trials.jsonl` to `out`; the counts of both by source and kind.

    With a `miner` half of the wrong turns of complete questions are what it ranks high; trials never depend
    on it. `share` scales the ceilings of all but the written conversations; `written` says whether to take
    those, `together` how many right turns of theirs share a group. `real` adds real people's chats, which the
    shipped rankers have not seen yet.
    """
    rng, mix = random.Random(seed), Mix()
    chats = [
        *read_chats(train, rng),
        *read_wiki(train, rng),
        *(read_real(train, rng) if real else ()),
        *(written_chats() if written else ()),
    ]
    kept = [chat for chat in chats if not held_out(chat, mix.held_out)]
    unseen = [chat for chat in chats if held_out(chat, mix.held_out)]
    ceiling = {key: most if key[0] in COMPLETE else int(share * most) for key, most in CEILING.items()}
    asked = cap(kept, ceiling, rng)
    groups: list[Group] = []
    for i, chat in enumerate(kept):
        own = replace(WRITTEN, together=together) if chat.source in COMPLETE else mix
        for _ in range(TWICE if chat.source in COMPLETE else 1):
            groups += make_groups(chat, asked.get(i, ()), own, rng, miner)
    rng.shuffle(groups)
    trials, rng = [], random.Random(seed + 1)
    for source, most in (
        ("written", 300),
        ("realmem", 220),
        ("friendsqa", 180),
        ("lifebench", 140),
        ("topical_chat", 120),
        ("asked", 120),
        ("chitchat", 160),
        ("irc", 160),
        ("qmsum", 60),
        ("qed", 30),
        ("nq_oracle", 30),
        ("nqg", 30),
    ):
        trials += make_trials([chat for chat in unseen if chat.source == source], most, 64, rng)
    out.mkdir(parents=True, exist_ok=True)
    write_groups(out / "groups.jsonl", groups)
    write_groups(out / "trials.jsonl", trials)
    counts = Counter(f"train {g.source} {g.kind}" for g in groups) + Counter(
        f"trial {g.source} {g.kind}" for g in trials
    )
    (out / "counts.json").write_text(json.dumps(dict(sorted(counts.items())), indent=1))
    return dict(counts)


def main(argv: Sequence[str]) -> int:
    """`python -m smartsearch.training data TRAIN_FOLDER OUT_FOLDER`."""
    parser = argparse.ArgumentParser(prog="smartsearch.training data", description=__doc__)
    parser.add_argument("train", type=Path, help="folder with the training sources (data/train)")
    parser.add_argument("out", type=Path, help="folder for groups.jsonl and trials.jsonl")
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--miner", type=Path, help="folder of an exported ColBERT that finds hard negatives")
    parser.add_argument("--threads", type=int, default=1, help="of the miner")
    parser.add_argument("--share", type=float, default=1.0, help="of the third-party sources' ceilings")
    parser.add_argument("--no-written", action="store_true", help="third-party sources alone")
    parser.add_argument(
        "--together", type=int, default=1, help="right turns of a written question in a group"
    )
    parser.add_argument("--real", action="store_true", help="real people's chats too")
    options = parser.parse_args(argv)
    miner = Miner(options.miner, options.threads) if options.miner else None
    written = not options.no_written
    counts = build(
        options.train,
        options.out,
        options.seed,
        miner,
        options.share,
        written,
        options.together,
        options.real,
    )
    for key, count in sorted(counts.items()):
        print(f"{count:6d} {key}")
    return 0
