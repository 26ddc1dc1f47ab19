"""A tiny system that asks a language model: it notes each turn in a word, and has the model choose a note."""

import json

from pydantic import BaseModel

from smartsearch import llm, systems
from smartsearch.llm import LLMError
from smartsearch.systems.base import Card, Plan, Ranked
from smartsearch.types import Hit, Scores, Trace
from tests.llm_server import said, shape

CARD = Card("scribe", "notes of each turn", paper="none", keeps=True, llm=True)


class Note(BaseModel):
    word: str


class Choice(BaseModel):
    number: int


def replies(body):
    """The server's side: a turn's longest word; the number of the first note that the question names."""
    text = said(body)
    if shape(body) == "Note":
        return json.dumps({"word": max(text.splitlines()[-1].split(), key=len)})
    question, *notes = text.splitlines()[-1].split("|")
    named = [n for n, note in enumerate(notes) if note.strip(".?!").lower() in question.lower()]
    return json.dumps({"number": named[0] if named else 0})


class Notes:
    fingerprint = "notes"

    def __init__(self, words):
        self.words = words
        self.statistics = {"notes": float(len(words))}

    def outline(self):
        return [{"word": word, "turn": n} for n, word in enumerate(self.words)]


class Scribe:
    def __init__(self, asker):
        self.asker = asker
        self.card = CARD.asking
        self.fingerprint = asker.endpoint.model

    def _kept(self, folder):
        path = folder and folder / "notes.json"
        return json.loads(path.read_text()) if path and path.exists() else []

    def plan(self, corpus, folder, config):
        new = len(corpus.corpus.turns) - len(self._kept(folder))
        return Plan(new, 20 * new, 5 * new, f"{new} turns"), Plan(1, 50, 5)

    def prepare(self, corpus, folder, progress):
        words = self._kept(folder)
        jobs = [lambda turn=turn: self._word(turn) for turn in corpus.corpus.turns[len(words) :]]
        found = []
        for job in jobs:
            found += [one if isinstance(one, str) else "?" for one in self.asker.each([job])]
            progress(len(found), len(jobs))
        if folder:
            (folder / "notes.json").write_text(json.dumps(words + found))
        return Notes(words + found)

    def _word(self, turn):
        messages = ({"role": "system", "content": "Note it."}, {"role": "user", "content": turn.text})
        return self.asker.parsed(messages, Note, max_tokens=20).word

    def search(self, question, corpus, memory, config):
        asked = "|".join([question, *memory.words])
        messages = ({"role": "system", "content": "Choose."}, {"role": "user", "content": asked})
        warnings = ()
        try:
            index = self.asker.parsed(messages, Choice, max_tokens=20).number
        except LLMError as error:
            if error.general:
                raise
            index, warnings = 0, ("chosen by rule",)
        hit = Hit(1, corpus.corpus.turns[index], Scores(), index=index)
        return Ranked([hit], Trace(), warnings=warnings, name=CARD.asking.shown)


CARDS = {CARD.name: CARD}


def load(config, tools):
    return Scribe(llm.asker(config))


def register(monkeypatch):
    monkeypatch.setitem(systems.SYSTEMS, CARD.name, __name__)
