"""Heads that rank: found, and trained on a lookup that a two-layer model can learn."""

import json
import math
import random
import shutil

import pytest
import torch

from recipe import qrranker
from recipe.__main__ import main
from recipe.qrranker import Plan
from smartsearch.errors import ModelError, SmartsearchError, UsageError
from smartsearch.rank.hub import heads as head_files
from smartsearch.rank.hub.heads import Heads
from smartsearch.rank.qrranker import QRRanker, Reader
from smartsearch.runtime.outputs import Place
from smartsearch.systems.qrranker import causal
from smartsearch.training import listwise
from smartsearch.training.listwise import Sample
from tests.cli.conftest import chats, run
from tests.rank import causal_models
from tests.systems.test_qrranker import ask, model, questions, talk

__all__ = ["ask", "chats", "model", "questions", "run", "talk"]


@pytest.fixture(autouse=True)
def _one_thread():
    torch.set_num_threads(1)


def test_the_loss_by_hand_with_two_right_texts():
    """Spread over 0 to 8: 8, 4, 0, 2; right are the first and the second, each against the two wrong ones."""
    totals = torch.tensor([0.5, 0.3, 0.1, 0.2])
    wrong = math.exp(0) + math.exp(2)
    first, second = (-math.log(math.exp(s) / (math.exp(s) + wrong)) for s in (8, 4))
    assert float(qrranker.loss(totals, {0, 1})) == pytest.approx((first + second) / 2, rel=1e-5)


def test_a_list_that_teaches_nothing_has_no_loss():
    assert qrranker.loss(torch.tensor([0.1, 0.2]), set()) is None
    assert qrranker.loss(torch.tensor([0.1, 0.2]), {0, 1}) is None
    assert qrranker.loss(torch.tensor([0.2, 0.2]), {0}) is None


def lookup(count: int, seed: int, texts: int = 6) -> list[Sample]:
    """Lists of keys, and a question that is one of them."""
    rng = random.Random(seed)
    made = []
    for _ in range(count):
        keys, right = rng.sample("bcdfghjklmnpqrstvwxz", texts), rng.randrange(texts)
        made.append(Sample(keys[right], tuple(keys), frozenset({right}), 1))
    return made


def first(ranker: QRRanker, samples: list[Sample]) -> float:
    order = listwise.by_heads(ranker)
    return sum(order(one)[0] in one.gold for one in samples) / len(samples)


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """A two-layer model before and after it was trained to look up with the head 1-2."""
    shape = {"num_hidden_layers": 2, "hidden_size": 64, "rope_theta": 1e6, "sharp": 1.0}
    folder = causal_models.saved(tmp_path_factory.mktemp("base"), **shape)
    wanted = Heads("tiny", causal.revision(folder), "lookup", 2, 4, ((1, 2),), trained=True)
    reader = Reader(folder, "tiny", 1)
    held_out = lookup(40, seed=2)
    before = first(QRRanker(reader, wanted), held_out)
    losses: list[float] = []
    plan = Plan("full", epochs=1, rate=1e-3, accumulate=2)
    qrranker.train(reader, wanted, lookup(300, seed=1), plan, losses.append)
    new = folder.parent / "trained"
    qrranker.save(reader, wanted, Place(new, ours=head_files.are_in))
    return before, losses, new, held_out


def test_training_raises_the_first_place_far_above_chance(learned):
    before, losses, folder, held_out = learned
    heads = head_files.read(folder / head_files.FILE)
    assert heads.revision == causal.revision(folder)
    after = first(QRRanker(Reader(folder, "trained", 1), heads), held_out)
    assert before < 0.4
    assert after > 0.8
    assert sum(losses[-50:]) < sum(losses[:50]) / 2


def test_detection_finds_the_head_that_looks_up(learned):
    _, _, folder, held_out = learned
    found = listwise.detect(Reader(folder, "trained", 1), held_out, 3, lambda: None)
    assert next(iter(found)) == (1, 2)
    scores = list(found.values())
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


