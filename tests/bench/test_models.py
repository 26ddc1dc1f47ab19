"""The paper's own models, by the names of its rows; tiny ones stand in their places in the hub's cache."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from smartsearch.bench import models, session
from smartsearch.bench.grid import RANKERS
from smartsearch.bench.scoring import Haystacked, Scoring
from smartsearch.bench.session import Request
from smartsearch.bench.store import Store
from smartsearch.config import Config
from smartsearch.errors import ModelError
from tests.bench.conftest import fingerprints, tools_with_parser
from tests.bench.test_session import quiet
from tests.rank import tiny

CONFIG = Config(threads=1)
MADE = {
    models.MINILM: 1,
    models.BGE_BASE: 2,
    models.BGE_LARGE: 3,
    models.MXBAI_BASE: 4,
    models.MXBAI_LARGE: 5,
    models.MXBAI_XSMALL: 6,
}
COLBERTS = (models.COLBERT, models.COLBERT_V2)
ROWS = tuple(name for name in RANKERS if name != "R6")
PINNED = {ref.name: ref.revision for ref in models._PAPER.values()}


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache as the hub's client leaves it, with other weights for every id."""
    import torch

    root = tmp_path_factory.mktemp("hub")
    made = {name: tiny.cross_encoder(root / f"ce{seed}") for name, seed in MADE.items()}
    made |= dict.fromkeys(COLBERTS, tiny.colbert(root / "colbert"))
    for name, folder in made.items():
        revision = PINNED.get(name) or "a" * 40
        home = root / "cache" / f"models--{name.replace('/', '--')}"
        shutil.copytree(folder, home / "snapshots" / revision)
        (home / "refs").mkdir()
        (home / "refs" / "main").write_text(revision)
        if name in MADE:
            from safetensors.torch import load_file, save_file

            path = home / "snapshots" / revision / "model.safetensors"
            torch.manual_seed(MADE[name])
            save_file({key: torch.randn_like(one) for key, one in load_file(path).items()}, path)
    return root / "cache"


@pytest.mark.torch
def test_every_row_runs_by_the_models_of_its_name(hub: Path, chats: Path, tmp_path: Path, monkeypatch):
    """Each row reads its own models over turns as the paper shows them, and is kept under their names."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(hub))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    planned = session.plan(Request(str(chats), retrievals=("I0",), rankers=ROWS, cuts=("B1:2000",)), CONFIG)
    scorers, known = models.opened([*MADE, *COLBERTS], CONFIG)
    tools = tools_with_parser(CONFIG)
    with Store(tmp_path / "scores.db") as store:
        scoring = Scoring(tools, store, CONFIG, {**fingerprints(tools), **known}, scorers)
        record, _ = session.measure(planned, scoring, quiet)
        (group,) = planned.dataset.groups()
        ready = Haystacked(group.corpus)
        question, way = group.questions[0], planned.spec.rows[0].retrieval
        scored = scoring.score(question, ready, [(way, tuple(RANKERS[name] for name in ROWS))])
    assert [row["rank"] for row in record["rows"]] == list(ROWS)
    assert tools.scorers["ce"].call.read == 0  # ColBERT of the profile is asked where words find too little
    turns = scored.found["I0"]
    texts = [group.corpus.turns[i].spoken for i in turns]
    for name in MADE:
        read = scored.scores[name, True][turns]
        assert np.allclose(read, scorers[name](question.text, texts), atol=1e-6)
    firsts = {name: tuple(np.round(scored.scores[name, True][turns], 9)) for name in MADE}
    assert len(set(firsts.values())) == len(MADE)


def test_a_model_that_is_not_here_is_named(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("smartsearch.runtime.extras.require", lambda *_: None)
    with pytest.raises(ModelError, match="bge-reranker-base"):
        models.opened([models.BGE_BASE], CONFIG)
