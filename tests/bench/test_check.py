"""`make bench-check`: what is expected is run again and compared."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import check  # noqa: E402

RECORD = {
    "rows": [{"name": "I3 ce B0", "first": {"mean": 8.0}, "recall": {"kept": {"micro": 0.878}}}],
    "questions": {"asked": 17},
}


@pytest.mark.parametrize(
    ("measure", "found"),
    [
        ("I3 ce B0 | recall | kept | micro", 0.878),
        ("I3 ce B0|first|mean", 8.0),
        ("questions | asked", 17.0),
        ("I3 ce B9 | first | mean", None),
        ("I3 ce B0 | recall | lost | micro", None),
        ("I3 ce B0 | recall", None),
    ],
)
def test_a_figure_is_found_by_its_path(measure: str, found: float | None):
    assert check.Figure(measure, 0.0, 0.0).found(RECORD) == found


def expected(tmp_path: Path, score: float, data: str = "docs/questions.jsonl") -> str:
    text = f"""
[[run]]
name = "made up"
data = "{data}"
command = ["--live", "0"]
expect = [{{measure = "questions | asked", score = {score}, tolerance = 0.5}}]
"""
    path = tmp_path / "expected.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(("score", "code", "word"), [(17, 0, "ok"), (18, 1, "DIFFERS")])
def test_the_exit_code_says_whether_all_is_as_expected(tmp_path, monkeypatch, capsys, score, code, word):
    asked = []
    monkeypatch.setattr(check, "run", lambda command, data, out: asked.append((command, data)) or RECORD)
    assert check.main(["--expected", expected(tmp_path, score), "--out", str(tmp_path)]) == code
    assert word in capsys.readouterr().out
    assert asked == [(["--live", "0"], ROOT / "docs" / "questions.jsonl")]


def test_data_that_is_not_there_is_left_out_and_said_and_a_run_that_fails_is_no_success(
    tmp_path, monkeypatch, capsys
):
    arguments = ["--expected", expected(tmp_path, 17, "no-such.json"), "--data", str(tmp_path)]
    assert check.main(arguments) == 0
    assert "left out  made up: no no-such.json" in capsys.readouterr().out
    monkeypatch.setattr(check.sys, "executable", "false")
    assert check.main(["--expected", expected(tmp_path, 17), "--out", str(tmp_path)]) == 2
    assert "failed    made up" in capsys.readouterr().out
