"""The shipped models in the pipeline: sample questions answered, the same answer every way, hashes, size."""

import dataclasses
import json
from functools import cache
from pathlib import Path

import pytest

from smartsearch.cli import app
from smartsearch.config import Config
from smartsearch.models import loading, manifest, profiles
from smartsearch.rank.colbert import OnnxColbert
from smartsearch.rank.crossencoder import OnnxCrossEncoder
from smartsearch.retrieve.grep import Haystack
from smartsearch.training.shipped import SAMPLE
from smartsearch.transcripts import read
from tests.conftest import FUZZ, search

pytestmark = pytest.mark.models
ROOT = Path(__file__).parents[2]
QUESTIONS = ROOT / "docs" / "questions.jsonl"


@pytest.fixture(scope="module", params=["crossencoder", "colbert"])
def scorer(request):
    kind = OnnxCrossEncoder if request.param == "crossencoder" else OnnxColbert
    return request.param, kind(manifest.SHIPPED / request.param, threads=2)


def test_a_score_does_not_depend_on_company_or_threads(scorer):
    kind, score = scorer
    texts = [text for _, right, wrong in SAMPLE for text in (right, *wrong)]
    question = SAMPLE[0][0]
    together = score(question, texts)
    single = type(score)(manifest.SHIPPED / kind, threads=1)
    assert together.tolist() == [float(single(question, [text])[0]) for text in texts]


def test_the_shipped_files_are_those_of_the_manifest_and_at_most_60_mb():
    assert {s.state for s in profiles.status("embedded", deep=True)} == {"ok"}
    files = [f for name in manifest.FOLDERS for f in (manifest.SHIPPED / name).rglob("*") if f.is_file()]
    assert sum(f.stat().st_size for f in files) <= 60_000_000


@pytest.fixture(scope="module")
def tools():
    return loading.load_tools(Config())


def samples(*paths: str) -> Haystack:
    return Haystack(read([str(ROOT / path) for path in paths or ["docs/samples"]]))


@cache
def answers():
    return [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]


def test_the_sample_questions_are_answered(tools):
    """Nearly all gold turns of the samples survive the default cut, and most questions have one on top.

    `make test` asks every fifth question, `make test-all` each.
    """
    first = found = 0
    asked = answers()[:: 5 if FUZZ < 100 else 1]
    for row in asked:
        result = search(row["question"], samples(*row["paths"]), Config(), tools)
        names = [f"{Path(h.turn.path).name}:{h.turn.turn or h.turn.line}" for h in result.hits]
        gold = set(row["gold"])
        found += len(gold & set(names))
        first += bool(gold & set(names[:3]))
    assert first >= 0.9 * len(asked)
    assert found >= 0.9 * sum(len(row["gold"]) for row in asked)


def test_the_same_question_twice_is_the_same_to_the_last_digit(tools):
    question, haystack = answers()[5]["question"], samples(*answers()[5]["paths"])
    single = loading.load_tools(Config(threads=1))
    results = [search(question, haystack, Config(), t) for t in (tools, tools, single)]
    traces = [dataclasses.replace(r.trace, timing_ms={}) for r in results]
    bare = [dataclasses.replace(r, threads=0, trace=t) for r, t in zip(results, traces)]
    assert bare[0] == bare[1] == bare[2]


def test_batch_answers_as_query_does_one_by_one(tmp_path, capfd):
    """ColBERT's vectors are kept between the questions of a batch; that must not show."""

    def run(*arguments: str) -> str:
        assert app.run([*arguments, "--no-cache"]) == 0
        return capfd.readouterr().out

    asked, sample = answers()[:2], str(tmp_path / "chat.md")
    whole = (ROOT / "docs" / "samples" / "harbour-street.md").read_text(encoding="utf-8")
    Path(sample).write_text("".join(whole.splitlines(keepends=True)[:24]), encoding="utf-8")
    lines = [json.dumps({"id": row["id"], "question": row["question"]}) for row in asked]
    (tmp_path / "questions.jsonl").write_text("\n".join(lines), encoding="utf-8")
    together = run("batch", str(tmp_path / "questions.jsonl"), sample)
    batched = [json.loads(line) for line in together.splitlines()]
    assert [one.pop("id") for one in batched] == [row["id"] for row in asked]
    last = batched[-1]
    alone = json.loads(run("query", asked[-1]["question"], sample, "--json", "-n0"))
    assert alone.pop("timing_ms").keys() == last.pop("timing_ms").keys()
    assert alone == last
