"""Readers of the dialogue sources: files as published (see the model card) to labelled chats."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from smartsearch.training.chats import Chat, Labelled
from smartsearch.training.overlap import Overlap, words
from smartsearch.training.questions import MACHINE, from_statement, made_questions
from smartsearch.types import Turn

SPACED = re.compile(r"(?<!\s)\s+(?=[?.!,;:'’]|n't)")
PREFIX = re.compile(r"^\(?(Me|[A-Z][\w ().]{1,24}?)\)?: ")
MARK = re.compile(r"\{[a-z]+\}")
LONG_RANGE = 150
"""Meeting turns; a longer labelled range says too little about which turn answers."""
MOST_EVIDENCE = 14
"""LifeBench items; questions with more evidence are counts and averages, which no single turn answers."""


def _load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _tidy(text: str) -> str:
    """Tokenised text as people type it: no space before punctuation and clitics, no markers."""
    return SPACED.sub("", MARK.sub("", text)).replace(" gon na", " gonna").replace("`` ", '"').strip()


def random_day(rng: random.Random, year: int = 0) -> str:
    """A date of the year given, or of one from 2015 to 2026."""
    return f"{year or rng.randint(2015, 2026)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"


def friendsqa(folder: Path, rng: random.Random) -> Iterator[Chat]:
    """TV scenes merged by episode, a scene a session with a random day; the utterance is labelled."""
    episodes: dict[str, tuple[list[Turn], list[Labelled], set[str]]] = {}
    for path in sorted(folder.rglob("friendsqa_*.json")):
        for scene in _load(path)["data"]:
            episode = scene["title"].rpartition("_")[0]
            turns, asked, names = episodes.setdefault(episode, ([], [], set()))
            day = random_day(rng)
            for paragraph in scene["paragraphs"]:
                start = len(turns)
                for utterance in paragraph["utterances:"]:
                    full = utterance["speakers"][0] if utterance["speakers"] else ""
                    note = full.startswith("#")
                    first = (
                        "" if note else full.split()[0] if not full.startswith(("Dr", "Mr", "Ms")) else full
                    )
                    names.update([first] if first.istitle() and first not in MACHINE else [])
                    turns.append(Turn(_tidy(utterance["utterance"]), first, day, session=scene["title"]))
                for qa in paragraph["qas"]:
                    gold = tuple(dict.fromkeys(start + int(a["utterance_id"]) for a in qa["answers"]))
                    answer = qa["answers"][0]["answer_text"]
                    asked.append(Labelled(_tidy(qa["question"]), gold, answer=answer))
    for episode, (turns, asked, names) in episodes.items():
        made = made_questions(turns, rng, 0.5)
        yield Chat("friendsqa", episode, tuple(turns), (*asked, *made), tuple(sorted(names)), rename=0.6)


def qmsum(folder: Path, rng: random.Random) -> Iterator[Chat]:
    """Meetings; the turns of the labelled range that share most with query and answer are right."""
    for path in sorted(folder.rglob("*.json")):
        meeting, day = _load(path), random_day(rng)
        turns = [
            Turn(_tidy(turn["content"]), turn["speaker"], day, session=path.stem)
            for turn in meeting["meeting_transcripts"]
        ]
        overlap, asked = Overlap([turn.text for turn in turns]), []
        for query in meeting["specific_query_list"]:
            inside = {
                i for a, b in query["relevant_text_span"] for i in range(int(a), min(int(b) + 1, len(turns)))
            }
            wanted = words(query["query"]) | words(query["answer"])
            best = sorted(inside, key=lambda i: -overlap.score(wanted, i))[:2]
            if best and len(inside) <= LONG_RANGE and len(overlap.sets[best[0]] & wanted) >= 3:
                asked.append(
                    Labelled(query["query"], (best[0],), answer=query["answer"], related=frozenset(inside))
                )
        yield Chat("qmsum", path.stem, tuple(turns), tuple(asked), repeats=True)


def _statement(content: object) -> tuple[str, str]:
    """(category, first sentence) of a RealMem memory; `The user` becomes `User`. Empty when unusable."""
    if not isinstance(content, str):
        return "", ""
    category, _, text = content.rpartition("】")
    text = re.sub(r"\b(?:[Tt]he )?[Uu]ser\b", "User", text.strip().split("\n")[0])
    sentence = re.split(r"(?<=[.!?])\s", text)[0]
    return category.strip("【】 "), sentence if 4 <= len(sentence.split()) <= 45 else ""


def _source_turn(memory: dict[str, Any], turns: list[Turn]) -> int:
    """The index of the turn that a memory was taken from, by its snapshot; -1 when none is close."""
    snapshot = str(memory.get("source_content_snapshot") or "")
    for i, turn in enumerate(turns):
        if turn.text == snapshot:
            return i
    wanted = words(snapshot)
    close = [(len(words(turn.text) & wanted) / (len(wanted) or 1), i) for i, turn in enumerate(turns)]
    best = max(close, default=(0.0, -1))
    return best[1] if best[0] > 0.7 else -1


def realmem(folder: Path, rng: random.Random) -> Iterator[Chat]:
    """A person's sessions with an assistant; memory statements, and questions made from them."""
    for path in sorted(folder.rglob("*_dialogues_*.json")):
        turns: list[Turn] = []
        asked: list[Labelled] = []
        for session in _load(path)["dialogues"]:
            key, day, start = session["session_uuid"], session["current_time"][:10], len(turns)
            own = [Turn(t["content"], t["speaker"], day, session=key) for t in session["dialogue_turns"]]
            turns += own
            for memory in session["extracted_memory"]:
                _, statement = _statement(memory["content"])
                i = _source_turn(memory, own) if statement else -1
                if i < 0:
                    continue
                near = frozenset(range(start + i - 1, start + i + 2))
                question = from_statement(statement, rng)
                if question:
                    asked.append(Labelled(question, (start + i,), "memory", statement, related=near))
                if not question or rng.random() < 0.35:
                    asked.append(Labelled(statement, (start + i,), "fact", statement, related=near))
        made = made_questions(turns, rng, 0.12)
        yield Chat(
            "realmem", path.stem, tuple(turns), (*asked, *made), ("User", "Assistant"), 1.0, repeats=True
        )


