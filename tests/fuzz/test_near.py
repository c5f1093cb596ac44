"""Some calls that are nearly right; `python -m tests.fuzz.near` makes many."""

import random

from tests.fuzz.near import Near, attempt, recorded


def test_no_nearly_right_call_ends_the_process():
    calls = recorded()
    assert len(calls) > 800
    chosen = random.Random("suite").sample(sorted(calls, key=str), 150)
    assert attempt({op: calls[op] for op in chosen}, "suite", 4) == []


def test_the_same_seed_makes_the_same_call():
    for cases in recorded(r"aten::(addmm|conv2d|sort)\b").values():
        first, second = (Near(random.Random("7"), cases[0]) for _ in range(2))
        assert repr((first.args, first.kwargs)) == repr((second.args, second.kwargs))
