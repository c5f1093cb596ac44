"""all and any over several dimensions on a backend that has them for one: as the CPU's kernels."""

import pytest

import dispatch
from dispatch.kernels.composite.reduction import dims

aten = dispatch.ops.aten


@pytest.mark.parametrize("dim", [None, [], [0], [0, 2], [-1, 0, 1]])
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dtype", [dispatch.uint8, dispatch.float32, dispatch.bool])
def test_truth_over_several_dimensions_goes_dimension_by_dimension(dim, keepdim, dtype):
    x = (dispatch.rand(2, 3, 4) > 0.3).to(dtype)
    for name in ("all", "any"):
        want = getattr(aten, name).dims(x, dim, keepdim)
        found = getattr(dims, f"{name}_dims")(x, dim, keepdim)
        assert (found.dtype, found.shape) == (want.dtype, want.shape)
        assert dispatch.equal(found, want)
        out = dispatch.empty(0, dtype=want.dtype)
        assert getattr(dims, f"{name}_dims_out")(x, dim, keepdim, out=out) is out
        assert dispatch.equal(out, want)
