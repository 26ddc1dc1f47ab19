"""The shipped parser: tags and entities of hand-written questions and turns, careful and lower-cased."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import smartsearch
from smartsearch.text import parse
from tests.waiting import HANG

if TYPE_CHECKING:
    from spacy.language import Language

pytestmark = pytest.mark.models
PIPELINE = Path(smartsearch.__file__).parent / "models" / "en_smartsearch"
LIMIT = 6_000_000


@pytest.fixture(scope="module")
def nlp() -> Language:
    return parse.load(str(PIPELINE), needs_torch=False)


# text | word=tag ... | entity=label; ...
LINES = """
When did Caroline go to the support group? | Caroline=PROPN go=VERB group=NOUN | Caroline=PERSON
when did caroline go to the support group | caroline=PROPN go=VERB group=NOUN | caroline=PERSON
What does Emma do for work? | Emma=PROPN do=VERB work=NOUN | Emma=PERSON
what does emma do for work | emma=PROPN do=VERB work=NOUN | emma=PERSON
When did Nate win his first tournament? | Nate=PROPN win=VERB tournament=NOUN | Nate=PERSON
when did nate win his first tournament | nate=PROPN win=VERB tournament=NOUN | nate=PERSON
What did Joanna and Nate cook together? | Joanna=PROPN Nate=PROPN cook=VERB | Joanna=PERSON; Nate=PERSON
what did joanna and nate cook together | joanna=PROPN nate=PROPN cook=VERB | joanna=PERSON; nate=PERSON
did sarah like the play in london | sarah=PROPN london=PROPN like=VERB play=NOUN | sarah=PERSON; london=LOC
how long was the walk along the river | walk=NOUN river=NOUN |
What books did I read in March? | books=NOUN read=VERB | March=DATE
which restaurant did you recommend in barcelona | restaurant=NOUN recommend=VERB | barcelona=LOC
Hey Mel! Good to see you! | Mel=PROPN see=VERB | Mel=PERSON
Thanks, Caroline! I really appreciate your support. | Caroline=PROPN support=NOUN | Caroline=PERSON
Wow, that sounds amazing! Did the kids enjoy the zoo? | kids=NOUN zoo=NOUN sounds=VERB enjoy=VERB |
My cousin Tomasz moved to Boston last summer. | cousin=NOUN moved=VERB | Tomasz=PERSON; Boston=LOC
Painting helps me relax after work. | helps=VERB relax=VERB work=NOUN |
We ran the Boston Marathon on 17 April, 2023. | ran=VERB | Boston Marathon=EVENT; 17 April, 2023=DATE
"""
CASES = [[part.strip() for part in line.split("|")] for line in LINES.strip().splitlines()]


@pytest.mark.parametrize(("text", "tags", "ents"), CASES, ids=[case[0] for case in CASES])
def test_tags_and_entities(nlp: Language, text: str, tags: str, ents: str) -> None:
    doc = nlp(text)
    found = {token.text: token.pos_ for token in doc}
    wanted = dict(pair.split("=") for pair in tags.split())
    assert {word: found[word] for word in wanted} == wanted
    named = {(ent.text, ent.label_) for ent in doc.ents}
    expected = {tuple(pair.strip().split("=")) for pair in ents.split(";") if pair}
    assert expected <= named
    assert {e for e in named if e[1] == "PERSON"} <= expected


ODD = """🎉🎉|👩‍👩‍👧 !!|Когда Анна переехала в Москву?|他什么时候搬到东京的?|متى؟|\x00|??|I'd've|<b>& ;-)"""


@pytest.mark.parametrize("text", ["", " ", "\n\n", "a" * 5000, *ODD.split("|")])
def test_odd_texts_do_not_raise(nlp: Language, text: str) -> None:
    assert nlp(text).text == text


def test_every_token_is_tagged_and_the_same_twice(nlp: Language) -> None:
    first, second = (nlp("gonna meet @anna at 5pm :) http://x.org/a #fun, Kofi") for _ in range(2))
    assert all(token.pos_ for token in first)
    assert [(t.pos_, t.ent_type_) for t in first] == [(t.pos_, t.ent_type_) for t in second]


def test_size_and_card(nlp: Language) -> None:
    assert sum(f.stat().st_size for f in PIPELINE.rglob("*") if f.is_file()) <= LIMIT
    assert nlp.meta["name"] == "smartsearch"
    assert "CC BY-SA 4.0" in nlp.meta["license"]
    assert "uner_ewt_lower" in nlp.meta["performance"]


def test_the_shipped_pipeline_loads_without_what_it_does_not_need() -> None:
    """Neither torch nor spaCy's command line with its HTTP clients; both can be had afterwards."""
    code = """
import sys
from smartsearch.text import parse
nlp = parse.load(str(parse.SHIPPED), needs_torch=False)
print(nlp("go")[0].pos_, sorted({"torch", "weasel", "httpx", "requests", "spacy.cli"} & sys.modules.keys()))
import spacy, spacy.cli
print(callable(spacy.cli.info), spacy.info(silent=True)["spacy_version"] == spacy.__version__)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=HANG, check=True
    )
    assert done.stdout.splitlines() == ["VERB []", "True True"]


def test_its_tokenizer_is_english_s_own(nlp: Language) -> None:
    """So that the very spaCy it was made with need not read it."""
    own = parse.load(str(PIPELINE)).tokenizer.to_bytes(exclude=["vocab"])
    assert nlp.tokenizer.to_bytes(exclude=["vocab"]) == own
