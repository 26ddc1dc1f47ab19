"""QRRanker's scorer: what heads see, where texts stand, what is refused."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import PreTrainedTokenizerFast

from smartsearch.errors import ModelError, SmartsearchError
from smartsearch.rank import qrranker
from smartsearch.rank.hub import attention, heads
from smartsearch.rank.hub.heads import Heads
from smartsearch.rank.hub.listwise import PREFIX_TOKENS, Note, context, covering, token_spans
from smartsearch.rank.qrranker import QRRanker, Reader
from tests.rank import causal_models as causal

IDS = [5, 9, 77, 31, 8, 200, 3, 41, 5, 9, 100, 7]
TEXTS = ["Ann: the canoe is in the shed", "Ben: naïve café 🙂 日本", "rain", "Cy: the bakery burnt down"]
HEADS = Heads("tiny", "r1", "made up", 3, 4, ((1, 3), (0, 2), (1, 0)))


@pytest.fixture(autouse=True)
def _one_thread():
    torch.set_num_threads(1)


@pytest.mark.parametrize("kind", causal.KINDS)
def test_rows_are_those_of_eager_attention(kind):
    if not causal.there(kind):
        pytest.skip(f"this transformers has no {kind}")
    network = causal.network(kind)
    assert attention.check(network, kind) == (3, 4)
    with torch.no_grad():
        found = attention.rows(network, IDS, range(7, 11), {0: (1, 3), 2: (0, 2, 3)})
        eager = causal.network(kind, attn_implementation="eager")
        wanted = eager(input_ids=torch.tensor([IDS]), output_attentions=True).attentions
    for layer, chosen in ((0, [1, 3]), (2, [0, 2, 3])):
        assert torch.allclose(found[layer], wanted[layer][0, chosen, 7:11], atol=1e-5)
        assert found[layer].std() > 0.01


def test_a_sliding_window_is_seen_too():
    network = causal.network("Mistral", sliding_window=4)
    eager = causal.network("Mistral", sliding_window=4, attn_implementation="eager")
    with torch.no_grad():
        found = attention.rows(network, IDS, range(10, 12), {1: (0,)})[1]
        wanted = eager(input_ids=torch.tensor([IDS]), output_attentions=True).attentions[1][0, :1, 10:12]
    assert torch.allclose(found, wanted, atol=1e-5)


class Counted(TorchDispatchMode):
    """The most numbers in any tensor made, and how many operations there were."""

    def __init__(self):
        super().__init__()
        self.largest = self.calls = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        self.calls += 1
        self.largest = max([self.largest, *(t.numel() for t in _tensors(made))])
        return made


def _tensors(made):
    return [t for t in (made if isinstance(made, (tuple, list)) else [made]) if isinstance(t, torch.Tensor)]


def test_layers_behind_the_last_wanted_are_not_run_and_change_nothing():
    network = causal.network("Qwen2")
    with torch.no_grad(), Counted() as short:
        first = attention.rows(network, IDS, range(8, 12), {0: (1,)})
    with torch.no_grad(), Counted() as whole:
        both = attention.rows(network, IDS, range(8, 12), {0: (1,), 2: (0,)})
    assert torch.equal(first[0], both[0])
    assert short.calls * 2 < whole.calls


def test_memory_grows_with_the_length_and_not_with_its_square():
    network = causal.network("Qwen2", max_position_embeddings=4096)
    sizes = []
    for length in (1000, 2000):
        with torch.no_grad(), Counted() as counted:
            attention.rows(network, [7] * length, range(length - 8, length), {0: (1,), 2: (0, 3)})
        sizes.append(counted.largest)
    assert sizes[1] <= 2 * sizes[0] < 1000**2


def test_what_sees_later_tokens_or_has_attention_of_its_own_is_refused():
    from transformers import BertConfig, BertModel

    shape = {k: causal.SHAPE[k] for k in ("hidden_size", "num_hidden_layers", "num_attention_heads")}
    with pytest.raises(ModelError, match="see later ones"):
        attention.check(BertModel(BertConfig(**shape, intermediate_size=48)).eval(), "bert")
    with pytest.raises(ModelError, match="0 of its 3 layers"):
        attention.check(causal.network("Llama", attn_implementation="eager"), "eager")
    decoder = BertModel(BertConfig(**shape, intermediate_size=48, is_decoder=True)).eval()
    assert attention.check(decoder, "bert made causal") == (3, 4)


@pytest.mark.parametrize("made", [causal.bytelevel, causal.bytefallback])
def test_spans_of_texts_and_question_come_back_as_they_were_written(made):
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=made())
    read = context(tokenizer, "Où est 日本?", TEXTS, [Note("Ann's boats 🛶", frozenset({0}))])
    whole = tokenizer.decode(read.ids)
    assert "- Ann's boats 🛶\n" in whole
    for span, text in zip((*read.texts, read.question), (*TEXTS, "Où est 日本?"), strict=True):
        assert tokenizer.decode(read.ids[slice(*span)]).strip() == text
    assert whole.index("[4] Cy") < whole.index("Query: Où")


@pytest.mark.parametrize("prompt", ["paper", "ours"])
def test_the_prompt_of_the_paper_stands_in_the_models_chat_template_and_ours_does_not(prompt):
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=causal.bytelevel())
    tokenizer.chat_template = "<s>{% for m in messages %}<{{m.role}}>{{m.content}}</{{m.role}}>{% endfor %}"
    whole = tokenizer.decode(context(tokenizer, "Where?", TEXTS[:1], prompt=prompt).ids)
    ours = f"Passages of conversations, each with its number:\n\n[1] {TEXTS[0]}\n\nWhich of these"
    paper = (
        f"<s><user>Here are some retrieved chunks:\n\n[1] {TEXTS[0]}\n\n"
        "Use the retrieved chunks to answer the user's query.\n\nQuery: Where?"
    )
    assert whole == paper if prompt == "paper" else whole.startswith(ours)


def test_special_tokens_belong_to_no_text_and_a_token_over_an_edge_to_its_text():
    offsets = [(0, 0), (0, 4), (4, 9), (9, 12), (12, 14), (0, 0)]
    assert token_spans(offsets, [(5, 9), (12, 14)]) == [(2, 3), (4, 5)]


def test_notes_that_cover_most_texts_come_first_up_to_the_cap():
    notes = [
        Note("a " * 300, frozenset({0})),
        Note("b " * 300, frozenset({0, 1})),
        Note("c " * 150, frozenset({2})),
        Note("nothing", frozenset()),
    ]
    count = lambda text: len(text.split())  # noqa: E731
    assert covering(notes, 3, count) == [notes[1], notes[2]]
    assert sum(count(note.text) + 2 for note in covering(notes, 3, count)) <= PREFIX_TOKENS


@pytest.fixture
def ranker(tmp_path):
    return QRRanker(Reader(causal.saved(tmp_path), "tiny", 1), HEADS)


def test_the_score_is_what_the_heads_send_from_question_to_text(ranker):
    """Against eager attention, summed by hand."""
    read = ranker.reader.context("Where is the canoe?", TEXTS)
    eager = causal.network("Qwen2", attn_implementation="eager")
    with torch.no_grad():
        seen = eager(input_ids=torch.tensor([read.ids]), output_attentions=True).attentions
    asked = slice(*read.question)
    wanted = [
        sum(float(seen[layer][0, head, asked, start:stop].sum(-1).mean()) for layer, head in HEADS.heads)
        for start, stop in read.texts
    ]
    trained = QRRanker(ranker.reader, replace(HEADS, trained=True))
    assert np.allclose(trained.raw("Where is the canoe?", TEXTS), wanted, atol=1e-5)


@pytest.mark.parametrize("kind", causal.KINDS)
def test_the_texts_are_read_once_for_the_question_and_for_the_one_without_content(kind, tmp_path):
    """The second question costs its own tokens; what heads see is what they see in whole runs."""
    if not causal.there(kind):
        pytest.skip(f"this transformers has no {kind}")
    reader = Reader(causal.saved(tmp_path, kind), "tiny", 1)
    reads = [reader.context(question, TEXTS) for question in ("Where is the canoe?", "N/A")]
    wanted, read = HEADS.by_layer(), []
    forward = reader.network.forward
    reader.network.forward = lambda **said: read.append(said["input_ids"].shape[1]) or forward(**said)
    with torch.inference_mode():
        cache = reader.begun(reads, max(wanted))
        kept = [reader.masses(one, wanted, cache) for one in reads]
        whole = [reader.masses(one, wanted) for one in reads]
    for one, other in zip(kept, whole, strict=True):
        assert torch.allclose(one, other, atol=1e-6)
    texts = reads[0].question[0]
    assert [read[0] + read[1], read[0] + read[2]] == [len(one.ids) for one in reads]
    assert texts - read[0] <= 2
    before = read[:3]
    read.clear()
    QRRanker(reader, HEADS).raw("Where is the canoe?", TEXTS)
    assert read == before


def test_a_type_of_the_models_own_code_is_loaded_as_its_base_or_refused_by_name(tmp_path):
    folder = causal.saved(tmp_path, "Qwen2")
    about = json.loads((folder / "config.json").read_text())
    whole = QRRanker(Reader(folder, "tiny", 1), HEADS).raw("Where?", TEXTS)
    (folder / "config.json").write_text(json.dumps({**about, "model_type": "qwen2_qr"}))
    assert np.array_equal(QRRanker(Reader(folder, "tiny", 1), HEADS).raw("Where?", TEXTS), whole)
    (folder / "config.json").write_text(json.dumps({**about, "model_type": "walrus"}))
    with pytest.raises(ModelError, match="is of the type 'walrus'"):
        Reader(folder, "tiny", 1)


@pytest.mark.parametrize(
    ("device", "halves", "wanted"),
    [(False, False, "float32"), (True, True, "bfloat16"), (True, False, "float16")],
)
def test_numbers_are_halves_where_the_device_is_best_with_them(monkeypatch, device, halves, wanted):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: device)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: halves)
    assert qrranker.precision() == wanted


def test_scores_are_between_0_and_1_and_untrained_heads_are_calibrated(ranker):
    question = "Where is the canoe?"
    trained = QRRanker(ranker.reader, replace(HEADS, trained=True))
    assert trained(question, TEXTS).tolist() == pytest.approx(_min_max(trained.raw(question, TEXTS)))
    calibrated = trained.raw(question, TEXTS) - trained.raw("N/A", TEXTS)
    assert ranker.raw(question, TEXTS) == pytest.approx(calibrated, abs=1e-6)
    assert ranker(question, TEXTS).tolist() == pytest.approx(_min_max(calibrated), abs=1e-4)
    assert ranker(question, TEXTS).max() == 1.0
    assert ranker(question, TEXTS[:1]).tolist() == [0.0]
    assert ranker(question, []).tolist() == []


def _min_max(values):
    return ((values - values.min()) / (values.max() - values.min())).tolist()


def test_a_text_changes_the_scores_of_later_texts(ranker):
    """Listwise: a cross-encoder's would stay as they are."""
    before = ranker.raw("Where is the canoe?", TEXTS)
    changed = ranker.raw("Where is the canoe?", [TEXTS[0], "Ben: it sank in May", *TEXTS[2:]])
    assert abs(before[2] - changed[2]) > 1e-6
    assert abs(before[3] - changed[3]) > 1e-6


