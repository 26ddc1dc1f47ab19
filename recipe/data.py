"""All sources to files of groups to train on and trials to validate on."""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from recipe.sources_chat import read_chats
from recipe.sources_real import read_real
from recipe.sources_wiki import read_wiki
from smartsearch.rank.colbert import OnnxColbert
from smartsearch.training import groups as making
from smartsearch.training import sources_written
from smartsearch.training.chats import Chat, Group, Labelled
from smartsearch.training.sources_written import KINDS, written_chats

COMPLETE = ("written", "asked", "asked realmem", "asked irc", "asked topical_chat")
"""Sources whose labels are complete: all questions are taken, and what a model ranks high may be wrong."""
TWICE = 2
"""Renderings of each of their groups, with other names and other wrong turns."""
HELD_OUT = {"friendsqa": 0.15}
"""Share of a source's chats that are held out, where it is not a twelfth."""
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
TRIALS = {
    "written": 300,
    "realmem": 220,
    "friendsqa": 180,
    "lifebench": 140,
    "topical_chat": 120,
    "asked": 120,
    "asked realmem": 60,
    "asked irc": 60,
    "chitchat": 160,
    "irc": 160,
    "qmsum": 60,
    "qed": 30,
    "nq_oracle": 30,
    "nqg": 30,
}
"""Questions of each source's held-out chats."""


def held_out(chat: Chat) -> bool:
    """Whether a chat is for validation only.

    One person of the ten-person sources, each author's third of the written ones; of the others a share, by
    a hash of the chat's id, or of the person's where a source has several chats of one.
    """
    if chat.source.startswith("asked "):
        return held_out(replace(chat, source=chat.source.partition(" ")[2], id=chat.id.rpartition("-")[0]))
    if chat.source in ("realmem", "lifebench"):
        return chat.id.startswith(("Sophie_Dubois", "yinhao"))
    if chat.source == "written":
        return sources_written.held_out(chat)
    if chat.source == "irc":
        return chat.id.startswith(("dev", "test"))
    key = f"{chat.source} {chat.id}"
    if chat.source in ("chitchat", "asked"):
        key = f"chitchat {chat.id.removeprefix('P').partition('-')[0]}"
    digest = hashlib.sha256(key.encode()).digest()
    return digest[0] / 256 < HELD_OUT.get(chat.source, 0.08)


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


def write_groups(path: Path, groups: Iterable[Group]) -> None:
    """JSONL, one group a line."""
    with path.open("w", encoding="utf-8") as file:
        for group in groups:
            file.write(json.dumps(asdict(group), ensure_ascii=False) + "\n")


def read_groups(path: Path) -> list[Group]:
    """The groups of a file that `write_groups` wrote."""
    return [Group(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def build(
    train: Path,
    out: Path,
    seed: int,
    *,
    miner: OnnxColbert | None = None,
    share: float = 1.0,
    written: bool = True,
    real: bool = False,
    stretches: int | None = None,
) -> dict[str, int]:
    """Write `groups.jsonl` and `trials.jsonl` to `out`; the counts of both by source and kind.

    `miner` finds wrong turns of complete questions; trials never depend on it. `share` scales the ceilings of
    all other sources. `written` and `real` add the written conversations and real people's chats, with the
    questions that were written over so many `stretches` of them.
    """
    rng = random.Random(seed)
    chats = [
        *read_chats(train, rng),
        *read_wiki(train, rng),
        *(read_real(train, rng, stretches) if real else ()),
        *(written_chats() if written else ()),
    ]
    kept = [chat for chat in chats if not held_out(chat)]
    unseen = [chat for chat in chats if held_out(chat)]
    ceiling = {key: most if key[0] in COMPLETE else int(share * most) for key, most in CEILING.items()}
    asked = cap(kept, ceiling, rng)
    groups: list[Group] = []
    for i, chat in enumerate(kept):
        complete = chat.source in COMPLETE
        mix = making.COMPLETE if complete else making.Mix()
        times = TWICE if complete else 1
        groups += making.make_groups(chat, asked.get(i, ()), mix, rng, miner, times)
    rng.shuffle(groups)
    trials, rng = [], random.Random(seed + 1)
    for source, most in TRIALS.items():
        trials += making.make_trials([chat for chat in unseen if chat.source == source], most, 64, rng)
    out.mkdir(parents=True, exist_ok=True)
    write_groups(out / "groups.jsonl", groups)
    write_groups(out / "trials.jsonl", trials)
    counts = Counter(f"train {g.source} {g.kind}" for g in groups)
    counts.update(f"trial {g.source} {g.kind}" for g in trials)
    (out / "counts.json").write_text(json.dumps(dict(sorted(counts.items())), indent=1))
    return dict(counts)


def main(argv: Sequence[str]) -> int:
    """`python -m recipe data TRAIN_FOLDER OUT_FOLDER`."""
    parser = argparse.ArgumentParser(prog="recipe data", description=__doc__)
    parser.add_argument("train", type=Path, help="folder with the training sources (data/train)")
    parser.add_argument("out", type=Path, help="folder for groups.jsonl and trials.jsonl")
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--miner", type=Path, help="folder of an exported ColBERT that finds hard negatives")
    parser.add_argument("--threads", type=int, default=1, help="of the miner")
    parser.add_argument("--share", type=float, default=1.0, help="of the third-party sources' ceilings")
    parser.add_argument("--no-written", action="store_true", help="third-party sources alone")
    parser.add_argument("--real", action="store_true", help="real people's chats too")
    parser.add_argument(
        "--stretches", type=int, help="of them with the questions of so many records of asked.jsonl alone"
    )
    options = parser.parse_args(argv)
    counts = build(
        options.train,
        options.out,
        options.seed,
        miner=OnnxColbert(options.miner, options.threads) if options.miner else None,
        share=options.share,
        written=not options.no_written,
        real=options.real,
        stretches=options.stretches,
    )
    for key, count in sorted(counts.items()):
        print(f"{count:6d} {key}")
    return 0
