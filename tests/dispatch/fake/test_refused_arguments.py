"""Constructors of fake tensors refuse what contradicts itself, as PyTorch's do."""

import pytest

from dispatch import FakeTensor, FakeTensorMode as FM
from tests.dispatch.refused import (
    check_refused,
    o,
)  # fmt: skip

CALLS = [
    (
        lambda: FakeTensor(FM(), o(2, device="meta"), "cpu", fake_mode=FM()),
        TypeError,
        "FakeTensor: two modes were given",
    ),
    (
        lambda: FakeTensor(FM(), o(2, device="meta"), "cpu", odd=1),
        TypeError,
        "FakeTensor: unexpected keyword argument 'odd'",
    ),
    (
        lambda: FM().create_symbolic_nested_int(),
        AssertionError,
        "create_symbolic_nested_int: only while the mode is active",
    ),
]


@pytest.mark.parametrize(("call", "error", "text"), CALLS)
def test_it_is_refused(call, error, text):
    check_refused(call, error, text)
