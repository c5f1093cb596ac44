"""Some calls made again and again; `python -m tests.fuzz.leaks` takes every operator."""

import random
import sys

import pytest

import dispatch
from tests.fuzz.leaks import attempt, grown
from tests.fuzz.near import recorded


def test_no_call_leaves_memory_behind():
    calls = recorded()
    chosen = random.Random("suite").sample(sorted(calls, key=str), 120)
    assert attempt({op: calls[op] for op in chosen}, "suite", 2) == []


@pytest.mark.skipif(not sys.getallocatedblocks(), reason="malloc: blocks are not counted")
def test_what_is_left_behind_is_noticed():
    kept = []
    assert "blocks" in str(grown(lambda: kept.append([])))
    assert "bytes" in str(grown(lambda: kept.append(dispatch.ones(1000))))
    assert grown(lambda: dispatch.ones(1000)) is None
