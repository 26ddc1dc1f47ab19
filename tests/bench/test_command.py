"""`smartsearch bench` as a user meets it: what it writes, what it says, and how it fails."""

import json
from pathlib import Path

import pytest

from smartsearch.bench import rivals
from smartsearch.bench.tables import share, verdict
from smartsearch.cli import app as cli
from smartsearch.llm import Client
from smartsearch.models import loading, profiles
from smartsearch.runtime import extras
from tests import scribe
from tests.bench.conftest import fingerprints, tools_with_parser
from tests.bench.test_documents import QUALITY
from tests.transcripts.build import lines, put


@pytest.fixture(autouse=True)
def fakes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("LLM_BASE_URL", "LLM_MODEL", "LLM_KEY", "JUDGE_BASE_URL", "JUDGE_MODEL", "JUDGE_KEY"):
        monkeypatch.delenv(f"SMARTSEARCH_{name}", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "no-config"))
    monkeypatch.setattr(loading, "load_tools", lambda config, cache: tools_with_parser(config))
    monkeypatch.setattr(profiles, "fingerprints", lambda config: fingerprints(tools_with_parser(config)))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]):
    def ran(*arguments: str):
        code = cli.run(["bench", *arguments])
        out, err = capfd.readouterr()
        return code, out, err

    return ran


def written(folder: Path) -> dict:
    (path,) = folder.glob("*.json")
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_run_prints_a_table_and_writes_its_record(run, chats: Path, tmp_path: Path):
    code, out, err = run(str(chats), "--out", "results", "--live", "2")
    assert code == 0
    assert "I3 cascade B2:0.01:60:4000" in out
    record = written(tmp_path / "results")
    assert record["schema_version"] == 2
    assert record["dataset"]["questions"] == 4
    assert record["failures"]["all"]["overall"]["questions"] == 4
    assert record["run"]["command"].startswith("smartsearch")
    told = [line for line in out.splitlines() if line.startswith("# ")]
    assert "# I3: the candidates of `query`: grep, hops, meaning" in told
    assert told[-1] == "# no rival was asked: --rival installed takes those that can run here"
    assert "wrote results/" in err


def test_json_prints_the_record_that_is_written(run, chats: Path, tmp_path: Path):
    code, out, _ = run(str(chats), "--json", "--live", "0", "--rank", "ce,colbert", "--cut", "B0,B1:9")
    assert code == 0
    record = json.loads(out)
    assert record == written(tmp_path / "smartsearch-bench")
    names = ["I3 ce B0", "I3 ce B1:9", "I3 colbert B0", "I3 colbert B1:9"]
    assert [row["name"] for row in record["rows"]] == names


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.json"], "nowhere.json"),
        (["{chats}", "--rank", "best"], "best"),
        (["{chats}", "--cut", "B2:2"], "B2:2"),
        (["{chats}", "--rival", "elastic"], "elastic"),
        (["{chats}", "--reference", "I3 rrf B1:77"], "I3 rrf B1:77"),
        (["{chats}", "--dataset", "locomo"], "folder"),
        (["{chats}", "--judge", "gpt"], "--reader"),
        (["{chats}", "--price", "1/2"], "--reader"),
        (["{chats}", "--reader", "gpt"], "SMARTSEARCH_LLM_KEY"),
        (["{chats}", "--store", "{chats}/chat.txt"], "chat.txt"),
        (["{chats}", "--out", "{chats}/chat.txt"], "chat.txt"),
    ],
)
def test_what_is_wrong_is_told_with_a_hint_and_nothing_is_written(run, chats, tmp_path, arguments, said):
    code, out, err = run(*[argument.format(chats=chats) for argument in arguments])
    assert code == 2
    assert out == ""
    assert said in err
    assert "try:" in err
    assert not list(tmp_path.glob("**/*.html"))
    assert (chats / "chat.txt").read_text(encoding="utf-8").startswith("[2024-05-08 13:56] Mara")


