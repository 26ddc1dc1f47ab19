"""Both scorers both ways: our ONNX folders with arithmetic done by hand, and tiny hub-format models."""

import ctypes
import json
import subprocess
import sys

import numpy as np
import pytest
from tokenizers import Tokenizer

from smartsearch.errors import ModelError
from smartsearch.models import manifest
from smartsearch.rank import onnx
from smartsearch.rank.cache.vectors import TokenVectors
from smartsearch.rank.colbert import HubColbert, OnnxColbert, VectorCache
from smartsearch.rank.crossencoder import HubCrossEncoder, OnnxCrossEncoder, sigmoid, uncalibrated
from smartsearch.rank.onnx import OnnxModel, tokenizer_of
from tests.rank import tiny

TEXTS = ["mara : the dog", "rain", "dog dog garden", ""]


class TestOnnxCrossEncoder:
    @pytest.fixture
    def score(self, tmp_path):
        return OnnxCrossEncoder(tiny.onnx_folder(tmp_path / "ce", "crossencoder"), threads=1)

    @pytest.mark.parametrize(
        ("question", "texts", "logits"),
        [
            ("when did mara dog ?", TEXTS, [1, 0, 2, 0]),
            ("mara " * 500, ["dog"], [1]),  # a long question still leaves room for the turn
            ("a", ["dog " * 100], [28]),  # of 32 tokens [CLS] a [SEP] ... [SEP] leave 28
        ],
    )
    def test_texts_are_scored_in_their_order_and_read_up_to_the_limit(self, score, question, texts, logits):
        assert score(question, texts) == pytest.approx(sigmoid(np.array(logits)))
        assert score(question, []).shape == (0,)

    def test_a_calibration_changes_the_scores_and_not_the_order(self, tmp_path):
        folder = tiny.onnx_folder(tmp_path / "ce", "crossencoder")
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | {"calibration": [2.0, -3.0]}))
        score = OnnxCrossEncoder(folder, threads=1)
        assert score("when did mara dog ?", TEXTS) == pytest.approx(sigmoid(np.array([-1, -3, 1, -3])))
        assert score.logits("when did mara dog ?", TEXTS).tolist() == [1, 0, 2, 0]


class TestOnnxColbert:
    @pytest.fixture
    def score(self, tmp_path):
        return OnnxColbert(tiny.onnx_folder(tmp_path / "colbert", "colbert"), threads=1)

    def test_each_shared_word_counts_one_and_punctuation_has_no_vector(self, score):
        # [CLS] and [SEP] stand on both sides, [Q] and [MASK], which pads the question, on one
        assert score("mara dog", TEXTS) == pytest.approx([4.0, 2.0, 3.0, 2.0])
        assert len(set(score("dog", ["the dog"] * 5).tolist())) == 1
        assert score.question_vectors("dog").shape == (8, len(tiny.VOCABULARY))
        dotted, plain = score.turn_vectors(["dog . : !", "dog"])
        assert dotted.values.shape == plain.values.shape

    def test_a_text_seen_before_is_not_encoded_again(self, score, monkeypatch):
        first = score("mara dog", TEXTS)
        monkeypatch.setattr(score, "_encoded", lambda texts: [] if not texts else pytest.fail("again"))
        assert score("mara dog", TEXTS).tolist() == first.tolist()

    def test_the_last_question_is_not_read_again_and_another_is(self, score, monkeypatch):
        dog, mara = (score.question_vectors(word).tolist() for word in ("dog", "mara"))
        assert dog != mara
        with monkeypatch.context() as patched:
            patched.setattr(score._model, "run", lambda inputs: pytest.fail("read again"))
            assert score.question_vectors("mara").tolist() == mara
        assert score.question_vectors("dog").tolist() == dog


def test_the_cache_forgets_the_oldest_but_answers_in_full():
    cache = VectorCache(limit=3 * 16)
    encoded = []

    def encode(texts):
        encoded.extend(texts)
        return [TokenVectors(np.full((1, 12), ord(t), np.int8), np.ones(1, np.float32)) for t in texts]

    assert [v.values[0, 0] for v in cache.fetch(list("abcda"), encode)] == [97, 98, 99, 100, 97]
    cache.fetch(["d"], encode)
    cache.fetch(["a"], encode)
    assert encoded == ["a", "b", "c", "d", "a"]


