"""Sizes and strides as numbers: what does not fit in 64 bits is refused, without a change."""

import numpy as np
import pytest

import dispatch
from dispatch import from_numpy, ops, symbolic
from dispatch._C.arrays import _new_strided
from dispatch._C.storage import _new_storage
from dispatch._C.wrapper import share_storage

pytestmark = pytest.mark.usefixtures("same_state_after")

A = ops.aten


def test_sizes_that_overflow_are_refused():
    with pytest.raises(RuntimeError):
        dispatch.empty(2**40, 2**40, device="meta")
    with pytest.raises(RuntimeError):
        dispatch.empty(-1)


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize("sizes", [[2**62], [2**61], [2**33, 2**33], [2**62, 4, 0]])
def test_a_tensor_beyond_64_bits_is_refused(sizes, device):
    with pytest.raises(RuntimeError, match=r"overflow.*sizes=\["):
        dispatch.empty(sizes, device=device)


def test_strides_of_an_empty_tensor_fit_in_64_bits():
    with pytest.raises(RuntimeError, match="Stride calculation overflowed"):
        dispatch.empty(0, 2**62, 4)
    assert dispatch.empty(0, 2**31, 2**31).stride() == (2**62, 2**31, 1)


def test_strides_that_reach_too_far_are_refused():
    for strides, offset in (([2**62], 0), ([1], 2**63 - 1), ([2**62 - 1], 2**62)):
        with pytest.raises(RuntimeError, match=r"overflow.*strides=\["):
            _new_strided(_new_storage(16), dispatch.float32, [2], strides, offset)


def test_a_view_may_count_more_bytes_than_fit():
    view = dispatch.zeros(1).expand(2**62)
    assert (view.numel(), view.nbytes) == (2**62, 2**64)


def test_arrays_that_reach_too_far_are_refused():
    array = np.lib.stride_tricks.as_strided(np.zeros(1), (3,), (2**62,))
    with pytest.raises(RuntimeError, match="overflow"):
        dispatch.from_numpy(array)


def test_a_refused_resize_leaves_the_tensor():
    t = dispatch.ones(2, 3)
    for sizes in ([2**62, 4], [2**61], [-1]):
        with pytest.raises((RuntimeError, MemoryError)):
            A.resize_.default(t, sizes)
        assert t.shape == (2, 3) and t.tolist() == [[1.0] * 3] * 2


def _state(t):
    storage = t.untyped_storage()
    return t.shape, t.stride(), t.storage_offset(), id(storage), storage.nbytes()


_FIXED = from_numpy(np.ones(2, np.float32)).untyped_storage()


@pytest.mark.parametrize(
    ("move", "text"),
    [
        (lambda t: t.set_(_FIXED, 0, (64,), (1,)), "Trying to resize storage that is not"),
        (lambda t: t.set_(_FIXED, 2, (1,), (1,)), "not resizable"),
        (lambda t: t.set_(_FIXED, 1 << 60, (1,), (1,)), "not resizable"),
        (lambda t: t.set_(_new_storage(8), 1 << 60, (1,), (1,)), "allocate"),
        (lambda t: t.set_(_new_storage(8), 0, (1 << 62,), (1,)), r"overflow.*sizes=\["),
        (lambda t: t.set_(_new_storage(8), 2**63 - 1, (1,), (1,)), r"overflow.*sizes=\["),
        (lambda t: t.set_(_new_storage(8), -1, (1,), (1,)), "invalid storage offset -1"),
        (lambda t: t.set_(_new_storage(8), 0, (2,), (-1,)), "Negative strides are not supported"),
        (lambda t: t.set_(_new_storage(8), 0, (-2,), (1,)), "negative"),
        (lambda t: A._reshape_alias.default(t, [64], [1]), "requiring a storage size of 256"),
        (lambda t: A.as_strided_.default(t, [2], [1], 2**63 - 1), "overflow"),
        (lambda t: share_storage(t, dispatch.ones(1)), "out of bounds for storage of size 4"),
        (lambda t: setattr(t, "data", dispatch.ones(2, device="meta")), "cannot take the place"),
    ],
)
def test_a_refused_geometry_leaves_the_tensor(move, text):
    t = dispatch.ones(2)
    before = _state(t)
    with pytest.raises((RuntimeError, MemoryError), match=text):
        move(t)
    assert _state(t) == before and t.clone().tolist() == [1.0, 1.0]


def test_set_makes_a_storage_larger_that_may_grow():
    t, storage = dispatch.ones(2), _new_storage(4)
    t.set_(storage, 3, (4, 2), (1, 3))
    assert storage.nbytes() == 4 * (3 + 3 + 3 + 1)
    t.fill_(2)
    assert t.tolist() == [[2.0, 2.0]] * 4


