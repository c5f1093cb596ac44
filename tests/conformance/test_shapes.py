"""Shape rules: sizes, strides, dtypes and errors of calls as PyTorch's fake tensors have them.

`record_shapes` explains the records; each call is made twice, so that the cache answers too.
"""

import gzip
import json

import pytest

import dispatch
from dispatch import FakeTensorMode, ops
from tests.conformance.record_shapes import DATA, build, strides_of

pytestmark = [
    pytest.mark.usefixtures("same_state_after"),
    pytest.mark.filterwarnings("ignore"),
]

CASES = json.loads(gzip.decompress((DATA / "shapes.json.gz").read_bytes()))
NAMES = sorted({case[0] for case in CASES})


def told(op, args):
    try:
        result = op(*args)
    except Exception as error:
        return type(error).__name__
    outputs = result if isinstance(result, (list, tuple)) else [result]
    return [[list(t.shape), strides_of(t), t.dtype.name] for t in outputs]


@pytest.mark.parametrize("name", NAMES)
def test_results_are_the_recorded_ones(name):
    packet, _, overload = name.partition(".")
    op = getattr(getattr(ops.aten, packet), overload)
    cases = [case[1:] for case in CASES if case[0] == name]
    assert any(isinstance(want, list) for _, want in cases)
    with FakeTensorMode():
        for args, want in cases:
            given = [build(dispatch, a) for a in args]
            assert told(op, given) == want, args
            assert told(op, given) == want, args


def test_records_hold_errors_of_many_operators():
    failing = {name for name, _, want in CASES if isinstance(want, str)}
    assert len(failing) > 25