def test_more_than_the_model_reads_is_an_error_that_says_what_would_fit(ranker):
    with pytest.raises(ModelError, match="reads 512 at most") as caught:
        ranker("Where?", ["rain and hail " * 5] * 20)
    assert caught.value.kind == "model_length"
    most = int(caught.value.hint.split()[1].rstrip(",").removeprefix("qr_candidates="))
    assert 0 < ranker("Where?", ["rain and hail " * 5] * most).size == most


def test_out_of_memory_is_told(ranker, monkeypatch):

    def fails(*_args, **_named):
        raise RuntimeError("[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(ranker.reader.network, "forward", fails)
    with pytest.raises(SmartsearchError) as caught:
        ranker("Where?", TEXTS)
    assert caught.value.kind == "memory"


def test_a_file_of_heads_is_read_as_it_was_written(tmp_path):
    (tmp_path / heads.FILE).write_bytes(heads.written(HEADS))
    assert heads.read(tmp_path / heads.FILE) == HEADS
    assert json.loads((tmp_path / heads.FILE).read_text())["heads"] == ["1-3", "0-2", "1-0"]
    assert HEADS.by_layer() == {0: (2,), 1: (0, 3)}


@pytest.mark.parametrize(
    "said",
    [
        "",
        "[1]",
        '{"format": "other"}',
        json.dumps({"format": heads.FORMAT, "heads": ["1-2"]}),
        json.dumps({**HEADS.__dict__, "format": heads.FORMAT, "heads": ["one"]}),
        json.dumps({**HEADS.__dict__, "format": heads.FORMAT, "heads": ["7-1"]}),
        json.dumps({**HEADS.__dict__, "format": heads.FORMAT, "heads": []}),
    ],
)
def test_a_file_of_heads_that_is_none_is_refused(tmp_path, said):
    (tmp_path / "heads.json").write_text(said)
    with pytest.raises(ModelError, match=r"heads\.json is no file of heads"):
        heads.read(tmp_path / "heads.json")


def test_heads_of_another_model_are_refused():
    heads.check(HEADS, None, "tiny", "r1", 3, 4)
    with pytest.raises(ModelError, match="of tiny at r1, not of other at r2"):
        heads.check(HEADS, None, "other", "r2", 3, 4)
    with pytest.raises(ModelError, match="4 layers of 4 heads, not 3 of 4"):
        heads.check(HEADS, None, "tiny", "r1", 4, 4)


QWEN = [
    *((17, 4), (17, 17), (17, 25), (17, 27), (18, 15), (18, 19), (19, 12), (20, 15)),
    *((21, 8), (21, 10), (21, 11), (21, 18), (21, 31), (22, 4), (23, 10), (24, 13)),
]
LLAMA = [
    *((8, 8), (9, 23), (12, 1), (12, 2), (12, 3), (12, 6), (12, 10), (12, 16)),
    *((13, 9), (13, 16), (13, 22), (13, 23), (14, 2), (15, 18), (15, 22), (21, 20)),
]
SMOLLM2 = [
    *((3, 0), (3, 1), (3, 2), (3, 4), (4, 3), (4, 4), (4, 5), (5, 3)),
    *((5, 4), (5, 5), (6, 0), (6, 1), (6, 2), (7, 0), (7, 2), (7, 7)),
]


@pytest.mark.parametrize(
    ("model", "layers", "width", "wanted"),
    [
        ("MindscapeRAG/QRRanker", 25, 32, QWEN),
        ("Qwen/Qwen3-4B-Instruct-2507", 36, 32, QWEN),
        ("meta-llama/Llama-3.2-3B-Instruct", 28, 24, LLAMA),
        ("HuggingFaceTB/SmolLM2-135M-Instruct", 30, 9, SMOLLM2),
    ],
)
def test_known_heads_come_along_for_their_models_alone(model, layers, width, wanted):
    shape = {"num_hidden_layers": layers, "num_attention_heads": width}
    found = heads.published(model, "abc", shape)
    assert found is not None
    assert sorted(found.heads) == wanted
    assert (found.trained, found.prompt) == (model == heads.TRAINED, "paper")
    assert heads.published(model, "abc", shape | {"num_hidden_layers": 12}) is None
    assert heads.published("Qwen/Qwen3-0.6B", "abc", shape) is None
