"""Both stages of training the KV memory through the commands, and the samples that the second is made of."""

from __future__ import annotations

import json

import pytest
import torch

from smartsearch.systems.memorag.kv import about
from tests.llm_server import llm_server
from tests.systems import kv_models

SMALL = ("--window", "64", "--ratio", "8", "--length", "192", "--threads", "1", "--json")


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


def test_both_stages_lower_what_they_train_and_the_folder_answers(run, base, chat, labelled, monkeypatch):
    chats = str(labelled / chat)
    first = run(
        "memorag",
        "train",
        chats,
        "--model",
        str(base),
        "--out",
        "one",
        *SMALL,
        "--steps",
        "40",
        "--rate",
        "3e-3",
    )
    [figures] = first.record["memory_tokens"]
    assert (figures["stage"], figures["pieces"]) == ("pretrain", 1)
    assert figures["after"] < figures["before"]
    assert run("memorag", "data", str(labelled), "--out", "samples.jsonl").code == 0
    second = run(
        *("memorag", "train", "samples.jsonl", "--clues", "--from", "./one", "--out", "two"),
        *("--length", "192", "--steps", "30", "--rate", "3e-3", "--threads", "1", "--json"),
    )
    [figures] = second.record["memory_tokens"]
    assert figures["after"] < figures["before"]
    trained = about(labelled.parent / "two")
    assert trained.stages == ("pretrain", "clues")
    assert (trained.window, trained.ratio) == (64, 8)
    kv = ("--system", "memorag", "--set", "memorag=kv", "--set", "memorag_model=./two")
    answer = run("query", "What opens box 4?", chats, *kv, "--json").record
    assert "trained: pretrain and clues" in answer["trace"]["about"]
    assert answer["hits"]


def test_samples_are_of_gold_turns_and_what_finds_none_is_left_out(run, labelled):
    assert run("memorag", "data", str(labelled), "--out", "s.jsonl", "--json").record["samples"] == [
        {"questions": 20, "samples": 20}
    ]
    one = json.loads((labelled.parent / "s.jsonl").read_text().splitlines()[2])
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
        again = ("memorag", "data", str(labelled), "--out", "s.jsonl", "--llm")
        assert "s.jsonl is there already" in run(*again).err
        assert run(*again, "--overwrite").code == 0
        assert len(server.requests) == 20
    one = json.loads((labelled.parent / "s.jsonl").read_text().splitlines()[2])
    assert (one["items"], one["source"]) == (["code box"], "llm")


def test_out_of_memory_in_training_is_told_and_nothing_is_written(run, base, chat, labelled, monkeypatch):
    def full(*_args, **_named):
        raise RuntimeError("[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(torch.Tensor, "backward", full)
    train = ("memorag", "train", str(labelled / chat), "--model", str(base), "--out", "one", *SMALL)
    ran = run(*train)
    assert (ran.code, ran.record["error"]["kind"]) == (2, "memory")
    assert not list(labelled.parent.glob("one*"))


def test_what_cannot_be_trained_is_an_error(run, base, chat, chats):
    train = ("memorag", "train", chat, "--out", "one")
    assert "--model or --from" in run(*train).err
    assert "more chats" in run(*train, "--model", str(base), "--threads", "1").err
    (chats / "bad.jsonl").write_text('{"question": "a", "context": "b", "items": ["c"]}\n{"question": 1}\n')
    remembered_folder = run(*train, "--model", str(base), *SMALL, "--steps", "1")
    assert remembered_folder.code == 0
    ran = run("memorag", "train", "bad.jsonl", "--clues", "--from", "./one", "--out", "two")
    assert "bad.jsonl:2 is no sample" in ran.err
    assert not (chats / "two").exists()
    assert "one is there already" in run(*train, "--model", str(base), *SMALL).out
    train = ("memorag", "train", chat, "--out", "three")
    assert "is not on this machine" in run(*train, "--model", "nobody/nothing").err
    config = base / "config.json"
    config.write_text(config.read_text().replace('"llama"', '"own"'))
    assert "cannot be loaded as a causal language model" in run(*train, "--model", str(base)).err
    assert run("memorag", "data", "nowhere", "--out", "x").code == 2
