"""Factories: dtype, device and strides of what they make, their values, and their errors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dispatch
from dispatch import ops

aten = ops.aten


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_dtype_and_device_come_from_the_arguments(device: str) -> None:
    for made, dtype in (
        (dispatch.zeros(2, device=device), dispatch.float32),
        (dispatch.full([2], 1, device=device), dispatch.int64),
        (dispatch.full([2], True, device=device), dispatch.bool),
        (dispatch.full([2], 1j, device=device), dispatch.complex64),
        (dispatch.ones(2, dtype=dispatch.int8, device=device), dispatch.int8),
        (dispatch.arange(3, device=device), dispatch.int64),
        (dispatch.arange(3.0, device=device), dispatch.float32),
        (dispatch.scalar_tensor(3, device=device), dispatch.float32),
    ):
        assert (made.dtype, made.device.type) == (dtype, device)


@pytest.mark.parametrize(
    ("start", "end", "step"),
    [(0, 5, 1), (5, 0, -2), (0, 1, 0.3), (0.5, 5.7, 1.5), (0, 0, 1), (-3, 20, 7), (0, 9.9, 0.1)],
)
@pytest.mark.parametrize("dtype", [None, dispatch.float64, dispatch.float32])
def test_arange_has_the_values_of_numpy(start: Any, end: Any, step: Any, dtype: Any) -> None:
    made = dispatch.arange(start, end, step, dtype=dtype)
    expected = np.arange(start, end, step)
    np.testing.assert_allclose(made.numpy(), expected.astype(made.numpy().dtype), rtol=1e-6)
    assert made.shape == dispatch.arange(start, end, step, dtype=dtype, device="meta").shape


def test_arange_counts_in_integers_for_int64_and_in_doubles_otherwise() -> None:
    assert dispatch.arange(0.5, 5.7, 1.5, dtype=dispatch.int64).tolist() == [0, 1, 2, 3, 4]
    assert dispatch.arange(0.5, 5.7, 1.5, dtype=dispatch.int32).tolist() == [0, 1, 2, 3]


def test_like_factories_keep_dense_strides() -> None:
    base = dispatch.empty(2, 3, 4).permute(2, 0, 1)
    assert aten.empty_like.default(base).stride() == base.stride()
    assert dispatch.zeros_like(base[:, :, ::2]).stride() == (1, 8, 4)
    formatted = dispatch.ones_like(
        dispatch.empty(2, 3, 4, 5), memory_format=dispatch.channels_last, dtype=dispatch.int32
    )
    assert formatted.stride() == (60, 1, 15, 3)
    assert formatted.dtype == dispatch.int32


def test_new_factories_take_options_from_self() -> None:
    base = dispatch.zeros(2, dtype=dispatch.float64, device="meta")
    assert base.new_zeros([3]).dtype == dispatch.float64
    assert base.new_full([3], 2.0).is_meta
    assert base.new_ones([3], device="cpu").tolist() == [1, 1, 1]
    assert base.new_empty_strided([2, 2], [1, 2]).stride() == (1, 2)


def test_empty_permuted_lays_dimensions_out_in_the_given_order() -> None:
    assert aten.empty_permuted.default([2, 3, 4], [2, 0, 1]).stride() == (3, 1, 6)


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda d: dispatch.empty([-1], device=d), RuntimeError),
        (
            lambda d: dispatch.empty([2], device=d, memory_format=dispatch.channels_last),
            RuntimeError,
        ),
        (
            lambda d: dispatch.empty([2], device=d, memory_format=dispatch.preserve_format),
            RuntimeError,
        ),
        (lambda d: dispatch.empty_strided([2], [1, 1], device=d), RuntimeError),
        (lambda d: dispatch.empty_strided([2], [-1], device=d), RuntimeError),
        (
            lambda d: aten.empty_permuted.default([2, 3], [0, 0], device=dispatch.device(d)),
            RuntimeError,
        ),
        (lambda d: dispatch.arange(0, 5, 0, device=d), RuntimeError),
        (lambda d: dispatch.arange(0, 5, -1, device=d), RuntimeError),
        (lambda d: dispatch.arange(0, float("inf"), device=d), RuntimeError),
        (lambda d: dispatch.empty([2], device=d, layout=dispatch.sparse_coo), NotImplementedError),
    ],
)
def test_bad_arguments_raise(call: Callable[[str], Any], error: type, device: str) -> None:
    with pytest.raises(error):
        call(device)


def test_values_that_a_dtype_cannot_hold_are_refused() -> None:
    for value, dtype in ((300, "uint8"), (-129, "int8"), (1e10, "float16"), (1j, "float32")):
        with pytest.raises(RuntimeError, match="overflow"):
            dispatch.full([2], value, dtype=getattr(dispatch, dtype))
    assert dispatch.full([2], -3, dtype=dispatch.uint8).tolist() == [253, 253]
    assert dispatch.full([1], float("inf"), dtype=dispatch.float16).tolist() == [float("inf")]


def test_unknown_backend_names_operator_and_key() -> None:
    with pytest.raises(NotImplementedError, match=r"aten::empty\.memory_format.*CUDA"):
        dispatch.empty([2], device="cuda")


def test_out_variants_resize_and_fill() -> None:
    out = dispatch.empty(0, dtype=dispatch.int32)
    assert aten.ones.out([2, 2], out=out) is out
    assert out.tolist() == [[1, 1], [1, 1]]
    aten.full.out([3], 7, out=out.resize_([0]))
    assert out.tolist() == [7, 7, 7]
    aten.arange.out(4, out=out.resize_([0]))
    assert out.tolist() == [0, 1, 2, 3]


def test_functions_take_sizes_one_by_one_and_requires_grad() -> None:
    made = dispatch.zeros(2, 3, requires_grad=True)
    assert tuple(made.shape) == (2, 3)
    assert made.requires_grad and made.is_leaf
    with pytest.raises(TypeError):
        dispatch.zeros("a")


def test_a_zero_tensor_has_its_key():
    made = ops.aten._efficientzerotensor([2])
    assert dispatch._C._dispatch_keys(made).has(dispatch.DispatchKey.ZeroTensor)
    assert (made + 1).tolist() == [1, 1]


def test_one_short_float_takes_any_number():
    """PyTorch casts a number into a single element, and checks it for more."""
    half = {"dtype": dispatch.float16}
    assert dispatch.full((), -1e9, **half).item() == float("-inf")
    assert dispatch.scalar_tensor(1e9, **half).item() == float("inf")
    x = dispatch.ones(2, **half)
    x[0] = 1e9
    assert dispatch.where(x > 1, x, -1e9).tolist() == [float("inf"), float("-inf")]
    with pytest.raises(RuntimeError, match="overflow"):
        dispatch.full((2,), 1e9, **half)


class Names(dispatch.TorchDispatchMode):
    """Collects the names of operators."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(func.name().partition(".")[0].removeprefix("aten::"))
        return func(*args, **(kwargs or {}))


def test_vander_asks_for_the_dtype_and_looks_at_each_part_anew() -> None:
    with Names() as log:
        dispatch.vander(dispatch.ones(3), 2, True)
    assert log.names[1:] == [
        "promote_types", "empty", "select", "fill_", "slice", "unsqueeze", "copy_", "slice",
        "slice", "cumprod", "copy_",
    ]  # fmt: skip