@pytest.mark.parametrize("broken", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_missing_or_damaged_file_is_named(tmp_path, broken):
    folder = tiny.onnx_folder(tmp_path / "m", "colbert")
    (folder / broken).write_text("damaged")
    with pytest.raises(ModelError, match="damaged"):
        OnnxModel(folder, 1)
    (folder / broken).unlink()
    with pytest.raises(ModelError, match=broken):
        OnnxModel(folder, 1)


def test_the_shipped_tokenizers_are_read_once_and_give_the_ids_of_their_files(monkeypatch):
    read, whole = [], onnx._whole
    monkeypatch.setattr(onnx, "_READ", {})
    monkeypatch.setattr(onnx, "_whole", lambda text: read.append(len(text)) or whole(text))
    names = ("crossencoder", "colbert", "crossencoder")
    files = [manifest.SHIPPED / name / "tokenizer.json" for name in names]
    shared = [tokenizer_of(file) for file in files]
    assert len(read) == 1
    texts = [
        "[Q] [D] who? [d]og [MASK] [SEP] Zoë's naïveté 東京 \x00\t!",
        *TEXTS,
        "",
        "word " * 300,
        "x" * 200,
    ]
    for file, tokenizer in zip(files, shared, strict=True):
        own = whole(file.read_bytes())
        of = [[one.ids for one in t.encode_batch(texts, add_special_tokens=False)] for t in (tokenizer, own)]
        assert of[0] == of[1]


@pytest.mark.parametrize("other", ["normalizer", "pre_tokenizer", "added_tokens"])
def test_a_tokenizer_of_the_same_words_that_reads_otherwise_stays_itself(tmp_path, other):
    file, text = tiny.onnx_folder(tmp_path / "m", "colbert") / "tokenizer.json", "Dog, dog"
    before, facts = tokenizer_of(file).encode(text).ids, json.loads(file.read_text())
    word = {"id": 1, "content": "Dog,", "special": False, "normalized": False}
    marks = [word | dict.fromkeys(("single_word", "lstrip", "rstrip"), False)]
    facts[other] = marks if other == "added_tokens" else None
    file.write_text(json.dumps(facts, indent=2))
    assert file.read_bytes().partition(b'"model":')[2] in onnx._READ
    own = Tokenizer.from_file(str(file)).encode(text).ids
    assert tokenizer_of(file).encode(text).ids == own != before


HELD = """
import ctypes
from smartsearch.models import manifest
from smartsearch.rank.onnx import OnnxModel
pages = lambda: int(open("/proc/self/statm").read().split()[1])
model = OnnxModel(manifest.SHIPPED / "colbert", 1)
before = pages()
ctypes.CDLL(None).malloc_trim(0)
print((before - pages()) * 4096)
"""


@pytest.mark.process
@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="this C library gives nothing back")
def test_what_reading_a_model_took_is_given_back():
    ran = subprocess.run([sys.executable, "-c", HELD], capture_output=True, check=True)
    assert int(ran.stdout) < 4 * 2**20  # 8 to 10 MB where it is not


@pytest.mark.torch
def test_a_hub_cross_encoder_loads_from_its_folder(tmp_path):
    score = HubCrossEncoder(tiny.cross_encoder(tmp_path / "ce"), 1)
    values = score("when did mara ?", TEXTS)
    assert values.shape == (4,)
    assert ((values > 0) & (values < 1)).all()
    assert score("dog", []).shape == (0,)


@pytest.mark.torch
def test_a_classifier_is_no_reranker(tmp_path):
    with pytest.raises(ModelError, match="3 outputs"):
        HubCrossEncoder(tiny.cross_encoder(tmp_path / "three", outputs=3), 1)


@pytest.mark.torch
def test_a_hub_colbert_loads_from_its_folder(tmp_path):
    score = HubColbert(tiny.colbert(tmp_path / "colbert"), 1)
    values = score("when did mara ?", TEXTS)
    assert values.shape == (4,)
    assert (np.abs(values) <= 8 + 1e-3).all()
    assert score("when did mara ?", TEXTS).tolist() == values.tolist()
    # two texts make other matrices than four, whose sums AVX2 adds in another order
    assert score("when did mara ?", TEXTS[:2]).tolist() == pytest.approx(values[:2].tolist(), rel=1e-6)


def test_a_calibrated_score_is_turned_back_into_the_models_own():
    assert sigmoid(np.array([-1000.0, 0.0, 1000.0])).tolist() == [0.0, 0.5, 1.0]
    logits = np.array([-11.0, -4.0, 0.0, 6.4, 12.0, np.nan])
    made = sigmoid(0.62 * logits[:-1] - 3.97)
    found = uncalibrated(np.append(made, np.nan), (0.62, -3.97))
    assert np.isnan(found[-1])
    assert found[:-1] == pytest.approx(sigmoid(logits[:-1]), rel=1e-9)
    assert uncalibrated(made, (1.0, 0.0)) is made
