"""Signed weights of an int8 model as unsigned ones, for machines whose signed products overflow.

Where a processor has no VNNI, onnxruntime adds two products of an unsigned activation and a signed weight in
16 bits (VPMADDUBSW), and what is larger is cut off. Unsigned weights, each 128 more with 128 as their zero
point, are multiplied in full: the same sums, a quarter slower.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

# Fields of onnx.proto3 by their numbers.
GRAPH = 7
NODE, INITIALIZER = 1, 5
INPUT, OPERATION = 1, 4
TYPE, INT32S, NAME, RAW = 2, 5, 8, 9
INT8, UINT8 = 3, 2
_NUMBER, _BYTES, _FOUR = 0, 2, 5
_PRODUCT = b"MatMulInteger"
Piece = bytes | memoryview
PROBE = bytes.fromhex(
    "08083a5c0a180a01610a0162120179220d4d61744d756c496e74656765721201705a130a0161120e0a0c080212080a0208010a02"
    "08405a130a0162120e0a0c080312080a0208400a02081062130a0179120e0a0c080612080a0208010a02081042040a00100a"
)
"""A model of one product: `a` (1, 64) unsigned, `b` (64, 16) signed, `y` (1, 16)."""


@cache
def overflows() -> bool:
    """Whether this machine's products of unsigned and signed bytes are cut off."""
    import onnxruntime

    session = onnxruntime.InferenceSession(PROBE, providers=["CPUExecutionProvider"])
    largest = {"a": np.full((1, 64), 255, np.uint8), "b": np.full((64, 16), 127, np.int8)}
    return bool((session.run(None, largest)[0] != 64 * 255 * 127).any())


def unsigned(model: bytes) -> bytes:
    """The model with the weights of its integer products unsigned; a serialised ModelProto, as the result."""
    return b"".join(
        part
        for number, value, whole in _parts(memoryview(model))
        for part in (_written(number, _graph(value)) if number == GRAPH else [whole])
    )


def _graph(graph: memoryview) -> list[Piece]:
    fields = list(_parts(graph))
    nodes = [list(_parts(value)) for number, value, _ in fields if number == NODE]
    products = [node for node in nodes if any(n == OPERATION and value == _PRODUCT for n, value, _ in node)]
    inputs = [[bytes(value) for number, value, _ in node if number == INPUT] for node in products]
    weights = {name for names in inputs for name in names[1::2]}  # the matrix and its zero points
    return [
        part
        for number, value, whole in fields
        for part in (_tensor(value, whole, weights) if number == INITIALIZER else [whole])
    ]


def _tensor(tensor: memoryview, whole: memoryview, weights: set[bytes]) -> list[Piece]:
    """The field of a tensor, of other type and values where it is a signed one of these."""
    parts = list(_parts(tensor))
    held = {number: value for number, value, _ in parts}
    if bytes(held[NAME]) not in weights or held[TYPE] != bytes([INT8]):
        return [whole]
    values = held[RAW] if RAW in held else bytes(len(held[INT32S]))
    if RAW not in held and any(held[INT32S]):
        raise ValueError(f"the zero points {bytes(held[NAME]).decode()} are not zero")
    more = (np.frombuffer(values, np.uint8) ^ 128).data
    kept = [part for number, _, part in parts if number not in (TYPE, INT32S, RAW)]
    return _written(INITIALIZER, [*kept, bytes([TYPE << 3 | _NUMBER, UINT8]), *_written(RAW, [more])])


def _parts(message: memoryview) -> Iterator[tuple[int, memoryview, memoryview]]:
    """The fields of a protobuf message: number, value without its length, and the bytes of both."""
    at = 0
    while at < len(message):
        tag, start = _varint(message, at)
        kind = tag & 7
        if kind == _BYTES:
            size, start = _varint(message, start)
            end = start + size
        elif kind == _NUMBER:
            _, end = _varint(message, start)
        else:
            end = start + (4 if kind == _FOUR else 8)
        yield tag >> 3, message[start:end], message[at:end]
        at = end


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """The number that begins at `at`, and where it ends."""
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def _written(number: int, value: Sequence[Piece]) -> list[Piece]:
    """A field of bytes, in pieces."""
    size, length = sum(map(len, value)), bytearray()
    while size > 127:
        length.append(size & 127 | 128)
        size >>= 7
    return [bytes([number << 3 | _BYTES, *length, size]), *value]
