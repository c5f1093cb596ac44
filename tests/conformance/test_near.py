"""Calls that are nearly right, on fake tensors and on the CPU, end as in PyTorch.

`record_near` says how they are made and told, `select_near` which are carried.
"""

import gzip
import json

import pytest

from tests.conformance.select_near import DATA, differing

pytestmark = [
    pytest.mark.usefixtures("same_state_after"),
    pytest.mark.filterwarnings("ignore"),  # resized outputs warn, as in PyTorch
]

CALLS = {}
for line in gzip.decompress(DATA.read_bytes()).decode().splitlines():
    CALLS.setdefault(json.loads(line)["overload"], []).append(json.loads(line))


@pytest.mark.parametrize("name", CALLS)
def test_nearly_right_calls_end_as_recorded(name):
    told = [{k: c[k] for k in ("args", "kwargs", "tensors")} for c in CALLS[name]]
    assert [(t, d) for t, c in zip(told, CALLS[name], strict=True) if (d := differing(c))] == []


def test_half_of_the_records_are_errors():
    ends = [isinstance(c["fake"], str) for calls in CALLS.values() for c in calls]
    assert 0.3 < sum(ends) / len(ends) < 0.7
