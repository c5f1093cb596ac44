"""Calls of operators that OpInfo knows little of, and of all others in every dtype, as recorded."""

import gzip
import json

import pytest

import dispatch
from tests.conformance.compare_calls import differs
from tests.conformance.record_calls import DATA, DTYPES, answer, calls

pytestmark = pytest.mark.usefixtures("same_state_after")

CALLS = dict(zip(calls(), json.loads(gzip.decompress(DATA.read_bytes())), strict=True))
BY_EXPRESSION: dict[str, list[str]] = {}
for _letter, _expression in CALLS:
    BY_EXPRESSION.setdefault(_expression, []).append(_letter)
# Calls that PyTorch answers otherwise, by the beginning of the expression: letters, and why.
DIFFERENT = {
    "A._add_relu": ("bh", "PyTorch asks to be told of a bug"),
    "A._weight_norm_interface_backward": ("bh", "PyTorch wants the norm in float32"),
    "A.gelu_backward(T(3,4,dt='f')": ("bh", "PyTorch computes a mixed call in the narrower dtype"),
    "A.index_reduce(T(3,4),0,L(0,2,0),T(3,4,k=1),'prod')": ("U", "no loop here"),
    "A.pixel_shuffle": ("U", "PyTorch has no loop"),
    "A.native_layer_norm_backward": ("bh", "PyTorch rounds gradients of float32 weights"),
}


@pytest.mark.parametrize("expression", BY_EXPRESSION)
def test_a_call_gives_what_pytorch_gives(expression):
    starts = [call for call in DIFFERENT if expression.startswith(call)]
    known = "".join(DIFFERENT[call][0] for call in starts)
    wrong = {}
    for letter in BY_EXPRESSION[expression]:
        want, got = CALLS[letter, expression], answer(dispatch, letter, expression)
        if differs(want, got) and letter not in known:
            wrong[DTYPES[letter]] = f"want {want} got {got}"
    assert not wrong


def test_a_recorded_answer_that_is_another_is_seen():
    want = ["float32", [2], [1], [3.0, 3.0, 0]]
    assert not differs(want, ["float32", [2], [1], [3.00001, 3.0, 0]])
    others = [["float32", [2], [1], sums] for sums in ([3.1, 3.0, 0], [3.0, 3.0, 3])]
    for got in ("RuntimeError", ["float64", *want[1:]], ["float32", [2], [2], want[3]], *others):
        assert differs(want, got)
