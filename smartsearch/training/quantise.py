"""An fp32 ONNX encoder to int8: matrices a channel each, embedding tables a row each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

POSITIONS = 160
"""Tokens the shipped models can read; both cut at 128."""


def quantise(source: Path, target: Path) -> None:
    """Dynamic int8: matrices a channel each, embeddings a row each; activations at run time."""
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(
        source, target, per_channel=True, weight_type=QuantType.QInt8, op_types_to_quantize=["MatMul"]
    )
    model = onnx.load(target)
    _rows_to_int8(model.graph)
    onnx.save(model, target)


def _rows_to_int8(graph: Any) -> None:
    """Keep each embedding table as int8 with a scale a row, and multiply what was looked up.

    onnxruntime would give a whole table one scale: measured on ColBERT, mean Spearman to fp32 of 0.980
    instead of 0.985 and 0.893 instead of 0.936 for the worst question.
    """
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    tables = {t.name: t for t in graph.initializer if len(t.dims) == 2 and t.dims[0] >= POSITIONS}
    nodes = []
    for node in graph.node:
        if node.op_type != "Gather" or node.input[0] not in tables:
            nodes.append(node)
            continue
        name, places, output = node.input[0], node.input[1], node.output[0]
        table = numpy_helper.to_array(tables[name])
        scale = np.maximum(np.abs(table).max(axis=1, keepdims=True) / 127, 1e-6).astype(np.float16)
        small = np.rint(table / scale.astype(np.float32)).clip(-127, 127).astype(np.int8)
        graph.initializer.remove(tables[name])
        graph.initializer.append(numpy_helper.from_array(small, f"{name}.int8"))
        graph.initializer.append(numpy_helper.from_array(scale, f"{name}.scale"))
        for part in ("int8", "scale"):
            nodes += [
                helper.make_node("Gather", [f"{name}.{part}", places], [f"{output}.{part}"], axis=0),
                helper.make_node(
                    "Cast", [f"{output}.{part}"], [f"{output}.{part}.float"], to=TensorProto.FLOAT
                ),
            ]
        nodes.append(helper.make_node("Mul", [f"{output}.int8.float", f"{output}.scale.float"], [output]))
    del graph.node[:]
    graph.node.extend(nodes)
