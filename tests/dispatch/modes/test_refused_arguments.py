"""What handlers return is checked: PyTorch's type of error."""

import pytest

from dispatch import modes as PD
from tests.dispatch.refused import (
    A,
    check_refused,
    o,
)  # fmt: skip

CALLS = [
    (
        lambda: PD.return_and_correct_aliasing(A.detach.default, [o(2)], {}, o(2)),
        AssertionError,
        "args must be a tuple, got <class 'list'>",
    ),
    (
        lambda: PD.return_and_correct_aliasing(A.view.default, [o(2), [2]], {}, o(2)),
        AssertionError,
        "args must be a tuple, got <class 'list'>",
    ),
    (
        lambda: PD.return_and_correct_aliasing(A.split.Tensor, (o(2), 1), {}, 3),
        AssertionError,
        "aten.split.Tensor: expected a tensor, got <class 'int'>",
    ),
]


@pytest.mark.parametrize(("call", "error", "text"), CALLS)
def test_it_is_refused(call, error, text):
    check_refused(call, error, text)
