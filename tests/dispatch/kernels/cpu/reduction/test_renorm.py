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
        ((2, 2), (0, 0, 1.0), "p to be positive"),
        ((2, 2), (2, 0, -1.0), "maxnorm not to be negative"),
        ((2,), (0, 0, 1.0), "p to be positive"),
    ],
)
def test_wrong_arguments_are_refused(sizes, args, text):
    with pytest.raises(RuntimeError, match=text):
        dispatch.ones(*sizes).renorm(*args)
