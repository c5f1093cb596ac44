"""Prims that make views: what they show, and what they refuse."""

import pytest

import dispatch
from dispatch import ops

prims = ops.prims
X = dispatch.arange(6.0).reshape(2, 3)


def shares(a, b):
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


@pytest.mark.parametrize(
    ("name", "arguments", "sizes", "strides"),
    [
        ("broadcast_in_dim", ([2, 4, 3], [0, 2]), (2, 4, 3), (3, 0, 1)),
        ("collapse_view", (0, 1), (6,), (1,)),
        ("split_dim", (1, 3), (2, 3, 1), (3, 1, 1)),
        ("transpose", ([1, 0],), (3, 2), (1, 3)),
        ("as_strided", ([2], [3], 1), (2,), (3,)),
        ("view_of", (), (2, 3), (3, 1)),
        ("view_of_dtype", (dispatch.int32,), (2, 3), (3, 1)),
    ],
)
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_a_view_has_the_sizes_and_strides_that_were_asked_for(
    name, arguments, sizes, strides, device
):
    x = X.to(device)
    view = getattr(prims, name)(x, *arguments)
    assert (tuple(view.shape), view.stride()) == (sizes, strides)
    assert device == "meta" or shares(view, x)


@pytest.mark.parametrize(
    ("name", "arguments", "kind"),
    [
        ("broadcast_in_dim", ([2, 4], [0, 1]), RuntimeError),
        ("broadcast_in_dim", ([3], [0]), AssertionError),
        ("broadcast_in_dim", ([2, 3, 3], [1, 0]), AssertionError),
        ("collapse_view", (1, 0), ValueError),
        ("collapse_view", (0, 2), AssertionError),
        ("split_dim", (1, 2), ValueError),
        ("split_dim", (3, 1), AssertionError),
        ("squeeze", ([0],), AssertionError),
        ("transpose", ([0],), ValueError),
        ("transpose", ([0, 0],), ValueError),
        ("as_strided", ([20], [1], 1), ValueError),
        ("as_strided", ([2], [1, 1], 1), AssertionError),
        ("as_strided", ([2], [1], -1), AssertionError),
        ("real", (), RuntimeError),
        ("conj", (), RuntimeError),
    ],
)
def test_what_has_no_such_view_is_refused(name, arguments, kind):
    with pytest.raises(kind, match=f"prims::{name}"):
        getattr(prims, name)(X, *arguments)


def test_dimensions_that_do_not_lie_together_do_not_collapse():
    with pytest.raises(RuntimeError, match="no such view of"):
        prims.collapse_view(X.t(), 0, 1)
    assert prims.collapse(X.t(), 0, 1).tolist() == [0, 3, 1, 4, 2, 5]


def test_parts_of_complex_numbers():
    z = dispatch.tensor([1 + 2j])
    assert prims.imag(z).tolist() == [2.0]
    assert prims.conj(z).is_conj()


@pytest.mark.parametrize("name", ["real", "imag"])
def test_parts_are_views_only_where_there_is_data(name):
    x = dispatch.zeros(2, 3, dtype=dispatch.complex64)
    part = getattr(prims, name)
    assert shares(part(x), x)
    assert part(x).stride() == (6, 2)
    meta = part(x.to("meta"))
    assert (meta.dtype, meta.stride(), meta.storage_offset()) == (dispatch.float32, (3, 1), 0)
