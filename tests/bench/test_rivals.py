"""The rivals on small chats by hand, and rival files that are not as they should be."""

from pathlib import Path

import numpy as np
import pytest

from smartsearch.bench.rivals import Running, available, load
from smartsearch.bench.types import BenchQuestion
from smartsearch.config import Config
from smartsearch.errors import InputError, SmartsearchError, UsageError
from smartsearch.models import minilm
from smartsearch.models.minilm import Embedder
from smartsearch.retrieve.grep import Haystack
from smartsearch.runtime import extras
from smartsearch.systems.baselines import with_neighbours
from smartsearch.types import Corpus, Turn
from tests.conftest import corpus

SHIPPED = [
    *("bm25", "bm25_date", "bm25_minilm_rrf", "bm25_neighbours"),
    *("full_context", "grep", "minilm", "minilm_date"),
]
CHAT = corpus(
    "Mara: I glazed three bowls",
    "Ilya: lovely, which colour?",
    "Mara: green",
    "Ilya: the bowl I bought is blue",
    "Mara: rain again",
)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """What memories took is noted below the folder of the run."""
    monkeypatch.chdir(tmp_path)


def running(rival, chat=CHAT):
    return Running(rival.open(Config(), None), Haystack(chat), Config(), Path("run"))


def scores(name, question, chat=CHAT):
    (rival,) = load([name])
    return running(rival, chat)(BenchQuestion("q", question))


def best(name, question, chat=CHAT):
    return np.argsort(-scores(name, question, chat), kind="stable").tolist()


