"""What many tests share: a hand-made spaCy pipeline whose every tag and entity is written here."""

from __future__ import annotations

import pytest

from smartsearch.config import Config
from smartsearch.parse import Parser, without_torch
from smartsearch.retrieve.grep import Haystack
from smartsearch.types import Corpus, Turn

LEXICON = {
    "PROPN": "Mara Ilya Petra Petrra Lisbon New York Quill Co Will Zoe June 五月",
    "NOUN": "dog group support flute kitchen organ organs flat flatmate work garden tiles festival",
    "VERB": "adopt adopted repair repairs moved play plays painted live lives",
    "AUX": "did does is was has can will",
    "NUM": "2023 7",
}
ENTITIES = {
    "PERSON": ["Mara", "Ilya", "Petra", "Will", "Zoe"],
    "GPE": ["Lisbon", "New York"],
    "ORG": ["Quill Co"],
    "DATE": ["7 June 2023", "June 2023"],
    "EVENT": ["Organ Festival"],
}


@pytest.fixture(scope="session", autouse=True)
def cache_home(tmp_path_factory):
    """No test reads or writes the user's own cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True)
def no_warm_process(tmp_path_factory, monkeypatch):
    """No test meets a warm process that its developer has running."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.getbasetemp()))


@pytest.fixture(scope="session")
def nlp():
    with without_torch():
        import spacy
    pipeline = spacy.blank("en")
    attributes = pipeline.add_pipe("attribute_ruler")
    for tag, words in LEXICON.items():
        for word in words.split():
            attributes.add([[{"TEXT": word}]], {"POS": tag})
    entities = pipeline.add_pipe("entity_ruler")
    entities.add_patterns(
        [{"label": label, "pattern": name} for label, names in ENTITIES.items() for name in names]
    )
    return pipeline


@pytest.fixture
def parser(nlp):
    return Parser(nlp)


@pytest.fixture
def config():
    return Config()


def corpus(*lines: str, session: str = "1") -> Corpus:
    """`speaker: text` lines as one conversation."""
    turns = []
    for number, line in enumerate(lines, start=1):
        speaker, _, text = line.partition(": ")
        turns.append(
            Turn(
                text,
                speaker,
                path="chat.txt",
                line=number,
                conversation="c",
                session=session,
                turn=str(number),
            )
        )
    return Corpus(tuple(turns))


def haystack(*lines: str) -> Haystack:
    return Haystack(corpus(*lines))
