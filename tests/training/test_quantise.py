"""int8 files: embeddings keep a scale a row, so a small row beside a large one survives."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from smartsearch.training.quantise import quantise


def _save(path: Path, nodes: list, inputs: list, outputs: list, **weights: np.ndarray) -> None:
    tensors = [numpy_helper.from_array(values.astype(np.float32), name) for name, values in weights.items()]
    given = [helper.make_tensor_value_info(name, kind, ["n", *rest]) for name, kind, *rest in inputs]
    made = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 8]) for name in outputs]
    graph = helper.make_graph(nodes, "encoder", given, made, tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def _run(path: Path, **inputs: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return np.concatenate(session.run(None, inputs), axis=1)


def test_a_table_is_kept_as_int8_and_a_small_row_beside_a_large_one_survives(tmp_path: Path) -> None:
    table = np.random.default_rng(3).normal(size=(200, 8))
    table[7] *= 1000
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["looked_up"]),
        helper.make_node("MatMul", ["looked_up", "matrix"], ["out"], name="last"),
    ]
    exact, small = tmp_path / "fp32.onnx", tmp_path / "int8.onnx"
    _save(exact, nodes, [("ids", TensorProto.INT64)], ["out"], table=table, matrix=np.eye(8))
    quantise(exact, small)
    for row in (5, 7, 199):
        ids = np.array([row])
        wanted = _run(exact, ids=ids)
        assert np.abs(wanted - _run(small, ids=ids)).max() < 0.02 * np.abs(wanted).max()
    kept = {t.name: t.data_type for t in onnx.load(small).graph.initializer}
    assert kept["table.int8"] == TensorProto.INT8
    assert "table" not in kept


def test_smoothing_keeps_the_small_channels_beside_a_large_one(tmp_path: Path) -> None:
    """Two matrices read an input that has one channel thirty times the others."""
    rng = np.random.default_rng(4)
    nodes = [
        helper.make_node("MatMul", ["x", name], [f"{name}_out"], name=f"of_{name}") for name in ("one", "two")
    ]
    weights = {name: rng.normal(size=(16, 8)) for name in ("one", "two")}
    source = tmp_path / "fp32.onnx"
    _save(source, nodes, [("x", TensorProto.FLOAT, 16)], ["one_out", "two_out"], **weights)
    inputs = rng.normal(size=(40, 16)).astype(np.float32)
    inputs[:, 3] *= 30
    lost = {}
    for name, feeds in (("plain", []), ("smooth", [{"x": inputs}])):
        quantise(source, tmp_path / name, feeds)
        lost[name] = np.abs(_run(tmp_path / name, x=inputs) - _run(source, x=inputs)).mean()
    assert lost["smooth"] < lost["plain"] / 2