@pytest.fixture
def own(tmp_path):
    """Writes a rival file and gives its path."""

    def write(text, name="mine.py"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def colours(monkeypatch):
    """An embedder that knows two directions: texts with a colour, and others."""
    calls = []

    def embed(texts):
        calls.append(list(texts))
        hits = np.array([[any(c in t for c in ("green", "blue", "colour"))] for t in texts])
        return np.hstack([hits, ~hits, np.zeros((len(texts), 382))]).astype(np.float32)

    fake = Embedder(embed)
    monkeypatch.setattr(minilm, "embedder", lambda: fake)
    return calls


@pytest.mark.torch
def test_every_shipped_rival_is_there_and_loads_under_its_name():
    assert available() == SHIPPED
    loaded = load(SHIPPED)
    assert [rival.name for rival in loaded] == SHIPPED
    assert len({running(rival).fingerprint for rival in loaded}) == len(SHIPPED)


def test_bm25_by_hand():
    # Turns of content lemmas: [mara kiln], [ilya rain rain], [mara]; mean length 2. For "rain": idf
    # ln(1 + (3 - 1 + .5) / (1 + .5)); term frequency 2, length 3: 2 / (2 + 1.5 * (.25 + .75 * 3 / 2)).
    chat = corpus("Mara: kiln", "Ilya: rain, rain", "Mara: whatever")
    expected = np.log(1 + 2.5 / 1.5) * 2 / (2 + 1.5 * (0.25 + 0.75 * 3 / 2))
    assert scores("bm25", "Where was the rain?", chat) == pytest.approx([0, expected, 0])


def test_neighbours_share_a_score_within_the_session_only():
    turns = [Turn(text="x", session=session) for session in "11122"]
    mixed = with_neighbours(np.array([1.0, 0.0, 10.0, 100.0, 0.0]), Corpus(tuple(turns)))
    assert mixed.tolist() == [1.0, 0.5 + 3.0, 10.0, 100.0, 50.0]
    with_bowl = scores("bm25_neighbours", "Which bowl?")
    alone = scores("bm25", "Which bowl?")
    assert with_bowl == pytest.approx(with_neighbours(alone, CHAT))
    assert with_bowl[4] > alone[4] == 0.0


def test_a_date_in_the_question_finds_its_turns_only_in_bm25_date():
    turns = [Turn("tea", "Mara", "2023-05-08T10:00:00"), Turn("tea", "Mara", "2023-06-09", session="2")]
    chat = Corpus(tuple(turns))
    assert best("bm25_date", "Tea on 9 June 2023?", chat) == [1, 0]
    assert best("bm25_neighbours", "Tea on 9 June 2023?", chat) == [0, 1]


def test_grep_counts_distinct_words_as_substrings():
    # "bow" stands inside "bowls" and "bowl"; "I" is too short, "the" a stop word, "bow" counts once.
    assert scores("grep", "I bow, the bow: GREEN or blue?").tolist() == [1.0, 0.0, 1.0, 2.0, 0.0]


@pytest.mark.torch
def test_minilm_ranks_by_cosine_and_embeds_a_text_once(colours):
    assert best("minilm", "which colour is it") == [1, 2, 3, 0, 4]
    assert best("minilm", "which colour is it") == [1, 2, 3, 0, 4]
    assert [len(texts) for texts in colours] == [5, 1]


@pytest.mark.torch
def test_minilm_with_dates_and_neighbours(colours):
    turns = [Turn("green", "Mara", "2023-05-08"), Turn("tea", "Ilya", "2023-05-08"), Turn("rain", "Mara")]
    chat = Corpus(tuple(turns))
    assert scores("minilm_date", "which colour", chat) == pytest.approx([1.0, 0.25, 0.0])
    assert colours[0][:2] == ["8 May 2023 Mara: green", "8 May 2023 Ilya: tea"]


@pytest.mark.torch
def test_fusion_by_hand(colours):
    # "blue bowl": BM25 ranks turn 3, then 0, and no other; the embedder 1, 2, 3 and then 0, 4.
    fused = scores("bm25_minilm_rrf", "blue bowl")
    expected = [1 / 62 + 1 / 64, 1 / 61, 1 / 62, 1 / 61 + 1 / 63, 1 / 65]
    assert fused == pytest.approx(np.array(expected) / 2)


def test_a_file_of_the_users_runs_beside_the_shipped(own):
    path = own(
        "NAME = 'longest'\n"
        "def build(corpus):\n"
        "    return lambda question: [len(turn.text) for turn in corpus.turns]\n"
    )
    mine, grep = load([path, "grep"])
    assert (mine.name, grep.name) == ("longest", "grep")
    assert running(mine)(BenchQuestion("q", "?")).tolist() == [20.0, 21.0, 5.0, 25.0, 10.0]
    before = running(mine).fingerprint
    own("NAME = 'longest'\ndef build(corpus):\n    return lambda question: [0.0] * len(corpus.turns)\n")
    (changed,) = load([path])
    assert running(changed).fingerprint != before
    assert running(changed)(BenchQuestion("q", "?")).tolist() == [0.0] * 5


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def build(corpus): ...", "no NAME"),
        ("NAME = 'mine'", "no function build"),
        ("NAME = 'mine'\nbuild = 3", "no function build"),
        ("NAME = ", "failed: SyntaxError"),
        ("1 / 0", "failed: ZeroDivisionError"),
    ],
)
def test_a_file_that_is_no_rival(own, text, said):
    with pytest.raises(InputError, match=said) as caught:
        load([own(text)])
    assert "mine.py" in caught.value.message
    assert caught.value.kind == "rival"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("[1.0, 2.0]", r"shape \(2,\) for 5 turns"),
        ("None", r"shape \(\) for 5 turns"),
        ("[float('nan')] * 5", "NaN"),
        ("['high'] * 5", "failed: ValueError"),
        ("question.nothing", "failed: AttributeError"),
    ],
)
def test_a_rival_that_answers_wrongly_is_named(own, answer, said):
    path = own(f"NAME = 'odd'\ndef build(corpus):\n    return lambda question: {answer}\n")
    (rival,) = load([path])
    with pytest.raises(InputError, match=f"the rival odd .*{said}"):
        running(rival)(BenchQuestion("q", "Who?"))


def test_an_unknown_name_lists_the_known_ones_and_a_missing_package_says_what_to_install(own, monkeypatch):
    with pytest.raises(UsageError, match="'bm52'") as caught:
        load(["bm52"])
    assert "bm25_neighbours, bm25_date" in caught.value.hint
    mine = own("import no_such_package_9\nNAME = 'mine'\ndef build(corpus): ...\n")
    with pytest.raises(SmartsearchError, match="needs the package no_such_package_9") as caught:
        load([mine])
    assert (caught.value.kind, caught.value.hint) == ("package", extras.installing("no_such_package_9"))
    monkeypatch.setitem(extras.EXTRAS, "hub", ("no_such_package_9",))
    with pytest.raises(SmartsearchError, match="the rival minilm needs packages") as caught:
        load(["minilm"])
    assert (caught.value.kind, caught.value.hint) == ("package", extras.command("hub"))
