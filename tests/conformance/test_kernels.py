"""Kernels on tensors that lie in memory in every way, on the CPU and on meta, as recorded.

`drawn_kernels` says what is called, `select_kernels` which calls are carried.
"""

import gzip
import json

import pytest

from tests.conformance.select_kernels import DATA, differing

pytestmark = [
    pytest.mark.usefixtures("same_state_after"),
    pytest.mark.filterwarnings("ignore"),  # resized outputs warn, as in PyTorch
]

CALLS = {}
for line in gzip.decompress(DATA.read_bytes()).decode().splitlines():
    CALLS.setdefault(json.loads(line)["op"], []).append(json.loads(line))


@pytest.mark.parametrize("name", CALLS)
def test_kernels_answer_as_recorded(name):
    told = [{k: c[k] for k in ("args", "kwargs")} for c in CALLS[name]]
    assert [(t, d) for t, c in zip(told, CALLS[name], strict=True) if (d := differing(c))] == []