def test_a_model_that_is_not_here_and_data_without_gold_are_told_before_anything_is_asked(
    run, chats, monkeypatch
):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(chats / "no-cache"))
    code, out, err = run(str(chats), "--retrieval", "I0", "--rank", "R2", "--cut", "B1:2000")
    assert (code, out, "BAAI/bge-reranker-base" in err) == (2, "", True)
    put(chats, "questions.jsonl", lines({"id": "q1", "question": "Who?", "gold": ["chat.txt:99"]}))
    code, out, err = run(str(chats))
    assert (code, out) == (2, "")
    assert "no question has gold" in err
    assert "q1: chat.txt:99" in err


def answered(body) -> str:
    """Right about the support group, wrong about all else."""
    text = body["messages"][1]["content"]
    if "<reference>" in text:
        return '{"reason": "looked", "label": "%s"}' % ("CORRECT" if "Mondays" in text else "WRONG")
    return "on Mondays at the library" if "meet?" in text else "no idea"


@pytest.fixture
def server(running, monkeypatch: pytest.MonkeyPatch):
    return running.named(monkeypatch, answered)


@pytest.fixture
def asked(chats: Path) -> Path:
    records = [json.loads(line) for line in (chats / "questions.jsonl").read_text().splitlines()]
    for record in records:
        record["answer"] = "on Mondays" if record["id"] == "q2" else "something"
    put(chats, "questions.jsonl", "".join(lines(record) for record in records))
    return chats


def test_accuracy_with_a_language_model(run, server, asked: Path):
    arguments = (str(asked), "--json", "--live", "0", "--reader", "tiny", "--price", "1/2")
    code, out, err = run(*arguments)
    assert code == 0
    sent = len(server.requests)
    found = json.loads(out)
    assert sent == 8
    assert found["accuracy"]["overall"]["correct"] == 1
    assert found["accuracy"]["by_category"]["where"]["accuracy"] == 1.0
    words = found["accuracy"]["by_category"]["where"]["overlap"]
    assert words["contained"] == 1.0  # "on Mondays at the library" of "on Mondays"
    assert words["f1"] == pytest.approx(2 * 2 / (4 + 2))
    assert found["failures"]["all"]["overall"]["kinds"]["LLM inference"] >= 1
    assert "8 calls" in err
    assert "$" in err
    code, out, err = run(*arguments)
    assert code == 0, out + err
    again = json.loads(out)
    assert len(server.requests) == sent
    assert again["accuracy"]["overall"] == found["accuracy"]["overall"]
    assert again["accuracy"]["cost"]["new"] == 0.0


def test_gold_found_beside_answers_judged_row_by_row(run, server, asked: Path, tmp_path: Path):
    """The paper's table 10: each row is answered from; gains are over the reference."""
    rows = ("--rank", "ce,corpus", "--cut", "B1:14", "--reader", "tiny", "--answer-rows", "all")
    code, out, _ = run(str(asked), "--live", "0", *rows)
    assert code == 0
    record = written(tmp_path / "smartsearch-bench")
    accuracy = {name: found["overall"]["accuracy"] for name, found in record["answered"].items()}
    assert list(accuracy) == ["I3 ce B1:14", "I3 corpus B1:14"]
    found = [row["recall"]["turn@62"]["micro"] for row in record["rows"]]
    table = out[out.index("# Offline against live") :].splitlines()
    assert table[2].split()[:3] == ["I3", "ce", "B1:14"]
    assert table[2].split()[3] == f"{found[0]:.1%}"
    assert table[3].split()[-1] == f"{(accuracy['I3 corpus B1:14'] - accuracy['I3 ce B1:14']) * 100:+.1f}"
    assert record["accuracy"]["overall"] == record["answered"][record["reference"]]["overall"]


