"""Operators of one tensor on strided operands: each element, and no other, is read and written."""

import numpy as np
import pytest

import dispatch
from dispatch import ops

A = ops.aten
OPERATORS = ("neg", "abs", "relu", "exp", "sqrt", "square", "floor", "sign", "reciprocal", "sin")
DTYPES = ("float32", "float64", "int32", "int64", "int8", "float16", "complex64")
REAL = ("relu", "floor", "sign")
CALLS = [(n, d) for n in OPERATORS for d in DTYPES if not (n in REAL and d == "complex64")]


@pytest.mark.parametrize(("name", "dtype"), CALLS)
def test_steps_of_operand_and_output(name, dtype):
    """numpy 2.4's `negative` has a loop that is wrong for steps of 16 and 64 bytes."""
    kind = getattr(dispatch, dtype)
    for step in range(1, 9):
        for n in (1, 5, 17):
            base = (dispatch.arange(0.0, n * step) % 90 + 1).to(kind)
            part = base[::step]
            want = getattr(A, name).default(part.clone())
            assert getattr(A, name).default(part).tolist() == want.tolist()
            if want.dtype is not kind:
                continue
            before = base.tolist()
            getattr(A, name + "_").default(part)
            assert part.tolist() == want.tolist(), (step, n)
            rest = [v for i, v in enumerate(base.tolist()) if i % step]
            assert rest == [v for i, v in enumerate(before) if i % step]
            for out_step in (1, 2, 3):
                wide = dispatch.zeros(n * out_step, dtype=kind)
                out = wide[::out_step]
                getattr(A, name).out(dispatch.tensor(before).to(kind)[::step], out=out)
                assert out.tolist() == want.tolist(), (step, n, out_step)


def test_the_least_integer_is_its_own_negative():
    for kind, least in ((dispatch.int32, -(2**31)), (dispatch.int64, -(2**63))):
        x = dispatch.tensor([least, 0, least, 1], dtype=kind)
        assert x[::2].neg().tolist() == [least, least]
        assert np.array_equal(x[::3].neg().numpy(), np.array([least, -1]))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_every_half_has_its_sign_and_size(dtype):
    x = dispatch.arange(-32768, 32768).to(dispatch.int16).view(getattr(dispatch, dtype))
    wide, other = x.float().numpy(), x.flip(0)

    def check(got, want):
        got = got.float().numpy()
        np.testing.assert_array_equal(got, want)
        number = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(got)[number], np.signbit(want)[number])

    check(A.neg(x), -wide)
    check(A.abs(x), abs(wide))
    check(A.relu(x), np.where(wide < 0, np.float32(0), wide))
    check(A.copysign(x, other), np.copysign(wide, other.float().numpy()))
    np.testing.assert_array_equal(A.isnan(x).numpy(), np.isnan(wide))
    np.testing.assert_array_equal(A.signbit(x).numpy(), np.signbit(wide))
