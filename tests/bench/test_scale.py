"""benchmarks/scale: commands watched from outside, records merged, engines compared."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
sys.path.insert(0, str(ROOT / "benchmarks" / "speed"))

import engines  # noqa: E402
import records  # noqa: E402
import scale  # noqa: E402
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
    parts = records.read(out, scale.KIND)["parts"]
    assert [parts[name]["rows"][0]["n"] for name in ("ray", "size")] == [1, 2]
    assert parts["start"]["left_out"] == "no Ray"


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
    order, local, ray = rows = records.read(out, engines.KIND)["rows"]
    assert [engines.same(row) for row in rows] == [True, True, False]
    assert (order["seconds"], local["seconds"], local["sessions"]) == (1.5, 4.0, 2)
    assert (ray["same"], ray["duplicates"], ray["missing"]) == (2, 1, 1)