def test_answers_of_systems_beside_each_other_without_a_judge(run, server, asked, tmp_path):
    rows = ("--rank", "ce", "--cut", "B1:14", "--rival", "grep", "--reader", "tiny", "--judge", "none")
    code, out, err = run(str(asked), "--live", "0", *rows, "--answer-rows", "all")
    assert code == 0, err
    sent = len(server.requests)
    assert "judge" not in err
    record = written(tmp_path / "smartsearch-bench")
    assert sent == sum(one["usage"]["reader"]["new_calls"] for one in record["answered"].values())
    table = out[out.index("# Answers") :].splitlines()
    line = dict(zip(table[1].replace("chunk ", "").split(), table[3].split()))
    overlap, used = (record["answered"]["grep B1:14"][part] for part in ("overall", "usage"))
    assert line["F1"] == share(overlap["overlap"]["f1"])
    each = used["reader"]["prompt_tokens"] + used["reader"]["completion_tokens"]
    assert line["tokens"] == f"{each / used['reader']['calls']:,.0f}"
    assert record["failures"]["all"]["overall"]["kinds"].keys() & {"LLM inference"} == set()


def test_choices_are_marked_without_gold_and_without_a_judge(run, server, tmp_path: Path):
    path = put(tmp_path, "quality.jsonl", json.dumps(QUALITY))
    code, _, err = run(str(path), "--live", "0")
    assert code == 2
    assert "--reader MODEL" in err
    server.reply = lambda body: "B" if "D. Nowhere" in body["messages"][1]["content"] else "?"
    ways = ("--reader", "tiny", "--judge", "none", "--rank", "ce", "--cut", "B1:14", "--rival", "grep")
    code, out, err = run(str(path), "--live", "0", *ways, "--answer-rows", "all")
    assert code == 0, err
    record = written(tmp_path / "smartsearch-bench")
    accuracy = {name: one["overall"]["accuracy"] for name, one in record["answered"].items()}
    assert accuracy == {"I3 ce B1:14": 1.0, "grep B1:14": 1.0}
    assert "# Answers" in out


@pytest.mark.parametrize("infer", [True, False])
def test_the_reader_may_infer_or_not(run, server, asked: Path, infer: bool):
    more = () if infer else ("--no-inference",)
    code, out, _ = run(str(asked), "--json", "--live", "0", "--reader", "tiny", *more)
    prompts = [body["messages"][0]["content"] for body in server.requests]
    assert code == 0
    assert json.loads(out)["accuracy"]["inference"] is infer
    assert any("make one likely" in prompt for prompt in prompts) is infer


def test_as_the_paper_with_our_models(run, chats: Path):
    code, out, _ = run(str(chats), "--as", "paper", "--profile", "embedded", "--json", "--live", "2")
    assert code == 0
    record = json.loads(out)
    assert (record["reference"], record["run"]["profile"]) == ("IP rrf+plain B2:0.03:60:4000", "embedded")
    assert record["latency"]["questions"] == 2
    whole = json.loads(run(str(chats), "--as", "paper", "--json", "--live", "0")[1])
    assert whole["run"]["profile"] == "paper"


def test_an_endpoint_that_is_down_loses_nothing(run, asked: Path, tmp_path: Path, monkeypatch):
    monkeypatch.setitem(Client.__init__.__kwdefaults__, "retries", 0)
    monkeypatch.setenv("SMARTSEARCH_LLM_BASE_URL", "http://127.0.0.1:9/v1")
    code, _, err = run(str(asked), "--out", "results", "--live", "0", "--reader", "tiny")
    assert code == 2
    assert "127.0.0.1:9" in err
    record = written(tmp_path / "results")
    assert record["accuracy"]["stopped"]["kind"] == "llm_unreachable"
    assert record["rows"][0]["recall"]["retrieved"]["micro"] > 0


