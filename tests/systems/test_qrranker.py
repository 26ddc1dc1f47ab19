"""QRRanker through the commands, with a tiny random model: what it orders, tells and refuses."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

from smartsearch.bench import rivals
from smartsearch.config import Config
from smartsearch.models import loading
from smartsearch.rank import qrranker as scorer
from smartsearch.rank.hub import heads
from smartsearch.rank.hub.heads import Heads
from smartsearch.systems.qrranker import causal
from tests.cli.fakes import fake_tools
from tests.rank import causal_models
from tests.systems import planted

TALK = (
    "Ann: Where did you leave the canoe?",
    "Ben: In the shed behind the bakery, the canoe I mean.",
    "Ann: And the paddles of the canoe?",
    "Ben: They hang in the kitchen, beside the canoe plans.",
    "Ann: Good.",
)
ASKED = "Where is the canoe?"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = causal_models.saved(tmp_path_factory.mktemp("model"), "Llama", max_position_embeddings=1024)
    found = Heads("tiny", causal.revision(folder), "made up", 3, 4, ((1, 3), (0, 2)))
    (folder / heads.FILE).write_bytes(heads.written(found))
    return folder


@pytest.fixture
def talk(tmp_path):
    (tmp_path / "talk.txt").write_text("\n".join(TALK), encoding="utf-8")
    return tmp_path / "talk.txt"


@pytest.fixture
def ask(run, talk, model):
    def asked(*options, model=model):
        named = ("--set", f"qr_model={model}") if model else ()
        return run("query", ASKED, str(talk), "--system", "qrranker", *named, "--threads", "1", *options)

    return asked


def test_the_first_turns_come_in_the_order_of_the_heads_and_the_others_behind(ask):
    found = ask("--json", "--set", "qr_candidates=3", "--truncate", "none").record
    assert found["system"] == "qrranker-untrained"
    scored = [hit["scores"]["qr"] for hit in found["hits"] if "qr" in hit["scores"]]
    assert scored == sorted(scored, reverse=True)
    assert (scored[0], scored[-1], len(scored)) == (1.0, 0.0, 3)
    assert len(found["hits"]) == 5
    assert "made up" in json.dumps(found["trace"])
    assert found["hits"][0]["scores"]["ce"] is not None


@pytest.fixture
def trained(model, tmp_path):
    """The same model, whose heads were trained."""
    folder = shutil.copytree(model, tmp_path / "trained")
    known = heads.read(folder / heads.FILE)
    (folder / heads.FILE).write_bytes(heads.written(replace(known, trained=True)))
    return folder


def test_it_says_that_its_heads_were_not_trained(ask, trained):
    assert "not trained" in ask("--explain").out + ask("--explain").err
    assert ask("--json", model=trained).record["system"] == "qrranker"


def test_a_table_says_which_heads_were_not_trained(model, trained):
    configs = [Config(qr_model=str(one)) for one in (model, trained, "acme/unknown")]
    named = [rivals.load(["qrranker"], config=config)[0].name for config in configs]
    assert named == ["qrranker-untrained", "qrranker", "qrranker-untrained"]


def test_as_a_third_ranker_it_is_fused_with_the_two(run, talk, model, monkeypatch):
    def tools(config, *, cache=True):
        known = fake_tools(config)
        return replace(known, scorers={**known.scorers, "qr": causal.scorer(config)})

    monkeypatch.setattr(loading, "load_tools", tools)
    named = ("--set", f"qr_model={model}", "--rank", "ce,colbert,qr")
    named += ("--set", "qr_candidates=2", "--threads", "1")
    monkeypatch.setattr(scorer, "SLOW", 0.0)
    ran = run("query", ASKED, str(talk), *named, "--json")
    assert "minutes a question on this CPU, 2 turns through 2 of 3 layers" in ran.err
    found = ran.record
    assert found["system"] == "smartsearch"
    scores = [hit["scores"] for hit in found["hits"]]
    assert sum("qr" in one for one in scores) == 2
    assert all(one["ce"] is not None and one["colbert"] is not None for one in scores)
    assert [one["rrf"] for one in scores] == sorted((one["rrf"] for one in scores), reverse=True)


def test_as_a_third_ranker_it_loads_beside_the_shipped_models(talk, model, tmp_path):
    """In a process of its own: torch is kept from a search that does without it."""
    command = [sys.executable, "-m", "smartsearch", "query", ASKED, str(talk), "--json", "--threads", "1"]
    command += ["--rank", "ce,colbert,qr", "--set", f"qr_model={model}"]
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stderr
    assert any("qr" in hit["scores"] for hit in json.loads(done.stdout)["hits"])


def test_how_long_it_takes_is_told_before_where_that_is_long(ask, monkeypatch):
    assert "minutes" not in ask().err
    monkeypatch.setattr(scorer, "SLOW", 0.0)
    assert "qrranker: about 0.0 minutes a question on this CPU, 50 turns through 2 of 3 layers" in ask().err
    assert "minutes" not in ask("-q").err


WRONG = ("none", "missing", "id", "no heads", "another's heads", "no model", "short", "half")


@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_be_is_an_error_that_says_what_to_try(ask, model, tmp_path, what):
    folder = shutil.copytree(model, tmp_path / "model")
    options, named = (), folder
    if what == "none":
        named, said = None, ("needs a causal language model", "--set qr_model=./FOLDER")
    elif what == "missing":
        named, said = tmp_path / "nowhere", ("is not on this machine", "")
    elif what == "id":
        named, said = "acme/qr-4b", ("'acme/qr-4b' is not on this", "smartsearch qrranker pull acme/qr-4b")
    elif what == "no heads":
        (folder / heads.FILE).unlink()
        said = ("nobody has found the heads", "qrranker detect")
    elif what == "another's heads":
        causal_models.network("Llama", seed=1, max_position_embeddings=1024).save_pretrained(folder)
        said = ("say nothing of another's", "qrranker detect")
    elif what == "no model":
        (folder / "config.json").write_text("{}")
        said = ("cannot be loaded as a causal language model", "config.json")
    elif what == "half":
        weights = folder / "model.safetensors"
        weights.write_bytes(weights.read_bytes()[:2000])
        said = ("cannot be loaded as a causal language model", "config.json")
    else:
        folder = causal_models.saved(tmp_path / "short", "Llama", max_position_embeddings=128)
        shape = Heads("tiny", causal.revision(folder), "made up", 3, 4, ((1, 3),))
        (folder / heads.FILE).write_bytes(heads.written(shape))
        named, said = folder, ("128 at most", "--set qr_candidates")
    ran = ask(*options, model=named)
    assert ran.code == 2
    assert all(part in ran.err for part in said), ran.err


def test_heads_of_a_file_are_named_as_a_path(ask, model, tmp_path):
    file = shutil.copy(model / heads.FILE, tmp_path / "other.json")
    assert ask("--set", f"qr_heads={file}").code == 0
    ran = ask("--set", "qr_heads=other.json")
    assert ran.code == 2
    assert "--set qr_heads=./other.json" in ran.err


@pytest.fixture
def questions(tmp_path):
    """Two conversations with a question each."""
    folder = tmp_path / "data"
    folder.mkdir()
    lines = []
    for number in (1, 2):
        (folder / f"{number}.txt").write_text("\n".join(TALK), encoding="utf-8")
        gold = [f"{number}.txt:2"]
        asked = {"id": f"q{number}", "question": ASKED, "gold": gold, "paths": [f"{number}.txt"]}
        lines.append(json.dumps(asked))
    (folder / "questions.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder


def test_heads_are_found_and_then_rank(run, ask, model, questions, tmp_path):
    bare = shutil.copytree(model, tmp_path / "bare")
    (bare / heads.FILE).unlink()
    file = tmp_path / "found.json"
    options = ("--qr-model", str(bare), "--threads", "1", "--json")
    found = run("qrranker", "detect", str(questions), *options, "--heads", "3", "-o", str(file))
    assert found.code == 0, found.err
    assert {row["order"] for row in found.record["recall"]} == {"smartsearch", "heads"}
    rows = found.record["recall"]
    assert all(0 <= row["R@3"] <= row["R@10"] <= 1 and row["questions"] == 1 for row in rows)
    known = heads.read(file)
    assert (len(known.heads), known.trained, known.layers, known.width) == (3, False, 3, 4)
    assert known.data.startswith("data ")
    assert ask("--set", f"qr_heads={file}", model=bare).code == 0


def test_what_cannot_be_written_is_told_before_any_work(run, model, questions, monkeypatch):
    monkeypatch.setattr("smartsearch.training.listwise.samples", None)
    chat = questions / "1.txt"
    before = chat.read_bytes()
    (notes := questions.parent / "notes").write_text("mine")
    for out, said, *more in (
        ("nowhere/heads.json", "cannot be written"),
        (str(questions), "cannot be written", "--overwrite"),
        (str(notes), "is there already"),
        (str(chat), "is one of the inputs", "--overwrite"),
    ):
        ran = run("qrranker", "detect", str(questions), "--qr-model", str(model), "-o", out, *more)
        assert (ran.code, said in ran.err, chat.read_bytes()) == (2, True, before), ran.err
    assert notes.read_text() == "mine"


def test_an_id_is_pulled_and_nothing_else(run):
    ran = run("qrranker", "pull", "embedded")
    assert ran.code == 2
    assert "no id of the model hub" in ran.err


def test_with_a_memory_the_model_reads_what_the_episodes_are_about(ask, monkeypatch):
    monkeypatch.setattr(loading, "load_tools", planted.tools)
    read = []
    before = scorer.context

    def spied(tokenizer, question, texts, notes=(), prompt="paper"):
        read.append((question, notes))
        return before(tokenizer, question, texts, notes, prompt)

    monkeypatch.setattr(scorer, "context", spied)
    plain = ask("--json").record
    assert all(not notes for _, notes in read)
    read.clear()
    found = ask("--json", "--set", "qr_memory=on").record
    assert [question for question, _ in read] == [ASKED, "N/A"]
    titles = [note.text for note in read[0][1]]
    assert titles
    assert all(title.strip() for title in titles)
    assert frozenset().union(*(note.covers for note in read[0][1])) == set(range(5))
    scores = [[hit["scores"]["qr"] for hit in one["hits"]] for one in (plain, found)]
    assert scores[0] != scores[1]
