"""Reading and writing by index and by mask with data."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import dispatch
from dispatch import ops

aten = ops.aten


def tensor(values, dtype=None):
    return dispatch.tensor(values, dtype=dtype)


def test_negative_indices_count_from_the_end():
    x = tensor([1.0, 2.0, 3.0])
    assert aten.index(x, [tensor([-1, 0])]).tolist() == [3.0, 1.0]


def test_indices_apart_come_first():
    x = dispatch.arange(24).reshape(2, 3, 4)
    found = aten.index(x, [tensor([0, 1]), None, tensor([1, 2])])
    assert found.tolist() == x.numpy()[[0, 1], :, [1, 2]].tolist()


def test_mask_counts_as_its_nonzero():
    x = dispatch.arange(6).reshape(2, 3)
    mask = tensor([[True, False, True], [False, False, True]])
    assert aten.index(x, [mask]).tolist() == [0, 2, 5]


def test_mask_without_dimensions_names_nothing():
    x = tensor([1.0, 2.0])
    assert aten.index(x, [tensor(True), tensor([1])]).tolist() == [2.0]


def test_permuted_index_decides_on_strides():
    x = dispatch.zeros(5)
    index = dispatch.zeros(2, 3, dtype=dispatch.int64).t()
    assert aten.index(x, [index]).stride() == (1, 3)


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (IndexError, lambda x, i: aten.index(x, [i])),
        (IndexError, lambda x, i: aten.index_put_(x, [i], tensor(1.0))),
        (IndexError, lambda x, i: aten.index_select(x, 0, i)),
        (RuntimeError, lambda x, i: aten.index_select(x.reshape(1, 3), 1, i)),
        (RuntimeError, lambda x, i: aten.gather(x, 0, i)),
        (RuntimeError, lambda x, i: aten.scatter_(x, 0, i, 1.0)),
        (RuntimeError, lambda x, i: aten.scatter_add_(x, 0, i, tensor([1.0, 1.0]))),
    ],
)
def test_index_out_of_range_changes_nothing(error, call):
    x = tensor([1.0, 2.0, 3.0])
    with pytest.raises(error, match=r"aten::.*out of bounds"):
        call(x, tensor([0, 3]))
    assert x.tolist() == [1.0, 2.0, 3.0]


def test_duplicates_accumulate():
    x = dispatch.zeros(3)
    aten.index_put_(x, [tensor([0, 0, 2])], tensor([1.0, 2.0, 4.0]), True)
    assert x.tolist() == [3.0, 0.0, 4.0]


def test_values_that_do_not_broadcast_are_refused():
    with pytest.raises(RuntimeError, match=r"aten::index_put_: .* value tensor of shape \[4\]"):
        aten.index_put_(dispatch.zeros(3), [tensor([True, True, False])], dispatch.ones(4))


def test_out_that_overlaps_itself_is_refused_before_it_is_resized():
    out = dispatch.zeros(6).expand(2, 6)
    with pytest.raises(RuntimeError, match="single memory location"):
        aten.index_select.out(dispatch.zeros(3, 6), 1, tensor([0, 1]), out=out)
    assert out.shape == (2, 6)


MASK = tensor([True, False, True])


@pytest.mark.parametrize(
    "write",
    [
        lambda x, m: x.index_put_((x,), dispatch.ones_like(x)),
        lambda x, m: x.index_put_((tensor([0, 1]),), x[1:]),
        lambda x, m: x.index_put_((tensor([0, 1]),), x[0], True),
        lambda x, m: aten._index_put_impl_(x, [MASK], x[:2]),
        lambda x, m: m[1:].index_put_((m[:-1],), tensor(True)),
        lambda x, m: m[1:].masked_fill_(m[:-1], False),
        lambda x, m: m.masked_fill_(m[0], tensor(False)),
    ],
)
def test_writes_by_index_refuse_to_overlap_what_they_read(write):
    x, m = dispatch.arange(3), MASK.clone()
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        write(x, m)
    assert x.tolist() == [0, 1, 2] and m.equal(MASK)


def test_a_mask_may_be_what_it_writes_to():
    assert MASK.clone().masked_fill_(MASK, False).tolist() == [False] * 3
    own = MASK.clone()
    assert own.masked_fill_(own, False).tolist() == [False] * 3
    own = MASK.clone()
    own[own] = False
    assert own.tolist() == [False] * 3
    x = dispatch.arange(3)
    assert x.masked_fill_(MASK, x[1]).tolist() == [1, 1, 1]
    assert x[:1].index_put_((tensor([0]),), x[2:]).tolist() == [1]


@pytest.mark.parametrize(
    ("reduce", "include_self", "want"),
    [
        ("sum", True, [4, 5, 9]),
        ("prod", True, [2, 5, 36]),
        ("mean", True, [1, 5, 3]),
        ("amax", True, [2, 5, 6]),
        ("amin", True, [1, 5, 1]),
        ("sum", False, [3, 5, 7]),
        ("prod", False, [2, 5, 6]),
        ("mean", False, [1, 5, 3]),
        ("amax", False, [2, 5, 6]),
        ("amin", False, [1, 5, 1]),
    ],
)
def test_scatter_reduces(reduce, include_self, want):
    x = tensor([1, 5, 6 if reduce == "prod" else 2])
    found = aten.scatter_reduce(
        x, 0, tensor([0, 0, 2, 2]), tensor([1, 2, 1, 6]), reduce, include_self=include_self
    )
    assert found.tolist() == want


def test_half_precision_sums_are_rounded_once():
    ones = dispatch.ones(4096, dtype=dispatch.float16)
    x = dispatch.zeros(1, dtype=dispatch.float16)
    index = dispatch.zeros(4096, dtype=dispatch.int64)
    assert aten.scatter_add(x, 0, index, ones).tolist() == [4096.0]


def test_number_that_does_not_fit_is_refused():
    x = tensor([1, 2], dtype=dispatch.uint8)
    for value in (300, -1.0):
        with pytest.raises(RuntimeError, match="without overflow"):
            aten.masked_fill_(x, tensor([True, False]), value)
    assert x.tolist() == [1, 2]


def test_masked_scatter_needs_enough_elements():
    with pytest.raises(RuntimeError, match="Number of elements of source < number of ones"):
        aten.masked_scatter(dispatch.zeros(3), tensor([True, False, True]), tensor([1.0]))


def test_nonzero_has_contiguous_columns():
    found = aten.nonzero(tensor([[1, 0], [2, 3]]))
    assert found.tolist() == [[0, 0], [1, 0], [1, 1]]
    assert found.stride() == (1, 3)


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_gather_undoes_scatter_of_a_permutation(data):
    n = data.draw(st.integers(1, 6))
    order = data.draw(st.permutations(range(n)))
    x = dispatch.from_numpy(np.arange(2 * n, dtype=np.float32).reshape(2, n))
    index = tensor([order, order])
    scattered = aten.scatter(dispatch.zeros(2, n), 1, index, x)
    assert aten.gather(scattered, 1, index).tolist() == x.tolist()


def test_a_mask_fills_what_lies_apart():
    whole, mask = dispatch.zeros(4, 6, 8, 7), dispatch.arange(72).reshape(2, 3, 3, 4) % 5 < 2
    whole[1:3, ::2, ::3, ::2].masked_fill_(mask, 7)
    expected = np.zeros((4, 6, 8, 7))
    expected[1:3, ::2, ::3, ::2][np.arange(72).reshape(2, 3, 3, 4) % 5 < 2] = 7
    assert whole.tolist() == expected.tolist()


def test_indices_may_lie_apart():
    x, index = np.arange(60).reshape(6, 10), np.array([[5, 0, 3], [1, 2, 4]])
    gathered = dispatch.gather(dispatch.tensor(x.tolist()), 1, dispatch.tensor(index.tolist()).t())
    assert gathered.tolist() == np.take_along_axis(x[:3], index.T, 1).tolist()


def test_a_mask_has_no_order_of_dimensions_to_give():
    """It stands for indices of one dimension; strides are PyTorch's."""
    x = dispatch.ones(4, 4, 4, 6)
    mask = (aten.eye(4) > 0).as_strided((4, 4), (1, 4))
    rows = dispatch.ones(4, 4, dtype=dispatch.int64)
    assert aten.index(x, [mask, rows]).stride() == (24, 6, 1)
    assert aten.index(x, [mask, rows.t().contiguous().t()]).stride() == (6, 24, 1)


def test_a_complex_number_without_imaginary_part_fills_real_elements():
    mask = dispatch.tensor([True, False])
    assert dispatch.zeros(2).masked_fill(mask, 2 + 0j).tolist() == [2.0, 0.0]
    with pytest.raises(RuntimeError):
        dispatch.zeros(2).masked_fill(mask, 2 + 1j)


def test_a_scalar_is_selected_by_one_index_only():
    number = dispatch.tensor(1.0)
    for places in ([], [0, 0]):
        with pytest.raises(RuntimeError, match=r"index_select.* index .*1 element"):
            number.index_select(0, dispatch.tensor(places, dtype=dispatch.int64))
    assert number.index_select(0, dispatch.tensor([0])).item() == 1.0
