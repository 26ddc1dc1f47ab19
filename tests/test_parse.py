"""Question to weighted terms, worked out by hand on the pipeline of conftest."""

import pytest

from smartsearch.config import Config
from smartsearch.errors import ModelError
from smartsearch.runtime import extras
from smartsearch.text.parse import Parser, load
from smartsearch.types import fold


def spacy_words(nlp, known=bool, **tags):
    """A parser that tags the words so, and others as the pipeline of conftest does."""

    def read(text):
        doc = nlp(text)
        for token in doc:
            token.pos_ = tags.get(token.text, token.pos_)
        return doc

    return Parser(read, known)


def weights(parser, question, **settings):
    return {t.text: t.weight for t in parser.parse(question, Config(**settings)).terms}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        # a person is a proper noun inside an entity: 3 + 1
        ("When did Mara adopt the dog?", {"Mara": 4.0, "adopt": 1.0, "dog": 2.0}),
        # a multi-word entity is a phrase as heavy as its heaviest token, beside its tokens
        ("Who lives in New York?", {"lives": 1.0, "New York": 4.0, "New": 4.0, "York": 4.0}),
        # entity tokens of another part of speech weigh 0 + 1; "7" is too short
        ("Who moved on 7 June 2023?", {"moved": 1.0, "7 June 2023": 4.0, "June": 4.0, "2023": 1.0}),
        # a name that looks like a stop word stays
        ("Does Will play?", {"Will": 4.0, "play": 1.0}),
        # possessives do not stick to the name
        ("What is Petra's work?", {"Petra": 4.0, "work": 2.0}),
        # each term once, with its highest weight
        ("dog dog Dog", {"dog": 2.0}),
        ("the Organ Festival of an organ", {"Organ Festival": 1.0, "organ": 2.0, "Festival": 1.0}),
    ],
)
def test_terms_carry_the_papers_weights(parser, question, expected):
    assert weights(parser, question) == expected


def test_a_name_may_be_shorter_than_another_word_and_auxiliaries_are_no_terms(parser):
    assert weights(parser, "Did Zoe adopt a dog?", min_length=4) == {"Zoe": 4.0, "adopt": 1.0}


def test_without_noun_name_or_verb_every_other_word_counts(parser):
    query = parser.parse("zorbing quickly?", Config())
    assert {t.text: t.weight for t in query.terms} == {"zorbing": 1.0, "quickly": 1.0}
    assert query.fallback


def test_a_noun_among_the_stop_words_counts_where_nothing_else_does(nlp):
    calls = spacy_words(nlp, call="NOUN", who="PRON", on="ADP")
    assert weights(calls, "who is on call") == {"call": 1.0}
    assert weights(calls, "who is on call with the dog") == {"dog": 2.0}
    assert not calls.parse("who is on call", Config()).literal
    assert weights(calls, "who is on call", typed=False) == {}


def test_a_word_that_the_tagger_cannot_know_is_a_noun(nlp):
    known = {"dog", "quickly", "somebody"}.__contains__
    tags = {"Gunther": "PRON", "odile": "ADJ", "quickly": "ADV", "she": "PRON", "somebody": "PRON"}
    names = spacy_words(nlp, known, **tags)
    found = {"Gunther": 2.0, "odile": 2.0, "dog": 2.0}
    assert weights(names, "she quickly Gunther odile dog or somebody") == found
    assert weights(names, "she quickly Gunther odile dog", typed=False) == {"dog": 2.0}


@pytest.mark.parametrize("question", ["", "   ", "?!", "what was it", "🙂", "\x00"])
def test_a_question_without_terms_does_not_raise(parser, question):
    query = parser.parse(question, Config())
    assert query.fallback or query.terms


def test_entities_of_turns_are_people_places_organisations_and_events(parser):
    found = parser.entities(["Ilya met Petra in New York on 7 June 2023", "Petra's Quill Co", "ask Will"])
    assert found == ["Ilya", "Petra", "New York", "Quill Co", "Will"]


def test_a_text_of_any_length_and_script_is_read(parser):
    assert parser.entities(["Ilya " + "dog " * 60_000]) == ["Ilya"]
    for question in ("dog " * 60_000, "Когда Мара взяла собаку?", "五月 何时"):
        assert parser.parse(question, Config()).terms


def test_nouns_count_the_turns_they_stand_in(parser):
    assert parser.nouns(["dog dog garden", "the dog of Mara"]) == [("dog", 2), ("garden", 1), ("Mara", 1)]


def test_folding_meets_across_composition_and_case():
    assert fold("CAFE\u0301") == fold("café")
    assert fold("STRASSE") == fold("straße")


def test_a_missing_pipeline_says_how_to_get_it():
    with pytest.raises(ModelError, match="no_such_pipeline") as caught:
        load("no_such_pipeline")
    assert extras.pipeline("no_such_pipeline") in caught.value.hint


def test_a_pipeline_without_tagger_is_refused(tmp_path, nlp):
    nlp.to_disk(tmp_path / "bare")
    with pytest.raises(ModelError, match="no tagger"):
        load(str(tmp_path / "bare"))
