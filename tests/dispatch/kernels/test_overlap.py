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


@pytest.mark.parametrize(
    "call",
    [
        lambda x, y: dispatch.max(x, 0, out=(y[0], _outs(dispatch.int64))),
        lambda x, y: dispatch.median(x, 0, out=(y[0], _outs(dispatch.int64))),
        lambda x, y: dispatch.kthvalue(x, 1, 0, out=(y[0], _outs(dispatch.int64))),
        lambda x, y: dispatch.mode(x, 0, out=(y[0], _outs(dispatch.int64))),
        lambda x, y: dispatch.where(x > 0, x, x, out=y),
        lambda x, y: dispatch.lerp(x, x, x, out=y),
        lambda x, y: dispatch.logcumsumexp(x, 1, out=y),
        lambda x, y: dispatch.linalg.cross(x, x, out=y),
    ],
)
def test_an_output_that_shares_part_of_an_argument_is_refused(call):
    memory = dispatch.arange(12.0)
    x, y = memory[:9].view(3, 3), memory[1:10].view(3, 3)
    with pytest.raises(RuntimeError, match="share"):
        call(x, y)
    assert memory.tolist() == list(range(12))


def test_the_same_view_and_memory_apart_are_fine():
    tensor = dispatch.arange(6.0)
    tensor[1:].add_(tensor[1:])
    tensor[3:].add_(tensor[:3])
    assert tensor.tolist() == [0, 2, 4, 6, 10, 14]


def _outs(dtype=dispatch.float32):
    return dispatch.zeros(3, dtype=dtype)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: dispatch.masked_select(x, x > 0, out=x), "share memory"),
        (lambda x: dispatch.masked_select(x, x > 0, out=x[:2]), "share memory"),
        (
            lambda x: dispatch.masked_select(x, x > 0, out=dispatch.zeros(1).expand(2)),
            "more than one element",
        ),
        (
            lambda x: dispatch.sort(x, out=(dispatch.zeros(1).expand(3), _outs(dispatch.int64))),
            "more than one element",
        ),
        (
            lambda x: dispatch.sort(x, out=(_outs(), dispatch.zeros(1).long().expand(3))),
            "more than one element",
        ),
        (
            lambda x: dispatch.topk(x, 3, out=(dispatch.zeros(1).expand(3), _outs().long())),
            "more than one element",
        ),
        (lambda x: dispatch.sort(x[:2], out=(x[1:], _outs().long()[:2])), "share some elements"),
    ],
)
def test_outputs_of_selections_and_sorts_lie_apart(call, text):
    x = dispatch.tensor([3.0, 1.0, 2.0])
    with pytest.raises(RuntimeError, match=text):
        call(x)
    assert x.tolist() == [3, 1, 2]


def test_a_mask_is_no_output_of_its_selection():
    mask = dispatch.tensor([True, False, True])
    with pytest.raises(RuntimeError, match="share memory"):
        dispatch.masked_select(mask, mask, out=mask)
    assert mask.tolist() == [True, False, True]


def test_a_sort_may_write_its_argument():
    x = dispatch.tensor([3.0, 1.0, 2.0])
    dispatch.sort(x, out=(x, dispatch.zeros(3, dtype=dispatch.int64)))
    assert x.tolist() == [1, 2, 3]


def test_outputs_of_a_fake_sort_have_room_for_the_strides_that_they_get():
    x = dispatch.ones(3, 4, device="meta")
    places = dispatch.zeros(3, 4, dtype=dispatch.int64, device="meta")
    values = dispatch.ones(1, device="meta").expand(3, 4)
    with pytest.raises(RuntimeError, match=r"sort.*out of bounds for storage of size 4"):
        dispatch.sort(x, 1, out=(values, places))
    assert values.stride() == (0, 0)
    dispatch.sort(x, 1, out=(dispatch.ones(4, 3, device="meta").t(), places))
