"""Arguments that PyTorch's helpers believe and that would reach memory of others: refused here."""

from collections.abc import Callable
from typing import Any

import pytest

import dispatch
from dispatch import ops

aten = ops.aten


def ones(*sizes: int, dtype: Any = dispatch.float32) -> dispatch.Tensor:
    return dispatch.ones(sizes, dtype=dtype)


@pytest.mark.parametrize(
    "call",
    [
        lambda: aten._cummax_helper(ones(4), ones(2), ones(4, dtype=dispatch.int64), 0),
        lambda: aten._cummax_helper(ones(4), ones(4), ones(2, dtype=dispatch.int64), 0),
        lambda: aten._cummin_helper(ones(4), ones(4), ones(4), 0),
        lambda: aten._cummin_helper(
            ones(4), ones(4, dtype=dispatch.float16), ones(4, dtype=dispatch.int64), 0
        ),
        lambda: aten._weight_norm_interface(ones(2, 3), ones(5, 1)),
        lambda: aten._weight_norm_interface(ones(), ones(1), -1),
        lambda: aten._weight_norm_interface_backward(
            ones(0), ones(2, 3), ones(2, 1), ones(2, 1), 0
        ),
        lambda: aten._weight_norm_interface_backward(
            ones(2, 3), ones(2, 3), ones(2, 1), ones(1), 0
        ),
        lambda: aten.batch_norm_update_stats(ones(2, 3), ones(9), None, 0.1),
        lambda: aten.batch_norm_update_stats(ones(2, 3), None, ones(0), 0.1),
        lambda: aten._neg_view_copy(ones(2, dtype=dispatch.bool)),
        lambda: aten._cholesky_solve_helper(ones(3, 1), ones(2, 2), False),
        lambda: aten._cholesky_solve_helper(ones(2, 2, 1), ones(2, 2), False),
        lambda: aten._cholesky_solve_helper(ones(2, 1), ones(2, 2, dtype=dispatch.float64), True),
        lambda: aten._adaptive_avg_pool3d_backward(ones(1, 4, 1, 1, 1), ones(1, 2, 2, 2, 2)),
        lambda: aten._adaptive_avg_pool3d_backward(ones(1, 1), ones(1, 2, 2, 2, 2)),
        lambda: aten._adaptive_avg_pool3d_backward(ones(2), ones(2)),
        lambda: aten.adaptive_max_pool3d_backward(
            ones(1, 4, 1, 1, 1), ones(1, 2, 2, 2, 2), ones(1, 4, 1, 1, 1, dtype=dispatch.int64)
        ),
        lambda: aten.adaptive_max_pool3d_backward(
            ones(1, 2, 1, 1, 1), ones(1, 2, 2, 2, 2), ones(1, dtype=dispatch.int64)
        ),
    ],
)
def test_arguments_that_do_not_fit_are_refused(call: Callable[[], Any]) -> None:
    with pytest.raises(RuntimeError, match=r"^aten::"):
        call()
