"""Phrases that programs written for PyTorch look for where products and factorisations refuse."""

import pytest

import dispatch
from dispatch import eye, ones, ops, tensor, zeros

A = ops.aten
INT = ones(2, 2, dtype=dispatch.int32)
PAIR = ones(2, dtype=dispatch.int32)
SINGULAR = tensor([[1.0, 0.0], [0.0, 0.0]])


@pytest.mark.parametrize(
    "call, phrase",
    [
        (lambda: A.addr(INT, PAIR, PAIR, beta=1.5), "integral .*beta must not be a floating"),
        (lambda: A.addr(INT, PAIR, PAIR, alpha=True), r"Boolean alpha only .* Boolean results\."),
        (lambda: A.add(INT, INT, alpha=True), r"Boolean alpha only .* Boolean results\."),
        (lambda: A.add(INT, INT, alpha=1.5), "integral .*alpha must not be a floating point num"),
        (lambda: A.add(ones(2), 1, alpha=1j), "non-complex .*alpha must not be a complex number"),
        (lambda: A.linalg_cholesky(SINGULAR), "minor of order 2 is not positive-definite"),
        (
            lambda: A.linalg_cholesky(A.stack([eye(2), SINGULAR])),
            r"\(Batch element 1\): The factorization could not be completed",
        ),
        (lambda: A.cholesky_solve(ones(3), eye(3)), "b should have at least 2 dimensions"),
        (lambda: A.cross(ones(2, 4), ones(2, 4)), "no dimension of size 3 in input"),
        (
            lambda: A.linalg_householder_product(ones(2, 3), ones(2)),
            r"input.shape\[-2\] must be greater than or equal to input.shape\[-1\]",
        ),
        (
            lambda: A.linalg_householder_product(ones(3, 2), ones(3)),
            r"input.shape\[-1\] must be greater than or equal to tau.shape\[-1\]",
        ),
        (
            lambda: A.linalg_householder_product(ones(3, 2), ones(2, 2)),
            "tau to have one dimension less than input",
        ),
        (
            lambda: A.linalg_householder_product(ones(4, 3, 2), ones(5, 2)),
            "batch dimensions of tau",
        ),
        (lambda: A.inner(ones(2, 3), ones(2, 2)), r"inner\(\) the last dimension must match"),
        (lambda: A._int_mm(ones(2), INT), "Expected self to be of dimension 2"),
        (lambda: A._int_mm(ones(2, 3).char(), ones(2, 3).char()), r"needs to match mat2.size\(0"),
        (lambda: A.linalg_lstsq(ones(2), ones(2)), "input must have at least 2 dimensions"),
        (lambda: A.linalg_lstsq(ones(2, 2), ones(())), "other must have at least 1 dimension"),
        (lambda: A.linalg_lstsq(ones(2, 3), ones(3)), r"should match other.size\(-1\)"),
        (lambda: A.linalg_lstsq(ones(2, 3), ones(3, 1)), r"should match other.size\(-2\)"),
        (lambda: A.matmul(ones(()), ones(2)), "to matmul need to be at least 1D, but they are 0D"),
        (lambda: A.dot(ones(2), ones(2).double()), "same dtype, but found Float and Double"),
        (lambda: A.linalg_matrix_norm(ones(2)), "linalg.matrix_norm:.*at least 2 dimensions"),
        (lambda: A.linalg_matrix_norm(ones(2), 1), "linalg.matrix_norm:.*at least 2 dimensions"),
        (lambda: A.linalg_matrix_norm(INT * 1.0, 1, [0]), "linalg.matrix_norm:.*must be a 2-tuple"),
        (lambda: A.linalg_norm(ones(2, 2, 2), 2), "the input must be 1D or 2D. Got 3D."),
        (lambda: A.linalg_norm(ones(2), 2, [0] * 3), "is specified, it must be of length 1 or 2"),
        (
            lambda: A.linalg_matrix_rank(eye(2), tol=tensor(1j)),
            "tol tensor of complex type is not supported",
        ),
        (lambda: A.linalg_pinv(ones(2)), "expected a tensor with 2 or more dimensions"),
        (
            lambda: A.linalg_multi_dot([eye(2), eye(2)], out=eye(2).double()),
            "expected out tensor to have dtype",
        ),
        (
            lambda: A.linalg_multi_dot([eye(2), eye(2)], out=eye(2, device="meta")),
            "expected out tensor to be on cpu but got meta",
        ),
        (
            lambda: A.linalg_multi_dot([eye(2), eye(2, device="meta")]),
            "all tensors must be on the same device",
        ),
        (lambda: A.linalg_vector_norm(ones(0), -1), "linalg.vector_norm cannot compute the -1"),
        (lambda: A.linalg_vector_norm(ones(2, 0), -1, [1]), "-1 norm on the dimension 1"),
        (lambda: A.linalg_vector_norm(INT), "linalg_vector_norm: Expected a floating .* Got Int"),
        (lambda: A.renorm(ones(2, 2), 2j, 0, 1), "renorm: p must be real-valued"),
        (lambda: A.renorm(ones(2, 2), 2, 0, 1j), "renorm: maxnorm must be real-valued"),
        (lambda: A.linalg_tensorsolve(ones(2, 3), ones(2)), "self to satisfy the requirement"),
        (lambda: A.div(ones(1), 1, rounding_mode="x"), "expected rounding_mode to be one of"),
        (lambda: A.float_power_(ones(1), 2), "the base given to float_power_ has dtype"),
        (lambda: A.float_power(ones(1), 2, out=ones(1)), "operation's result requires dtype"),
        (lambda: A.heaviside(ones(1), ones(1).half()), "for tensors with different dtypes"),
        (lambda: A.trapezoid(ones(2, 3), ones(2)), "one `x` value for each sample point"),
        (lambda: A.aminmax(zeros(0)), "cannot compute aminmax over an empty dimension"),
        (lambda: A.amax(zeros(0)), r"for input.numel\(\) == 0"),
    ],
)
def test_the_text_has_the_phrase(call, phrase):
    with pytest.raises(RuntimeError, match=phrase):
        call()


