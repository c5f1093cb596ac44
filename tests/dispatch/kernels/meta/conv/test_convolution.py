"""Sizes, layouts and checks of convolutions and col2im (recorded from PyTorch 2.13)."""

from __future__ import annotations

import pytest

from dispatch._C import arrays, dtypes, tensor as core
from dispatch._C.storage import _new_storage
from dispatch._ops import ops
from dispatch.kernels.meta import rules
from dispatch.kernels.meta.conv import columns

Ints = tuple[int, ...]

STORAGE = _new_storage(1 << 16)
BIG = _new_storage(1 << 20)
META = _new_storage(1 << 16, "meta")


def tensor(
    sizes: Ints,
    strides: Ints | None = None,
    dtype: dtypes.dtype = dtypes.float32,
    storage: core.Storage = STORAGE,
) -> core.Tensor:
    strides = strides or rules.contiguous_strides(sizes)
    return arrays._new_strided(storage, dtype, sizes, strides, 0)


def last(sizes: Ints, **kwargs: object) -> core.Tensor:
    return tensor(sizes, rules.channels_last_strides(sizes), **kwargs)


def arguments(**given: object) -> list[object]:
    p: dict[str, object] = {"bias": None, "stride": [1], "padding": [0], "dilation": [1]}
    p |= {"transposed": False, "output_padding": [0], "groups": 1} | given
    return list(p.values())


def convolve(x: core.Tensor, w: core.Tensor, **given: object) -> core.Tensor:
    result: core.Tensor = ops.aten.convolution(x, w, *arguments(**given))
    return result


@pytest.mark.parametrize(
    ("x", "w", "given", "sizes"),
    [
        ((2, 3, 8, 9), (4, 3, 3, 3), {}, (2, 4, 6, 7)),
        ((2, 3, 8, 9), (4, 3, 3, 3), {"stride": [2], "padding": [1, 0]}, (2, 4, 4, 4)),
        ((2, 4, 8), (6, 2, 3), {"dilation": [2], "groups": 2}, (2, 6, 4)),
        ((1, 4, 5, 6), (4, 3, 3, 2), {"transposed": True, "stride": [2]}, (1, 3, 11, 12)),
        (
            (1, 4, 5),
            (4, 3, 3),
            {"transposed": True, "stride": [3], "output_padding": [2], "groups": 2},
            (1, 6, 17),
        ),
        (
            (1, 1, 3, 3),
            (1, 1, 2, 2),
            {"transposed": True, "dilation": [2], "output_padding": [1]},
            (1, 1, 6, 6),
        ),
        ((0, 3, 4, 5, 6), (2, 3, 1, 2, 3), {}, (0, 2, 4, 4, 4)),
        ((2, 0, 5, 5), (3, 0, 2, 2), {}, (2, 0, 4, 4)),
    ],
)
def test_output_sizes(x: Ints, w: Ints, given: dict[str, object], sizes: Ints) -> None:
    assert convolve(tensor(x), tensor(w), **given).shape == sizes


@pytest.mark.parametrize("which", ["input", "weight", "both"])
def test_channels_last_input_or_weight_gives_channels_last(which: str) -> None:
    x = (tensor if which == "weight" else last)((2, 3, 8, 8))
    w = (tensor if which == "input" else last)((4, 3, 3, 3))
    assert convolve(x, w).stride() == rules.channels_last_strides((2, 4, 6, 6))


def test_three_dimensions_follow_the_layout_only_with_onednn() -> None:
    x, w = last((2, 3, 4, 4, 4)), tensor((4, 3, 2, 2, 2))
    assert convolve(x, w).stride() == rules.channels_last_strides((2, 4, 3, 3, 3))
    single = last((1, 3, 4, 4, 4))  # too little work for oneDNN
    assert convolve(single, w).is_contiguous()
    wide = last((2, 3, 4, 4, 4), dtype=dtypes.float64)
    assert convolve(wide, tensor((4, 3, 2, 2, 2), dtype=dtypes.float64)).is_contiguous()


