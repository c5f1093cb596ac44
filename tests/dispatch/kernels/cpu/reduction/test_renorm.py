"""renorm: which slices shrink, in place, errors."""

import pytest

import dispatch


def test_only_slices_that_are_too_long_shrink():
    x = dispatch.tensor([[3.0, 4.0], [0.3, 0.4]])
    assert dispatch.allclose(x.renorm(2, 0, 1.0), dispatch.tensor([[0.6, 0.8], [0.3, 0.4]]))
    assert x.renorm_(1, 1, 1.0) is x
    assert x.abs().sum(0).tolist() == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize(
    ("sizes", "args", "text"),
    [
        ((2,), (2, 0, 1.0), "at least 2 dimensions"),
        ((2, 2), (0, 0, 1.0), "non-positive-norm not supported, got 0"),
        ((2, 2), (2, 0, -1.0), "maxnorm to be >= 0"),
        ((2,), (0, 0, 1.0), "non-positive-norm not supported, got 0"),
    ],
)
def test_wrong_arguments_are_refused(sizes, args, text):
    with pytest.raises(RuntimeError, match=text):
        dispatch.ones(*sizes).renorm(*args)


@pytest.mark.parametrize(
    ("sizes", "dtype", "p", "dim", "error"),
    [
        ((3, 3), "int64", 2, 0, RuntimeError),
        ((3, 3), "bool", 2, 0, RuntimeError),
        ((3, 3), "float32", 2, 2, IndexError),
        ((3, 3), "int64", 2, -3, IndexError),
        ((0, 3), "float32", float("inf"), 1, RuntimeError),
    ],
)
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_what_has_no_norm_is_refused(sizes, dtype, p, dim, error, device):
    x = dispatch.ones(sizes, dtype=getattr(dispatch, dtype), device=device)
    with pytest.raises(error, match=r"^aten::renorm: "):
        dispatch.ops.aten.renorm(x, p, dim, 1)


def test_a_slice_of_no_elements_has_a_norm_when_others_are_empty():
    x = dispatch.ones(0, 3)
    assert dispatch.ops.aten.renorm(x, float("inf"), 0, 1).shape == (0, 3)
    assert dispatch.ops.aten.renorm(x, 2, 1, 1).shape == (0, 3)
