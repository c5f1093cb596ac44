"""Shapes and strides of padding: memory formats, outputs that are given, what does not fit."""

from __future__ import annotations

import pytest

import dispatch

aten = dispatch.ops.aten
LAST = dispatch.channels_last


@pytest.mark.parametrize("op", [aten.reflection_pad2d, aten.replication_pad2d])
def test_channels_last_stays(op):
    x = dispatch.ones(2, 3, 4, 5)
    assert op(x, [1, 2, 0, 1]).stride() == (120, 40, 8, 1)
    assert op(x.to(memory_format=LAST), [1, 2, 0, 1]).stride() == (120, 1, 24, 3)


def test_constant_border_keeps_the_format_and_a_cut_the_order():
    x = dispatch.ones(2, 3, 4, 5).to(memory_format=LAST)
    assert aten.constant_pad_nd(x, [1, 2, -1, 1]).stride() == (96, 1, 24, 3)
    t = dispatch.ones(2, 3, 4).transpose(0, 2)
    cut = aten.constant_pad_nd(t, [-1, 0])
    assert (cut.shape, cut.stride()) == ((4, 3, 1), (1, 4, 12))


def test_output_that_fits_gets_the_strides():
    out = dispatch.ones(2, 3, 5, 8).to(memory_format=LAST)
    aten.reflection_pad2d.out(dispatch.ones(2, 3, 4, 5), [1, 2, 0, 1], out=out)
    assert out.stride() == (120, 40, 8, 1)


@pytest.mark.parametrize(
    ("sizes", "padding", "error"),
    [
        ((2, 5), [1], RuntimeError),
        ((2, 5), [5, 0], RuntimeError),
        ((2, 5), [-3, -3], RuntimeError),
        ((3,), [1, 1], RuntimeError),
        ((2, 0), [1, 1], RuntimeError),
    ],
)
def test_padding_that_does_not_fit(sizes, padding, error):
    with pytest.raises(error, match=r"^aten::reflection_pad1d: "):
        aten.reflection_pad1d(dispatch.ones(*sizes), padding)


def test_gradient_has_the_padded_sizes():
    x, grad = dispatch.ones(2, 3, 4), dispatch.ones(2, 3, 6)
    assert aten.reflection_pad1d_backward(grad, x, [1, 1]).shape == (2, 3, 4)
    with pytest.raises(RuntimeError, match=r"grad_output of shape \[2, 3, 7\]"):
        aten.reflection_pad1d_backward(grad, x, [1, 2])
    with pytest.raises(IndexError, match="more dimensions"):
        aten.reflection_pad1d_backward(dispatch.ones(3), dispatch.ones(()), [1, 1])


@pytest.mark.parametrize("pad", [[-4, 1], [2, -4], [-2, -2], [5, 0, -4]])
def test_a_border_cannot_cut_more_than_there_is(pad):
    with pytest.raises(RuntimeError, match=r"negative size|even length"):
        aten.constant_pad_nd(dispatch.ones(2, 3), pad)


@pytest.mark.parametrize("op", [aten.reflection_pad1d_backward, aten.replication_pad1d_backward])
def test_gradient_of_a_border_has_the_dtype_of_its_input(op):
    with pytest.raises(RuntimeError, match="float64"):
        op(dispatch.ones(1, 5, dtype=dispatch.float64), dispatch.ones(1, 3), [1, 1])


@pytest.mark.parametrize("op", [aten.reflection_pad2d, aten.replication_pad2d])
def test_on_cuda_borders_are_contiguous_and_a_batch_may_be_empty(op):
    with dispatch.FakeTensorMode():
        x = dispatch.ones(1, 4, 3, 3, device="cuda").to(memory_format=LAST)
        assert op(x, [1, 1, 1, 1]).stride() == (100, 25, 5, 1)
    assert op(dispatch.ones(0, 2, 3, 3), [1, 1, 1, 1]).shape == (0, 2, 5, 5)
    with pytest.raises(RuntimeError, match="even length"):
        aten.constant_pad_nd(dispatch.ones(2, 3), [1, 1, 1])


def test_the_gradient_of_too_wide_a_reflection_is_refused_on_meta_too():
    with dispatch.device("meta"), pytest.raises(RuntimeError, match="padding 3"):
        aten.reflection_pad1d_backward(dispatch.ones(1, 6), dispatch.ones(1, 3), [3, 0])


@pytest.mark.parametrize("op", [aten.reflection_pad1d_backward, aten.replication_pad1d_backward])
def test_gradient_of_another_dtype_is_seen_where_there_is_data(op):
    sizes = (2, 5), (2, 3)
    g, x = (dispatch.zeros(s, device="meta") for s in sizes)
    assert op(g.double(), x, [1, 1]).dtype is dispatch.float32
    g, x = (dispatch.zeros(s) for s in sizes)
    with pytest.raises(RuntimeError, match=r"_backward.*float32.*float64"):
        op(g.double(), x, [1, 1])


@pytest.mark.parametrize(
    "op",
    [aten.reflection_pad2d_backward.grad_input, aten.replication_pad2d_backward.grad_input],
)
def test_a_given_gradient_is_laid_out_as_self(op):
    x, grad = dispatch.ones(1, 2, 3, 4), dispatch.ones(1, 2, 5, 6)
    given = dispatch.zeros(1, 2, 3, 8)[..., ::2]
    assert op(grad, x, [1, 1, 1, 1], grad_input=given) is given
    assert given.stride() == (24, 12, 4, 1) and given.sum() == grad.sum()


def test_a_gradient_of_fewer_dimensions_is_an_index_error():
    with pytest.raises(IndexError, match="replication_pad2d_backward"):
        aten.replication_pad2d_backward(dispatch.ones(()), dispatch.ones(1, 3, 3), [0, 2, 0, 1])
