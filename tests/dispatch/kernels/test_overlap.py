"""Writes into memory that is read through another view."""

import pytest

import dispatch


@pytest.mark.parametrize(
    "write",
    [
        lambda t: t[1:].add_(t[:-1]),
        lambda t: dispatch.add(t[:-1], 1, out=t[1:]),
        lambda t: t[:4].view(2, 2).mul_(t[:4].view(2, 2).t()),
        lambda t: t.add_(t[0]),
    ],
)
def test_partly_shared_memory_is_refused(write):
    tensor = dispatch.arange(6.0)
    with pytest.raises(RuntimeError, match="share"):
        write(tensor)
    assert tensor.tolist() == [0, 1, 2, 3, 4, 5]


def test_the_same_view_and_memory_apart_are_fine():
    tensor = dispatch.arange(6.0)
    tensor[1:].add_(tensor[1:])
    tensor[3:].add_(tensor[:3])
    assert tensor.tolist() == [0, 2, 4, 6, 10, 14]
