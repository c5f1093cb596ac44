"""Kernels that are another operator: what a backend gets from the few that it registers."""

from typing import Any

import pytest

import dispatch
from dispatch import ops
from dispatch._C.arrays import _new_strided
from dispatch._C.storage import _new_storage

KEY = "PrivateUse1"


def on_device(*sizes: int) -> dispatch.Tensor:
    """A float32 tensor of a device that holds no bytes here."""
    steps = [1] * len(sizes)
    for i in reversed(range(len(sizes) - 1)):
        steps[i] = steps[i + 1] * sizes[i + 1]
    storage = _new_storage(4 * max(1, dispatch.Size(sizes).numel()), "privateuseone")
    return _new_strided(storage, dispatch.float32, list(sizes), steps, 0)


@pytest.fixture
def seen(library: Any) -> dict[str, list[Any]]:
    """A backend that has `empty`, and notes what else is asked of it."""
    calls: dict[str, list[Any]] = {}
    lib = library("aten", "IMPL", KEY)
    lib.impl("empty.memory_format", lambda size, **options: on_device(*size))

    def note(name: str, result: Any) -> None:
        def kernel(*args: Any, **kwargs: Any) -> Any:
            calls.setdefault(name, []).append((args, kwargs))
            return result(*args, **kwargs)

        lib.impl(name, kernel)

    calls["note"] = [note]
    return calls


def test_a_backend_with_the_out_variant_and_empty_has_the_others(seen: dict[str, Any]) -> None:
    seen["note"][0]("sin.out", lambda x, *, out: out)
    x = on_device(2, 3)
    y = dispatch.sin(x)
    assert (tuple(y.shape), y.device.type) == ((2, 3), "privateuseone")
    assert seen["sin.out"][0][1]["out"] is y
    assert x.sin_() is x
    assert seen["sin.out"][1][1]["out"] is x


def test_a_hand_written_kernel_for_every_backend_goes_by_its_out_variant(
    seen: dict[str, Any],
) -> None:
    seen["note"][0]("abs.out", lambda x, *, out: out)
    assert dispatch.abs(on_device(2)).device.type == "privateuseone"
    assert len(seen["abs.out"]) == 1
    assert dispatch.abs(dispatch.tensor([-1.0])).tolist() == [1.0]


def test_copies_across_devices_are_the_backends(seen: dict[str, Any]) -> None:
    seen["note"][0]("_copy_from", lambda src, dst, *flags: dst)
    x, y = on_device(2), dispatch.zeros(2)
    assert x.copy_(y) is x
    ((args, _),) = seen["_copy_from"]
    assert args[0] is y and args[1] is x


def test_a_backend_without_the_out_variant_is_told_so(seen: dict[str, Any]) -> None:
    with pytest.raises(NotImplementedError, match=r"aten::sin\.out: no kernel for the key"):
        dispatch.sin(on_device(2))


def test_lists_are_written_element_by_element() -> None:
    x = dispatch.ones(2)
    dispatch._foreach_add_([x], 1)
    assert x._version == 1


@pytest.mark.parametrize("key", ["CUDA", KEY])
@pytest.mark.parametrize("name", ["add.Tensor", "sin_", "clone", "sum", "embedding"])
def test_built_in_operators_have_kernels_for_every_backend(name: str, key: str) -> None:
    assert dispatch._C._dispatch_has_computed_kernel_for_dispatch_key(f"aten::{name}", key)


@pytest.mark.parametrize("name", ["view", "as_strided", "add.out", "mm.out"])
def test_views_and_out_variants_are_the_backends_own(name: str) -> None:
    assert not dispatch._C._dispatch_has_computed_kernel_for_dispatch_key(f"aten::{name}", KEY)


def test_out_variants_of_lists_take_the_results_dtypes() -> None:
    x = [dispatch.ones(2), dispatch.ones(3)]
    out = [dispatch.empty(0), dispatch.empty(3)]
    dispatch.ops.aten._foreach_neg.out(x, out=out)
    assert [t.tolist() for t in out] == [[-1.0] * 2, [-1.0] * 3]
    with pytest.raises(RuntimeError, match=r"_foreach_neg\.out: Expected out tensor to have dtype"):
        dispatch.ops.aten._foreach_neg.out(x, out=[dispatch.empty(0), dispatch.empty(3).int()])


