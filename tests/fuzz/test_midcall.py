"""Some calls beside user code; `python -m tests.fuzz.midcall` makes many."""

import random

import dispatch
from tests.fuzz.midcall import Spoiler, attempt, beyond
from tests.fuzz.near import recorded


def test_user_code_in_the_midst_of_a_call_does_not_end_the_process():
    calls = recorded()
    chosen = random.Random("suite").sample(sorted(calls, key=str), 150)
    assert attempt({op: calls[op] for op in chosen}, "suite", 4) == []


def test_user_code_changes_what_a_call_works_on():
    found = set()
    for seed in range(200):
        x = dispatch.ones(4, 5)
        spoiler = Spoiler(random.Random(seed), [x])
        spoiler.act()
        found.add((tuple(x.shape), x.untyped_storage().nbytes(), x.dtype))
    assert len(found) > 12


def test_a_tensor_beyond_its_storage_is_noticed():
    x = dispatch.ones(20)
    assert beyond(x) is None
    x.untyped_storage().resize_(40)
    assert "over 40 bytes" in str(beyond(x))