@pytest.mark.parametrize(
    "equation, sizes, phrase",
    [
        (". ..", [2], r"found '.' for operand 0 that is not part of any ellipsis"),
        ("a,..b", [2, 2], r"found '.' for operand 1 that is not part of any ellipsis"),
        ("... ...", [2], "found '.' for operand 0 for which an ellipsis was already found"),
        ("a->... .", [2], r"for output but an ellipsis \(...\) was already found"),
        ("a->..", [2], r"for output that is not part of any ellipsis \(...\)"),
        ("a, 1", [2, 2], "invalid subscript given at index 3"),
        ("a->1", [2], "invalid subscript given at index 3"),
        ("ab...", [2], r"subscripts in the equation \(2\) is more than .* dimensions \(1\)"),
        ("ab", [2], r"\(2\) does not match .* \(1\) for operand 0 and no ellipsis was given"),
        ("aa", [(2, 3)], "a is repeated for operand 0 but the sizes don't match, 3 != 2"),
        ("a, ba", [2, (2, 3)], "a has size 3 for operand 1 which .* previously seen size 2"),
    ],
)
def test_equations_are_refused_at_a_place(equation, sizes, phrase):
    with pytest.raises(RuntimeError, match=rf"einsum\(\): .*{phrase}"):
        A.einsum(equation, [ones(size) for size in sizes])


@pytest.mark.parametrize("kind", [dispatch.bool, dispatch.int32])
def test_a_result_of_addr_has_the_dtype_of_its_tensors(kind):
    given = [t.to(kind) for t in (ones(2, 2), ones(2), ones(2))]
    assert A.addr(*given, beta=2 if kind is dispatch.int32 else True).dtype is kind
    given[0] = given[0].bool()
    assert A.addr(*given, beta=2).dtype is kind
    assert A.addr(*given, beta=0, alpha=1).dtype is kind


def test_factors_of_addr_are_of_the_dtype_of_its_result():
    found = A.addr(INT, ones(2), PAIR, beta=1.5, alpha=0.5)
    assert found.tolist() == [[2.0, 2.0], [2.0, 2.0]]
