"""scaled_dot_product_attention: which implementation, which layout, which operators.

Recorded from PyTorch 2.13 (`torch._fused_sdp_choice` and a logging mode under FakeTensorMode).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import dispatch
from dispatch import ops
from dispatch.fake import FakeTensorMode
from dispatch.kernels.composite.attention.scaled_dot_product import allow
from dispatch.modes import TorchDispatchMode

FLASH = "aten._scaled_dot_product_flash_attention_for_cpu.default"


class Log(TorchDispatchMode):
    """Names of the operators that reach the mode, factories left out."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if "empty.memory_format" not in str(func):
            self.names.append(str(func))
        return func(*args, **(kwargs or {}))


def empty(*sizes: int, dtype: Any = dispatch.float32, device: str = "cpu") -> Any:
    return ops.aten.empty.memory_format(list(sizes), dtype=dtype, device=device)


def heads_last(device: str = "cpu") -> Any:
    return ops.aten.transpose.int(empty(2, 16, 4, 8, device=device), 1, 2)


def attention(*args: Any, **kwargs: Any) -> tuple[Any, list[str]]:
    """The result, and the operators that gave it."""
    with Log() as log:
        out = ops.aten.scaled_dot_product_attention(*args, **kwargs)
    return out, log.names


@pytest.mark.parametrize(
    ("device", "strides"),
    [("cpu", (512, 8, 32, 1)), ("meta", (512, 128, 8, 1)), ("cuda", (512, 8, 32, 1))],
)
def test_fused_kernels_lay_heads_out_last_but_one(device: str, strides: tuple[int, ...]) -> None:
    with FakeTensorMode():
        q = heads_last(device)
        out, _ = attention(q, q, q)
    assert out.stride() == strides


def test_flash_is_chosen_for_plain_inputs() -> None:
    with FakeTensorMode():
        q = empty(2, 4, 16, 8)
        assert attention(q, q, q, is_causal=True)[1] == [FLASH]
        grouped = empty(2, 2, 16, 8)
        assert attention(q, grouped, grouped, enable_gqa=True)[1] == [FLASH]
        assert attention(q, q, q, empty(2, 1, 16, 16))[1] == [FLASH]


def test_bool_mask_is_converted_before_the_kernel() -> None:
    with FakeTensorMode():
        q = empty(2, 4, 16, 8, dtype=dispatch.float16)
        _, names = attention(q, q, q, empty(16, 16, dtype=dispatch.bool))
    assert names == ["aten.scalar_tensor.default"] * 2 + ["aten.where.self", FLASH]


@pytest.mark.parametrize(
    ("sizes", "given"),
    [
        (((4, 16, 8),) * 3, {}),
        (((2, 4, 16, 8), (2, 4, 16, 8), (2, 4, 16, 6)), {}),
        (((2, 4, 16, 8), (2, 1, 16, 8), (2, 1, 16, 8)), {}),
        (((2, 4, 16, 8), (2, 4, 16, 8), (2, 4, 16, 8)), {"attn_mask": (4, 16, 16)}),
        (((2, 4, 16, 8), (2, 2, 16, 8), (2, 1, 16, 8)), {"enable_gqa": True}),
    ],
)
def test_other_inputs_are_decomposed(sizes: Any, given: dict[str, Any]) -> None:
    with FakeTensorMode():
        tensors = [empty(*s) for s in sizes]
        if "attn_mask" in given:
            given = {"attn_mask": empty(*given["attn_mask"])}
        out, names = attention(*tensors, **given)
    assert FLASH not in names and "aten._safe_softmax.default" in names
    assert tuple(out.shape) == (*sizes[0][:-1], sizes[2][-1])


def test_decomposition_is_pytorch_s() -> None:
    with FakeTensorMode():
        q = empty(16, 8)
        _, names = attention(q, q, q)
    assert names == [
        "aten.mul.Scalar",
        "aten.transpose.int",
        "aten.mul.Scalar",
        "aten.mm.default",
        "aten._safe_softmax.default",
        "aten.mm.default",
    ]


def test_half_is_computed_in_float() -> None:
    with FakeTensorMode():
        q = empty(16, 8, dtype=dispatch.bfloat16)
        out, weights = ops.aten._scaled_dot_product_attention_math(q, q, q)
    assert out.dtype is weights.dtype is dispatch.bfloat16


