"""Dtype rules: what operators give, or refuse with, for every dtype and pair of them.

`record_dtypes` explains the records.
"""

import gzip
import json

import pytest

import dispatch
from dispatch import ops
from tests.conformance.record_dtypes import ANSWERS, DATA, answers, calls

pytestmark = pytest.mark.usefixtures("same_state_after")

RECORDS = json.loads(gzip.decompress(DATA.read_bytes()))
# Calls whose answer is another one here: complex32 is no dtype to compute in, and in these few
# PyTorch's CPU and Meta kernels refuse what the others take.
DIFFERENT = {
    "celu.default": 6,
    "gelu_backward.default": 39,
    "ldexp.Tensor": 40,
    "linalg__powsum.default": 6,
    "softplus.default": 1,
    "trace.default": 1,
}


@pytest.mark.parametrize("name", RECORDS)
def test_answers_are_the_recorded_ones(name):
    packet, _, overload = name.partition(".")
    n, dims, want = RECORDS[name]
    got = answers(dispatch, getattr(getattr(ops.aten, packet), overload), n, dims)
    known = {letter: answer for answer, letter in ANSWERS.items()}
    wrong = [
        (call, f"recorded {known.get(a)}, got {known.get(b)}")
        for call, a, b in zip(calls(n), want, got, strict=True)
        if a != b
    ]
    assert len(wrong) == DIFFERENT.get(name, 0), wrong[:5]


def test_records_hold_all_kinds_of_answers():
    letters = {letter for *_, text in RECORDS.values() for letter in text}
    assert len(RECORDS) > 300 and letters >= set(ANSWERS.values()) - {"I", "V"}
