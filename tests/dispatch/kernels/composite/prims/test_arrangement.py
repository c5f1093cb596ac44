"""Prims that copy, join and reduce: dimensions are counted from the front, dtypes stay."""

import pytest

import dispatch
from dispatch import ops

prims = ops.prims
X = dispatch.arange(6.0).reshape(2, 3)


def test_a_reshape_is_a_contiguous_copy():
    found = prims.reshape(X.t(), [6])
    assert found.tolist() == [0, 3, 1, 4, 2, 5]
    same = prims.reshape(X, [2, 3])
    assert same.data_ptr() != X.data_ptr()


def test_integers_are_summed_and_multiplied_in_int64_where_there_is_data():
    x = dispatch.ones(2, dtype=dispatch.int32)
    for call in (prims.sum, prims.prod):
        assert call(x, [0]).dtype is dispatch.int64
        assert call(x.to("meta"), [0]).dtype is dispatch.int32
    assert prims.prod(x, []).dtype is dispatch.int32


def test_a_sum_has_the_dtype_that_is_asked_for():
    assert prims.sum(X, [0], output_dtype=dispatch.float64).tolist() == [3, 5, 7]
    assert prims.prod(X + 1, [0, 1]).item() == 720
    assert prims.amax(X, None).item() == 5
    assert prims.var(X, [1], 0).tolist() == pytest.approx([2 / 3, 2 / 3])


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda x: prims.sum(x, [-1]), AssertionError),
        (lambda x: prims.rev(x, [2]), AssertionError),
        (lambda x: prims.cat([x, x], -1), AssertionError),
        (lambda x: prims.cat([x, x[0]], 0), AssertionError),
        (lambda x: prims.cat([x, x[:, :2]], 0), RuntimeError),
        (lambda x: prims.reshape(x, [4]), ValueError),
        (lambda x: prims.reshape(x, [-1]), RuntimeError),
        (lambda x: prims.collapse(x, 1, 0), ValueError),
        (lambda x: prims.as_strided_scatter(x, x[0], [2], [1], 1), RuntimeError),
        (lambda x: prims.as_strided_scatter(x, x, [20], [1], 1), RuntimeError),
    ],
)
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_what_does_not_fit_is_refused_with_and_without_values(call, kind, device):
    with pytest.raises(kind, match="prims::"):
        call(X.to(device))


def test_meta_agrees_with_values():
    for call in (
        lambda x: prims.cat([x, x], 1),
        lambda x: prims.rev(x.t(), [0, 1]),
        lambda x: prims.collapse(x, 0, 1),
        lambda x: prims.convert_element_type(x.t(), dispatch.int64),
        lambda x: prims.copy_strided(x, [1, 2]),
        lambda x: prims.sum(x, [1]),
        lambda x: prims.clone(x.t(), memory_format=dispatch.contiguous_format),
    ):
        real, meta = call(X), call(X.to("meta"))
        assert (real.shape, real.stride(), real.dtype) == (meta.shape, meta.stride(), meta.dtype)


def test_copies_are_written_in_place():
    x = dispatch.zeros(2, 3)
    assert prims.copy_to(x, X) is x
    assert x.tolist() == X.tolist()
    with pytest.raises(RuntimeError, match="prims::copy_to: 2 elements do not fit 6"):
        prims.copy_to(x, dispatch.ones(2))


@pytest.mark.parametrize(("dims", "want"), [([0], [6, 5]), ([1], [3, 0]), (None, 3), ([], None)])
def test_xor_sum_goes_dimension_by_dimension(dims, want):
    x = dispatch.tensor([[1, 2], [7, 7]])
    found = prims.xor_sum(x, dims)
    assert found.tolist() == (x.tolist() if want is None else want)
    assert prims.xor_sum(dispatch.ones(0, 2, dtype=dispatch.int64), [0]).tolist() == [0, 0]


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize("kind", [dispatch.int16, dispatch.bool])
def test_transforms_of_integers_are_refused_as_unknown_dtypes(kind, device):
    x = dispatch.ones(4, 4, dtype=kind, device=device)
    with pytest.raises(KeyError, match="expected a real floating dtype"):
        prims.fft_r2c(x, dim=[0], onesided=True)
    with pytest.raises(KeyError, match="expected a complex dtype"):
        prims.fft_c2r(x, dim=[0], last_dim_size=4)


def test_halves_have_the_shape_of_a_transform_and_no_values():
    x = dispatch.ones(4, 4, dtype=dispatch.bfloat16)
    assert prims.fft_r2c(x.to("meta"), dim=[0], onesided=True).dtype is dispatch.complex64
    with pytest.raises(RuntimeError):
        prims.fft_r2c(x, dim=[0], onesided=True)


def test_a_tensor_without_dimensions_counts_as_one():
    assert prims.amax(dispatch.tensor(3.0), [0]).item() == 3.0
    with pytest.raises(AssertionError, match="dimension 1"):
        prims.amax(dispatch.tensor(3.0), [1])


def test_a_product_along_no_dimension_is_a_copy_in_the_dtype_asked_for():
    x = dispatch.tensor([[2, 3]])
    prod = dispatch.ops.prims.prod
    assert prod(x, []).tolist() == [[2, 3]] and prod(x, []).dtype is dispatch.int64
    made = prod(x, [], output_dtype=dispatch.float32)
    assert made.tolist() == [[2, 3]] and made.dtype is dispatch.float32
