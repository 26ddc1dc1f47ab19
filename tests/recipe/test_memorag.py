"""Both stages of training the KV memory through the commands, and the samples that the second is made of."""

from __future__ import annotations

import json

import pytest
import torch

from recipe.__main__ import main
from smartsearch.systems.memorag.kv import about
from tests.cli.conftest import chats, run
from tests.llm_server import llm_server
from tests.systems import kv_models

__all__ = ["chats", "run"]
SMALL = ("--window", "64", "--ratio", "8", "--length", "192", "--threads", "1")


@pytest.fixture
def base(tmp_path):
    return kv_models.saved(tmp_path / "base")


@pytest.fixture
def chat(chats):
    lines = [f"[2024-05-{n % 28 + 1:02} 10:00] Mara: The code of box {n} is {n * 7}.\n" for n in range(60)]
    (chats / "boxes.txt").write_text("".join(lines))
    return "boxes.txt"


@pytest.fixture
def labelled(chats, chat):
    folder = chats / "labelled"
    folder.mkdir()
    (chats / chat).rename(folder / chat)
    asked = [
        {"id": f"q{n}", "question": f"What opens box {n}?", "answer": f"{n * 7}", "gold": [f"{chat}:{n + 1}"]}
        for n in range(0, 40, 2)
    ]
    (folder / "questions.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in asked))
    return folder


def test_both_stages_lower_what_they_train_and_the_folder_answers(run, base, chat, labelled, capfd):
    chats = str(labelled / chat)
    some = ("--rate", "3e-3")
    assert main(["memorag", chats, "--model", str(base), "--out", "one", *SMALL, *some, "--steps", "40"]) == 0
    figures = json.loads(capfd.readouterr().out)
    assert (figures["stage"], figures["pieces"]) == ("pretrain", 1)
    assert figures["after"] < figures["before"]
    assert main(["clues", str(labelled), "--out", "samples.jsonl"]) == 0
    assert json.loads(capfd.readouterr().out) == {"questions": 20, "samples": 20}
    second = ("samples.jsonl", "--clues", "--from", "./one", "--out", "two", *SMALL, *some, "--steps", "30")
    assert main(["memorag", *second]) == 0
    figures = json.loads(capfd.readouterr().out)
    assert figures["after"] < figures["before"]
    trained = about(labelled.parent / "two")
    assert trained.stages == ("pretrain", "clues")
    assert (trained.window, trained.ratio) == (64, 8)
    kv = ("--system", "memorag", "--set", "memorag=kv", "--set", "memorag_model=./two")
    answer = run("query", "What opens box 4?", chats, *kv, "--json").record
    assert "trained: pretrain and clues" in answer["trace"]["about"]
    assert answer["hits"]


def test_samples_are_of_gold_turns_and_what_finds_none_is_left_out(labelled, capfd):
    def third():
        return json.loads((labelled.parent / "s.jsonl").read_text().splitlines()[2])

    assert main(["clues", str(labelled), "--out", "s.jsonl"]) == 0
    one = third()
    assert (one["items"], one["draft"], one["source"]) == (["The code of box 4 is 28."], "28", "rule")
    assert "The code of box 4 is 28." in one["context"]
    with (
        llm_server(
            lambda body: '{"kind": "answers", "items": ["code box", "zebra"], "draft": "?"}'
        ) as server,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("SMARTSEARCH_LLM_BASE_URL", server.url)
        patch.setenv("SMARTSEARCH_LLM_MODEL", "tiny")
        again = ("clues", str(labelled), "--out", "s.jsonl", "--llm")
        assert main(again) == 2
        assert "s.jsonl is there already" in capfd.readouterr().err
        assert main([*again, "--overwrite"]) == 0
        assert len(server.requests) == 20
    assert (third()["items"], third()["source"]) == (["code box"], "llm")


def test_out_of_memory_in_training_is_told_and_nothing_is_written(base, chat, labelled, monkeypatch, capfd):
    def full(*_args, **_named):
        raise RuntimeError("[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(torch.Tensor, "backward", full)
    assert main(["memorag", str(labelled / chat), "--model", str(base), "--out", "one", *SMALL]) == 2
    assert "memory" in capfd.readouterr().err
    assert not list(labelled.parent.glob("one*"))


def test_what_cannot_be_trained_is_an_error(base, chat, chats, capfd):
    def error(*arguments):
        assert main(["memorag", *arguments]) == 2
        return capfd.readouterr().err

    model = ("--model", str(base))
    train = (chat, "--out", "one", *model)
    with pytest.raises(SystemExit):
        main(["memorag", chat, "--out", "one"])
    assert "more chats" in error(*train, "--threads", "1")
    (chats / "bad.jsonl").write_text('{"question": "a", "context": "b", "items": ["c"]}\n{"question": 1}\n')
    assert main(["memorag", *train, *SMALL, "--steps", "1"]) == 0
    said = error("bad.jsonl", "--clues", "--from", "./one", "--out", "two")
    assert "bad.jsonl:2 is no sample" in said
    assert not (chats / "two").exists()
    assert "one is there already" in error(*train, *SMALL)
    assert "is not on this machine" in error(chat, "--out", "three", "--model", "nobody/nothing")
    config = base / "config.json"
    config.write_text(config.read_text().replace('"llama"', '"own"'))
    assert "is of the type 'own'" in error(chat, "--out", "three", *model)
    assert main(["clues", "nowhere", "--out", "x"]) == 2
