"""A step of the cross-encoder's training: logits, gradient, loss, and what a batch holds."""

import random
from pathlib import Path

import pytest

from smartsearch.training.bert import first_token_logits
from smartsearch.training.chats import Group
from smartsearch.training.crossencoder import encode
from smartsearch.training.start import batches, half_precision
from tests.rank import tiny


@pytest.mark.torch
def test_logits_and_gradient_are_the_models_own(tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification

    model = AutoModelForSequenceClassification.from_pretrained(tiny.cross_encoder(tmp_path / "ce")).eval()
    batch = {
        "input_ids": torch.tensor([[2, 7, 8, 3, 9, 10, 3], [2, 7, 8, 3, 11, 3, 0]]),
        "attention_mask": torch.tensor([[1] * 7, [1] * 6 + [0]]),
        "token_type_ids": torch.tensor([[0] * 4 + [1] * 3, [0] * 4 + [1] * 2 + [0]]),
    }
    found = []
    for logits in (model(**batch).logits[:, 0], first_token_logits(model, **batch)):
        model.zero_grad()
        logits.square().sum().backward()
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        found.append([logits.detach(), *gradients])
    assert len(found[0]) == len(found[1])
    for own, ours in zip(*found, strict=True):
        assert torch.allclose(own, ours, atol=1e-5)
    alone = {name: values[1:, :6] for name, values in batch.items()}
    assert torch.allclose(first_token_logits(model, **alone), found[1][0][1:], atol=1e-5)


@pytest.mark.torch
def test_a_question_longer_than_the_model_reads_leaves_room_for_the_text(tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny.cross_encoder(tmp_path / "ce"))
    batch = encode(tokenizer, [("dog ? ! " * 60, "the rain " * 60), ("dog", "rain")], length=32)
    ids = batch["input_ids"].tolist()
    assert len(ids[0]) == 32
    assert (batch["token_type_ids"][0] == 1).sum() == 14  # 16 of the question, [CLS] and [SEP] before it
    assert sum(batch["attention_mask"][1]) == 5


def test_a_batch_holds_groups_with_wrong_texts_enough_each_once_an_epoch() -> None:
    groups = [
        Group("s", "list", "c", f"q{n}", f"right {n}", ["w1", "w2", "w3"][: 1 + n % 3]) for n in range(9)
    ]
    stream = batches(groups, 2, 2, random.Random(1))
    epoch = [drawn for _ in range(3) for drawn in next(stream)]
    assert {drawn.question for drawn in epoch} == {"q1", "q2", "q4", "q5", "q7", "q8"}
    for drawn in epoch:
        assert drawn.texts[0] == f"right {drawn.question[1:]}"
        assert len(set(drawn.texts)) == 3
    with pytest.raises(ValueError, match="3 groups with 3 wrong texts do not make a batch of 4"):
        next(batches(groups, 4, 3, random.Random(1)))


@pytest.mark.torch
@pytest.mark.parametrize(("capability", "kind"), [("AVX512", "bfloat16"), ("AVX2", "float32")])
def test_steps_are_in_half_precision_only_where_that_is_faster(monkeypatch, capability, kind) -> None:
    import torch

    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    with half_precision("cpu"):
        assert torch.nn.Linear(4, 4)(torch.ones(1, 4)).dtype == getattr(torch, kind)
