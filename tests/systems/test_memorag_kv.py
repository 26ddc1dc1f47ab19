"""The KV memory: what is kept, what is not, whose it is; and that training it makes it remember."""

from __future__ import annotations

import json
import os
import shutil

import pytest
import torch
import transformers

from smartsearch.errors import InputError, ModelError, UsageError
from smartsearch.models import loading
from smartsearch.runtime.outputs import Place
from smartsearch.systems.base import quietly
from smartsearch.systems.memorag import remembered
from smartsearch.systems.memorag.clues import Clues
from smartsearch.systems.memorag.kv import KV, Compressor, Trained, about, is_ours
from tests.systems import kv_models, planted
from tests.systems.kv_models import SHAPE, network

KINDS = [kind for kind in ("Llama", "Mistral", "Qwen2", "Qwen3") if hasattr(transformers, f"{kind}Config")]
IDS = torch.arange(2, 66)[None]


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def made(kind="Llama", window=16, ratio=4, **said):
    return Compressor(network(kind, sliding_window=None, **said), window, ratio)


def other(model):
    """The same with memory tokens that are not the model's own any more."""
    torch.manual_seed(5)
    for weights in model.parameters():
        weights.data += 0.2 * torch.randn_like(weights)
    return model


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ratio", [2, 4, 8, 16])
def test_what_is_kept_is_windows_times_k_and_nothing_of_what_was_read(kind, ratio):
    model = made(kind, ratio=ratio)
    memory = model.remember(IDS[0].tolist(), KV())
    assert memory.length == 4 * (16 // ratio)
    assert len(memory.layers) == SHAPE["num_hidden_layers"]
    for tensor in (tensor for pair in memory.layers for tensor in pair):
        assert tensor.shape == (1, 2, memory.length, 8)
        assert tensor.untyped_storage().nbytes() == tensor.numel() * 4  # no view of more
    assert model.remember(IDS[0, :5].tolist(), KV()).length == -(-5 // ratio)


@pytest.mark.parametrize("kind", KINDS)
def test_a_window_without_memory_is_read_as_the_model_reads_it(kind):
    plain = network(kind, sliding_window=None)
    with torch.no_grad():
        expected = plain(IDS[:, :16]).logits
        model = other(Compressor(plain, 16, 4))
        hidden, memory = model.read(IDS[:, :16], KV(), kept=4)
        assert torch.allclose(model._head(hidden), expected, atol=1e-5)
        behind, same = model.read(IDS[:, 16:32], memory, kept=0)
        assert same is memory
        assert not torch.allclose(behind, model.read(IDS[:, 16:32], KV(), kept=0)[0], atol=1e-3)
        changed = IDS[:, :16].clone()
        changed[0, 3] = 200
        told = model.read(IDS[:, 16:32], model.read(changed, KV(), kept=4)[1], kept=0)[0]
    assert not torch.allclose(behind, told, atol=1e-5)  # through the memory alone


@pytest.mark.parametrize("kind", KINDS)
def test_positions_go_on_over_what_is_kept(kind):
    """Keys of the first layer depend on a memory token and its place alone: so these are known."""
    model = made(kind)
    two = model.remember(IDS[0, :32].tolist(), KV())
    with torch.no_grad():
        layer = model._decoder.layers[0]
        inside = layer.input_layernorm(model.token.expand(1, 8, -1))
        keys = layer.self_attn.k_proj.own(inside).view(1, 8, 2, 8).transpose(1, 2)
        if hasattr(layer.self_attn, "k_norm"):
            keys = layer.self_attn.k_norm(keys)
        cosine, sine = model._decoder.rotary_emb(keys, torch.arange(8)[None])
        half = torch.cat([-keys[..., 4:], keys[..., :4]], dim=-1)
        expected = keys * cosine[:, None] + half * sine[:, None]
    assert torch.allclose(two.layers[0][0], expected, atol=1e-5)


def test_a_bert_made_causal_has_memory_tokens_too():
    """Its positions are added to the words: a memory token stands at the place that it will keep."""
    plain = kv_models.bert()
    with torch.no_grad():
        expected = plain(IDS[:, :16]).logits
        greedy = IDS[:, :9]
        for _ in range(5):
            greedy = torch.cat([greedy, plain(greedy).logits[:, -1].argmax(-1, keepdim=True)], dim=1)
        model = other(Compressor(plain, 16, 4))
        hidden, one = model.read(IDS[:, :16], KV(), kept=4)
        assert torch.allclose(model._head(hidden), expected, atol=1e-5)
        two = model.remember(IDS[0, :32].tolist(), KV())
        inside = plain.bert.embeddings(
            inputs_embeds=model.token.expand(1, 8, -1), position_ids=torch.arange(8)[None]
        )
        keys = plain.bert.encoder.layer[0].attention.self.key.own(inside).view(1, 8, 4, 8).transpose(1, 2)
        changed = IDS[:, 16:32].clone()
        changed[0, 9] = 200
        first, second = (model.read(ids, one, kept=0)[0] for ids in (IDS[:, 16:32], changed))
    assert (one.length, two.length) == (4, 8)
    assert torch.allclose(two.layers[0][0], keys, atol=1e-5)
    assert torch.allclose(first[:, :9], second[:, :9], atol=1e-5)
    assert not torch.allclose(first[:, 9:], second[:, 9:], atol=1e-3)
    assert not torch.allclose(first, model.read(IDS[:, 16:32], KV(), kept=0)[0], atol=1e-4)
    assert model.write(IDS[0, :9].tolist(), KV(), most=5) == greedy[0, 9:].tolist()
    with pytest.raises(ModelError, match="has no projections"):
        Compressor(kv_models.bert(is_decoder=False), 16, 4)


def test_a_new_session_extends_the_memory_and_one_taken_back_is_forgotten():
    model = other(made())
    one, two = IDS[0, :20].tolist(), IDS[0, 20:64].tolist()
    first = model.remember(one, KV())
    both = model.remember(two, first)
    assert (first.length, both.length) == (4 + 1, 5 + 4 + 4 + 3)
    back = both.first(first.length)
    for pair, same in zip(back.layers, first.layers, strict=True):
        assert torch.equal(pair[0], same[0])
        assert torch.equal(pair[1], same[1])


def test_what_was_trained_is_saved_and_belongs_to_one_model(tmp_path):
    model = other(made())
    trained = Trained("tiny", model.digest, 16, 4, ("pretrain",), "chats")
    folder = tmp_path / "trained"
    place = Place(folder, ours=is_ours)
    model.save(place, trained)
    assert about(folder) == trained
    with pytest.raises(UsageError, match="made, removed or replaced meanwhile"):
        model.save(place, trained)
    (kept,) = tmp_path.glob("trained-*")
    assert about(kept) == trained
    kept.rename(tmp_path / "kept")
    assert [path.name for path in tmp_path.glob("trained*")] == ["trained"]
    again = made()
    again.load(folder)
    ids = IDS[0].tolist()
    assert torch.equal(again.remember(ids, KV()).layers[1][0], model.remember(ids, KV()).layers[1][0])
    with pytest.raises(ModelError, match="has other weights"):
        made(seed=1).load(folder)
    weights = folder / "memory_tokens.safetensors"
    weights.write_bytes(weights.read_bytes()[:-50])
    with pytest.raises(ModelError, match="cannot be read"):
        made().load(folder)
    (folder / "memorag.json").write_text("{")
    with pytest.raises(ModelError, match="no trained memory tokens"):
        about(folder)


def test_a_model_of_another_shape_is_refused():
    config = transformers.GPT2Config(n_embd=32, n_layer=2, n_head=4, vocab_size=260)
    with pytest.raises(ModelError, match="has no projections"):
        Compressor(transformers.GPT2LMHeadModel(config), 16, 4)
    scaled = {"rope_type": "dynamic", "factor": 2.0}
    with pytest.raises(ModelError, match="has no rotary positions"):
        made(rope_scaling=scaled)


def test_more_than_the_model_reads_is_an_error():
    with pytest.raises(InputError, match="reads 24 tokens; memory and window are 28"):
        made(max_position_embeddings=24).remember(IDS[0].tolist(), KV())


def test_it_writes_what_the_model_would_with_the_tokens_in_its_context():
    """With no memory it is the model's own greedy text, and it ends where it should."""
    plain = network()
    with torch.no_grad():
        ids = IDS[:, :9]
        for _ in range(5):
            ids = torch.cat([ids, plain(ids).logits[:, -1].argmax(-1, keepdim=True)], dim=1)
    expected = ids[0, 9:].tolist()
    model = Compressor(plain, 16, 4)
    assert model.write(IDS[0, :9].tolist(), KV(), most=5) == expected
    assert (
        model.write(IDS[0, :9].tolist(), KV(), most=5, ends=expected[2:])
        == expected[: expected.index(expected[2])]
    )


def recall(size, generator):
    """Sequences (size, 24): 8 random letters and filler, a window; and the letters again."""
    said = torch.randint(4, 24, (size, 8), generator=generator)
    filler = torch.full((size, 8), 3)
    return torch.cat([said, filler, said], dim=1)


def test_trained_memory_tokens_remember_and_the_model_stays_as_it_was():
    """A model that copies what it sees is frozen; only through the memory can the second window be known.

    Steps and rate leave room: by then the loss has long been flat, on any machine.
    """
    from torch.optim import Adam

    generator = torch.Generator().manual_seed(0)
    shape = {"hidden_size": 64, "head_dim": 16, "intermediate_size": 96, "vocab_size": 32}
    plain = network(**shape).train()
    optimizer = Adam(plain.parameters(), 3e-3)
    for _ in range(500):
        plain(ids := recall(32, generator), labels=ids).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    plain.eval()
    before = {name: weights.clone() for name, weights in plain.state_dict().items()}
    model = Compressor(plain, 16, 2)
    held_out = recall(64, torch.Generator().manual_seed(9))

    def nats(memory):
        with torch.no_grad():
            if memory:
                return model.loss(held_out).item()
            told = held_out[:, 16:]
            summed, count = model.likelihood(model.read(told, KV(), kept=0)[0], told)
            return (summed / count).item()

    none, untrained = nats(False), nats(True)
    optimizer = Adam(model.parameters(), 1e-2)
    for _ in range(300):
        model.loss(recall(32, generator)).backward()
        optimizer.step()
        optimizer.zero_grad()
    trained = nats(True)
    assert trained < 0.7 * min(none, untrained)
    frozen = plain.state_dict()
    for name, weights in before.items():
        now = frozen[
            name.replace("_proj.", "_proj.base.")
            if any(p in name for p in ("q_proj", "k_proj", "v_proj"))
            else name
        ]
        assert torch.equal(now, weights), name


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Memory tokens of a tiny model, as training would leave them."""
    place = tmp_path_factory.mktemp("models")
    base = kv_models.saved(place / "base")
    _, network = remembered.opened(str(base), 1)
    model = other(Compressor(network, 32, 8))
    model.save(
        Place(place / "trained", ours=is_ours),
        Trained(str(base), model.digest, 32, 8, ("pretrain",), "random"),
    )
    return place / "trained"


@pytest.fixture
def asked(monkeypatch, folder, tmp_path):
    monkeypatch.setattr(loading, "load_tools", planted.tools)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return ("--system", "memorag", "--set", "memorag=kv", "--set", f"memorag_model={folder}", "--json")


def test_the_commands_take_it_and_it_is_made_once(run, chats, asked, folder, monkeypatch):
    wrote = []

    def write(self, ids, memory, **said):
        wrote.append(memory.length)
        return decoder.ids('{"kind": "answers", "items": ["flatmate dog"], "draft": "Oscar"')

    decoder = remembered.decoder(str(folder), 1)
    monkeypatch.setattr(Compressor, "write", write)
    first = run("query", "What pet is there?", "chat.txt", *asked).record
    assert first["system"] == "memorag"
    assert (first["trace"]["memory"], first["trace"]["source"], first["trace"]["drafted"]) == ("kv", "kv", 2)
    assert any("Oscar" in hit["text"] for hit in first["hits"])
    assert (first["trace"]["new_pieces"], wrote[0] > 10) == (1, True)
    again = run("query", "What else?", "chat.txt", *asked).record
    assert (again["trace"]["new_pieces"], wrote[1]) == (0, wrote[0])
    assert run("memory", "remove", "chat.txt", "--system", "memorag").code == 0
    assert run("query", "What else?", "chat.txt", *asked).record["trace"]["new_pieces"] == 1


def test_a_process_that_stays_loads_the_model_once(folder, tmp_path):
    there = shutil.copytree(folder, tmp_path / "trained")
    first = remembered.held(str(there), 1)
    assert remembered.held(str(there), 1) is first
    os.utime(there / "memorag.json", ns=(1, 1))
    assert remembered.held(str(there), 1) is not first


def test_new_sessions_are_read_on_and_those_after_a_change_anew(folder, tmp_path):
    by = remembered.decoder(str(folder), 1)
    path = tmp_path / "memory-1.safetensors"
    three, four = planted.chat(0, 1, 2), planted.chat(0, 1, 2, 3)
    assert remembered.made(by, three, path, quietly).built.new == 3
    more = remembered.made(by, four, path, quietly)
    assert (more.built.new, more.built.gone) == (1, 0)
    whole = remembered.made(by, four, None, quietly)
    assert torch.allclose(more.memory.layers[1][0], whole.memory.layers[1][0], atol=1e-5)
    assert (more.fingerprint, more.statistics) == (whole.fingerprint, whole.statistics)
    less = remembered.made(by, planted.chat(0, 2), path, quietly)
    assert (less.built.new, less.built.gone) == (1, 3)
    content = path.read_bytes()
    for damaged in (content[:-9], content[:-9] + b"123456789", b"", content[50:]):
        path.write_bytes(damaged)
        assert remembered.made(by, planted.chat(0, 2), path, quietly).built.new == 2
        assert remembered.made(by, planted.chat(0, 2), path, quietly).built.new == 0


def test_what_it_writes_is_mended_or_read_line_by_line():
    clues = remembered.told('{"kind": "queries", "items": ["Who paid?", "When?"], "draft": ""')
    assert (clues.kind, clues.texts, clues.fault) == ("queries", ("Who paid?", "When?"), "")
    assert remembered.told("Mara paid on Monday.\n\nIt was in May.").texts == (
        "Mara paid on Monday.",
        "It was in May.",
    )
    spaced = '{ " kind " : " points ", " items " : [ " the flute ", " a dog " ], " draft " : " " }'
    assert remembered.told(spaced) == Clues("points", ("the flute", "a dog"), "", "kv")
    assert remembered.told(" \n--").fault == "the memory wrote no clue"
    assert remembered.told(remembered.target(Clues("points", ("a",), "b"))).texts == ("b", "a")


def test_a_kv_memory_needs_a_folder_of_its_own(run, chats, asked):
    assert "needs --set memorag_model" in run("query", "x", "chat.txt", *asked[:4]).err


def test_code_that_a_model_brings_is_never_run(run, chats, asked, tmp_path):
    place = kv_models.saved(tmp_path / "released")
    (place / "memory.py").write_text("import pathlib\npathlib.Path(__file__).with_name('ran').touch()\n")
    config = json.loads((place / "config.json").read_text()) | {"model_type": "memory_llama"}
    config["auto_map"] = {"AutoConfig": "memory.Config", "AutoModelForCausalLM": "memory.Model"}
    (place / "config.json").write_text(json.dumps(config))
    for name in (str(place), "acme/memorag-7b"):
        ran = run("query", "x", "chat.txt", *asked[:5], f"memorag_model={name}", "--json")
        assert (ran.code, ran.record["error"]["kind"]) == (2, "model_missing")
        assert "python -m recipe memorag" in ran.record["error"]["hint"]
    with pytest.raises(ModelError, match="memory_llama") as refused:
        remembered.opened(str(place), 1)
    assert "never run" in refused.value.hint
    assert not list(tmp_path.rglob("ran"))


def test_a_machine_without_enough_memory_is_told(run, chats, asked, monkeypatch):
    def full(self, ids, memory):
        raise RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes.")

    monkeypatch.setattr(Compressor, "remember", full)
    ran = run("query", "x", "chat.txt", *asked)
    assert (ran.code, ran.record["error"]["kind"]) == (2, "memory")
