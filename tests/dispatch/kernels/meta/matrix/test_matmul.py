"""Shape functions of matrix products on meta tensors; expected are PyTorch 2.13's results."""

from __future__ import annotations

from typing import Any

import pytest

from dispatch import ops
from tests.dispatch.kernels.tensors import geometry, meta

aten = ops.aten


@pytest.mark.parametrize(
    ("op", "shapes", "sizes"),
    [
        (aten.mm, [(2, 3), (3, 4)], (2, 4)),
        (aten.bmm, [(5, 2, 3), (5, 3, 4)], (5, 2, 4)),
        (aten.mv, [(2, 3), (3,)], (2,)),
        (aten.dot, [(3,), (3,)], ()),
        (aten.addmm, [(4,), (2, 3), (3, 4)], (2, 4)),
        (aten.addmv, [(), (2, 3), (3,)], (2,)),
        (aten.baddbmm, [(1, 2, 1), (5, 2, 3), (5, 3, 4)], (5, 2, 4)),
    ],
)
def test_sizes(op: Any, shapes: list[tuple[int, ...]], sizes: tuple[int, ...]) -> None:
    assert tuple(op(*map(meta, shapes)).shape) == sizes


def test_results_are_contiguous() -> None:
    assert geometry(aten.mm(meta((2, 3), (1, 2)), meta((3, 4), (1, 3))))[2] == (4, 1)
    assert geometry(aten.bmm(meta((5, 2, 3), (3, 1, 15)), meta((5, 3, 4))))[2] == (8, 4, 1)


@pytest.mark.parametrize(
    ("op", "shapes"),
    [
        (aten.mm, [(2, 3), (4, 4)]),
        (aten.mm, [(3,), (3, 4)]),
        (aten.bmm, [(5, 2, 3), (4, 3, 4)]),
        (aten.mv, [(2, 3), (4,)]),
        (aten.dot, [(3,), (4,)]),
        (aten.dot, [(1, 3), (3,)]),
        (aten.addmm, [(5,), (2, 3), (3, 4)]),
        (aten.baddbmm, [(6,), (5, 2, 3), (5, 3, 4)]),
    ],
)
def test_shapes_that_do_not_fit_are_refused(op: Any, shapes: list[tuple[int, ...]]) -> None:
    with pytest.raises(RuntimeError):
        op(*map(meta, shapes))


def test_bmm_of_two_dtypes_is_refused() -> None:
    with pytest.raises(RuntimeError, match="expected batch1 and batch2 to have the same"):
        aten.bmm(meta((1, 2, 3)), meta((1, 3, 4), dtype="float16"))


def test_mm_of_two_dtypes_is_refused_with_data_only() -> None:
    half = meta((3, 4), dtype="float16")
    assert geometry(aten.mm(meta((2, 3)), half))[0] == "float32"
    real = aten.ones.default([2, 3])
    with pytest.raises(RuntimeError, match="expected m1 and m2 to have the same dtype"):
        aten.mm(real, aten.ones.default([3, 4], dtype=half.dtype))


def test_beta_of_zero_leaves_self_out() -> None:
    args = meta((5,)), meta((2, 3)), meta((3, 4))
    assert tuple(aten.addmm(*args, beta=0).shape) == (2, 4)
    whole = [meta(s, dtype="int64") for s in ((5,), (2, 3), (3, 4))]
    assert tuple(aten.addmm(*whole, beta=0.5).shape) == (2, 4)


def test_addmm_in_place_needs_the_result_s_sizes() -> None:
    x = meta((4,))
    with pytest.raises(RuntimeError, match="addmm_"):
        aten.addmm_(x, meta((2, 3)), meta((3, 4)))
    assert tuple(x.shape) == (4,)


def test_out_of_another_dtype_is_refused() -> None:
    out = meta((2, 4), dtype="float64")
    with pytest.raises(RuntimeError, match=r"mm.out.*float32.*float64"):
        aten.mm.out(meta((2, 3)), meta((3, 4)), out=out)


@pytest.mark.parametrize(
    ("a", "b", "offs", "sizes"),
    [
        ((16, 8), (8, 32), (3,), (3, 16, 32)),
        ((16, 8), (3, 8, 32), (3,), (16, 32)),
        ((3, 16, 8), (8, 32), (3,), (16, 32)),
        ((3, 16, 8), (3, 8, 32), None, (3, 16, 32)),
    ],
)
def test_grouped_product(a: Any, b: Any, offs: Any, sizes: tuple[int, ...]) -> None:
    ends = None if offs is None else meta(offs, dtype="int32")
    result = aten._grouped_mm(meta(a, dtype="bfloat16"), meta(b, dtype="bfloat16"), ends)
    assert geometry(result)[:2] == ("bfloat16", sizes)


def test_grouped_product_needs_offsets_and_aligned_rows() -> None:
    a, b = meta((16, 8), dtype="bfloat16"), meta((8, 32), dtype="bfloat16")
    with pytest.raises(RuntimeError, match="offs"):
        aten._grouped_mm(a, b)
    with pytest.raises(RuntimeError, match="16 bytes"):
        aten._grouped_mm(meta((16, 4), dtype="bfloat16"), b, meta((3,), dtype="int32"))
