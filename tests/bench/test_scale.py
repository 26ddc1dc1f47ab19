"""benchmarks/scale: commands watched from outside, records merged, the arithmetic of the page."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
sys.path.insert(0, str(ROOT / "benchmarks" / "speed"))

import engines  # noqa: E402
import scale  # noqa: E402
import scale_coordinator  # noqa: E402
import scale_page  # noqa: E402
import scale_watch  # noqa: E402

Json = dict[str, Any]

WRITES = """
import pathlib, time
folder = pathlib.Path("out/parts-1"); folder.mkdir(parents=True)
(folder / "0.jsonl").write_text("{}\\n")
time.sleep(0.4)
(folder / "1.jsonl").write_text("{}\\n{}\\n")
time.sleep(0.4)
pathlib.Path("out/answers-1.jsonl").write_text("{}\\n" * 3)
"""


def watched(folder: Path, code: str) -> scale_watch.Watched:
    env = os.environ | {scale_watch.MARK: "mine"}
    return scale_watch.watch([sys.executable, "-c", code], env, "mine", folder / "out", folder)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_a_command_is_watched_from_outside(tmp_path: Path):
    seen = watched(tmp_path, WRITES)
    assert [count for _, count in seen.records] == [1, 3]
    assert seen.records[1][0] - seen.records[0][0] == pytest.approx(0.4, abs=0.3)
    assert scale_watch.steady(seen.records) == pytest.approx(2 / 0.4, rel=0.7)
    assert (seen.count("command"), seen.count("worker")) == (1, 0)
    assert 1_000_000 < seen.peak("command") < 100_000_000


def test_a_command_that_fails_says_what_it_said(tmp_path: Path):
    with pytest.raises(scale_watch.Failed, match="exit code 3: no chats"):
        watched(tmp_path, "import sys; print('no chats'); sys.exit(3)")


@pytest.mark.parametrize(
    ("records", "rate"),
    [([], None), ([(5.0, 1)], None), ([(5.0, 1), (9.0, 9)], 2.0), ([(5.0, 4), (6.0, 5), (9.0, 6)], 0.5)],
)
def test_steady_is_from_the_first_record_to_the_last(records, rate):
    assert scale_watch.steady(records) == rate


def test_the_coordinator_is_measured_by_real_runs(tmp_path: Path):
    record = tmp_path / "record.json"
    record.write_text(
        json.dumps({"id": "u", "line": 1, "hits": [], "skipped": [], "timing_ms": {"total": 2.0}})
    )
    found = scale_coordinator.main(100, tmp_path / "made", record)
    assert (found["lines"], found["tasks"]) == (100, 100)
    assert set(found["steps"]) == {"plan", "write", "finish"}
    answers = (tmp_path / "made" / "run" / "answers-00001-of-00001.jsonl").read_text().splitlines()
    assert [json.loads(line)["line"] for line in answers] == list(range(1, 101))


def test_parts_measured_again_replace_those_of_before_and_those_that_fail_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def fails(_: scale.Bench) -> Json:
        raise scale.Failed("no Ray")

    def measures(number: int) -> Any:
        return lambda _: {"rows": [{"id": "x", "n": number}]}

    out = tmp_path / "record.json"
    command = ["--out", str(out), "--work", str(tmp_path / "work")]
    monkeypatch.setattr(scale, "PARTS", {"ray": measures(1), "size": measures(1), "start": fails})
    assert scale.main(command) == 0
    monkeypatch.setattr(scale, "PARTS", {"ray": fails, "size": measures(2), "start": fails})
    assert scale.main([*command, "--only", "ray,size"]) == 0
    parts = scale.read(out)["parts"]
    assert [parts[name]["rows"][0]["n"] for name in ("ray", "size")] == [1, 2]
    assert parts["start"]["left_out"] == "no Ray"


def run(name: str, rankers: str, turns: int, users: int, worker: float, **stages: float) -> Json:
    timing = dict.fromkeys(("read", "parse", "retrieve", "colbert", "rank", "truncate"), 0.0) | stages
    timing["total"] = sum(value for key, value in timing.items() if key != "colbert")
    return {
        "id": name,
        "what": name,
        "command": f"smartsearch batch {name}",
        "engine": "local",
        "rank": rankers,
        "users": users,
        "turns": turns,
        "questions": users,
        "workers": users,
        "threads": 1,
        "chat_bytes": 150 * turns * users,
        "inputs": 3 * users,
        "load": 0.1,
        "busy": 0.0,
        "seconds": 9.0,
        "first": 2.0,
        "steady": 0.5,
        "cpu": {"worker": worker, "command": 1.0, "ray": 0.0},
        "peak": {"worker": 500_000_000, "command": 60_000_000, "ray": 0},
        "processes": {"worker": users, "command": 1, "ray": 0},
        "together": 700_000_000,
        "stages": timing,
        "candidates": 2048.0,
        "record_bytes": 20_000.0,
        "vectors": {"turns": 1000, "bytes": 5_000_000},
    }


@pytest.fixture
def record() -> Json:
    machine = {"cpu": "Made", "cores": 2, "memory_gib": 8.0, "python": "3.11"}
    receipt = {"machine": machine, "date": "2026-01-01", "commit": "0123456789ab", "dirty": False}
    about = {"quick": False, "instructions": ["avx2"], "receipt": receipt, "seconds": 1.0}
    rows = {
        "start": [run("start-none", "none", 12, 1, 1.0), run("start-ce,colbert", "ce,colbert", 12, 1, 2.0)],
        "size": [
            # two workers of 1 s start, and half a second for each question
            run("n", "none", 10_000, 2, 3.0, read=400.0, retrieve=100.0),
            # two workers of 2 s start, and 18 s for each question, in the proportion 1 : 1 : 7
            run(
                "b", "ce,colbert", 10_000, 2, 40.0, read=1000.0, retrieve=1000.0, rank=7000.0, colbert=4500.0
            ),
        ],
    }
    parts: Json = {name: {**about, "rows": some} for name, some in rows.items()}
    steps = {name: {"seconds": 1.6, "cpu": 0.8} for name in ("plan", "write", "finish")}
    plan = {"lines": 1_000_000, "task_lines": 32, "steps": {"plan": steps["plan"]}}
    parts["coordinator"] = {
        **about,
        "rows": [],
        "plan": {**plan, "before": 0, "peak": 200_000_000},
        "write": {"lines": 3200, "record_bytes": 20_000, "steps": steps},
    }
    return {"kind": scale.KIND, "version": 1, "parts": parts}


def written(record: Json, **assumed: float) -> str:
    return scale_page.page(record, None, scale_page.Assumed(**assumed), "python page")


def test_a_question_costs_what_the_workers_used_without_their_start(record: Json):
    none, both = record["parts"]["size"]["rows"]
    assert scale_page.cost(record, none) == pytest.approx(scale_page.Cost(0.4, 0.1, 0.0, 0.0))
    spent = scale_page.cost(record, both)
    assert (spent.read, spent.retrieve, spent.rank) == pytest.approx((2.0, 2.0, 14.0))
    assert spent.all == pytest.approx(18.0)


def test_the_model_multiplies_what_was_measured(record: Json):
    text = written(record)
    for said in (
        "10^6 × 10^4 = **10^10**",
        "10^10 × 150 bytes (measured: files of the made chats, JSON and text) = **1.50 TB**",
        "| both rankers | 2.00 + 2.00 + 14.0 + 0 = 18.0 | 5,000 | $200 | 312 | 78.1 | 40 | 10 |",
        "| `--rank none` | 0.400 + 0.100 + 0 + 0 = 0.500 | 139 | $5.56 | 8.68 | 2.17 | 2 | 1 |",
        "10^6 × 20,000 bytes (measured: both rankers, default budget) = **20.0 GB**",
        "| measured: 3,200 records / 1.60 s | 2,000 | 36,000 |",  # 2,000 a second x 18 s each
        "10^10 × 5,000 = **50.0 TB**",
        "encodes its 1,024 candidates: 9.00 s of processor",  # 18 s x 4500 / 9000
        "× (1 look + 1 list + 3.00 looks + 3.00 blocks of 1 MiB) = 8,000,000, $3.20",
        "= 2 × 10^6 / 32 = 62,500, $0.312",
    ):
        assert said in text, said


def test_what_is_assumed_is_an_option_and_changes_the_page(record: Json):
    text = written(record, price=0.1, users=1000.0)
    assert "| 5.00 | $0.500 |" in text
    assert "| `--price` | $ for a vCPU-hour, on demand | 0.1 |" in text


def test_what_was_not_measured_is_said(record: Json):
    del record["parts"]["coordinator"]
    text = written(record)
    assert "Not computed: not measured yet: coordinator." in text
    assert "Not measured: this part was not run." in text
    assert "## Many users" in written({"kind": scale.KIND, "version": 1, "parts": {}})


def test_everybody_runs_once_a_round_and_the_middle_run_is_shown(record: Json, monkeypatch, tmp_path):
    rates = iter((1.0, 2.0, 3.0, 0.5, 2.0, 3.5, 0.9, 2.2, 1.0))  # three rounds of three

    def one(bench: scale.Bench, job: scale.Job) -> Json:
        return run(job.name, "ce,colbert", 200, 16, 9.0) | {"steady": next(rates)}

    monkeypatch.setattr(scale.Bench, "run", one)
    monkeypatch.setattr(scale, "find_spec", lambda name: None)
    part = scale.throughput(scale.Bench(tmp_path, 2, scale.Sizes()))
    assert [(row["id"], row["steady"]) for row in part["rows"]] == [
        ("in-order", 0.9), ("local-1", 2.0), ("local-2", 3.0),
    ]  # fmt: skip
    record["parts"]["throughput"] = record["parts"]["start"] | part
    text = written(record)
    assert "| in-order | 0.900 | 0.500 to 1.00 | 0.409 |" in text  # of 1/2, .5/2, .9/2.2 the middle
    assert "| local-2 | 3.00 | 1.00 to 3.50 | 1.50 |" in text
    assert "Not measured: Ray: it is not installed" in text


def test_a_cluster_that_does_not_come_up_costs_only_its_row(record: Json, monkeypatch, tmp_path):
    @contextmanager
    def none(nodes: int, env: object) -> Iterator[str]:
        raise scale.Failed(f"no Ray cluster of {nodes} nodes came up")
        yield ""

    monkeypatch.setattr(scale, "cluster", none)
    monkeypatch.setattr(scale, "find_spec", lambda name: "ray")
    monkeypatch.setattr(
        scale.Bench, "run", lambda bench, job: run(job.name, "ce,colbert", 200, 16, 9.0) | {"steady": 1.0}
    )
    record["parts"]["throughput"] = record["parts"]["start"] | scale.throughput(
        scale.Bench(tmp_path, 2, scale.Sizes(rounds=2))
    )
    text = written(record)
    assert "| local-2 | 1.00 | 1.00 to 1.00 | 1.00 |" in text
    assert "| Ray, 3 nodes of 1 CPU | not measured: no Ray cluster of 3 nodes came up | - |" in text


def test_a_round_that_failed_is_left_out(record: Json):
    good = run("a", "none", 200, 4, 1.0)
    rows = [good | {"steady": 2.0}, good | {"left_out": "torn"}, good | {"steady": 1.0}]
    rows[1].pop("steady")
    middle = scale._middle(rows, "steady")
    assert (middle["steady"], middle["runs"], middle["all"]) == (2.0, 2, [2.0, None, 1.0])
    assert scale_page._ratio(middle, middle) == 1.0


def test_engines_are_compared_record_by_record(monkeypatch, tmp_path):
    lines = [{"id": f"q{n}", "question": "who?", "paths": ["a.txt"]} for n in range(3)]
    answers = [{"id": f"q{n}", "hits": [n], "timing_ms": {"total": 500.0}} for n in range(3)]
    monkeypatch.setattr(engines, "SETS", {"made": lambda data, every, top: engines.write(lines, top, "made")})

    def command(words, work: Path) -> int:
        out = work / words[words.index("--out") + 1]
        if "--resume" in words:
            out.write_text("".join(json.dumps(one | {"threads": 2}) + "\n" for one in answers))
            return 0
        out.mkdir(exist_ok=True)
        session = {"seconds": 2.0, "worker_deaths": 0, "worker_peak_bytes": 9}
        manifest = {"sessions": [session] * 2, "answers": {"sha256_without_timing": "abc"}}
        (out / "manifest-00001-of-00001.json").write_text(json.dumps(manifest))
        told = [{"id": one["id"], "line": n + 1} | one for n, one in enumerate(answers)]
        if "ray" in words:
            told[1] = told[1] | {"hits": [9]}
            told[2] = told[0]
        text = "".join(json.dumps(one | {"timing_ms": {"total": 1.0}}) + "\n" for one in told)
        (out / "answers-00001-of-00001.jsonl").write_text(text)
        return 0

    monkeypatch.setattr(engines, "_run", command)
    out = tmp_path / "record.json"
    words = ["--data", str(tmp_path), "--out", str(out), "--work", str(tmp_path / "work"), "--sets", "made"]
    assert engines.main([*words, "--engines", "in-order,local"]) == 0
    assert engines.main(words) == 1
    order, local, ray = rows = scale.read(out, engines.KIND)["rows"]
    assert [engines.same(row) for row in rows] == [True, True, False]
    assert (order["seconds"], local["seconds"], local["sessions"]) == (1.5, 4.0, 2)
    assert (ray["same"], ray["duplicates"], ray["missing"]) == (2, 1, 1)
    text = "\n".join(scale_page.alike(scale.read(out, engines.KIND)))
    assert "| made | 2 workers | 3 | 3 | 0 | 0 | 3 | 0.750 | abc |" in text


def test_figures_to_doubt_are_marked(record: Json):
    assert "Quick runs" not in written(record)
    assert "others used" not in written(record).partition("##")[0]
    record["parts"]["size"]["quick"] = True
    record["parts"]["size"]["rows"][0]["busy"] = 0.6
    text = written(record)
    assert "- **Quick runs, to see that they work, no figures to quote: size.**" in text
    assert "- **size: others used up to 60% of the cores before a run; load average 0.1 to 0.1.**" in text
