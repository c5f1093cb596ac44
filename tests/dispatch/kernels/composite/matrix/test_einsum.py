"""einsum against numpy's, and its errors."""

import math

import numpy as np
import pytest

import dispatch
from dispatch import ops

einsum = ops.aten.einsum

SIZES = {"a": 2, "b": 3, "c": 4, "i": 3, "j": 2, "k": 5}


def operand(labels, seed):
    sizes = [SIZES[label] for label in labels]
    return np.random.default_rng(seed).standard_normal(sizes)


@pytest.mark.parametrize(
    "equation",
    [
        "ij->ji", "ij->", "ii->i", "ii", "iij->ij", "i,j->ij", "ij,jk", "ij,jk->ik", "ij,ij->i",
        "ij,ij->", "abi,aij->abj", "ai,bi,ci->abc", "ab,bc,ca->", "ij,k->ikj", "ba",
    ],
)  # fmt: skip
def test_einsum_is_that_of_numpy(equation):
    parts = equation.split("->")[0].split(",")
    arrays = [operand(part, i) for i, part in enumerate(parts)]
    found = einsum(equation, [dispatch.from_numpy(a) for a in arrays])
    np.testing.assert_allclose(found.numpy(), np.einsum(equation, *arrays), atol=1e-12)


def test_ellipses_broadcast():
    a, b = operand("abi", 0), operand("ij", 1)
    found = einsum("...i,...ij->...j", [dispatch.from_numpy(a), dispatch.from_numpy(b)])
    np.testing.assert_allclose(found.numpy(), np.einsum("...i,...ij->...j", a, b), atol=1e-12)


def test_path_changes_no_value():
    arrays = [operand("ab", 0), operand("bc", 1), operand("ca", 2)]
    tensors = [dispatch.from_numpy(a) for a in arrays]
    found = einsum("ab,bc,ca->", tensors, path=[1, 2, 0, 1])
    np.testing.assert_allclose(found.numpy(), np.einsum("ab,bc,ca->", *arrays), atol=1e-12)


@pytest.mark.parametrize(
    ("equation", "sizes", "text"),
    [
        ("ij", [[2, 3], [2, 3]], "more operands were provided"),
        ("i", [[2, 3]], "match the number of dimensions .2. for operand 0"),
        ("i1", [[2, 3]], "invalid subscript given"),
        ("i.j", [[2, 3]], "not part of any ellipsis"),
        ("......", [[2, 3]], "an ellipsis was already found"),
        ("ij->ik", [[2, 3]], "output subscript k does not appear"),
        ("ij->ii", [[2, 3]], "output subscript i appears more than once"),
        ("ii", [[2, 3]], "i is repeated for operand 0 .* 3 != 2"),
        ("ij,jk", [[2, 3], [2, 3]], "subscript j has size 2 for operand 1 .*not broadcast"),
        ("", [], "at least one operand"),
    ],
)
def test_wrong_equation_is_refused(equation, sizes, text):
    with pytest.raises(RuntimeError, match=f"aten::einsum: .*{text}"):
        einsum(equation, [dispatch.zeros(size) for size in sizes])


def test_missing_dimensions_are_added_before_the_order_is_made():
    """What modes below see is what PyTorch's einsum calls, operand by operand."""
    seen = []

    class Seen(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append((str(func).removeprefix("aten."), *args[1:]))
            return func(*args, **(kwargs or {}))

    x = dispatch.ones(2, 3)
    with Seen():
        dispatch.einsum("ij,kj->ik", x, x)
    assert seen[:4] == [
        ("unsqueeze.default", 2),
        ("permute.default", [0, 2, 1]),
        ("unsqueeze.default", 2),
        ("permute.default", [2, 0, 1]),
    ]
    assert seen[-2:] == [("permute.default", [0, 2, 1]), ("view.default", [2, 2])]


@pytest.mark.parametrize(
    ("equation", "shapes", "strides"),
    [
        ("ik,jk->ij", [(2, 4), (3, 4)], (3, 1)),
        ("ik,jk->ji", [(2, 4), (3, 4)], (2, 1)),
        ("bik,bjk->bji", [(6, 2, 4), (6, 3, 4)], (6, 2, 1)),
        ("ik,bjk->jbi", [(2, 4), (6, 3, 4)], (12, 2, 1)),
        ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)], (5, 1)),
        ("ij,jk,kl->li", [(2, 3), (3, 4), (4, 5)], (1, 5)),
    ],
)
def test_the_product_lies_as_the_output_is_written(equation, shapes, strides):
    """The operand whose dimensions come first in the output is the product's first."""
    tensors = [dispatch.arange(float(math.prod(shape))).view(shape) for shape in shapes]
    found = einsum(equation, tensors)
    assert found.stride() == strides
    expected = np.einsum(equation, *(t.numpy() for t in tensors))
    assert np.array_equal(found.numpy(), expected)


def test_a_product_is_the_first_operand_of_the_next():
    seen = []

    class Seen(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func is dispatch.ops.aten.bmm.default:
                seen.append([tuple(x.shape) for x in args])
            return func(*args, **(kwargs or {}))

    tensors = [dispatch.ones(2, 3), dispatch.ones(3, 4), dispatch.ones(4, 5)]
    with Seen():
        dispatch.einsum("ij,jk,kl->il", *tensors)
    assert seen == [[(1, 2, 3), (1, 3, 4)], [(1, 2, 4), (1, 4, 5)]]


def test_sums_of_one_operand_widen_integers():
    x, y = dispatch.tensor([[[1, 2], [3, 4]]]).short(), dispatch.tensor([1, -1]).short()
    found = dispatch.einsum("...ik, ...j -> ij", x, y)
    assert (found.dtype, found.tolist()) == (dispatch.int64, [[3, -3], [7, -7]])


def test_path_of_one_operand_is_one_number():
    x = dispatch.ones(3)
    assert einsum("i->", [x], path=[0]) == 3.0
    for path in ([], [0, 0]):
        with pytest.raises(RuntimeError, match="path to have 1 number"):
            einsum("i->", [x], path=path)


def test_the_same_equation_is_read_for_each_number_of_dimensions():
    assert einsum("...i->...", [dispatch.ones(3)]) == 3.0
    assert einsum("...i->...", [dispatch.ones(2, 3)]).tolist() == [3.0, 3.0]
    with pytest.raises(RuntimeError, match=r"einsum\(\): the number of subscripts in the"):
        einsum("i->", [dispatch.ones(2, 3)])
    assert einsum("i->", [dispatch.ones(2)]) == 2.0
