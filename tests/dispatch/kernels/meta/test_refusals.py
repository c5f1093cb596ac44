"""Arguments that do not fit are refused with and without data, in the same words."""

import math

import pytest

import dispatch
from dispatch import ops

A = ops.aten
ones, i32 = dispatch.ones, dispatch.int32

CASES = {
    "pivots that are no integers": (
        lambda d: A.linalg_ldl_solve.default(
            ones(2, 2, device=d), ones(2, device=d), ones(2, 1, device=d)
        ),
        (RuntimeError, "pivots to be integers"),
    ),
    "sides that do not fit": (
        lambda d: A.linalg_ldl_solve.default(
            ones(2, 2, device=d), ones(2, dtype=i32, device=d), ones(3, 1, device=d)
        ),
        (RuntimeError, "Incompatible matrix sizes: each A matrix is"),
    ),
    "a range of a complex step": (
        lambda d: A.arange.start_step(0, 4, 1j, device=dispatch.device(d)),
        (RuntimeError, "step must be real"),
    ),
    "a range of no step": (
        lambda d: A.arange.start_step(0, 4, 0, device=dispatch.device(d)),
        (RuntimeError, "step must be nonzero"),
    ),
    "a range of a step that is no number": (
        lambda d: A.arange.start_step(0, 4, math.nan, device=dispatch.device(d)),
        (RuntimeError, "step must be nonzero"),
    ),
    "a range in the other direction": (
        lambda d: A.arange.start_step(4, 0, 1, device=dispatch.device(d)),
        (RuntimeError, "upper bound and lower bound inconsistent with"),
    ),
    "a range up with a step down": (
        lambda d: A.arange.start_step(0, 4, -1, device=dispatch.device(d)),
        (RuntimeError, "upper bound and lower bound inconsistent with"),
    ),
    "a negative size in a memory format": (
        lambda d: A.empty.memory_format(
            [1, -2, 3, 4], device=dispatch.device(d), memory_format=dispatch.channels_last
        ),
        (RuntimeError, "negative"),
    ),
    "a vector that does not fit": (
        lambda d: A.addmv.default(ones(2, device=d), ones(2, 3, device=d), ones(2, device=d)),
        (RuntimeError, "addmv"),
    ),
    "a fill with several numbers": (
        lambda d: A.fill_.Tensor(ones(2, device=d), ones(2, device=d)),
        (RuntimeError, "fill_"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize("name", CASES)
def test_it_is_refused(name, device):
    call, (error, words) = CASES[name]
    with pytest.raises(error, match=words):
        call(device)


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_ranges_without_elements_are_none(device):
    for start, end, step in ((3, 3, 1), (3, 3, -1), (0.0, 0.0, 0.5)):
        made = A.arange.start_step(start, end, step, device=dispatch.device(device))
        assert tuple(made.shape) == (0,)
