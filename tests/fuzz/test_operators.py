"""Some random calls of operators; `python -m tests.fuzz.operators` makes many of each."""

import os
import random
import signal

import dispatch
from tests.fuzz import operators
from tests.fuzz.operators import _Values, attempt, overloads


def test_no_call_of_an_operator_ends_the_process():
    ops = overloads()
    assert len(ops) > 3000
    random.Random("suite").shuffle(ops)
    assert attempt(ops[:150], "suite", 3) == []


def test_the_same_seed_makes_the_same_calls():
    for op in overloads(r"aten::(add|conv2d|sum)\."):
        first, second = (_Values(random.Random("7")).call(op) for _ in range(2))
        assert repr(first) == repr(second)


def test_what_ends_the_process_is_named_and_the_others_are_called(monkeypatch):
    """A fault in one operator hides none behind it; mistakes of ours that raise are found too."""
    ops = overloads(r"^aten::(sin|cos|tan)$")
    assert [op._name for op in ops] == ["aten::cos", "aten::sin", "aten::tan"]

    def call(self, op):
        if op._name == "aten::cos":
            os.kill(os.getpid(), signal.SIGABRT)
        return [Mistaken() if op._name == "aten::sin" else dispatch.ones(2)], {}

    class Mistaken:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            raise KeyError("a mistake")

    monkeypatch.setattr(operators._Values, "call", call)
    found = [(f.operator, f.number, f.reason) for f in attempt(ops, "7", 2)]
    assert found == [
        ("aten::cos", 0, "SIGABRT"),
        ("aten::sin", 0, "KeyError: 'a mistake'"),
        ("aten::sin", 1, "KeyError: 'a mistake'"),
    ]