def test_query_and_key_projections_of_the_layers_with_heads_alone_are_trained(tmp_path):
    reader = Reader(causal_models.saved(tmp_path), "tiny", 1)
    before = {name: weights.detach().clone() for name, weights in reader.network.named_parameters()}
    heads = Heads("tiny", "r", "lookup", 3, 4, ((1, 0),))
    qrranker.train(reader, heads, lookup(4, 1), Plan("qk", rate=1e-2), lambda _loss: None)
    after = dict(reader.network.named_parameters())
    changed = {name for name, weights in before.items() if not torch.equal(weights, after[name])}
    assert changed
    assert all(name.startswith("layers.1.self_attn.") and name.split(".")[3][0] in "qk" for name in changed)


def test_weights_change_once_for_as_many_questions_as_are_gathered(tmp_path, monkeypatch):
    """Seven questions by four: two steps, the second of what is left. Each adds its share of the loss."""
    reader = Reader(causal_models.saved(tmp_path), "tiny", 1)
    heads, steps, shares = Heads("tiny", "r", "lookup", 3, 4, ((1, 0),)), [], []
    step, backward = torch.optim.AdamW.step, torch.Tensor.backward
    monkeypatch.setattr(torch.optim.AdamW, "step", lambda self: steps.append(1) or step(self))
    noted = lambda self: shares.append(float(self)) or backward(self)  # noqa: E731
    monkeypatch.setattr(torch.Tensor, "backward", noted)
    losses = []
    qrranker.train(reader, heads, lookup(7, 1), Plan("qk"), losses.append)
    assert (Plan().accumulate, len(steps)) == (4, 2)
    assert shares == pytest.approx([loss / 4 for loss in losses])


def test_what_cannot_be_trained_is_told(tmp_path, monkeypatch):
    reader = Reader(causal_models.saved(tmp_path), "tiny", 1)
    heads = Heads("tiny", "r", "lookup", 3, 4, ((1, 0),))
    monkeypatch.setitem(__import__("sys").modules, "peft", None)
    with pytest.raises(SmartsearchError, match="peft"):
        qrranker.train(reader, heads, lookup(1, 1), Plan("lora"), lambda _loss: None)
    monkeypatch.setattr(reader.network, "named_parameters", lambda: iter([("h.0.attn.c_attn.weight", None)]))
    with pytest.raises(ModelError, match="no query and key projections"):
        qrranker.train(reader, heads, lookup(1, 1), Plan("qk"), lambda _loss: None)


def test_a_folder_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    here = tmp_path / "here"
    reader = Reader(causal_models.saved(here / "base"), "tiny", 1)
    heads = Heads("tiny", "r", "lookup", 3, 4, ((1, 0),))
    monkeypatch.setattr(
        reader.tokenizer, "save_pretrained", lambda _folder: (_ for _ in ()).throw(OSError("full"))
    )
    with pytest.raises(UsageError, match="new cannot be written"):
        qrranker.save(reader, heads, Place(here / "new", ours=head_files.are_in))
    assert [path.name for path in here.iterdir()] == ["base"]


def test_a_model_is_trained_into_a_new_folder_that_ranks(ask, model, questions, tmp_path, capfd):
    new = tmp_path / "new"
    line = ["qrranker", str(questions), "--model", str(model), "--threads", "1", "--out", str(new)]
    assert main(line) == 0
    rows = [json.loads(row) for row in capfd.readouterr().out.splitlines()]
    assert [row["order"] for row in rows] == ["smartsearch", "heads as they were", "heads trained"]
    assert ask("--json", model=new).record["system"] == "qrranker"
    assert main(line) == 2
    assert "is there already" in capfd.readouterr().err
    file = shutil.copy(model / head_files.FILE, tmp_path / "other.json")
    assert ask("--set", f"qr_heads={file}", model=new).code == 2


def test_out_of_memory_in_training_is_told_and_nothing_is_written(run, model, questions, monkeypatch, capfd):
    def full(*_args, **_named):
        raise RuntimeError("[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(torch.Tensor, "backward", full)
    new = questions.parent / "new"
    options = ("--model", str(model), "--threads", "1", "--out", str(new))
    assert main(["qrranker", str(questions), *options]) == 2
    assert "memory" in capfd.readouterr().err
    assert not list(new.parent.glob("new*"))
