"""Calls of operators that OpInfo knows little of, and of all others in every dtype, as recorded."""

import gzip
import json
from typing import Any

import pytest

import dispatch
from tests.conformance.record_calls import DATA, DTYPES, answer, calls

pytestmark = pytest.mark.usefixtures("same_state_after")

CALLS = dict(zip(calls(), json.loads(gzip.decompress(DATA.read_bytes())), strict=True))
BY_EXPRESSION: dict[str, list[str]] = {}
for _letter, _expression in CALLS:
    BY_EXPRESSION.setdefault(_expression, []).append(_letter)
# How far a sum may be off, for each unit that was added up: rounding is by the last dtype written.
NEAR = {"float32": 3e-5, "complex64": 3e-5, "bfloat16": 1e-2, "float16": 2e-3}
# Calls that PyTorch answers otherwise, by the beginning of the expression: letters, and why.
DIFFERENT = {
    "A._add_relu": ("bh", "PyTorch asks to be told of a bug"),
    "A._weight_norm_interface_backward": ("bh", "PyTorch wants the norm in float32"),
    "A.gelu_backward(T(3,4,dt='f')": ("b", "PyTorch computes a mixed call in the narrower dtype"),
    "A.index_reduce(T(3,4),0,L(0,2,0),T(3,4,k=1),'prod')": ("U", "no loop here"),
    "A.pixel_shuffle": ("U", "PyTorch has no loop"),
    "A.native_layer_norm_backward": ("bh", "PyTorch rounds gradients of float32 weights"),
}


def _is_tensor(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 4 and value[0] in DTYPES.values()


def _wrong(want: Any, got: Any) -> bool:
    if not _is_tensor(want) or not _is_tensor(got):
        if not isinstance(want, list) or not isinstance(got, list) or len(want) != len(got):
            return want != got
        return any(_wrong(a, b) for a, b in zip(want, got, strict=True))
    (dtype, sizes, strides, (total, size, odd)), (*mine, (my_total, _, my_odd)) = want, got
    steps = [s for s, n in zip(strides, sizes, strict=True) if n > 1]
    my_steps = [s for s, n in zip(mine[2], mine[1], strict=True) if n > 1]
    if mine[:2] != [dtype, sizes] or (0 not in sizes and steps != my_steps) or odd != my_odd:
        return True
    return abs(total - my_total) > NEAR.get(dtype, 2e-5) * (1 + size)


@pytest.mark.parametrize("expression", BY_EXPRESSION)
def test_a_call_gives_what_pytorch_gives(expression):
    starts = [call for call in DIFFERENT if expression.startswith(call)]
    known = "".join(DIFFERENT[call][0] for call in starts)
    wrong = {}
    for letter in BY_EXPRESSION[expression]:
        want, got = CALLS[letter, expression], answer(dispatch, letter, expression)
        if _wrong(want, got) and letter not in known:
            wrong[DTYPES[letter]] = f"want {want} got {got}"
    assert not wrong


def test_a_recorded_answer_that_is_another_is_seen():
    want = ["float32", [2], [1], [3.0, 3.0, 0]]
    assert not _wrong(want, ["float32", [2], [1], [3.00001, 3.0, 0]])
    others = [["float32", [2], [1], sums] for sums in ([3.1, 3.0, 0], [3.0, 3.0, 3])]
    for got in ("RuntimeError", ["float64", *want[1:]], ["float32", [2], [2], want[3]], *others):
        assert _wrong(want, got)
