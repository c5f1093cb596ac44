"""Namespaces and operators of higher order refuse what they cannot take, as PyTorch does."""

import pytest

import dispatch
from dispatch import _C as C
from tests.dispatch.refused import (
    check_refused,
    o,
    tensor,
)  # fmt: skip

CALLS = [
    (
        lambda: dispatch.ops.load_library(3),
        TypeError,
        "expected str, bytes or os.PathLike object, not int",
    ),
    (
        lambda: dispatch.ops.load_library("/nowhere/at/all.so"),
        OSError,
        "Could not load this library: /nowhere/at/all.so",
    ),
    (
        lambda: dispatch.ops.load_library("/etc/hostname"),
        OSError,
        "Could not load this library: /etc/hostname",
    ),
    (
        lambda: dispatch.ops.higher_order.cond.gen_schema(),
        NotImplementedError,
        "cond: gen_schema is not written",
    ),
    (
        lambda: dispatch.ops.higher_order.cond.dispatch(
            C.DispatchKey.FuncTorchDynamicLayerFrontMode
        ),
        AssertionError,
        "cond: there is no transform that could serve the call",
    ),
    (
        lambda: dispatch.cond(tensor(True), 3, lambda x: x, (o(2),)),
        RuntimeError,
        "Expect both branches to be callable.",
    ),
    (
        lambda: dispatch.cond(tensor(True), lambda x: x, lambda x: x, 3),
        RuntimeError,
        "Expect operands to be a tuple of possibly nested",
    ),
    (
        lambda: dispatch.cond(o(2) > 0, lambda x: x, lambda x: x, (o(2),)),
        RuntimeError,
        "Expected pred to be bool or single-element tensor, but got",
    ),
]


@pytest.mark.parametrize(("call", "error", "text"), CALLS)
def test_it_is_refused(call, error, text):
    check_refused(call, error, text)
