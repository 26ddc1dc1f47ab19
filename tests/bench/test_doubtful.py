"""The list of doubtful labels: its shape, and LoCoMo without them."""

import json
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
doubtful = __import__("doubtful")


def test_the_list_has_ids_kinds_and_short_reasons_and_no_label_twice():
    labels = doubtful.labels()
    assert len({(label["question"], label["turn"]) for label in labels}) == len(labels)
    for label in labels:
        sample, _, number = label["question"].partition("/")
        assert sample.startswith("conv-")
        assert number.isdigit()
        assert label["turn"].startswith("D")
        assert label["kind"] in doubtful.KINDS
        assert 0 < len(label["reason"].split()) <= 14
    lost = sum(label["read"] == "lost" for label in labels)
    assert f"(466 gold turns, {lost} doubtful)" in doubtful.__doc__
    assert f"(232, {len(labels) - lost} doubtful)" in doubtful.__doc__


def test_only_what_is_listed_is_taken_out(tmp_path: Path, capsys):
    """D12:14 of question 48 is on the list, and D12:13 is not."""
    asked = [{"question": f"filler {n}", "evidence": ["D12:14"]} for n in range(48)]
    asked.append({"question": "What did Oscar chase?", "evidence": ["D12:13; D12:14"]})
    path, out = tmp_path / "locomo.json", tmp_path / "sound.json"
    path.write_text(json.dumps([{"sample_id": "conv-26", "conversation": {}, "qa": asked}]))
    assert doubtful.main([str(path), str(out)]) == 0
    (sample,) = json.loads(out.read_text())
    assert sample["qa"] == [*asked[:48], {**asked[48], "evidence": ["D12:13"]}]
    assert capsys.readouterr().out == "1 of 76 doubtful gold turns taken out\n"