def test_gold_that_is_sessions_only_is_measured_by_session(run, tmp_path: Path):
    pod = {
        "sample_id": "pod",
        "conversation": {
            "session_1": [{"speaker": "Di", "dia_id": "D1:1", "text": "Oscar is my dog."}],
            "session_2": [{"speaker": "Di", "dia_id": "D2:1", "text": "It rained on the harbour."}],
        },
    }
    put(tmp_path, "own/pod.json", [pod])
    asked = {"id": "q1", "question": "Is Oscar a dog?", "gold_sessions": ["session_1"]}
    put(tmp_path, "own/questions.jsonl", lines(asked))
    code, out, err = run("own", "--json", "--live", "0")
    assert (code, "RuntimeWarning" in err) == (0, False)
    record = json.loads(out)
    assert record["questions"]["with_gold"] == 1
    recall = record["rows"][0]["recall"]
    assert recall["session@1"]["micro"] == recall["session kept"]["all"] == 1.0
    assert recall["kept"]["micro"] is None
    assert record["rows"][0]["words"] > 0
    assert record["failures"]["all"]["overall"]["questions"] == 0


def test_a_rival_that_asks_a_model_needs_consent_and_what_it_took_is_in_the_record(
    run, server, chats: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    scribe.register(monkeypatch)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    asked = (str(chats), "--llm", "--live", "0", "--rank", "ce", "--cut", "B1:9", "--price", "1/2")
    monkeypatch.setenv("SMARTSEARCH_LLM_MODEL", "tiny")
    server.reply = scribe.replies
    code, _, err = run(*asked, "--rival", "bm25")
    assert (code, "no rival asks a language model" in err, server.requests) == (2, True, [])
    code, _, err = run(*asked, "--rival", "scribe,bm25")
    assert code == 0
    assert "sends about 10 calls, 370 tokens, $0.00, for scribe to this machine" in err
    monkeypatch.setenv("SMARTSEARCH_LLM_BASE_URL", "http://api.example.com/v1")
    monkeypatch.setenv("SMARTSEARCH_LLM_KEY", "key")
    sent = len(server.requests)
    code, _, err = run(*asked, "--rival", "scribe", "--out", "elsewhere")
    assert (code, "nothing was sent" in err, len(server.requests)) == (2, True, sent)
    record = written(tmp_path / "smartsearch-bench")
    assert {row["name"] for row in record["rows"]} == {"I3 ce B1:9", "scribe B1:9", "bm25 B1:9"}
    took = record["run"]["asked"]["scribe"]
    assert (took["ingest"]["calls"], took["query"]["calls"]) == (6, 4)
    assert (took["model"], took["query"]["prompt_tokens"]) == ("tiny", 40)


def row(name: str, kept: float, **against: float) -> dict:
    *retrieval, rank, cut = name.split()
    told = {"against": {"kept": against}} if against else {}
    return {"name": name, "retrieval": " ".join(retrieval), "rank": rank, "cut": cut} | {
        "recall": {"kept": {"micro": kept}},
        **told,
    }


@pytest.mark.parametrize(
    ("p", "said"),
    [
        (0.009, "a difference of +10.0 points [+8.0, +12.0], sure (Holm's p 0.009)"),
        (0.2, "a difference of +10.0 points [+8.0, +12.0], not sure (Holm's p 0.2)"),
    ],
)
def test_the_verdict_is_against_the_best_rival_under_its_own_cut(p: float, said: str):
    against = {"difference": -0.1, "low": -0.12, "high": -0.08, "p_holm": p}
    rows = [
        row("I3 cascade B2", 0.95),
        row("I3 cascade B1", 0.9),
        row("grep B1", 0.5),
        row("bm25 B1", 0.8, **against),
    ]
    assert list(verdict({"rows": rows, "reference": "I3 cascade B2"})) == [
        "smartsearch keeps 90.0% of the right turns (I3 cascade B1)",
        "the best of 2 rivals 80.0% (bm25 B1)",
        said,
    ]


def test_installed_rivals_are_those_whose_extras_are_there(monkeypatch):
    monkeypatch.setattr(extras, "lacking", lambda extra: ["torch"] if extra == "hub" else [])
    here = ["bm25", "bm25_date", "bm25_neighbours", "full_context", "grep"]
    assert rivals.available(installed=True) == here
    lacking = set(rivals.available()) - set(rivals.available(installed=True))
    assert lacking == {"bm25_minilm_rrf", "minilm", "minilm_date"}