def test_no_elements_give_zeros_of_the_value_s_width() -> None:
    with FakeTensorMode():
        q, k, v = empty(2, 4, 3, 8), empty(2, 4, 0, 8), empty(2, 4, 0, 5)
        out, names = attention(q, k, v)
    assert tuple(out.shape) == (2, 4, 3, 5)
    assert names[0] == "aten.zeros.default"


@pytest.mark.parametrize(
    ("kinds", "mask", "named"),
    [
        (("float32", "float16", "float32"), None, "same dtype"),
        (("float16",) * 3, "float64", "attn_mask"),
        (("float32",) * 3, "int64", "attn_mask"),
    ],
)
def test_dtypes_are_checked(kinds: tuple[str, ...], mask: str | None, named: str) -> None:
    with FakeTensorMode():
        tensors = [empty(2, 4, 16, 8, dtype=getattr(dispatch, kind)) for kind in kinds]
        attn_mask = None if mask is None else empty(16, 16, dtype=getattr(dispatch, mask))
        with pytest.raises(RuntimeError, match=rf"scaled_dot_product_attention: .*{named}"):
            ops.aten.scaled_dot_product_attention(*tensors, attn_mask)


def test_a_mask_beside_is_causal_raises_where_it_is_added() -> None:
    with FakeTensorMode():
        q = empty(4, 16, 8)
        with pytest.raises(RuntimeError, match="is_causal"):
            attention(q, q, q, empty(16, 16), 0.0, True)


def test_heads_must_divide() -> None:
    with FakeTensorMode():
        q, k = empty(2, 4, 16, 8), empty(2, 3, 16, 8)
        with pytest.raises(RuntimeError, match="3 heads of key"):
            attention(q, k, k, enable_gqa=True)


def test_the_choice_itself() -> None:
    q = empty(2, 4, 16, 8)
    choose = ops.aten._fused_sdp_choice
    assert choose(q, q, q) == 1
    assert choose(q, q, q, None, 0.5) == 0
    assert choose(heads_last("meta"), heads_last("meta"), heads_last("meta")) == 0


@pytest.fixture
def allowing() -> Iterator[Any]:
    """`allow`; at the end everything is allowed again."""
    yield allow
    allow(True, True, True)


def test_what_is_not_allowed_is_not_chosen(allowing: Any) -> None:
    q = dispatch.ones(2, 4, 16, 8)
    allowing(flash=False, efficient=True, math=True)
    names = attention(q, q, q)[1]
    assert FLASH not in names and names.count("aten.bmm.default") == 2
    allowing(flash=True, efficient=False, math=False)
    assert attention(q, q, q)[1] == [FLASH]
    with pytest.raises(RuntimeError, match="no implementation that is allowed"):
        attention(q, q, q, dropout_p=0.5)
    with pytest.raises(RuntimeError, match="no implementation that is allowed"):
        ops.aten._fused_sdp_choice(q, q, q, None, 0.5)
    meta = q.to("meta")
    assert attention(meta, meta, meta, dropout_p=0.5)[0].shape == q.shape


def test_on_an_accelerator_the_other_kernel_takes_over(allowing: Any) -> None:
    names = {
        "flash": "aten._scaled_dot_product_flash_attention.default",
        "efficient": "aten._scaled_dot_product_efficient_attention.default",
    }
    with FakeTensorMode():
        q = empty(2, 4, 16, 8, dtype=dispatch.float16, device="cuda")
        for flash, efficient, name in ((1, 1, "flash"), (0, 1, "efficient"), (1, 0, "flash")):
            allowing(flash, efficient, math=False)
            assert attention(q, q, q)[1] == [names[name]]
        allowing(flash=False, efficient=False, math=True)
        assert "aten.bmm.default" in attention(q, q, q)[1]


def test_operands_of_two_dtypes_are_not_fused() -> None:
    x = dispatch.zeros(1, 2, 5, 5)
    assert ops.aten._fused_sdp_choice(x, x, x) == 1
    assert ops.aten._fused_sdp_choice(x, x.double(), x) == 0
