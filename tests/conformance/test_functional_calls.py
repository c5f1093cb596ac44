"""Calls about views, sizes and shared memory as functions without writes, and without views: what
PyTorch's functionalize makes of them."""

import gzip
import json

import pytest

import dispatch
from dispatch.functional import functionalize
from tests.conformance.compare_calls import differs
from tests.conformance.record_calls import DTYPES, FUNCTIONAL, SMALLER, answer, calls

pytestmark = pytest.mark.usefixtures("same_state_after")

CALLS = list(calls(SMALLER))
RECORDED = {
    remove: dict(zip(CALLS, json.loads(gzip.decompress(path.read_bytes())), strict=True))
    for remove, path in FUNCTIONAL.items()
}
LETTERS: dict[str, list[str]] = {}
for _letter, _expression in CALLS:
    LETTERS.setdefault(_expression, []).append(_letter)
# PyTorch refuses these: a leaf's wrapper is a leaf, and a view in place in the middle of a kernel.
REFUSED = ("[x:=T(4).requires_grad_(),x.resize_(2)]", "[x:=T(3,3),x.fill_diagonal_(2.0)")


@pytest.mark.parametrize("remove", RECORDED)
@pytest.mark.parametrize("expression", [e for e in LETTERS if not e.startswith(REFUSED)])
def test_a_functionalized_call_gives_what_pytorch_gives(expression, remove):
    wrong = {}
    for letter in LETTERS[expression]:
        want = RECORDED[remove][letter, expression]
        got = answer(dispatch, letter, expression, lambda f: functionalize(f, remove=remove)())
        if differs(want, got):
            wrong[DTYPES[letter]] = f"want {want} got {got}"
    assert not wrong