def test_permuted_weight_of_one_dimension_gives_channels_last() -> None:
    assert convolve(tensor((2, 3, 8)), tensor((4, 3, 3), (9, 1, 3))).stride() == (24, 1, 4)


def test_meta_tensors_give_contiguous_results() -> None:
    x, w = last((2, 3, 8, 8), storage=META), last((4, 3, 3, 3), storage=META)
    assert convolve(x, w).is_contiguous()


@pytest.mark.parametrize(
    ("x", "w", "given", "named"),
    [
        ((2, 3, 8, 8), (4, 2, 3, 3), {}, "channels"),
        ((3, 8, 8), (4, 3, 3, 3), {}, "4 dimensions"),
        ((2, 3, 8, 8), (4, 3, 3, 3), {"padding": [-1]}, "padding"),
        ((2, 3, 8, 8), (4, 3, 3, 3), {"stride": [0]}, "stride"),
        ((2, 3, 8, 8), (4, 3, 3, 3), {"stride": [1, 1, 1]}, "stride"),
        ((2, 3, 8, 8), (4, 3, 3, 3), {"groups": 0}, "groups"),
        ((2, 3, 2, 2), (4, 3, 3, 3), {}, "kernel"),
        ((2, 3, 4, 4), (4, 3, 3, 3), {"dilation": [2]}, "can't be greater than actual input"),
        ((2, 3, 8, 8), (4, 3, 3, 3), {"dilation": [-1]}, "dilation should be greater"),
        ((2, 9, 8, 8), (4, 3, 3, 3), {"groups": 3}, "at least 3 at dimension 0"),
        ((2, 3), (4, 3), {}, "weight"),
        ((2, 3, 0, 8), (4, 3, 3, 3), {"padding": [2]}, "empty"),
    ],
)
def test_wrong_arguments_are_named(x: Ints, w: Ints, given: dict[str, object], named: str) -> None:
    with pytest.raises(RuntimeError, match=rf"^aten::convolution: .*{named}"):
        ops.aten.convolution(tensor(x), tensor(w), *arguments(**given))


def test_bias_has_one_element_for_each_output_channel() -> None:
    with pytest.raises(RuntimeError, match="bias to be 1-dimensional with 4"):
        convolve(tensor((1, 3, 4)), tensor((4, 3, 2)), bias=tensor((3,)))


def test_dtypes_must_agree() -> None:
    with pytest.raises(RuntimeError, match="one dtype"):
        convolve(tensor((1, 3, 4)), tensor((4, 3, 2), dtype=dtypes.float64))


def test_backward_gives_what_the_mask_asks_for() -> None:
    x, w = last((2, 3, 8, 8)), tensor((4, 3, 3, 3))
    args = ([4], [1], [0], [1], False, [0], 1, [True, False, True])
    gx, gw, gb = ops.aten.convolution_backward(tensor((2, 4, 6, 6)), x, w, *args)
    assert gx.shape == (2, 3, 8, 8) and gx.stride() == x.stride()
    assert gw is None
    assert gb.shape == (4,)


def test_col2im_sizes() -> None:
    spec = columns.col2im(tensor((2, 12, 20)), [5, 6], [2, 2], [1, 1], [0, 0], [1, 1])
    assert spec.sizes == (2, 3, 5, 6)


def test_col2im_checks_the_number_of_blocks() -> None:
    with pytest.raises(RuntimeError, match="sliding blocks 20"):
        columns.col2im(tensor((2, 12, 19)), [5, 6], [2, 2], [1, 1], [0, 0], [1, 1])


def test_without_channels_the_layout_is_contiguous() -> None:
    assert convolve(last((2, 0, 8, 8)), tensor((4, 0, 3, 3))).is_contiguous()
    assert convolve(last((0, 3, 8, 8)), tensor((4, 3, 3, 3))).is_contiguous()


