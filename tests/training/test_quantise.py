"""int8 files: embeddings keep a scale a row, so a small row beside a large one survives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from smartsearch.training.quantise import quantise


def _encoder(path: Path) -> None:
    rng = np.random.default_rng(3)
    table = rng.normal(size=(200, 8)).astype(np.float32)
    table[7] *= 1000
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["looked_up"]),
        helper.make_node("MatMul", ["looked_up", "matrix"], ["out"], name="last"),
    ]
    weights = [
        numpy_helper.from_array(table, "table"),
        numpy_helper.from_array(np.eye(8, dtype=np.float32), "matrix"),
    ]
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["n"])
    out = helper.make_tensor_value_info("out", TensorProto.FLOAT, ["n", 8])
    graph = helper.make_graph(nodes, "encoder", [ids], [out], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, path)


def _run(path: Path, ids: list[int]) -> np.ndarray:
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return np.asarray(session.run(["out"], {"ids": np.array(ids, dtype=np.int64)})[0])


def test_a_small_row_is_exact_to_two_percent_of_its_largest_value(tmp_path: Path) -> None:
    _encoder(tmp_path / "fp32.onnx")
    quantise(tmp_path / "fp32.onnx", tmp_path / "int8.onnx")
    for row in (5, 7, 199):
        exact, small = _run(tmp_path / "fp32.onnx", [row]), _run(tmp_path / "int8.onnx", [row])
        assert np.abs(exact - small).max() < 0.02 * np.abs(exact).max()


def test_the_table_is_kept_as_int8(tmp_path: Path) -> None:
    _encoder(tmp_path / "fp32.onnx")
    quantise(tmp_path / "fp32.onnx", tmp_path / "int8.onnx")
    kept = {t.name: t.data_type for t in onnx.load(tmp_path / "int8.onnx").graph.initializer}
    assert kept["table.int8"] == TensorProto.INT8
    assert "table" not in kept
