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


@pytest.mark.parametrize(("size", "step"), [(2, 1), (5, 1), (3, 2), (1, 3), (2, 4)])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_windows_are_added_where_unfold_took_them(size: int, step: int, dim: int) -> None:
    places = dispatch.arange(84).view(12, 7)
    windows = places.unfold(dim, size, step)
    values = dispatch.arange(windows.numel()).view(windows.shape) + 1
    want = [0] * 84
    for place, value in zip(windows.flatten().tolist(), values.flatten().tolist(), strict=True):
        want[place] += value
    got = aten.unfold_backward(values, [12, 7], dim, size, step)
    assert got.flatten().tolist() == want


@pytest.mark.parametrize("sizes", [[3, 2], [4, 3]])
def test_windows_that_do_not_fit_are_refused(sizes: list[int]) -> None:
    with pytest.raises(RuntimeError, match=r"unfold_backward: expected windows of 3 among 5"):
        aten.unfold_backward(dispatch.ones(sizes), [5], 0, 3, 1)
    with pytest.raises(RuntimeError, match=r"unfold_backward: expected windows of 3 among 5"):
        aten.unfold_backward(dispatch.ones(3, 3), [5], 0, 3, 1 << 62)
    assert aten.unfold_backward(dispatch.ones(0, 3), [5], 0, 3, 4).tolist() == [0.0] * 5


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize(
    ("window", "error", "wrong"),
    [
        ((0, 3, 0), ValueError, "step is 0"),
        ((0, -3, 1), RuntimeError, "size is -3"),
        ((2, 3, 1), IndexError, "Dimension out of range"),
    ],
)
def test_windows_that_are_none_are_refused(device, window, error, wrong):
    """Where data could not tell, on the meta device, too."""
    with pytest.raises(error, match=wrong):
        aten.unfold_backward(dispatch.ones(2, 3, device=device), [6], *window)


@pytest.mark.parametrize("order", ["plain", "turned", "offset", "gaps"])
def test_a_scatter_keeps_the_strides_of_what_it_copies(order: str) -> None:
    base = dispatch.arange(24.0)
    given = {
        "plain": lambda: base.view(4, 6),
        "turned": lambda: base.view(6, 4).t(),
        "offset": lambda: base[6:].view(3, 6),
        "gaps": lambda: base.view(4, 6)[:, ::2],
    }[order]()
    made = dispatch.select_scatter(given, dispatch.zeros(given.shape[0]), 1, 1)
    assert made.stride() == given.stride()
    assert made[:, 1].tolist() == [0.0] * given.shape[0]
    assert made[:, 2].tolist() == given[:, 2].tolist()
    assert base.tolist() == list(range(24))