@pytest.mark.parametrize(
    ("x", "w", "groups", "onednn"),
    [
        ((1, 4, 4, 4, 4), (4, 2, 2, 2, 2), 2, True),  # groups are worth it
        ((1, 3, 5, 5, 5), (4, 3, 2, 3, 4), 1, False),  # kernels of more than 3 are
        ((1, 3, 5, 5, 5), (4, 3, 2, 4, 4), 1, True),
        ((2, 3, 5, 5, 5), (4, 3, 2, 1, 1), 1, False),  # kernels of 1 are not
        ((2, 3, 5, 5, 5), (4, 3, 1, 2, 1), 1, True),
        ((1, 8, 161, 16, 2), (4, 8, 1, 2, 2), 1, True),  # nor are small images
        ((1, 8, 160, 16, 2), (4, 8, 1, 2, 2), 1, False),
    ],
)
def test_when_onednn_is_worth_it(x: Ints, w: Ints, groups: int, onednn: bool) -> None:
    spec = convolve(last(x, storage=BIG), tensor(w), groups=groups)
    assert spec.is_contiguous() != onednn


@pytest.mark.parametrize(
    ("which", "values", "problem"),
    [
        (1, [5, 6, 7], "output_size must have 2"),
        (1, [0, 6], "output_size must be at least 1"),
        (2, [2], "kernel_size must have 2"),
        (2, [2, 0], "kernel_size must be at least 1"),
        (3, [0, 1], "dilation must be at least 1"),
        (4, [-1, 0], "padding must be at least 0"),
        (5, [1, 0], "stride must be at least 1"),
    ],
)
def test_numbers_of_col2im_are_checked(which: int, values: list[int], problem: str) -> None:
    given = [tensor((2, 12, 20)), [5, 6], [2, 2], [1, 1], [0, 0], [1, 1]]
    given[which] = values
    with pytest.raises(RuntimeError, match=f"^{problem}"):
        columns.col2im(*given)


@pytest.mark.parametrize(
    ("sizes", "problem"),
    [
        ((20,), "2 or 3 dimensions"),
        ((1, 2, 12, 20), "2 or 3 dimensions"),
        ((2, 0, 20), "only the batch"),
        ((2, 12, 0), "only the batch"),
        ((2, 13, 20), "divisible by the product of"),
    ],
)
def test_what_col2im_takes_has_two_or_three_dimensions(sizes: Ints, problem: str) -> None:
    with pytest.raises(RuntimeError, match=problem):
        columns.col2im(tensor(sizes), [5, 6], [2, 2], [1, 1], [0, 0], [1, 1])


@pytest.mark.parametrize(
    ("x", "w", "groups", "transposed", "wanted"),
    [
        ((1, 3, 4, 4), (0, 3, 2, 2), 1, False, (1, 0, 3, 3)),
        ((1, 4, 4, 4), (3, 2, 2, 2), 2, False, (1, 3, 3, 3)),
        ((1, 4, 4, 4), (1, 2, 2, 2), 2, False, (1, 1, 3, 3)),
        ((1, 4, 4, 4), (3, 2, 2, 2), 2, True, (1, 4, 5, 5)),
    ],
)
def test_meta_looks_at_no_more_than_the_channels_of_the_input(
    x: Ints, w: Ints, groups: int, transposed: bool, wanted: Ints
) -> None:
    given = {"groups": groups, "transposed": transposed}
    result = convolve(tensor(x, storage=META), tensor(w, storage=META), **given)
    assert tuple(result.shape) == wanted
    with pytest.raises(RuntimeError, match=r"convolution.*groups"):
        convolve(tensor(x), tensor(w), **given)


def test_meta_looks_at_the_channels_of_the_input_and_not_at_the_bias() -> None:
    x, w, b = (tensor(s, storage=META) for s in ((1, 5, 4, 4), (4, 2, 2, 2), (1,)))
    with pytest.raises(RuntimeError, match=r"convolution.*channels"):
        convolve(x, w, groups=2)
    assert tuple(convolve(x[:, :2], w, bias=b).shape) == (1, 4, 3, 3)
    with pytest.raises(RuntimeError, match=r"convolution.*bias"):
        convolve(tensor((1, 2, 4, 4)), tensor((4, 2, 2, 2)), bias=tensor((1,)))
