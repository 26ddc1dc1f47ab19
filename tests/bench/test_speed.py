"""benchmarks/speed: made chats, processes and their figures, sections."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "benchmarks" / "speed")]

import corpus  # noqa: E402
import measure  # noqa: E402
import records  # noqa: E402
import worker  # noqa: E402


def test_a_made_corpus_is_the_same_every_time(tmp_path):
    """A change of the generator changes every figure of the cost curve: change the digest with it."""
    assert corpus.folder(tmp_path / "made", 100).sha256[:16] == "04b9fea90a1b9f10"


def command(code: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code]


def test_a_process_is_charged_its_own_memory_and_not_ours():
    ballast = bytearray(120_000_000)
    ballast[::4096] = b"x" * len(ballast[::4096])
    small = measure.cost(command("pass"), os.environ)
    holds = command("held = bytearray(150_000_000); held[::4096] = b'x' * len(held[::4096])")
    large = measure.cost(holds, os.environ)
    assert small.peak_mb < 60
    assert 150 < large.peak_mb < 260
    assert len(ballast) == 120_000_000


def test_a_record_names_no_path_of_this_machine():
    said = {
        "command": "rg -f /home/me/out/terms /data/eval/locomo10.json",
        "rows": ["no /usr/lib/x.so here", "'/opt/v/bin/python': it broke", "3 MB/s, src/a/b.py, a/b", 2.5],
    }
    assert records.portable(said, {"/home/me/out": "OUT", "/data/eval": "DATA"}) == {
        "command": "rg -f OUT/terms DATA/locomo10.json",
        "rows": ["no x.so here", "'python': it broke", "3 MB/s, src/a/b.py, a/b", 2.5],
    }


def test_a_warm_process_answers_each_question_with_its_stages(tmp_path):
    env = measure.environment(tmp_path / "home", tmp_path)
    with worker.Worker("ours", env | {"PYTHONPATH": str(ROOT)}, 1) as ours:
        assert ours("open", path=str(ROOT / "docs" / "samples" / "harbour-street.md"))["turns"] > 2
        stages = ours("ask", question="When did Maya adopt the dog?", limit=2)["timing_ms"]
    assert {"read", "retrieve", "rank", "total"} <= set(stages)
