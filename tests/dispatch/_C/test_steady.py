"""What happens to tensors in the midst of a call, and what a call makes of it."""

import gc
import threading
import warnings

import pytest

import dispatch
from dispatch import ops


def test_a_warning_that_changes_an_argument_is_an_error(monkeypatch):
    x, out = dispatch.ones(64), dispatch.ones(2)

    def show(*_, **__):
        x.resize_(2)

    monkeypatch.setattr(warnings, "showwarning", show)
    warnings.simplefilter("always")
    with pytest.raises(RuntimeError, match="while a warning was shown"):
        ops.aten.neg.out(x, out=out)
    assert out.tolist() == [1, 1]


def test_no_finalizer_runs_while_outputs_are_made():
    x, neg, made, ran = dispatch.ones(16), ops.aten.neg.default, [None] * 600, []

    class InACycle:
        def __init__(self):
            self.me = self

        def __del__(self):
            ran.append(True)

    threshold = gc.get_threshold()
    neg(x)
    try:
        gc.collect()
        InACycle()
        gc.set_threshold(1)
        for i in range(600):  # more than the free lists hold
            made[i] = neg(x)
        while_called = bool(ran)
        gc.collect()
    finally:
        gc.set_threshold(*threshold)
    assert ran and not while_called


def test_a_long_call_goes_by_the_sizes_that_it_began_with():
    x = dispatch.ones(1 << 18)
    stop = threading.Event()
    ended = []

    def change():
        while not stop.is_set():
            x.resize_(3)
            x.data = dispatch.ones(1 << 18)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(200):
            ended.append(ops.aten.constant_pad_nd(x, [1, 1]).numel())
    finally:
        stop.set()
        thread.join()
    assert set(ended) <= {5, (1 << 18) + 2}


def test_in_place_calls_return_the_caller_s_tensor():
    x = dispatch.zeros(1 << 16)
    assert ops.aten.add_(x, 1) is x
    assert x.sum().item() == 1 << 16
    out = dispatch.empty(1 << 16)
    assert ops.aten.add.out(x, x, out=out) is out
    assert ops.aten.cumsum_(x, 0) is x
    assert x[-1].item() == 1 << 16
