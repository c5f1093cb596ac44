"""`torch._prims`: the namespace's overloads by name."""

import pytest

import dispatch
from dispatch import ops
from dispatch.as_torch import prims


def test_names_are_overloads_of_the_namespace():
    assert prims.sin is ops.prims.sin.default and "broadcast_in_dim" in dir(prims)
    assert prims.view_element_type is ops.prims.view_of_dtype.default
    assert not hasattr(prims, "nothing_of_the_kind")


def test_dimensions_of_size_1_are_put_in():
    x = dispatch.ones(2, 3)
    assert prims.expand_dims(x, [0, -1]).shape == (1, 2, 3, 1)
    assert prims.expand_dims(x, [1], 3).shape == (2, 1, 3)
    with pytest.raises(ValueError, match="different dimensions"):
        prims.expand_dims(x, [1, -3], 4)
