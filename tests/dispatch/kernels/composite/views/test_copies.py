"""Out variants of views that are copied: dtypes of lists are the results' own."""

import pytest

import dispatch

aten = dispatch.ops.aten


@pytest.mark.parametrize("name", ["split_with_sizes_copy", "unsafe_split_with_sizes"])
def test_lists_to_copy_into_have_the_dtype(name):
    out = [dispatch.zeros(2, 1), dispatch.zeros(2, 1, dtype=dispatch.int64)]
    with pytest.raises(RuntimeError, match=rf"{name}.out: expected out tensors to have dtype"):
        getattr(aten, name).out(dispatch.ones(2, 2), [1, 1], 1, out=out)


@pytest.mark.parametrize(("dim", "error"), [(3, RuntimeError), (-4, IndexError)])
def test_narrow_copy_out_of_range(dim, error):
    """With data, PyTorch's kernel has a check of its own for dimensions that are too large."""
    x = dispatch.zeros(2, 3, 4)
    for call in (
        lambda: dispatch.ops.aten.narrow_copy(x, dim, 0, 0),
        lambda: dispatch.ops.aten.narrow_copy.out(x, dim, 0, 0, out=dispatch.zeros(0)),
    ):
        with pytest.raises(error):
            call()
    with pytest.raises(IndexError):
        dispatch.ops.aten.narrow_copy(x.to("meta"), dim, 0, 0)