def _sms(item: dict[str, Any], owner: str, time: str) -> Turn:
    """A message; a name at its start (`Me: `, `Mei: `) says who really wrote it."""
    speaker = owner if item.get("message_type") == "Send" else str(item.get("contactName") or "")
    text = str(item.get("message_content") or "")
    prefix = PREFIX.match(text)
    if prefix is not None:
        speaker, text = (owner if prefix[1] == "Me" else prefix[1]), text[prefix.end() :]
    return Turn(text, speaker, time, session=f"sms {item.get('contactName')}")


def _agent_chat(item: dict[str, Any], owner: str, time: str, key: str) -> Iterator[Turn]:
    """The turns of a talk with the phone's assistant."""
    for exchange in item["conversation"].values():
        for role, speaker in (("user", owner), ("assistant", "Assistant")):
            text = str((exchange.get(role) or {}).get("content") or "")
            yield Turn(text, speaker, time, session=f"chat {key}")


def _phone_turns(folder: Path, owner: str) -> Iterator[tuple[str, str, Turn]]:
    """(type, id, turn) of every text item of a LifeBench phone; an agent chat gives several turns."""
    for path in sorted((folder / "phone_data").glob("*.json")):
        kind = path.stem
        for item in _load(path) if kind != "contact" else ():
            key, time = str(item.get("phone_id")), str(item.get("datetime") or item.get("date") or "")
            if kind == "sms":
                yield kind, key, _sms(item, owner, time)
            elif kind == "agent_chat":
                for turn in _agent_chat(item, owner, time, key):
                    yield kind, key, turn
            elif kind in ("note", "push", "calendar"):
                text = f"{item.get('title') or ''}. {item.get('content') or item.get('description') or ''}"
                speaker = str(item.get("source") or "") if kind == "push" else owner
                yield kind, key, Turn(text.lstrip(" ."), speaker, time, session=f"{kind} {time[:10]}")


def _chosen(item: dict[str, Any]) -> str:
    """The answer's text; a letter is looked up among the options."""
    options = {option["option"]: option["content"] for option in item.get("options") or ()}
    answer = item["answer"] if isinstance(item["answer"], str) else " ".join(map(str, item["answer"]))
    return " ".join(options[letter] for letter in answer if letter in options) if options else answer


def lifebench(folder: Path, rng: random.Random) -> Iterator[Chat]:
    """A person's phone; of the evidence items the ones nearest to question and answer are right."""
    for home in sorted(path.parent.parent for path in folder.rglob("QA_clean.json")):
        persona = _load(home / "persona.json")
        owner = str(persona.get("name") or home.name)
        items = sorted(_phone_turns(home, owner), key=lambda item: (item[2].session, item[2].time))
        turns = [turn for _, _, turn in items]
        places: dict[tuple[str, str], list[int]] = {}
        for i, (kind, key, _) in enumerate(items):
            places.setdefault((kind, key), []).append(i)
        overlap, asked = Overlap([turn.spoken for turn in turns]), []
        for qa in _load(home / "QA" / "QA_clean.json"):
            evidence = qa.get("evidence") or []
            found = [i for e in evidence for i in places.get((str(e.get("type")), str(e.get("id"))), ())]
            question, answer = str(qa["question"]), _chosen(qa)
            wanted = words(question) | words(answer)
            best = sorted(dict.fromkeys(found), key=lambda i: -overlap.score(wanted, i))[:2]
            best = [i for i in best if len(overlap.sets[i] & wanted) >= 2]
            if best and len(evidence) <= MOST_EVIDENCE:
                asked.append(Labelled(question, tuple(best), answer=answer, related=frozenset(found)))
        talk = [turn for turn in turns if turn.session.startswith(("sms", "chat"))]
        made = made_questions(talk, rng, 0.3)
        made = [replace(one, gold=tuple(turns.index(talk[i]) for i in one.gold)) for one in made]
        yield Chat("lifebench", home.name, tuple(turns), (*asked, *made), (owner,), 0.6, repeats=True)


def topical_chat(folder: Path, rng: random.Random) -> Iterator[Chat]:
    """Two-person chats without labels, eight merged into one: only rule-made questions."""
    for path in sorted(folder.rglob("*.json")):
        talks = sorted(_load(path).items())
        for first in range(0, len(talks), 8):
            turns: list[Turn] = []
            for key, talk in talks[first : first + 8]:
                day = random_day(rng, 2023)
                turns += [
                    Turn(said["message"].strip(), said["agent"].replace("agent_", "Agent"), day, session=key)
                    for said in talk["content"]
                ]
            made = made_questions(turns, rng, 0.3)
            yield Chat(
                "topical_chat", f"{path.stem}-{first}", tuple(turns), tuple(made), ("Agent1", "Agent2"), 1.0
            )


def read_chats(folder: Path, rng: random.Random) -> Iterable[Chat]:
    """All dialogue sources below `folder` (`data/train`)."""
    for reader in (friendsqa, qmsum, realmem, lifebench, topical_chat):
        if (folder / reader.__name__).is_dir():
            yield from reader(folder / reader.__name__, rng)
