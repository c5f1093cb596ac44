"""Values, metadata and aliasing of calls on the CPU, and what must fail, as PyTorch recorded them.

`select_values` says which calls; `replay_values` how they are compared.
"""

import gzip
import json

import pytest

from tests.conformance.replay_values import replay_value, unpacked
from tests.conformance.select_cases import DATA

pytestmark = [
    pytest.mark.usefixtures("same_state_after"),
    pytest.mark.filterwarnings("ignore"),  # resized outputs warn, as in PyTorch
]

RECORD = json.loads(gzip.decompress((DATA / "values.json.gz").read_bytes()))
ARRAYS = unpacked(RECORD["arrays"])
CALLS = {}
for call in RECORD["calls"]:
    CALLS.setdefault(call["overload"] or call["packet"], []).append(call)


@pytest.mark.parametrize("name", CALLS)
def test_calls_answer_as_recorded(name):
    wrong = [(c["args"], c["kwargs"], w) for c in CALLS[name] if (w := replay_value(c, ARRAYS))]
    assert wrong == []


def test_replay_notices_what_differs():
    seen = 0
    for call in RECORD["calls"][::20]:
        if call.get("outs") and call["values"] and 0 not in call["outs"][0]["shape"]:
            first, *others = call["outs"]
            for key, value in (("dtype", "bool8"), ("shape", [99]), ("offset", 77), ("is", 99)):
                changed = call | {"outs": [first | {key: value}, *others]}
                assert replay_value(changed, ARRAYS) != ""
            turned = ARRAYS[first["a"]] ^ (1 if first["dtype"] == "bool" else 255)
            changed = call | {"outs": [first | {"a": -1}, *others]}
            assert "values" in replay_value(changed, ARRAYS | {-1: turned})
            seen += 1
    assert seen > 50
