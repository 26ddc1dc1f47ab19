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


def _outlier(path: Path) -> np.ndarray:
    """A matrix whose input has one channel thirty times the others; the inputs it was made for."""
    rng = np.random.default_rng(4)
    nodes = [
        helper.make_node("MatMul", ["x", "one"], ["out"], name="first"),
        helper.make_node("MatMul", ["x", "two"], ["more"], name="second"),
    ]
    weights = [
        numpy_helper.from_array(rng.normal(size=(16, 8)).astype(np.float32), name) for name in ("one", "two")
    ]
    shapes = [("x", 16), ("out", 8), ("more", 8)]
    given, *made = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", d]) for name, d in shapes]
    graph = helper.make_graph(nodes, "outlier", [given], made, weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    inputs = rng.normal(size=(40, 16)).astype(np.float32)
    inputs[:, 3] *= 30
    return inputs


def test_smoothing_keeps_the_small_channels_beside_a_large_one(tmp_path: Path) -> None:
    source = tmp_path / "fp32.onnx"
    inputs = _outlier(source)
    quantise(source, tmp_path / "plain.onnx")
    quantise(source, tmp_path / "smooth.onnx", [{"x": inputs}])

    def outputs(name: str) -> np.ndarray:
        session = onnxruntime.InferenceSession(str(tmp_path / name), providers=["CPUExecutionProvider"])
        one, two = session.run(["out", "more"], {"x": inputs})
        return np.concatenate([one, two], axis=1)

    exact = outputs("fp32.onnx")
    lost = {name: np.abs(outputs(name) - exact).mean() for name in ("plain.onnx", "smooth.onnx")}
    assert lost["smooth.onnx"] < lost["plain.onnx"] / 2
