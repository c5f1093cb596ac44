"""Out variants without a shape function: sizes are taken with a warning, places refused."""

import pytest

import dispatch
from dispatch import linalg

X, Z = dispatch.ones(3), dispatch.ones(3, dtype=dispatch.complex64)
S, B = dispatch.eye(3), dispatch.ones(2, 3, 4)
CALLS = {
    "quantile": lambda out: dispatch.quantile(X, 0.5, out=out),
    "logsumexp": lambda out: dispatch.logsumexp(X, 0, out=out),
    "inner": lambda out: dispatch.inner(X, X, out=out),
    "tensordot": lambda out: dispatch.tensordot(X, X, dims=1, out=out),
    "kron": lambda out: dispatch.kron(X, X, out=out),
    "masked_select": lambda out: dispatch.masked_select(X, X > 2, out=out),
    "matrix_norm": lambda out: linalg.matrix_norm(S, out=out),
    "matrix_power": lambda out: linalg.matrix_power(S, 2, out=out),
    "pinv": lambda out: linalg.pinv(S, out=out),
    "matmul, folded": lambda out: dispatch.matmul(B, dispatch.ones(4), out=out),
    "matmul, of batches": lambda out: dispatch.matmul(B, B.mT, out=out),
    "multi_dot": lambda out: linalg.multi_dot([S, S, S], out=out),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_output_with_elements_is_resized_with_a_warning(name):
    out = dispatch.empty(0)
    assert CALLS[name](out) is out
    wrong = dispatch.empty(7)
    with pytest.warns(UserWarning, match="An output with one or more elements was resized"):
        CALLS[name](wrong)
    assert wrong.shape == out.shape and dispatch.equal(wrong, out)


def test_each_of_two_outputs_warns():
    values, indices = dispatch.empty(7), dispatch.empty(7, dtype=dispatch.int64)
    for call in (dispatch.cummax, dispatch.mode):
        with pytest.warns(UserWarning, match="was resized") as seen:
            call(X, 0, out=(values.resize_(7), indices.resize_(7)))
        assert len(seen) == 2


def test_outputs_that_are_listed_warn():
    for call, n in ((dispatch.unbind_copy, 3), (dispatch.split_with_sizes_copy, 2)):
        outs, args = [dispatch.empty(7) for _ in range(n)], () if n == 3 else ([1, 2],)
        with pytest.warns(UserWarning, match="was resized") as seen:
            call(S, *args, out=outs)
        assert len(seen) == n and all(map(dispatch.equal, outs, call(S, *args)))


def test_outputs_of_factors_warn_and_those_without_a_result_are_empty():
    a, tau = dispatch.empty(7), dispatch.empty(7)
    with pytest.warns(UserWarning, match="was resized") as seen:
        dispatch.geqrf(B, out=(a, tau))
    assert len(seen) == 2 and a.stride() == (12, 4, 1) and dispatch.equal(a, dispatch.geqrf(B).a)
    outs = [dispatch.empty(7, dtype=t.dtype) for t in linalg.lstsq(B, B)]
    with pytest.warns(UserWarning, match="was resized") as seen:
        linalg.lstsq(B, B, out=outs)
    assert len(seen) == 4
    assert [t.shape for t in outs] == [t.shape for t in linalg.lstsq(B, B)]


@pytest.mark.parametrize("name", ["inner", "tensordot"])
def test_an_output_elsewhere_is_refused(name):
    out = dispatch.empty(0, device="meta")
    with pytest.raises(RuntimeError, match="meta"):
        CALLS[name](out)
    assert out.shape == (0,)
