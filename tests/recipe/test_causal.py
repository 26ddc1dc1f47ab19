"""MiniLM made causal: its weights and positions kept, adapted to chats, read by QRRanker."""

from __future__ import annotations

import pytest
import torch

from recipe import causal
from smartsearch.models.store import minilm_folder
from smartsearch.rank.hub.listwise import context
from smartsearch.rank.qrranker import Reader
from smartsearch.training.chats import Chat
from smartsearch.training.start import Clock
from smartsearch.types import Turn
from tests.rank import hub_models


@pytest.fixture
def encoder(tmp_path):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    return hub_models.encoder(tmp_path / "encoder", "Bert")


def test_weights_and_positions_are_kept_and_the_positions_go_on(encoder):
    from transformers import BertModel

    before = BertModel.from_pretrained(encoder).state_dict()
    after = causal.causal(encoder, 200).bert.state_dict()
    table = before.pop("embeddings.position_embeddings.weight")
    longer = after.pop("embeddings.position_embeddings.weight")
    assert longer.shape[0] == 200
    assert torch.equal(longer[:96], table)
    assert torch.equal(longer[96:192], table)
    kept = {name for name in before if name in after and "position_ids" not in name}
    assert len(kept) > 20
    assert all(torch.equal(before[name], after[name]) for name in kept)


def test_it_learns_to_tell_the_next_word_and_ranks_when_saved(encoder, tmp_path):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(encoder)
    turns = tuple(Turn(text, "Mara") for text in ("the dog did adopt a flute", "rain the garden") * 40)
    rows = list(causal.windows([Chat("tests", "1", turns)], tokenizer, 32))
    assert {len(row) for row in rows} == {32}
    model = causal.causal(encoder, 300)
    before = causal.measured(model, rows[:3])
    causal.adapt(model, rows, Clock(0, steps=150), batch=4, seed=1)
    assert causal.measured(model, rows[:3]) < 0.5 * before
    model.save_pretrained(tmp_path / "made")
    tokenizer.save_pretrained(tmp_path / "made")
    reader = Reader(tmp_path / "made", "made", 1)
    assert (reader.layers, reader.width, reader.longest) == (4, 2, 300)
    with torch.no_grad():
        masses = reader.masses(
            context(reader.tokenizer, "When did Mara adopt?", ["rain", "the dog"]), {3: (0, 1)}
        )
    assert masses.shape == (2, 2)
    assert (masses > 0).all()


def test_minilm_itself_becomes_one():
    made = causal.causal(minilm_folder(), 1024)
    assert made.config.is_decoder
    assert made.bert.embeddings.position_embeddings.num_embeddings == 1024
    assert made.cls.predictions.decoder.weight is made.bert.embeddings.word_embeddings.weight
