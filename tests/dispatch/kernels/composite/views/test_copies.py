"""Out variants of views that are copied: dtypes of lists are the results' own."""

import pytest

import dispatch

aten = dispatch.ops.aten


@pytest.mark.parametrize("name", ["split_with_sizes_copy", "unsafe_split_with_sizes"])
def test_lists_to_copy_into_have_the_dtype(name):
    out = [dispatch.zeros(2, 1), dispatch.zeros(2, 1, dtype=dispatch.int64)]
    with pytest.raises(RuntimeError, match=rf"{name}.out: expected out tensors to have dtype"):
        getattr(aten, name).out(dispatch.ones(2, 2), [1, 1], 1, out=out)
