"""Copies and fills on the CPU: conversions between dtypes, bits, overlap, and errors."""

import warnings

import numpy as np
import pytest

import dispatch
from dispatch import ops

aten = ops.aten
NAMES = ("bool", "uint8", "int8", "int32", "int64", "uint16", "float16", "bfloat16", "float32",
         "float64", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2")  # fmt: skip


@pytest.mark.parametrize("source", NAMES)
@pytest.mark.parametrize("target", NAMES)
def test_small_numbers_survive_every_conversion(source: str, target: str) -> None:
    base = dispatch.tensor([0, 1, 1, 0], dtype=getattr(dispatch, source))
    made = base.to(getattr(dispatch, target))
    assert str(made.dtype).endswith(target)
    assert [complex(v) for v in made.tolist()] == [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        ([1.9, -1.9, 2.5], "int32", [1, -1, 2]),
        ([float("nan"), 0.0, 2.5], "bool", [True, False, True]),
        ([300, -1, 257], "uint8", [44, 255, 1]),
        ([1 + 2j, -3j], "float32", [1, 0]),
        ([1j, 0j], "bool", [True, False]),
        ([500.0, float("inf"), -1e9], "float8_e4m3fn", [448, 448, -448]),
        ([1.0 + 2**-9, 1e39], "bfloat16", [1.0, float("inf")]),
        ([float("inf")], "int64", [-(2**63)]),
    ],
)
def test_conversions_are_those_of_pytorch(values: list, dtype: str, expected: list) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = dispatch.tensor(values).to(getattr(dispatch, dtype))
    assert made.tolist() == expected


def test_double_is_rounded_to_half_through_float() -> None:
    value = 1 + 2**-11 + 2**-40  # a tie for float16 once it is a float32
    assert dispatch.tensor([value], dtype=dispatch.float64).to(dispatch.float16).tolist() == [1.0]


@pytest.mark.parametrize("sizes", [(3, 4), (4,), (1, 4), ()])
def test_source_is_broadcast(sizes: tuple) -> None:
    source = dispatch.arange(int(np.prod(sizes)), dtype=dispatch.float64).reshape(list(sizes))
    target = dispatch.zeros(4, 3).t()
    target.copy_(source)
    np.testing.assert_array_equal(target.numpy(), np.broadcast_to(source.numpy(), (3, 4)))


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_source_that_does_not_broadcast_is_refused(device: str) -> None:
    target = dispatch.zeros(3, device=device)
    for sizes in ([2], [2, 3], [1, 3]):
        with pytest.raises(RuntimeError, match="broadcast"):
            target.copy_(dispatch.ones(sizes, device=device))


def test_overlapping_memory_is_refused() -> None:
    base = dispatch.arange(6.0)
    with pytest.raises(RuntimeError, match="share memory"):
        base[1:].copy_(base[:-1])
    with pytest.raises(RuntimeError, match="share memory"):
        base[:1].expand(3).copy_(dispatch.ones(3))
    assert base.tolist() == [0, 1, 2, 3, 4, 5]
    base.copy_(base.view(6))


def test_bits_of_both_sides_are_applied() -> None:
    source = dispatch.tensor([1 + 2j, 3 - 4j])
    target = dispatch.zeros(2, dtype=dispatch.complex64)
    target.copy_(source.conj())
    assert target.tolist() == [1 - 2j, 3 + 4j]
    target.conj().copy_(source)
    assert target.tolist() == [1 - 2j, 3 + 4j]
    target.conj().fill_(5j)
    assert target.tolist() == [-5j, -5j]
    assert source.conj().clone().is_conj() is False


def test_meta_has_nothing_to_copy_from() -> None:
    with pytest.raises(NotImplementedError, match="meta"):
        dispatch.zeros(2).copy_(dispatch.zeros(2, device="meta"))
    on_meta = dispatch.zeros(2, device="meta")
    assert on_meta.copy_(dispatch.ones(2)) is on_meta


def test_complex32_is_copied_by_its_bits() -> None:
    base = dispatch.tensor([[1 + 2j, 3j], [4, 5]]).to(dispatch.complex32)
    copied = base.t().clone(memory_format=dispatch.contiguous_format)
    assert copied.to(dispatch.complex64).tolist() == [[1 + 2j, 4], [3j, 5]]


def test_fill_writes_every_element_of_any_geometry() -> None:
    for view in (lambda t: t, lambda t: t.t(), lambda t: t[:, ::2], lambda t: t[0, 0]):
        base = dispatch.zeros(3, 4, dtype=dispatch.int16)
        view(base).fill_(-2)
        assert int(base.numpy().sum()) == -2 * view(base).numel()
    with pytest.raises(RuntimeError, match="dimensions"):
        dispatch.zeros(2).fill_(dispatch.ones(1))
    assert dispatch.ones(3)[::2].zero_().tolist() == [0, 0]


@pytest.mark.parametrize("name", NAMES)
def test_item_is_a_python_number(name: str) -> None:
    value = dispatch.tensor([1], dtype=getattr(dispatch, name)).item()
    assert value == 1 and type(value) in (bool, int, float, complex)


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_item_needs_one_element_with_a_value(device: str) -> None:
    with pytest.raises(RuntimeError, match="2 elements"):
        dispatch.zeros(2, device=device).item()
    if device == "meta":
        with pytest.raises(RuntimeError, match="meta"):
            dispatch.zeros(1, device=device).item()


def test_clone_keeps_dense_strides_unless_a_format_is_given() -> None:
    base = dispatch.zeros(2, 3, 4, 5).transpose(1, 3)
    assert base.clone().stride() == base.stride()
    assert base.clone(memory_format=dispatch.contiguous_format).is_contiguous()
    assert dispatch.zeros(2, 6).t()[::2].clone().stride() == (1, 3)


def test_to_returns_self_when_nothing_changes() -> None:
    base = dispatch.zeros(2, 3)
    assert base.to(dispatch.float32) is base
    assert base.contiguous() is base and base.float() is base and base.type_as(base) is base
    assert base.to(dispatch.float32, copy=True) is not base
    assert base.t().contiguous().stride() == (2, 1)


def test_functional_copy_keeps_strides_and_offset() -> None:
    base = dispatch.ones(4, 4)[1:, ::2]
    made = aten.copy.default(base, dispatch.zeros(()))
    assert (made.stride(), made.storage_offset()) == (base.stride(), base.storage_offset())
    assert base.tolist() == [[1, 1]] * 3 and made.tolist() == [[0, 0]] * 3
