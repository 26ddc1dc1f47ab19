"""A step of the cross-encoder's training: logits, gradient, loss, and what a batch holds."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from smartsearch.training.bert import Attend, fast_attention, first_token_logits, plain_attention
from smartsearch.training.chats import Group
from smartsearch.training.crossencoder import BINARY, batches, encode, group_loss
from tests.rank import tiny


@pytest.mark.torch
@pytest.mark.parametrize("attend", [fast_attention, plain_attention])
def test_logits_and_gradient_are_the_models_own(tmp_path: Path, attend: Attend) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification

    model = AutoModelForSequenceClassification.from_pretrained(tiny.cross_encoder(tmp_path / "ce")).eval()
    batch = {
        "input_ids": torch.tensor([[2, 7, 8, 3, 9, 10, 3], [2, 7, 8, 3, 11, 3, 0]]),
        "attention_mask": torch.tensor([[1] * 7, [1] * 6 + [0]]),
        "token_type_ids": torch.tensor([[0] * 4 + [1] * 3, [0] * 4 + [1] * 2 + [0]]),
    }
    found = []
    for logits in (model(**batch).logits[:, 0], first_token_logits(model, **batch, attend=attend)):
        model.zero_grad()
        logits.square().sum().backward()
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        found.append([logits.detach(), *gradients])
    assert len(found[0]) == len(found[1])
    for own, ours in zip(*found, strict=True):
        assert torch.allclose(own, ours, atol=1e-5)
    alone = {name: values[1:, :6] for name, values in batch.items()}
    assert torch.allclose(first_token_logits(model, **alone, attend=attend), found[1][0][1:], atol=1e-5)


@pytest.mark.torch
def test_a_question_longer_than_the_model_reads_leaves_room_for_the_text(tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny.cross_encoder(tmp_path / "ce"))
    batch = encode(tokenizer, [("dog ? ! " * 60, "the rain " * 60), ("dog", "rain")], length=32)
    ids = batch["input_ids"].tolist()
    assert len(ids[0]) == 32
    assert (batch["token_type_ids"][0] == 1).sum() == 14  # 16 of the question, [CLS] and [SEP] before it
    assert sum(batch["attention_mask"][1]) == 5


@pytest.mark.torch
def test_the_loss_of_one_right_text_is_a_softmax_and_of_several_the_mean_of_theirs() -> None:
    import torch
    from torch.nn import functional

    one, other = torch.tensor([2.0, 0.5, -1.0]), torch.tensor([0.3, 1.2, 0.1, -0.4])
    softmax = functional.cross_entropy(one[None], torch.tensor([0]))
    binary = functional.softplus(-one[0]) + functional.softplus(one[1:]).mean()
    first = softmax + BINARY * binary
    assert torch.isclose(group_loss(one, [(1, 2)]), first)
    each = torch.stack([functional.cross_entropy(other[[i, 2, 3]][None], torch.tensor([0])) for i in (0, 1)])
    second = each.mean() + BINARY * (
        functional.softplus(-other[:2]).mean() + functional.softplus(other[2:]).mean()
    )
    assert torch.isclose(group_loss(torch.cat([one, other]), [(1, 2), (2, 2)]), (first + second) / 2)


def test_a_batch_draws_several_right_texts_only_where_asked_to() -> None:
    groups = [
        Group("s", "list", "c", f"q{n}", f"right {n}", ["w1", "w2"], [f"also {n}", f"third {n}"])
        for n in range(4)
    ]
    for most in (1, 2, 3):
        batch = next(batches(groups, 4, 2, random.Random(1), most))
        assert [len(drawn.right) for drawn in batch] == [most] * 4
        for drawn in batch:
            number = drawn.question[1:]
            assert set(drawn.right) <= {f"right {number}", f"also {number}", f"third {number}"}
            assert drawn.texts == [*drawn.right, *drawn.wrong]
