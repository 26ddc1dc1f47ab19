"""Integer products that a machine cuts off, and weights for which it does not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from smartsearch.errors import ModelError
from smartsearch.models import manifest
from smartsearch.rank import onnx
from smartsearch.rank.crossencoder import OnnxCrossEncoder
from smartsearch.rank.unsigned import NAME, RAW, TYPE, overflows, unsigned

SHIPPED = manifest.SHIPPED / "crossencoder"
TEXTS = ["Mara: We took Oscar to the harbour.", "Ilya: The bakery opens at nine.", "Mara: Oscar"]


def test_a_machine_with_vnni_multiplies_in_full():
    cpu = Path("/proc/cpuinfo")
    flags = cpu.read_text().split() if cpu.exists() else []
    if not {"avx512_vnni", "avx_vnni"}.intersection(flags):
        pytest.skip("no VNNI, as far as one can see here")
    assert not overflows()


def test_unsigned_weights_are_the_same_model(monkeypatch):
    """They give the same to the bit, where signed ones are multiplied in full."""
    signed = OnnxCrossEncoder(SHIPPED, 1).logits("Where is Oscar?", TEXTS)
    cut = overflows()
    monkeypatch.setattr(onnx, "overflows", lambda: not cut)
    other = OnnxCrossEncoder(SHIPPED, 1).logits("Where is Oscar?", TEXTS)
    assert np.array_equal(signed, other) is not cut
    assert np.abs(signed - other).max() < 1.0


def test_only_weights_of_products_change():
    model = (SHIPPED / "model.onnx").read_bytes()
    changed = unsigned(model)
    assert changed != model
    assert len(changed) == len(model)
    assert unsigned(changed) == changed


def field(number: int, value: bytes) -> bytes:
    return bytes([number << 3 | 2, len(value)]) + value


def test_zero_points_that_are_none_are_refused(tmp_path: Path, monkeypatch):
    node = b"".join(field(1, name) for name in (b"x", b"w", b"xz", b"wz")) + field(4, b"MatMulInteger")
    weights = field(NAME, b"w") + bytes([TYPE << 3, 3]) + field(RAW, b"\x01\xff")
    graph = field(1, node) + field(5, weights)
    assert field(RAW, b"\x81\x7f") in unsigned(field(7, graph))
    points = field(NAME, b"wz") + bytes([TYPE << 3, 3]) + field(5, b"\x05")
    (tmp_path / "model.onnx").write_bytes(field(7, graph + field(5, points)))
    for name in ("config.json", "tokenizer.json"):
        (tmp_path / name).write_bytes((SHIPPED / name).read_bytes())
    monkeypatch.setattr(onnx, "overflows", lambda: True)
    with pytest.raises(ModelError, match="zero points wz are not zero"):
        OnnxCrossEncoder(tmp_path, 1)