@pytest.mark.parametrize(
    ("op", "args"), [("new_full", ([2], 1.1)), ("full_like", (1.1,)), ("new_ones", ([2],))]
)
def test_what_is_made_into_out_is_made_in_its_dtype(op: str, args: Any) -> None:
    out = dispatch.empty(2, dtype=dispatch.float64)
    getattr(dispatch.ops.aten, op).out(dispatch.ones(2), *args, out=out)
    assert out.tolist() == [args[-1] if op != "new_ones" else 1] * 2


META_OUTS = [
    (ops.aten.isnan.out, (), "float32", "float16"),
    (ops.aten.isnan.out, (), "float32", "int8"),
    (ops.aten.add.Scalar_out, (1,), "float32", "complex64"),
    (ops.aten.roll.out, ([1], [0]), "int64", "float64"),
]


@pytest.mark.parametrize(("op", "more", "given", "dtype"), META_OUTS)
def test_without_data_an_out_variant_that_was_made_casts(
    op: Any, more: Any, given: str, dtype: str
) -> None:
    """PyTorch's Meta kernels of these are references, which cast into what they are given."""
    for device in ("meta", "cpu"):
        x = dispatch.zeros(2, 3, dtype=getattr(dispatch, given), device=device)
        out = dispatch.empty(0, dtype=getattr(dispatch, dtype), device=device)
        if device == "cpu":
            with pytest.raises(RuntimeError, match="Expected out tensor to have dtype"):
                op(x, *more, out=out)
            assert out.shape == (0,)
        else:
            assert op(x, *more, out=out) is out
            assert (out.shape, out.dtype) == ((2, 3), getattr(dispatch, dtype))


def test_without_data_an_out_variant_casts_no_more_than_is_safe() -> None:
    x = dispatch.zeros(2, 3, dtype=dispatch.complex64, device="meta")
    out = dispatch.empty(0, device="meta")
    with pytest.raises(RuntimeError, match="can't be cast"):
        ops.aten.add.Scalar_out(x, 1, out=out)
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype"):
        ops.aten.alias_copy.out(x, out=out)
    assert out.shape == (0,)


def test_without_data_an_output_that_overlaps_itself_is_no_matter() -> None:
    out = dispatch.empty(3, device="meta").expand(2, 3)
    assert ops.aten.add.Scalar_out(dispatch.zeros(2, 3, device="meta"), 1, out=out) is out


COPYING = [
    (ops.aten.index_add.out, ((3, 2), 0, [0, 1], (2, 2)), ["out"]),
    (ops.aten.index_copy.out, ((3, 2), 0, [0, 1], (2, 2)), ["out"]),
    (ops.aten.isin.Tensor_Scalar_out, ((2, 3), 1), ["out"]),
    (ops.aten.linalg_cross.out, ((2, 3), (2, 3)), ["out"]),
    (ops.aten._log_softmax_backward_data.out, ((2, 3), (2, 3), 1, dispatch.float32), ["out"]),
    (ops.aten.binary_cross_entropy.out, ((2, 3), (2, 3)), ["out"]),
    (ops.aten.median.dim_values, ((2, 3), 1), ["values", "indices"]),
]


@pytest.mark.parametrize(("op", "given", "names"), COPYING)
def test_without_data_a_reference_s_results_are_cast_into_outputs(
    op: Any, given: Any, names: list[str]
) -> None:
    for device in ("cpu", "meta"):
        tensors = {
            tuple: lambda sizes: dispatch.zeros(*sizes, device=device),  # noqa: B023
            list: lambda numbers: dispatch.tensor(numbers, device=device),  # noqa: B023
        }
        args = [tensors[type(a)](a) if type(a) in tensors else a for a in given]
        outs = {n: dispatch.empty(0, dtype=dispatch.complex64, device=device) for n in names}
        if device == "cpu":
            with pytest.raises(RuntimeError, match="dtype"):
                op(*args, **outs)
        else:
            op(*args, **outs)
            assert all(t.dtype is dispatch.complex64 for t in outs.values())
