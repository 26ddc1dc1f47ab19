"""The fp32 scores on a fixed sample, kept so that a test can hold the shipped int8 files to them."""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from smartsearch.rank.colbert import OnnxColbert
from smartsearch.rank.crossencoder import OnnxCrossEncoder
from smartsearch.rank.text import scored_texts
from smartsearch.retrieve.semantic import Scorer
from smartsearch.transcripts import read

SCORERS: dict[str, Callable[[Path, int], Scorer]] = {"crossencoder": OnnxCrossEncoder, "colbert": OnnxColbert}


def sample(questions: Path) -> Iterator[tuple[str, str, list[str]]]:
    """(id, question, texts) of each of our sample questions over all turns of its transcript."""
    root = questions.parent.parent
    for line in questions.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        corpus = read([str(root / path) for path in row["paths"]])
        yield row["id"], row["question"], scored_texts(corpus, range(len(corpus.turns)))


def scores(scorer: Scorer, questions: Path) -> dict[str, list[float]]:
    """The scorer's scores of the sample, by question id, five digits."""
    return {name: [round(float(s), 5) for s in scorer(q, texts)] for name, q, texts in sample(questions)}


def exact(kind: str, work: Path) -> Scorer:
    """The scorer over `fp32.onnx` of an export's work folder, by the code that search runs."""
    with tempfile.TemporaryDirectory() as folder:
        for source, target in (("fp32.onnx", "model.onnx"), ("tokenizer.json",) * 2, ("config.json",) * 2):
            shutil.copyfile(work / source, Path(folder) / target)
        return SCORERS[kind](Path(folder), 2)


def main(argv: Sequence[str]) -> int:
    """`python -m smartsearch.training parity CE_WORK COLBERT_WORK docs/questions.jsonl OUT.json`."""
    parser = argparse.ArgumentParser(prog="smartsearch.training parity", description=__doc__)
    parser.add_argument("crossencoder", type=Path, help="folder with fp32.onnx, as export leaves it")
    parser.add_argument("colbert", type=Path, help="folder with fp32.onnx, as export leaves it")
    parser.add_argument("questions", type=Path, help="docs/questions.jsonl")
    parser.add_argument("out", type=Path, help="where the scores go: tests/models/fp32_scores.json")
    options = parser.parse_args(argv)
    table = {k: scores(exact(k, getattr(options, k)), options.questions) for k in SCORERS}
    options.out.write_text(json.dumps(table) + "\n", encoding="utf-8")
    return 0
