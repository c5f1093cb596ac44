"""Views share storage and have the right geometry; bad arguments change nothing."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dispatch
from dispatch import ops

aten = ops.aten


def numbers(*sizes: int, device: str = "cpu") -> dispatch.Tensor:
    """0, 1, 2, ... as float32."""
    n = int(np.prod(sizes))
    return dispatch.arange(n, dtype=dispatch.float32).reshape(list(sizes)).clone().to(device)


VIEWS: dict[str, tuple[Callable[[Any], Any], Callable[[np.ndarray], Any]]] = {
    "transpose": (lambda t: t.transpose(0, -1), lambda a: a.swapaxes(0, -1)),
    "permute": (lambda t: t.permute(2, 0, 1), lambda a: a.transpose(2, 0, 1)),
    "select": (lambda t: t.select(1, -1), lambda a: a[:, -1]),
    "slice": (lambda t: aten.slice.Tensor(t, 2, 1, 100, 2), lambda a: a[:, :, 1:100:2]),
    "narrow": (lambda t: t.narrow(2, -3, 2), lambda a: a[:, :, 1:3]),
    "view": (lambda t: t.view(6, -1), lambda a: a.reshape(6, 4)),
    "unsqueeze": (lambda t: t.unsqueeze(-1), lambda a: a[..., None]),
    "squeeze": (lambda t: t[:1].squeeze(0), lambda a: a[0]),
    "diagonal": (lambda t: t.diagonal(1, 1, 2), lambda a: a.diagonal(1, 1, 2)),
    "expand": (lambda t: t[:1].expand(5, -1, 4), lambda a: np.broadcast_to(a[:1], (5, 3, 4))),
    "flatten": (lambda t: t.flatten(1), lambda a: a.reshape(2, 12)),
    "unflatten": (lambda t: t.unflatten(2, [2, -1]), lambda a: a.reshape(2, 3, 2, 2)),
    "as_strided": (lambda t: t.as_strided([2, 2], [1, 3], 4), lambda a: np.array([[4, 7], [5, 8]])),
}


@pytest.mark.parametrize("name", VIEWS)
def test_view_shows_the_values_of_its_base(name: str) -> None:
    view, expected = VIEWS[name]
    base = numbers(2, 3, 4)
    made = view(base)
    assert made.untyped_storage() is base.untyped_storage()
    assert made._base is base
    np.testing.assert_array_equal(made.numpy(), expected(base.numpy()))


@pytest.mark.parametrize("name", VIEWS)
def test_view_of_a_meta_tensor_has_the_same_geometry(name: str) -> None:
    view, _ = VIEWS[name]
    on_cpu, on_meta = view(numbers(2, 3, 4)), view(numbers(2, 3, 4, device="meta"))
    assert on_meta.is_meta
    assert (on_meta.shape, on_meta.stride()) == (on_cpu.shape, on_cpu.stride())
    assert on_meta.storage_offset() == on_cpu.storage_offset()


# a view of a tensor; its sizes, strides and offset
PLACES: dict[str, tuple[Callable[[], Any], list[int], list[int], int]] = {
    "expand by dimensions": (
        lambda: numbers(2, 3).expand(4, 5, 2, 3),
        [4, 5, 2, 3],
        [0, 0, 3, 1],
        0,
    ),
    "expand by ones": (lambda: numbers(3).expand(1, 1, 3), [1, 1, 3], [3, 3, 1], 0),
    "expand a scalar": (lambda: numbers().expand(2, 3), [2, 3], [0, 0], 0),
    "expand a scalar to ones": (lambda: numbers().expand(1, 1), [1, 1], [0, 0], 0),
    "expand to ones": (lambda: numbers(1).expand(1, 1), [1, 1], [1, 1], 0),
    "diagonal far away": (lambda: numbers(3, 4).diagonal(7), [0], [5], 0),
    "diagonal far below": (lambda: numbers(3, 4).diagonal(-7), [0], [5], 0),
    "diagonal below": (lambda: numbers(3, 4).diagonal(-1), [2], [5], 4),
    "pairs": (lambda: aten.view_as_complex(numbers(4, 4)[:, 2:]), [4], [2], 1),
    "the third part": (lambda: numbers(2, 9).split_with_sizes([2, 3, 4], 1)[2], [2, 4], [9, 1], 5),
    "behind nothing": (lambda: numbers(9).split_with_sizes([2, 0, 7])[2], [7], [1], 2),
    "the last part": (lambda: numbers(7).split(3)[2], [1], [1], 6),
    "unsqueeze": (lambda: numbers(3, 4).t().unsqueeze(1), [4, 1, 3], [1, 12, 4], 0),
    "unsqueeze at the end": (lambda: numbers(3, 4).t().unsqueeze(2), [4, 3, 1], [1, 4, 1], 0),
    "squeeze": (lambda: numbers(1, 3, 1, 4, 1).squeeze((0, 4)), [3, 1, 4], [4, 4, 1], 0),
    "as_strided": (lambda: numbers(9)[2:].as_strided([2], [3]), [2], [3], 2),
    "as_strided_": (lambda: numbers(4).as_strided_([2], [2], 1), [2], [2], 1),
    "resize_": (lambda: numbers(2, 3).t().resize_([3, 2]), [3, 2], [1, 3], 0),
    "resize_ in a format": (
        lambda: numbers(2, 3).t().resize_([3, 2], memory_format=dispatch.contiguous_format),
        [3, 2],
        [2, 1],
        0,
    ),
}


@pytest.mark.parametrize("name", PLACES)
def test_view_lies_where_it_should(name: str) -> None:
    make, *place = PLACES[name]
    made = make()
    assert [list(made.shape), list(made.stride()), made.storage_offset()] == place


@pytest.mark.parametrize(
    "refused",
    [
        lambda t: t.as_strided_([3], [2]),
        lambda t: t.as_strided_([2], [1], 3),
        lambda t: aten.view_as_complex(t.as_strided([2, 2], [1, 1])),
        lambda t: aten.view_as_complex(t[1:3]),
    ],
)
def test_view_beyond_the_storage_or_between_pairs_is_refused(refused: Any) -> None:
    base = numbers(4)
    with pytest.raises(RuntimeError):
        refused(base)
    assert (base.shape, base.stride(), base.storage_offset()) == ((4,), (1,), 0)


def test_several_views_cover_their_base() -> None:
    base = numbers(2, 5)
    for parts, sizes in (
        (base.split(2, 1), [2, 2, 1]),
        (base.split([1, 4], 1), [1, 4]),
        (base.chunk(3, 1), [2, 2, 1]),
    ):
        assert [p.size(1) for p in parts] == sizes
        joined = np.concatenate([p.numpy() for p in parts], axis=1)
        np.testing.assert_array_equal(joined, base.numpy())
    assert [r.tolist() for r in base.unbind(0)] == base.tolist()


def test_writing_to_a_view_is_seen_in_the_base_and_counted() -> None:
    base = numbers(2, 3)
    version = base._version
    base.t()[0].fill_(9)
    assert base.tolist() == [[9, 1, 2], [9, 4, 5]]
    assert base._version == version + 1


def test_view_of_the_same_sizes_is_a_new_tensor() -> None:
    base = numbers(2, 3)
    for made in (base.view(2, 3), base.expand(2, 3), base.transpose(0, 0), base.detach()):
        assert made is not base
    assert base.flatten(1, 1) is base


def test_reshape_copies_only_when_no_view_fits() -> None:
    base = numbers(2, 3)
    assert base.reshape(6).untyped_storage() is base.untyped_storage()
    copied = base.t().reshape(6)
    assert copied.untyped_storage() is not base.untyped_storage()
    assert copied.tolist() == [0, 3, 1, 4, 2, 5]


@pytest.mark.parametrize(
    ("call", "error", "named"),
    [
        (lambda t: t.transpose(0, 2), IndexError, "transpose"),
        (lambda t: t.permute(0, 0), RuntimeError, "permute"),
        (lambda t: t.permute(0), RuntimeError, "dims"),
        (lambda t: t.select(0, 2), IndexError, "select"),
        (lambda t: aten.slice.Tensor(t, 0, 0, 2, 0), RuntimeError, "step"),
        (lambda t: t.view(4), RuntimeError, "shape"),
        (lambda t: t.t().view(6), RuntimeError, "view"),
        (lambda t: t.expand(3, 3), RuntimeError, "expand"),
        (lambda t: t.expand(-1, 2, 3), RuntimeError, "leading"),
        (lambda t: t.narrow(1, 2, 2), RuntimeError, "narrow"),
        (lambda t: t.narrow(1, 4, 0), IndexError, "start"),
        (lambda t: t.split(0), RuntimeError, "split_size"),
        (lambda t: t.split([1, 1, 1]), RuntimeError, "split_sizes"),
        (lambda t: t.chunk(0), RuntimeError, "chunks"),
        (lambda t: t.diagonal(0, 1, 1), RuntimeError, "diagonal"),
        (lambda t: t.as_strided([7], [1]), RuntimeError, "out of bounds for storage of size 24"),
        (lambda t: t.as_strided([2], [-1]), RuntimeError, "stride"),
        (lambda t: t.flatten(1, 0), RuntimeError, "start_dim"),
        (lambda t: t.unflatten(1, [2, 2]), RuntimeError, "shape"),
        (lambda t: t[0, 0].unbind(), IndexError, "unbind"),
        (lambda t: t.unsqueeze(4), IndexError, "unsqueeze"),
        (lambda t: t.view(dispatch.float64), RuntimeError, "view"),
        (lambda t: t.resize_([-1]), RuntimeError, "negative"),
        (lambda t: aten.imag.default(t), RuntimeError, "imag"),
        (lambda t: t.view(3, -2, -1), RuntimeError, "invalid shape dimension -2"),
        (lambda t: t.view(1, -2, -3), RuntimeError, "invalid shape dimension -2"),
        (lambda t: t.view(6, -1, -1), RuntimeError, "only one dimension"),
        (lambda t: t[:0].view(0, 1 << 40, 1 << 40), RuntimeError, "Stride calculation overflowed"),
        (lambda t: t.select(0, -3), IndexError, "index -3"),
        (lambda t: t[0, 0].select(0, 0), IndexError, "to a 0-dim tensor"),
        (lambda t: aten.slice.Tensor(t[0, 0]), IndexError, "no dimensions"),
        (lambda t: t[:, :2].view(dispatch.float64), RuntimeError, r"stride\(0\) must .* got 3"),
        (lambda t: t.t().view(dispatch.uint8), RuntimeError, r"stride\(-1\) must be 1, got 3"),
        (lambda t: t.view(dispatch.float64), RuntimeError, r"size\(-1\) must be .* 2, got 3"),
        (lambda t: t[0, 0].view(dispatch.uint8), RuntimeError, r"dim\(\) cannot be 0"),
        (lambda t: t.flatten()[1:5].view(dispatch.float64), RuntimeError, r"offset\(\) .* got 1"),
        (lambda t: aten._neg_view(t).view(dispatch.int32), RuntimeError, "negative bit set"),
        (lambda t: (t * 1j).conj().view(dispatch.int32), RuntimeError, "conjugate view tensors"),
        (lambda t: t.expand(2, -2), RuntimeError, "expand"),
        (lambda t: t.expand(4, 3), RuntimeError, r"expanded size .* \(4\) .* size \(2\)"),
        (lambda t: t[:0].view(-1, 0), RuntimeError, "the unspecified dimension size -1 can be any"),
        (lambda t: t.split(-1), RuntimeError, "negative"),
        (lambda t: t.split([4, -1], 1), RuntimeError, "negative"),
        (lambda t: t[0, 0].split(1), RuntimeError, "at least a 1-dimensional"),
        (lambda t: t[0, 0].split([1]), RuntimeError, "at least a 1-dimensional"),
        (lambda t: t.resize_([1 << 62, 4]), RuntimeError, "multiplication overflow"),
        (lambda t: t.resize_([0, 4, 1 << 61]), RuntimeError, "Stride calculation overflowed"),
        (lambda t: t.squeeze([0, -2]), RuntimeError, "more than once"),
        (lambda t: t.diagonal(0, 0, 2), IndexError, "out of range"),
        (lambda t: t.view(1, 2, 3).t(), RuntimeError, "<= 2 dimensions, but self is 3D"),
        (lambda t: t.view(1, 2, 3).H, RuntimeError, "only supported on matrices, got 3 dim.* mH"),
        (lambda t: t[0].mT, RuntimeError, "tensor.mT is only supported on matrices"),
        (lambda t: t[0].mH, RuntimeError, "tensor.mH is only supported on matrices"),
    ],
)
def test_bad_arguments_raise_and_change_nothing(
    call: Callable[[Any], Any], error: type, named: str
) -> None:
    base = numbers(2, 3)
    with pytest.raises(error, match=named):
        call(base)
    assert (tuple(base.shape), base.stride(), base._version) == ((2, 3), (3, 1), 0)


def test_what_requires_grad_is_not_resized() -> None:
    leaf = dispatch.ones(2, 3, requires_grad=True)
    with dispatch.no_grad(), pytest.raises(RuntimeError, match="cannot resize variables"):
        leaf.resize_([6])
    assert tuple(leaf.shape) == (2, 3)
    with dispatch.inference_mode():
        leaf.resize_([1])
        leaf.resize_as_(dispatch.ones(1, 2))
    assert tuple(leaf.shape) == (1, 2) and leaf.requires_grad


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_other_dtypes_of_tensors_with_gaps_in_front(device: str) -> None:
    """Strides of the other dimensions and the offset are counted in elements of the new dtype."""
    base = numbers(2, 8, device=device)[:, 2:6]
    wide, narrow = base.view(dispatch.float64), base.view(dispatch.int16)
    assert (tuple(wide.shape), wide.stride(), wide.storage_offset()) == ((2, 2), (4, 1), 1)
    assert (tuple(narrow.shape), narrow.stride(), narrow.storage_offset()) == ((2, 8), (16, 1), 4)


def test_in_place_views_change_the_tensor_itself() -> None:
    base = numbers(2, 3)
    assert base.t_() is base
    assert (tuple(base.shape), base.stride(), base._version) == ((3, 2), (1, 3), 1)
    base.unsqueeze_(0).squeeze_(0).transpose_(0, 1)
    assert base.tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_resize_grows_the_storage_and_keeps_the_values(device: str) -> None:
    base = numbers(4, device=device)
    base.resize_([2, 3])
    assert base.untyped_storage().nbytes() == 24
    assert base.stride() == (3, 1)
    if device == "cpu":
        assert base.flatten()[:4].tolist() == [0, 1, 2, 3]
    base.resize_([2])
    assert base.untyped_storage().nbytes() == 24


def test_bits_are_toggled_and_resolved() -> None:
    base = dispatch.tensor([1 + 2j, 3 - 1j])
    conj = base.conj()
    assert conj.is_conj() and not conj.conj().is_conj()
    assert conj.resolve_conj().tolist() == [1 - 2j, 3 + 1j]
    assert conj.imag.is_neg() and conj.imag.tolist() == [-2, 1]
    assert base.resolve_conj() is base
    with pytest.raises(RuntimeError, match="resolve_conj"):
        aten.view_as_real.default(conj)


def test_complex_and_real_pairs_are_views_of_each_other() -> None:
    base = dispatch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert aten.view_as_complex.default(base).tolist() == [1 + 2j, 3 + 4j]
    pairs = aten.view_as_real.default(dispatch.tensor([1 + 2j]))
    assert pairs.tolist() == [[1, 2]]


def test_view_as_another_dtype_rescales_the_last_dimension() -> None:
    base = dispatch.zeros(2, 4)
    assert tuple(base.view(dispatch.int64).shape) == (2, 2)
    assert tuple(base.view(dispatch.uint8).shape) == (2, 16)
    assert base.view(dispatch.int32).tolist() == [[0] * 4] * 2


def test_assert_tensor_metadata_compares_what_is_given() -> None:
    base = numbers(2, 3)
    check = aten._assert_tensor_metadata.default
    check(base, [2, 3], [3, 1], dispatch.float32, device=dispatch.device("cpu"))
    for wrong in ({"size": [3, 2]}, {"stride": [1, 2]}, {"dtype": dispatch.int64}):
        with pytest.raises(RuntimeError, match=next(iter(wrong))):
            check(base, **wrong)


def test_metadata_operators_answer_for_the_tensor() -> None:
    base = numbers(2, 3)[:, 1:]
    assert aten.sym_size.int(base, -1) == 2
    assert aten.sym_stride.int(base, 0) == 3
    assert aten.sym_numel.default(base) == 4
    assert aten.sym_storage_offset.default(base) == 1
    assert aten.sym_is_contiguous.default(base) is False


def test_detached_tensor_shares_values_and_version_but_no_gradient() -> None:
    base = dispatch.zeros(2, requires_grad=True)
    detached = base.detach()
    detached.fill_(1)
    assert not detached.requires_grad and base._version == 1
    with pytest.raises(RuntimeError, match="detach"):
        base[0].detach_()


@pytest.mark.parametrize("far", [2**62, 2**62 + 1, 2**63 - 1, 2**63])
def test_slice_may_begin_and_end_anywhere_before_and_behind(far: int) -> None:
    """Numbers that no size can have, since handles of expressions lie there, among them."""
    x = dispatch.arange(5)
    assert x[-far:].tolist() == [0, 1, 2, 3, 4]
    assert x[-far:2].tolist() == [0, 1]
    assert x[:-far].tolist() == []
    assert ops.aten.slice.Tensor(x, 0, -far, min(far, 2**63 - 1), 2).tolist() == [0, 2, 4]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: ops.aten.unbind(x),
        lambda x: ops.aten.split(x, 1),
        lambda x: ops.aten.tensor_split(x, 2**60),
        lambda x: ops.aten.tensor_split(x, 2**40),
        lambda x: ops.aten.chunk(x, 2**60),
    ],
)
def test_results_without_number_are_refused_before_the_first(call):
    with pytest.raises(RuntimeError, match="there is no memory for"):
        call(dispatch.empty(2**60, device="meta"))


# sizes, strides and offset of a tensor of halves; those of it as float32, or what is refused
HALVES = {
    "even": (((2, 4), (6, 1), 2), ((2, 2), (3, 1), 1)),
    "odd stride": (((2, 2), (3, 1), 0), r"stride\(0\) must be .* 2, got 3"),
    "odd stride of one row": (((1, 2), (3, 1), 0), r"stride\(0\) must be .* 2, got 3"),
    "odd last size": (((2, 3), (4, 1), 0), r"size\(-1\) must be .* 2, got 3"),
    "odd offset": (((2, 2), (4, 1), 3), r"offset\(\) must be .* 2, got 3"),
    "gaps": (((2, 2), (4, 2), 0), r"stride\(-1\) must be 1"),
}


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize("case", HALVES)
def test_halves_as_floats_must_lie_evenly(case, device):
    given, want = HALVES[case]
    halves = dispatch.zeros(40, dtype=dispatch.float16, device=device).as_strided(*given)
    if isinstance(want, str):
        with pytest.raises(RuntimeError, match=want):
            halves.view(dispatch.float32)
    else:
        wide = halves.view(dispatch.float32)
        assert (wide.shape, wide.stride(), wide.storage_offset()) == want


def test_views_that_wait_have_no_other_dtype():
    for x, what in ((numbers(4)._neg_view(), "neg"), (numbers(4).cfloat().conj(), "conj")):
        with pytest.raises(RuntimeError, match=f"use resolve_{what}"):
            x.view(dispatch.int32)


# name: a call on a tensor of sizes (2, 3, 4) or on one without dimensions; its sizes and strides,
# or the error, as PyTorch has them on the CPU and on meta
ENDS: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "conj of a real tensor": (lambda x, one: aten._conj.default(x), RuntimeError),
    "slice without dimensions": (lambda x, one: aten.slice.Tensor(one, 0, 0, 1, 1), IndexError),
    "select without dimensions": (lambda x, one: aten.select.int(one, 0, 0), IndexError),
    "permute with a dimension more": (lambda x, one: x.permute(0, 1, 2, 2), RuntimeError),
    "permute with another dimension more": (lambda x, one: x.permute(0, 1, 2, -1), RuntimeError),
    "permute with a dimension less": (lambda x, one: x.permute(0, 1), RuntimeError),
    "more strides than sizes": (lambda x, one: x.as_strided([2], [1, 1]), RuntimeError),
    "fewer strides than sizes": (lambda x, one: x.as_strided([2, 2], [1]), RuntimeError),
    "diagonal far above": (lambda x, one: x.diagonal(5, 0, 1), ((4, 0), (1, 16))),
    "diagonal far below": (lambda x, one: x.diagonal(-5, 0, 1), ((4, 0), (1, 16))),
    "no elements of some": (lambda x, one: x.view(0, 24), RuntimeError),
    "fewer elements": (lambda x, one: x.view(2, 3), RuntimeError),
    "expand with fewer dimensions": (lambda x, one: x.expand(3, 4), RuntimeError),
    "expand of nothing to -1": (lambda x, one: x.expand(-1, 2, 3, 4), RuntimeError),
    "expand without dimensions": (lambda x, one: one.expand(2), ((2,), (0,))),
    "t of three dimensions": (lambda x, one: x.t(), RuntimeError),
    "diagonal of one dimension": (lambda x, one: x.diagonal(0, 1, -2), RuntimeError),
    "last of a new dimension": (lambda x, one: x.unsqueeze(-1), ((2, 3, 4, 1), (12, 4, 1, 1))),
    "first of a new dimension": (lambda x, one: x.unsqueeze(0), ((1, 2, 3, 4), (24, 12, 4, 1))),
}


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize("name", ENDS)
def test_views_end_as_in_pytorch(name, device):
    call, want = ENDS[name]
    given = dispatch.ones(2, 3, 4, device=device), dispatch.ones([], device=device)
    if isinstance(want, tuple):
        view = call(*given)
        assert (view.shape, view.stride()) == want
    else:
        with pytest.raises(want):
            call(*given)


def test_a_meta_storage_bounds_no_view():
    x = dispatch.ones(2, device="meta")
    assert x.as_strided([200], [1]).shape == (200,)
    with pytest.raises(RuntimeError):
        dispatch.ones(2).as_strided([200], [1])


def test_fake_views_that_need_a_copy_raise_as_fake_tensors_of_pytorch():
    with dispatch.FakeTensorMode() as mode:
        x = mode.from_tensor(dispatch.ones(4, 6)).t()
        with pytest.raises(ValueError, match="without a copy"):
            aten.view.default(x, [24])
        rows = mode.from_tensor(dispatch.ones(2, 3, 4))
        assert aten._reshape_alias.default(rows, [6, 4], [1, 6]).stride() == (4, 1)
    rows = dispatch.ones(2, 3, 4)
    assert aten._reshape_alias.default(rows, [6, 4], [1, 6]).stride() == (1, 6)


def test_the_gradient_of_a_trace_is_a_matrix():
    grad = dispatch.ones(())
    assert aten.trace_backward(grad, [2, 3]).tolist() == [[1, 0, 0], [0, 1, 0]]
    with pytest.raises(RuntimeError, match=r"^aten::trace_backward: .* matrix"):
        aten.trace_backward(grad, [3])


def test_gradients_of_views_lie_where_the_views_did():
    grad = dispatch.tensor([1.0, 2])
    assert aten.diagonal_backward(grad, [2, 3], 1, 0, 1).tolist() == [[0, 1, 0], [0, 0, 2]]
    assert aten.diagonal_backward(grad, [3, 2], -1, 0, 1).tolist() == [[0, 0], [1, 0], [0, 2]]
    assert aten.select_backward(grad, [2, 2], 1, 0).tolist() == [[1, 0], [2, 0]]
    assert aten.slice_backward(grad, [5], 0, 1, 5, 2).tolist() == [0, 1, 0, 2, 0]
    assert aten.slice_backward(grad[None], [2, 2], 0, 1, 2, 1).tolist() == [[0, 0], [1, 2]]


@pytest.mark.parametrize(("device", "error"), [("cpu", RuntimeError), ("meta", AssertionError)])
def test_t_in_place_of_many_dimensions(device, error):
    with pytest.raises(error, match="<= 2 dimensions"):
        ops.aten.t_(dispatch.zeros(2, 3, 4, device=device))


@pytest.mark.parametrize(
    "real, made", [("float16", "complex32"), ("float32", "complex64"), ("float64", "complex128")]
)
def test_pairs_of_each_float_are_complex_numbers_and_back(real: str, made: str) -> None:
    pairs = dispatch.zeros(6, 2, dtype=getattr(dispatch, real))[2:]
    z = dispatch.view_as_complex(pairs)
    assert z.dtype is getattr(dispatch, made)
    assert (z.shape, z.stride(), z.storage_offset()) == ((4,), (1,), 2)
    back = dispatch.view_as_real(z)
    assert back.dtype is pairs.dtype
    assert (back.shape, back.stride(), back.storage_offset()) == ((4, 2), (2, 1), 4)


def test_negative_lengths_are_refused_though_the_sum_fits() -> None:
    with pytest.raises(RuntimeError, match="only non-negative entries"):
        aten.split_with_sizes(dispatch.ones(4), [5, -1])


def test_detach_in_place_below_autograd_cuts_off_too() -> None:
    x = dispatch.ones(2, requires_grad=True) * 2
    with dispatch._C._AutoDispatchBelowAutograd():
        assert aten.detach_(x) is x
    assert not x.requires_grad and x.grad_fn is None


# sizes, strides, the sizes of the view, its strides: those of PyTorch's fake tensors, which merge
# and split from the left and look past dimensions of size 1
FAKE_VIEWS = [
    ((2, 1, 3), (3, 7, 1), (6,), (1,)),
    ((2, 1, 1, 3), (3, 7, 9, 1), (6,), (1,)),
    ((2, 1, 3, 2), (6, 5, 2, 1), (12,), (1,)),
    ((1, 2, 3), (77, 3, 1), (6,), (1,)),
    ((2, 3, 1), (3, 1, 99), (6,), (1,)),
    ((2, 3, 1), (3, 1, 99), (6, 1), (1, 99)),
    ((2, 3, 1, 2), (6, 2, 99, 1), (3, 4), (4, 1)),
    ((4, 1, 3), (3, 50, 1), (2, 6), (6, 1)),
    ((4, 1, 3), (30, 7, 1), (4, 3), (30, 1)),
    ((2, 1, 3), (3, 7, 1), (3, 1, 2), (2, 2, 1)),
]


@pytest.mark.parametrize("sizes, strides, asked, want", FAKE_VIEWS)
def test_fake_views_have_their_own_strides(sizes: Any, strides: Any, asked: Any, want: Any) -> None:
    with dispatch.FakeTensorMode():
        x = dispatch.empty_strided(sizes, strides)
        assert x.view(asked).stride() == want
        with pytest.raises(ValueError, match="without a copy"):
            dispatch.empty_strided((2, 3), (4, 1)).view(6)
