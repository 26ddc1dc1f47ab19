"""Makes the shipped spaCy pipeline `en_smartsearch`: prepare, `spacy train`, evaluate, package.

Run as `python -m recipe parser --data DIR --out DIR`. The pipeline has a tagger (UD coarse tags
as `token.pos_`) and an entity recogniser (PERSON, ORG, LOC) over one shared tok2vec, and entity rulers for
what the data does not label: DATE, EVENT, numbers. The same data, seed and spaCy give the same weights, but
for a run cut short by `--minutes`. The network and its schedule are in `parser.cfg`.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recipe import parser_export
from recipe.parser_corpus import (
    Sentence,
    augment,
    held_out,
    lowered,
    read_columns,
    read_conllu,
    read_uner,
)
from recipe.parser_rules import calendar, numbers
from recipe.parser_templates import Phrasebook, templates
from smartsearch.errors import ModelError

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

log = logging.getLogger(__name__)
SEED = 20
STEPS = 3600
"""Steps of about 1,200 words; the learning rate falls to zero over them (13 minutes of one core)."""
QUESTIONS = 9000
TURNS = 9000
LABELS = ("PERSON", "ORG", "LOC")
SOURCES = [
    {"name": "Universal Dependencies English-EWT", "license": "CC BY-SA 4.0"},
    {"name": "Universal NER English-EWT", "license": "CC BY-SA 4.0"},
    {"name": "WNUT17 emerging entities", "license": "CC BY 4.0"},
    {"name": "Broad Twitter Corpus", "license": "CC BY 4.0"},
    {"name": "WikiGold", "license": "CC BY 4.0"},
    {"name": "templates and name lists of smartsearch", "license": "MIT"},
]

CONFIG = Path(__file__).with_name("parser.cfg")


@dataclass(frozen=True)
class Corpora:
    """Sentences to train on, to choose the best step by, and named held-out test sets."""

    train: list[Sentence]
    dev: list[Sentence]
    tests: dict[str, list[Sentence]]


def read_all(data: Path, rng: random.Random) -> Corpora:
    """Read, split and augment every source below `data` (the parser's sources of the model card)."""
    ewt = {}
    for split, ud, ner in (
        ("train", "en_ewt-ud-train.reconstructed.conllu", "en_ewt-ud-train.iob2.old"),
        ("dev", "en_ewt-ud-dev.conllu", "en_ewt-ud-dev.iob2"),
        ("test", "en_ewt-ud-test.conllu", "en_ewt-ud-test.iob2"),
    ):
        ewt[split] = read_conllu(data / "ud_ewt" / ud, read_uner(data / "uner_ewt" / ner))
    wnut = {
        "train": read_columns(data / "wnut17" / "wnut17train.conll"),
        "dev": read_columns(data / "wnut17" / "emerging.dev.conll"),
        "test": read_columns(data / "wnut17" / "emerging.test.annotated"),
    }
    btc_files = sorted((data / "ner_btc/CONLL-format/data").glob("*.conll"))
    btc, btc_test = held_out([s for f in btc_files for s in read_columns(f)])
    wiki, wiki_test = held_out(read_columns(data / "ner_wikigold/CONLL-format/data/wikigold.conll.txt"))
    book = Phrasebook(rng)
    read = augment(ewt["train"] + wnut["train"] + btc + wiki, book.first_name, rng)
    dev = ewt["dev"] + wnut["dev"]
    return Corpora(
        train=read + templates(book, QUESTIONS, TURNS),
        dev=dev[::2] + [lowered(s) for s in dev[1::2]],
        tests={"uner_ewt": ewt["test"], "wnut17": wnut["test"], "btc": btc_test, "wikigold": wiki_test},
    )


def to_doc(nlp: Language, sentence: Sentence) -> Doc:
    """The gold document, in the treebank's own words; spaCy aligns them with its tokens when it trains."""
    from spacy.tokens import Doc

    tags = list(sentence.tags) if sentence.tags else None
    words, spaces = list(sentence.words), list(sentence.spaces)
    return Doc(nlp.vocab, words=words, spaces=spaces, pos=tags, ents=list(sentence.ents))


def write_docs(nlp: Language, sentences: Sequence[Sentence], path: Path, rng: random.Random) -> None:
    """Write `.spacy` training data, one to three neighbouring sentences of the same kind a document."""
    from spacy.tokens import Doc, DocBin

    store = DocBin(attrs=["ORTH", "SPACY", "POS", "ENT_IOB", "ENT_TYPE"])
    i = 0
    while i < len(sentences):
        kind = bool(sentences[i].tags)
        run = [s for s in sentences[i : i + rng.choice((1, 1, 2, 3))] if bool(s.tags) == kind]
        docs = [to_doc(nlp, s) for s in run]
        store.add(docs[0] if len(docs) == 1 else Doc.from_docs(docs))
        i += len(run)
    store.to_disk(path)


def prepare(corpora: Corpora, work: Path) -> None:
    """Write `train.spacy` and `dev.spacy` into `work`."""
    import spacy

    nlp = spacy.blank("en")
    rng = random.Random(SEED)
    write_docs(nlp, corpora.train, work / "train.spacy", rng)
    write_docs(nlp, corpora.dev, work / "dev.spacy", rng)


def train(work: Path, steps: int, minutes: float) -> Path:
    """Run `spacy train` and return the best model's folder; after `minutes` (0: never) it is stopped."""
    command = [sys.executable, "-m", "spacy", "train", str(CONFIG), "--output", str(work / "model")]
    options = {
        "paths.train": work / "train.spacy",
        "paths.dev": work / "dev.spacy",
        "training.max_steps": steps,
        "training.optimizer.learn_rate.total_steps": steps,
        "system.seed": SEED,
    }
    command += [part for key, value in options.items() for part in (f"--{key}", str(value))]
    process = subprocess.Popen(command)
    try:
        process.wait(minutes * 60 or None)
    except subprocess.TimeoutExpired:
        log.warning("stopping after %s minutes; the best step so far is used", minutes)
        process.terminate()
        process.wait()
    best = work / "model" / "model-best"
    if not best.is_dir():
        raise ModelError(
            "`spacy train` left no model",
            hint="see its output above; give --minutes more",
            kind="model_missing",
        )
    return best


def add_rules(nlp: Language) -> None:
    """Put the rulers where they belong: certain dates and events before the model, numbers after it."""
    nlp.add_pipe("entity_ruler", name="calendar", before="ner").add_patterns(calendar())
    nlp.add_pipe("entity_ruler", name="numbers", after="ner").add_patterns(numbers())


def measure(nlp: Language, sentences: Sequence[Sentence]) -> dict[str, Any]:
    """Tag accuracy where gold tags are known; precision, recall, F of PERSON, ORG, LOC, exact spans."""
    found: Counter[str] = Counter()
    gold: Counter[str] = Counter()
    right: Counter[str] = Counter()
    golds = [to_doc(nlp, s) for s in sentences]
    predicted = list(nlp.pipe(d.text for d in golds))
    for want, got in zip(golds, predicted, strict=True):
        spans = {(e.start_char, e.end_char, e.label_) for e in want.ents}
        ours = {(e.start_char, e.end_char, e.label_) for e in got.ents if e.label_ in LABELS}
        for counter, group in ((gold, spans), (found, ours), (right, spans & ours)):
            counter.update(label for _, _, label in group)
            counter["all"] += len(group)
    scores: dict[str, Any] = {
        label: prf(right[label], found[label], gold[label]) for label in (*LABELS, "all")
    }
    if sentences[0].tags:
        scores["tag_accuracy"] = tag_accuracy(golds, predicted)
    return scores


def prf(right: int, found: int, gold: int) -> dict[str, float]:
    """Precision, recall, F1 and the number of gold spans."""
    p, r = right / max(found, 1), right / max(gold, 1)
    return {"p": round(p, 4), "r": round(r, 4), "f": round(2 * p * r / max(p + r, 1e-9), 4), "gold": gold}


def tag_accuracy(golds: Iterable[Doc], predicted: Iterable[Doc]) -> float:
    """Share of gold words whose coarse tag is right; words that align with no token of ours are left out."""
    from spacy.training import Example

    pairs = [
        (token.pos_, tag)
        for want, got in zip(golds, predicted, strict=True)
        for token, tag in zip(got, Example(got, want).get_aligned("POS", as_string=True), strict=True)
        if tag
    ]
    right = sum(1 for ours, gold in pairs if ours == gold)
    return round(right / max(len(pairs), 1), 4)


def speed(nlp: Language, sentences: Sequence[Sentence]) -> dict[str, float]:
    """Milliseconds for one question and for ten turns of 40 words, medians of 30 runs on this machine."""
    texts = [s.text for s in sentences]
    turns = [" ".join(" ".join(texts[i : i + 5]).split()[:40]) for i in range(0, 50, 5)]
    runs: dict[str, list[float]] = {"question_ms": [], "ten_turns_ms": []}
    for _ in range(30):
        start = time.perf_counter()
        nlp("When did Caroline start her new job at the hospital?")
        middle = time.perf_counter()
        list(nlp.pipe(turns))
        runs["question_ms"].append(middle - start)
        runs["ten_turns_ms"].append(time.perf_counter() - middle)
    return {name: round(sorted(times)[15] * 1000, 2) for name, times in runs.items()}


def evaluate(nlp: Language, tests: dict[str, list[Sentence]]) -> dict[str, Any]:
    """Every test set cased and lower-cased, and the speed."""
    report: dict[str, Any] = {}
    for name, sentences in tests.items():
        report[name] = measure(nlp, sentences)
        report[f"{name}_lower"] = measure(nlp, [lowered(s) for s in sentences])
    report["speed"] = speed(nlp, tests["uner_ewt"])
    return report


def package(nlp: Language, report: dict[str, Any], out: Path) -> None:
    """Write the pipeline to `out` with its name, licence, sources and figures; word lists are left out."""
    nlp.meta.update(
        spacy_version=">=3.7.0,<4.0.0",
        name="smartsearch",
        version="0.1.0",
        description="Weighs a question's words and finds entities in chat turns (smartsearch).",
        author="smartsearch",
        license="CC BY-SA 4.0 (weights derived from CC BY-SA 4.0 and CC BY 4.0 data)",
        sources=SOURCES,
        performance=report,
    )
    shutil.rmtree(out, ignore_errors=True)
    nlp.config["paths"] = {**nlp.config["paths"], "train": None, "dev": None}  # this machine's
    nlp.to_disk(out)
    (out / "vocab" / "strings.json").write_text("[]\n", encoding="utf-8")
    parser_export.write(nlp, out)


def options(argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    cli = argparse.ArgumentParser(prog="python -m recipe parser", description=__doc__)
    cli.add_argument("--data", type=Path, required=True, help="folder with ud_ewt, uner_ewt, wnut17, ...")
    cli.add_argument("--out", type=Path, required=True, help="folder for the finished pipeline (replaced)")
    cli.add_argument("--work", type=Path, default=Path("build/parser"), help="folder for intermediate files")
    cli.add_argument("--steps", type=int, default=STEPS, help=f"training steps (default {STEPS})")
    cli.add_argument("--minutes", type=float, default=0, help="stop training after so long (0: never)")
    return cli.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Prepare, train, evaluate and package; returns the exit code."""
    import spacy

    args = options(argv)
    args.work.mkdir(parents=True, exist_ok=True)
    corpora = read_all(args.data, random.Random(SEED))
    prepare(corpora, args.work)
    nlp = spacy.load(train(args.work, args.steps, args.minutes))
    add_rules(nlp)
    report = evaluate(nlp, corpora.tests)
    (args.work / "report.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    package(nlp, report, args.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