def _far(offset, dtype=dispatch.float32):
    return A.as_strided.default(dispatch.ones(2).to(dtype), [0], [1], offset)


@pytest.mark.parametrize(
    "view",
    [
        lambda: _far(2**62 - 2).view(dispatch.uint8),
        lambda: A.view_as_real.default(_far(2**62 + 4, dispatch.complex64)),
        lambda: A.view_as_real.default(
            A.as_strided.default(dispatch.ones(1).to(dispatch.complex64), [1], [2**62])
        ),
        lambda: A.as_strided.default(dispatch.ones(2), [1, 1, 0], [2**62, 2**62, 1])[1:, 1:],
        lambda: A.as_strided.default(dispatch.ones(2), [0, 4], [1, 2**62]).select(1, 2),
        lambda: A.as_strided.default(dispatch.ones(2), [1, 1], [2**62, 2**62]).diagonal(),
        lambda: A.unsqueeze.default(A.as_strided.default(dispatch.ones(2), [4, 0], [2**61, 1]), 0),
        lambda: dispatch.ones(4, 4)[:: 2**63 - 1],
        lambda: dispatch.empty_strided((2,), (-1,)),
        lambda: dispatch.empty((0, 2**40, 2**40, 4), memory_format=dispatch.channels_last),
        lambda: dispatch.empty(0, 3).view(0, 2**63 - 1, 2),
    ],
)
def test_numbers_of_a_view_never_wrap_around(view):
    with pytest.raises(RuntimeError, match=r"64 bits|overflow|Negative strides"):
        view()


def test_an_array_of_more_bytes_than_fit_is_refused():
    with pytest.raises(RuntimeError, match="overflow"):
        dispatch.zeros(1).expand(2**62).numpy()


def test_an_array_of_a_dimension_that_nobody_steps_along():
    t = A.as_strided.default(dispatch.ones(2), [1, 2], [2**62, 1])
    assert t.numpy().tolist() == [[1.0, 1.0]]
    assert _far(2**62).numpy().shape == (0,)


def test_an_array_without_elements_has_no_bytes_however_far_apart_its_rows_are():
    array = np.lib.stride_tricks.as_strided(np.ones(9), (0, 3), (56, 8))
    assert from_numpy(array).untyped_storage().nbytes() == 0


@pytest.mark.parametrize(
    ("sizes", "strides", "dense"),
    [
        ((4, 6, 8), (48, 8, 1), True),
        ((4, 6, 8), (1, 4, 24), True),
        ((4, 6, 8), (1, 32, 4), True),
        ((4, 6, 8), (6, 1, 24), True),
        ((4, 6, 8), (8, 32, 1), True),
        ((4, 6, 8), (1, 5, 30), False),
        ((4, 6, 8), (8, 33, 1), False),
        ((4, 6), (1, 1), False),
    ],
)
def test_symbolic_strides_are_dense_in_the_order_of_their_hints(sizes, strides, dense):
    dynamic = [symbolic.DimDynamic.DYNAMIC] * len(sizes)
    context = symbolic.StatelessSymbolicContext(dynamic, dynamic_strides=dynamic)
    mode = dispatch.FakeTensorMode(shape_env=symbolic.ShapeEnv())
    t = mode.from_tensor(dispatch.empty_strided(sizes, strides), symbolic_context=context)
    assert A.is_non_overlapping_and_dense(t) is dense
    assert t.is_contiguous() is (strides == (48, 8, 1))


def number(n):
    env = symbolic.ShapeEnv()
    source = symbolic.ConstantSource("n")
    return env.create_unspecified_symint_and_symbol(n, source, symbolic.DimDynamic.DYNAMIC)


@pytest.mark.parametrize("op", ["as_strided", "as_strided_"])
@pytest.mark.parametrize(
    ("sizes", "strides", "offset", "fits"),
    [(8, 1, 0, False), (2, 4, 0, False), (2, 1, 3, False), (3, 1, 1, True), (2, 3, 0, True)],
)
def test_symbolic_numbers_do_not_reach_beyond_the_bytes(op, sizes, strides, offset, fits):
    x = dispatch.arange(4.0)
    call = getattr(A, op)
    given = [number(sizes)], [number(strides)], number(offset)
    if fits:
        places = [offset + i * strides for i in range(sizes)]
        assert call(x, *given).tolist() == places
        return
    with pytest.raises(RuntimeError, match="are out of bounds for storage of size 16"):
        call(x, *given)
    assert x.tolist() == [0, 1, 2, 3]


def test_the_most_dimensions_are_computed_with():
    x = dispatch.ones([1] * 64)
    assert (x + x).sum().item() == 2
    try:
        np.empty([1] * 64)
    except ValueError:
        return  # numpy 1 has 32
    assert x.numpy().ndim == 64
