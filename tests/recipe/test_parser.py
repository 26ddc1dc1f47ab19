"""The parser's data: readers, cleaning, augmentation and templates, on files written here."""

import random
from pathlib import Path

import pytest

from recipe import parser
from recipe.parser_corpus import (
    Sentence,
    casual,
    lowered,
    read_columns,
    read_conllu,
    read_uner,
    renamed,
    to_iob2,
    unpunctuated,
)
from recipe.parser_templates import Phrasebook, templates

CONLLU = """# sent_id = a-1
# text = Olga won't move to Rome.
1\tOlga\tOlga\tPROPN\tNNP\t_\t3\tnsubj\t_\t_
2-3\twon't\t_\t_\t_\t_\t_\t_\t_\t_
2\two\twill\tAUX\tMD\t_\t4\taux\t_\t_
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_
4\tmove\tmove\tVERB\tVB\t_\t0\troot\t_\t_
5\tto\tto\tADP\tIN\t_\t6\tcase\t_\t_
6\tRome\tRome\tPROPN\tNNP\t_\t4\tobl\t_\tSpaceAfter=No
6.1\tghost\tghost\tNOUN\tNN\t_\t_\t_\t_\t_
7\t.\t.\tPUNCT\t.\t_\t4\tpunct\t_\t_

"""
UNER = """# sent_id = a-1
# text = Olga won't move to Rome.
1\tOlga\tB-PER\t-\tann
2\two\tO
3\tn't\tB-O\t-\tann
4\tmove\tB-OTH\t-\tann
5\tto\tO
6\tRome\tB-LOC\t-\tann
7\t.\tO

"""
OLGA = Sentence(
    words=("Olga", "wo", "n't", "move", "to", "Rome", "."),
    spaces=(True, False, True, True, True, False, True),
    tags=("PROPN", "AUX", "PART", "VERB", "ADP", "PROPN", "PUNCT"),
    ents=("B-PERSON", "O", "O", "O", "O", "B-LOC", "O"),
)


@pytest.fixture
def rng() -> random.Random:
    return random.Random(3)


def test_treebank_joins_tags_spacing_and_cleaned_entities(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(CONLLU, encoding="utf-8")
    (tmp_path / "a.iob2").write_text(UNER, encoding="utf-8")
    assert read_conllu(tmp_path / "a.conllu", read_uner(tmp_path / "a.iob2")) == [OLGA]
    assert OLGA.text == "Olga won't move to Rome."
    assert read_conllu(tmp_path / "a.conllu", {}) == []  # without an entity layer


def test_columns_are_read_with_their_labels_mapped_to_ours(tmp_path: Path) -> None:
    path = tmp_path / "x.conll"
    path.write_text(
        "-DOCSTART- O\n\nAnna\tB-person\nLee\tI-person\nsmiles\tB-OTH\n\t\n"
        "in O\nOslo I-LOC\nAcme B-corporation,B-group\n\n"
        "@\tB-PER\nanna\tB-PER\nhi\tB-O\n@bob\tB-PER\n",
        encoding="utf-8",
    )
    found = read_columns(path)
    assert [(s.text, s.ents, s.tags) for s in found] == [
        ("Anna Lee smiles", ("B-PERSON", "I-PERSON", "O"), ()),
        ("in Oslo Acme", ("O", "B-LOC", "B-ORG"), ()),
        ("@anna hi @bob", ("O", "O", "O", "O"), ()),  # handles are no people
    ]
    assert to_iob2(["I-ORG", "I-ORG", "O", "I-LOC"]) == ("B-ORG", "I-ORG", "O", "B-LOC")
    assert to_iob2(["B-LOC", "I-ORG"]) == ("B-LOC", "B-ORG")


def test_variants_keep_all_columns_alike(rng: random.Random) -> None:
    low, bare = lowered(OLGA), unpunctuated(OLGA)
    assert (low.text, bare.text) == ("olga won't move to rome.", "Olga won't move to Rome")
    assert (low.spaces, low.tags, low.ents) == (OLGA.spaces, OLGA.tags, OLGA.ents)
    assert len(bare.words) == len(bare.spaces) == len(bare.tags) == len(bare.ents) == 6
    assert unpunctuated(Sentence(("?", "?"), (False, True), (), ("O", "O"))).words == ("?",)
    assert casual(OLGA, rng).text.startswith("olga won't")
    for sentence, name in ((OLGA, "Kofi"), (low, "kofi")):
        other = renamed(sentence, lambda: "Kofi")
        assert (other.words, other.ents) == ((name, *sentence.words[1:]), sentence.ents)


def test_template_columns_align_and_repeat_with_the_seed(rng: random.Random) -> None:
    for s in templates(Phrasebook(rng), 200, 200):
        assert len(s.words) == len(s.spaces) == len(s.tags) == len(s.ents)
        assert to_iob2(s.ents) == s.ents
    first, second = (templates(Phrasebook(random.Random(7)), 20, 20) for _ in range(2))
    assert first == second
    tokens = Phrasebook(rng).fill("{name} {surname} called/V")
    assert [e for _, _, e in tokens] == ["B-PERSON", "I-PERSON", "O"]


def test_rules_find_dates_events_and_numbers() -> None:
    import spacy

    nlp = spacy.blank("en")
    said = "On 8 May, 2023 and last summer we ran the boston marathon, 30 dollars,"
    doc = nlp(f"{said} at the Lake View Regatta.")
    for token in doc:
        token.pos_ = "PROPN" if token.text.istitle() else "NOUN"
    for name, patterns in (("calendar", parser.calendar()), ("numbers", parser.numbers())):
        ruler = nlp.add_pipe("entity_ruler", name=name)
        ruler.add_patterns(patterns)
        doc = ruler(doc)
    assert [(e.text, e.label_) for e in doc.ents] == [
        ("8 May, 2023", "DATE"),
        ("last summer", "DATE"),
        ("boston marathon", "EVENT"),
        ("30 dollars", "MONEY"),
        ("Lake View Regatta", "EVENT"),
    ]
