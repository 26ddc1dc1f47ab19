"""Writes made-up chats with facts in two turns, at set places and set distances: `smartsearch bench FOLDER`.

QRMeM's two tests (arXiv 2406.13167) on chats by rule, for any system: does it matter whether an answer's
support stands at the head, in the middle or at the tail, and how far apart its two turns are? Every fact is
asked once in each chat of a test and stands once in each of its places, so that places compare fact by fact.
The second turn shares a name with the first and one word with the question; the other facts of a chat, in the
same words about other people, are what it may be taken for.
"""

from __future__ import annotations

import argparse
import json
import random
from datetime import datetime, timedelta
from pathlib import Path

TURNS, SESSION, FACTS, COPIES = 360, 24, 12, 2
NEAR = 6
"""Turns from the first to the second where the place is what is tested; GAPS where the distance is."""
GAPS = {"4 gap 2": 2, "5 gap 10": 10, "6 gap 50": 50, "7 gap 200": 200}
THIRD = TURNS // 3
PLACES = {
    name: (range(n * THIRD, (n + 1) * THIRD - NEAR), NEAR)
    for n, name in enumerate(("1 head", "2 middle", "3 tail"))
}
DISTANCES = {name: (range(TURNS - gap), gap) for name, gap in GAPS.items()}
NAMES = (  # noqa: SIM905 - readable so
    "Alba Bram Cleo Dario Edda Farid Greta Hugo Ines Jonas Kaya Lorenz Mirja Nils Odile Pavel Quinn Rosa "
    "Sandro Tilda Umar Vesna Wim Xenia Yannis Zora Anouk Basile Carmen Dilan Emre Fenna"
).split()
TIES = ("cousin", "flatmate", "neighbour", "godmother", "colleague", "pupil")
WORK = (
    *("repairs accordions", "breeds alpacas", "teaches fencing", "restores globes", "sells saffron"),
    *("builds kayaks", "collects barometers", "paints shop signs", "grows artichokes", "translates ballads"),
    *("tunes harpsichords", "designs stage sets"),
)
SMALL_TALK = (
    *(
        "Did you sleep at all?",
        "The tram was late again.",
        "I will call after lunch.",
        "It rained all night.",
    ),
    *("Shall we meet on Friday?", "I have not decided yet.", "That soup was too salty.", "Ha, typical."),
    *(
        "What a week, honestly.",
        "The lift is broken again.",
        "Let me check and tell you.",
        "See you there, {}!",
    ),
    *("{} sends greetings.", "Have you heard from {}?", "I owe {} a letter.", "{} was on the same train."),
)


def facts(chance: random.Random) -> list[tuple[str, str, str, str]]:
    """The two turns, the question and the answer of each."""
    people, work = chance.sample(NAMES, 2 * FACTS), chance.sample(WORK, FACTS)
    made = []
    for number, does in enumerate(work):
        one, other, tie = people[2 * number], people[2 * number + 1], TIES[number % len(TIES)]
        first = f"By the way, {one} now shares a studio with a {tie}, {other} by name."
        made.append(
            (
                first,
                f"{other} {does} and makes good money, would you believe it?",
                f"How does the {tie} of {one} make money?",
                does,
            )
        )
    return made


def placed(wanted: list[tuple[range, int]], chance: random.Random) -> list[tuple[int, int]]:
    """The turns of each pair, the first in its range, the second so far behind; the farthest choose first."""
    taken: set[int] = set()
    found: dict[int, tuple[int, int]] = {}
    for number in sorted(range(len(wanted)), key=lambda n: -wanted[n][1]):
        among, gap = wanted[number]
        first = chance.choice([n for n in among if not {n, n + gap} & taken])
        found[number] = first, first + gap
        taken |= {first, first + gap}
    return [found[number] for number in range(len(wanted))]


def chat(said: dict[int, str], chance: random.Random) -> str:
    """A chat of TURNS lines with these turns in their places and small talk in all others."""
    lines = []
    for turn in range(TURNS):
        session, minute = divmod(turn, SESSION)
        when = datetime(2031, 3, 1, 18) + timedelta(days=3 * session, minutes=minute)
        text = said.get(turn) or chance.choice(SMALL_TALK).format(chance.choice(NAMES))
        lines.append(f"[{when:%Y-%m-%d %H:%M}] {('Nadine', 'Tobias')[turn % 2]}: {text}\n")
    return "".join(lines)


def write(folder: Path, seed: int = 1) -> None:
    """COPIES of both tests, with other facts in each."""
    folder.mkdir(parents=True, exist_ok=True)
    chance, questions = random.Random(seed), []
    for copy in range(1, COPIES + 1):
        known = facts(chance)
        for test, ways in (("place", PLACES), ("distance", DISTANCES)):
            names = list(ways)
            for shift in range(len(names)):
                path = f"{test}-{copy}-{shift + 1}.txt"
                stands = [names[(number + shift) % len(names)] for number in range(FACTS)]
                pairs = placed([ways[name] for name in stands], chance)
                said = {turn: text for pair, fact in zip(pairs, known) for turn, text in zip(pair, fact)}
                (folder / path).write_text(chat(said, chance), encoding="utf-8")
                for number, (pair, (_, _, asked, answer)) in enumerate(zip(pairs, known)):
                    gold = [f"{path}:{turn + 1}" for turn in pair]
                    about = {"id": f"{path}-{number}", "question": asked, "answer": answer, "gold": gold}
                    questions.append({**about, "category": stands[number], "paths": [path]})
    lines = (json.dumps(question) + "\n" for question in questions)
    (folder / "questions.jsonl").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    write(chosen.folder, chosen.seed)
