"""A causal language model of the MiniLM weights: tokens see those before, positions go on, chats adapt it.

MiniLM reads a text from both ends and 512 tokens of it; QRRanker reads a list and a question from its start.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoTokenizer, BertLMHeadModel
from transformers.models.bert.modeling_bert import BertModel

from recipe.data import held_out
from recipe.sources_chat import read_chats
from recipe.sources_real import read_real
from smartsearch.models.store import minilm_folder
from smartsearch.rank.text import scored_text
from smartsearch.training.chats import Chat
from smartsearch.training.sources_written import written_chats
from smartsearch.training.start import BETAS, DECAY, NO_DROPOUT, Clock

RATE = 3e-4
MEASURED = 40
"""Windows of held-out chats."""


def causal(folder: Path, positions: int) -> Any:
    """The encoder in `folder` as a decoder with a head for words, which are its own word vectors.

    Its table of positions is repeated up to `positions`: a neighbour is as far as before.
    """
    said = NO_DROPOUT | {"is_decoder": True, "max_position_embeddings": positions}
    config = AutoConfig.from_pretrained(folder, **said)
    bert = BertModel.from_pretrained(folder, add_pooling_layer=False)
    state = {name: values for name, values in bert.state_dict().items() if "position_ids" not in name}
    table = state["embeddings.position_embeddings.weight"]
    state["embeddings.position_embeddings.weight"] = table.repeat(-(-positions // len(table)), 1)[:positions]
    made = BertLMHeadModel(config)
    made.bert.load_state_dict(state)
    made.tie_weights()
    return made


def windows(chats: Iterable[Chat], tokenizer: Any, length: int) -> Iterator[list[int]]:
    """Chats as tokens, `length` at a time; a chat begins a window, and what is left over at its end is not
    used."""
    for chat in chats:
        text = "\n".join(scored_text(turn) for turn in chat.turns)
        ids = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        begin = tokenizer.cls_token_id
        for start in range(0, len(ids) - length + 2, length - 1):
            yield [begin, *ids[start : start + length - 1]]


def loss(model: Any, rows: Sequence[Sequence[int]]) -> Any:
    """Nats a token of windows of one length, each token from those before it."""
    ids = torch.tensor(rows)
    return model(input_ids=ids, labels=ids).loss


def measured(model: Any, rows: Sequence[Sequence[int]]) -> float:
    """The mean loss of windows."""
    model.eval()
    with torch.inference_mode():
        return float(sum(loss(model, [row]).item() for row in rows) / len(rows))


def adapt(model: Any, rows: Sequence[Sequence[int]], clock: Clock, batch: int, seed: int) -> None:
    """Language modelling over windows drawn at random, until the clock is over."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.0, weight_decay=DECAY, betas=BETAS)
    rng = random.Random(seed)
    model.train()
    while clock.progress < 1.0:
        for part in optimizer.param_groups:
            part["lr"] = RATE * clock.rate()
        loss(model, rng.choices(rows, k=batch)).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        clock.done += 1


def main(arguments: list[str]) -> int:
    """`python -m recipe causal DATA/train OUT`."""
    parser = argparse.ArgumentParser(prog="recipe causal", description=__doc__)
    parser.add_argument("data", type=Path, help="the folder of the training sources")
    parser.add_argument("out", type=Path, help="a new folder, for --qr-model")
    parser.add_argument("--positions", type=int, default=4096, help="the most tokens it reads")
    parser.add_argument("--length", type=int, default=1024, help="tokens of a window in training")
    parser.add_argument("--batch", type=int, default=4, help="windows a step")
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--steps", type=int, default=0, help="in the place of minutes: a run that repeats")
    parser.add_argument("--seed", type=int, default=13)
    asked = parser.parse_args(arguments)
    rng = random.Random(asked.seed)
    chats = [*written_chats(), *read_chats(asked.data, rng), *read_real(asked.data, rng)]
    tokenizer = AutoTokenizer.from_pretrained(minilm_folder(), model_max_length=asked.positions)
    seen, unseen = (
        list(windows((chat for chat in chats if held_out(chat) is out), tokenizer, asked.length))
        for out in (False, True)
    )
    unseen = rng.sample(unseen, min(MEASURED, len(unseen)))
    model = causal(minilm_folder(), asked.positions)
    before = measured(model, unseen)
    adapt(model, seen, Clock(asked.minutes, asked.steps), asked.batch, asked.seed)
    after = measured(model, unseen)
    model.save_pretrained(asked.out)
    tokenizer.save_pretrained(asked.out)
    print(f"{len(seen):,} windows; held out, nats a token: {before:.3f} before, {after:.3f} after")
    return 0
