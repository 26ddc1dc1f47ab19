"""The shipped parser: tags and entities of hand-written questions and turns, careful and lower-cased."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recipe import parser_export
from recipe.parser_templates import Phrasebook, templates
from smartsearch.errors import ModelError
from smartsearch.text import parse
from smartsearch.text.tagging import network, pipeline, words
from smartsearch.text.tagging.pipeline import TABLES, Pipeline
from tests.waiting import HANG

if TYPE_CHECKING:
    from spacy.language import Language

pytestmark = pytest.mark.models
PIPELINE = parse.SHIPPED
LIMIT = 6_000_000


@pytest.fixture(scope="module")
def nlp() -> Pipeline:
    return parse.load(str(PIPELINE))


@pytest.fixture(scope="module")
def reference() -> Language:
    """The same pipeline run by spaCy."""
    return parse.load(str(PIPELINE / ".." / PIPELINE.name))


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
def test_tags_and_entities(nlp: Pipeline, text: str, tags: str, ents: str) -> None:
    doc = nlp(text)
    found = {token.text: token.pos_ for token in doc}
    wanted = dict(pair.split("=") for pair in tags.split())
    assert {word: found[word] for word in wanted} == wanted
    named = {(ent.text, ent.label_) for ent in doc.ents}
    expected = {tuple(pair.strip().split("=")) for pair in ents.split(";") if pair}
    assert expected <= named
    assert {e for e in named if e[1] == "PERSON"} <= expected


def read(doc: Any) -> tuple[list[Any], list[Any]]:
    """All that text/parse.py asks of a document."""
    asked = ("i", "idx", "text", "lower_", "pos_", "ent_type_", "is_stop", "is_punct", "is_space", "is_alpha")
    spans = [(e.start, e.end, e.start_char, e.end_char, e.label_, e.text, len(e)) for e in doc.ents]
    return [tuple(getattr(token, name) for name in asked) for token in doc], spans


SPELLINGS = """
I'd've gone, but y'all couldn't've known... "Really?!" (No.) -- well-known, e.g. Dr. O'Neil's U.S. plan
http://example.org/a_b?c=d#e www.example.org x@example.org, ~/notes/todo.md, C:\tmp, #tag @anna a/b and/or
:) :-( ;) <3 xD ^_^ (*_*) o.O 5:30pm 5 p.m. 12% $5.50 5$ 3km 7kg. 21st 1/2 2023-05-08 08/05/2023 +49 30 -1.5
“So” — she said – ‘never’… it’s Ana’s café, naïve; 5€ 20°C. ½ über-cool 👍🏽 🎉🎉!!! ¿qué? №5 ™
two  spaces\tand a tab\r\rlines \u00a0 wide\u3000 space
Когда Анна переехала в Москву? 他什么时候搬到东京的？ 東京タワー、です。 متى؟ ۱۲۳ शब्द। 안녕하세요
Mr. Smith's on 8 May 2023, in mid-June, last Friday night, two weeks ago, the 1990s, from 10 am to 11:15
the Harbour Light Festival, the Festival of Lights, Boston Marathon and Lake View Open, twenty five dollars
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
WON'T can't gonna cannot Ill we're 'em '' ’’ 's ’s a.m. Ph.D. vs. No. X ADJ dep U+200B\u200b- x=y 3*4 10-5 A.B
"""


def test_it_reads_as_spacy_does(nlp: Pipeline, reference: Language) -> None:
    lines = SPELLINGS.strip().split("\n")
    made = [sentence.text for sentence in templates(Phrasebook(random.Random(7)), 150, 150)]
    texts = [case[0] for case in CASES] + lines + [" ".join(lines), *made, " ".join(made)]
    assert len(texts) > 300
    for text, ours, theirs in zip(texts, nlp.pipe(texts), reference.pipe(texts), strict=True):
        assert read(ours) == read(theirs), text


def test_a_text_is_read_the_same_alone_in_company_and_when_words_were_forgotten(nlp, monkeypatch) -> None:
    made = [sentence.text for sentence in templates(Phrasebook(random.Random(8)), 20, 20)]
    together = [read(doc) for doc in nlp.pipe(made)]
    monkeypatch.setattr(pipeline, "KEPT", 10)
    monkeypatch.setattr(network, "BLOCK", 16)
    assert [read(nlp(text)) for text in made] == together


@pytest.mark.fuzz
@given(
    st.text(
        st.sampled_from("aZé1'’.,-:;()!?$€%/@#_*&+=<>“”… \n☺🎉д中") | st.characters(exclude_categories=["Cs"])
    )
)
def test_any_characters_are_parted_as_spacy_parts_them(nlp: Pipeline, reference: Language, text: str) -> None:
    assert [(t.idx, t.text) for t in nlp(text)] == [(t.idx, t.text) for t in reference.make_doc(text)]


def test_keys_of_strings_are_spacy_s(nlp: Pipeline, reference: Language) -> None:
    for text in ("", "a", "seven77", "eight888", "a longer one", "ü", "🎉🎉x", "X", "dep"):
        assert (text and words.English(exported()).key(text)) == (reference.vocab.strings.add(text) or "")


def exported() -> dict[str, Any]:
    return dict(json.loads((PIPELINE / TABLES).read_text(encoding="utf-8")))


def test_the_tables_are_those_of_the_shipped_pipeline(reference: Language) -> None:
    assert json.loads(json.dumps(parser_export.tables(reference, PIPELINE))) == exported()


def test_weights_that_end_early_are_told(tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(np.zeros(5, np.float32).tobytes())
    with pytest.raises(network.Damaged, match="model ends too early"):
        network.Network(tmp_path, {"arrays": {"layer0.G": ("model", 0, [6])}, "seeds": [], "moves": []})


def test_a_shipped_folder_that_lacks_a_file_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parse, "SHIPPED", tmp_path)
    with pytest.raises(ModelError, match="the shipped parser is damaged") as caught:
        parse.load(str(tmp_path))
    assert caught.value.kind == "model_damaged"


ODD = """🎉🎉|👩‍👩‍👧 !!|Когда Анна переехала в Москву?|他什么时候搬到东京的?|متى؟|\x00|??|I'd've|<b>& ;-)"""


@pytest.mark.parametrize("text", ["", " ", "\n\n", "a" * 5000, *ODD.split("|")])
def test_odd_texts_do_not_raise(nlp: Pipeline, text: str) -> None:
    assert nlp(text).text == text


def test_every_token_is_tagged_and_the_same_twice(nlp: Pipeline) -> None:
    first, second = (nlp("gonna meet @anna at 5pm :) http://x.org/a #fun, Kofi") for _ in range(2))
    assert all(token.pos_ for token in first)
    assert [(t.pos_, t.ent_type_) for t in first] == [(t.pos_, t.ent_type_) for t in second]


def test_size_and_card(reference: Language) -> None:
    assert sum(f.stat().st_size for f in PIPELINE.rglob("*") if f.is_file()) <= LIMIT
    assert reference.meta["name"] == "smartsearch"
    assert "CC BY-SA 4.0" in reference.meta["license"]
    assert "uner_ewt_lower" in reference.meta["performance"]


@pytest.mark.process
def test_a_pipeline_of_spacy_s_loads_without_its_command_line() -> None:
    """Nor its HTTP clients; both can be had afterwards."""
    code = """
import sys
from smartsearch.text import parse
nlp = parse.load(str(parse.SHIPPED / ".." / "en_smartsearch"))
print(nlp("go")[0].pos_, sorted({"weasel", "httpx", "requests", "spacy.cli"} & sys.modules.keys()))
import spacy, spacy.cli
print(callable(spacy.cli.info), spacy.info(silent=True)["spacy_version"] == spacy.__version__)
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG, check=True)
    assert done.stdout.splitlines() == ["VERB []", "True True"]
