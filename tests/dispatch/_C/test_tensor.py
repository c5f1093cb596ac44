"""Tensor: metadata, memory that is shared, subclasses, lifetimes."""

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import dispatch
from dispatch import Tensor, from_numpy, ops
from dispatch._C.arrays import _new_strided, _numpy_view
from dispatch._C.storage import _new_storage

pytestmark = pytest.mark.usefixtures("same_state_after")

A = ops.aten


class Plain(Tensor):
    pass


# ---- metadata


def test_metadata_of_a_tensor():
    t = dispatch.zeros(2, 3, dtype=dispatch.int16)
    assert t.shape == t.size() == dispatch.Size([2, 3])
    assert type(t.shape) is dispatch.Size
    assert t.stride() == (3, 1) and t.stride(-1) == 1 and t.size(0) == 2
    assert (t.ndim, t.dim(), t.numel(), t.nelement(), len(t)) == (2, 2, 6, 6, 2)
    assert (t.dtype, t.layout) == (dispatch.int16, dispatch.strided)
    assert t.device == dispatch.device("cpu")
    assert (t.element_size(), t.itemsize, t.nbytes, t.storage_offset()) == (2, 2, 12, 0)
    assert t.is_contiguous() and t.is_cpu and not t.is_meta and not t.is_cuda
    assert not t.is_floating_point() and not t.is_complex() and t.is_signed()
    assert t.get_device() == -1 and t.is_leaf and t.grad is None and t.grad_fn is None


@pytest.mark.parametrize("dim", [2, -3])
def test_dimension_out_of_range(dim):
    for call in (dispatch.zeros(2, 3).size, dispatch.zeros(2, 3).stride):
        with pytest.raises(IndexError, match=str(dim)):
            call(dim)


def test_zero_dimensional_tensor_has_no_length_and_no_dimension():
    t = dispatch.tensor(1.0)
    with pytest.raises(TypeError, match="0-d"):
        len(t)
    with pytest.raises(IndexError):
        t.size(0)


@pytest.mark.parametrize(
    ("shape", "memory_format"),
    [((2, 3, 4, 5), dispatch.channels_last), ((2, 3, 4, 5, 6), dispatch.channels_last_3d)],
)
def test_memory_formats(shape, memory_format):
    t = dispatch.empty(shape, memory_format=memory_format)
    assert t.is_contiguous(memory_format=memory_format) and not t.is_contiguous()
    assert t.stride(1) == 1
    assert not t.is_contiguous(memory_format=dispatch.preserve_format)


def test_more_dimensions_than_fit_inline():
    t = dispatch.zeros([1] * 20 + [3])
    assert t.ndim == 21 and t.numel() == 3
    v = A.view.default(t, [3])
    assert v.tolist() == [0.0, 0.0, 0.0]
    assert A.view.default(v, [1] * 63 + [3]).ndim == 64
    with pytest.raises(RuntimeError, match="64"):
        A.view.default(v, [1] * 64 + [3])


def test_attributes_belong_to_the_object():
    t = dispatch.ones(2)
    t.note = [1]
    assert t.note == [1] and t.__dict__ == {"note": [1]}
    assert not hasattr(dispatch.ones(2), "note")
    del t.note
    with pytest.raises(AttributeError, match="note"):
        _ = t.note
    with pytest.raises(AttributeError):
        t.shape = (3,)


# ---- lifetimes


def test_weak_references_see_the_end():
    t = dispatch.ones(2)
    ref, storage = weakref.ref(t), weakref.ref(t.untyped_storage())
    v = A.view.default(t, [2, 1])
    del t
    assert ref() is not None and storage() is not None  # v._base
    del v
    assert ref() is None and storage() is None


@pytest.mark.parametrize("cls", [Tensor, Plain])
def test_cycles_through_attributes_are_collected(cls):
    t = dispatch.ones(2).as_subclass(cls)
    t.me = t
    ref = weakref.ref(t)
    del t
    gc.collect()
    assert ref() is None


def test_hash_and_identity():
    a, b = dispatch.ones(2), dispatch.ones(2)
    assert {a: 1, b: 2}[a] == 1
    assert hash(a) != hash(b) or a is b


@pytest.mark.parametrize(
    "call",
    [
        lambda: dispatch.empty(3),
        lambda: dispatch.empty([1] * 8),
        lambda: dispatch.empty(3).as_subclass(Plain),
        lambda: dispatch.empty(1000).numpy(),
        lambda: from_numpy(np.zeros(3)),
        lambda: dispatch.empty(3).__dict__,
        lambda: dispatch.empty(3, 4).shape,
        lambda: dispatch.empty(3).untyped_storage().resize_(100),
        lambda: weakref.ref(dispatch.empty(3)),
        lambda: setattr(dispatch.empty(3), "x", [1]),
        lambda: Tensor([1.0, 2.0]),
    ],
)
def test_tensors_leave_no_memory(grown_blocks, call):
    assert grown_blocks(call) < 200


# ---- numpy


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint16", "bool", "complex64"])
def test_from_numpy_shares_memory(dtype):
    array = np.zeros((2, 3), dtype)
    t = from_numpy(array)
    assert t.shape == (2, 3) and str(t.dtype) == f"dispatch.{dtype}"
    array[1, 2] = 1
    assert t.tolist()[1][2] == 1
    A.fill_.Scalar(t, 1)
    assert array.all()
    assert t.data_ptr() == array.ctypes.data


def test_from_numpy_of_strided_and_empty_arrays():
    array = np.arange(12.0).reshape(3, 4).T[1:, ::2]
    t = from_numpy(array)
    assert t.tolist() == array.tolist() and t.stride() == tuple(s // 8 for s in array.strides)
    assert from_numpy(np.zeros((0, 3))).shape == (0, 3)
    assert from_numpy(np.broadcast_to(np.float64(2), (3,)).copy()).tolist() == [2.0, 2.0, 2.0]


def test_from_numpy_keeps_the_array_alive():
    array = np.ones(1000)
    ref = weakref.ref(array)
    t = from_numpy(array)
    del array
    assert t[0].item() == 1.0 and ref() is not None
    del t
    assert ref() is None


@pytest.mark.parametrize(
    ("array", "error"),
    [
        ([1, 2], TypeError),
        (np.array(["a"]), TypeError),
        (np.array([object()]), TypeError),
        (np.zeros(3, ">f4"), ValueError),
        (np.zeros(4)[::-1], ValueError),
        (np.zeros(8, np.uint8)[1:7].view("i2")[:2].view("u1")[:3], None),
        (np.zeros(3, [("a", "i1"), ("b", "f4")])["b"], ValueError),
    ],
)
def test_from_numpy_refuses_what_has_no_counterpart(array, error):
    if error is None:
        assert from_numpy(array).numel() == 3
    else:
        with pytest.raises(error):
            from_numpy(array)


def test_numpy_view_is_kept_and_dropped_with_the_geometry():
    t = dispatch.ones(4)
    view = _numpy_view(t)
    assert _numpy_view(t) is view
    A.resize_.default(t, [2, 2])
    assert _numpy_view(t).shape == (2, 2)


def test_numpy_array_outlives_its_tensor():
    array = dispatch.ones(1000).numpy()
    gc.collect()
    junk = [dispatch.zeros(1000) for _ in range(20)]
    assert array.sum() == 1000 and len(junk) == 20


def test_meta_tensors_have_no_bytes():
    t = dispatch.empty(2, 3, device="meta")
    assert t.data_ptr() == 0 and t.untyped_storage().nbytes() == 24 and t.is_meta
    with pytest.raises((RuntimeError, TypeError)):
        _numpy_view(t)


@pytest.mark.parametrize(
    ("sizes", "strides", "offset"),
    [([5], [1], 0), ([2, 2], [2, 2], 0), ([1], [1], 4), ([2], [1, 1], 0), ([-1], [1], 0)],
)
def test_strided_tensors_stay_inside_their_storage(sizes, strides, offset):
    with pytest.raises(RuntimeError):
        _new_strided(_new_storage(16), dispatch.float32, sizes, strides, offset)


# ---- subclasses


def test_as_subclass_shares_memory_and_keys():
    t = dispatch.ones(2)
    s = t.as_subclass(Plain)
    assert type(s) is Plain and s.untyped_storage() is t.untyped_storage()
    assert dispatch._C._dispatch_keys(s) == dispatch._C._dispatch_keys(t)
    with pytest.raises(TypeError):
        t.as_subclass(int)


def test_make_subclass():
    t = Tensor._make_subclass(Plain, dispatch.ones(2), True)
    assert type(t) is Plain and t.requires_grad and t.is_leaf
    with pytest.raises(TypeError):
        Tensor._make_subclass(int, dispatch.ones(2))
    with pytest.raises(TypeError):
        Tensor._make_subclass(Plain, None)
    with pytest.raises(RuntimeError, match="floating point"):
        Tensor._make_subclass(Plain, dispatch.ones(2, dtype=dispatch.int8), True)


def test_make_wrapper_subclass():
    class Wrapper(Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    t = Tensor._make_wrapper_subclass(
        Wrapper, (2, 3), strides=(1, 2), storage_offset=4, dtype=dispatch.int32, device="cuda:1"
    )
    assert (t.shape, t.stride(), t.storage_offset()) == ((2, 3), (1, 2), 4)
    assert (t.dtype, str(t.device), t.data_ptr()) == (dispatch.int32, "cuda:1", 0)
    keys = dispatch._C._dispatch_keys(t)
    assert keys.has(dispatch.DispatchKey.Python) and keys.has(dispatch.DispatchKey.AutogradCUDA)
    with pytest.raises(TypeError, match="__torch_dispatch__"):
        Tensor._make_wrapper_subclass(Plain, [2])
    with pytest.raises(RuntimeError, match="length"):
        Tensor._make_wrapper_subclass(Wrapper, [2, 3], strides=[1])


def test_subclass_with_its_own_init_is_made_from_its_arguments():
    class Mine(Tensor):
        def __init__(self, data):
            self.note = 1

    t = Mine([1.0, 2.0])
    assert t.tolist() == [1.0, 2.0] and t.note == 1 and type(t) is Mine


@pytest.mark.parametrize("cls", [Tensor, Plain])
def test_blank_tensors_are_empty(cls):
    for t in (cls.__new__(cls), cls()):
        assert t.shape == (0,) and t.tolist() == [] and t.untyped_storage().nbytes() == 0
        assert A.add.Tensor(t, 1).shape == (0,)


def test_blank_storage_is_not_resized():
    with pytest.raises(RuntimeError, match="resiz"):
        A.resize_.default(Tensor.__new__(Tensor), [3])


def test_attributes_end_with_their_tensor_and_may_collect_garbage() -> None:
    """What runs then does not see the tensor any more, and an error that is on its way stays."""
    ended = []

    class End:
        def __del__(self) -> None:
            gc.collect()
            ended.append(seen())

    def made() -> Tensor:
        nonlocal seen
        tensor = dispatch.ones(2)
        seen = weakref.ref(tensor)
        tensor.end = End()  # type: ignore[attr-defined]
        return tensor

    seen: Any = None
    with pytest.raises(ZeroDivisionError):
        (made(), 1 / 0)
    assert ended == [None]


@pytest.mark.parametrize("value", [1, 0, None, "yes", np.bool_(True)])
def test_requires_grad_is_a_bool(value):
    x = dispatch.ones(2)
    with pytest.raises(RuntimeError, match="requires_grad must be a bool"):
        x.requires_grad = value
    with pytest.raises(TypeError, match="requires_grad must be a bool"):
        x.requires_grad_(value)
    assert not x.requires_grad


@pytest.mark.parametrize("name", ["data", "requires_grad"])
def test_a_tensor_keeps_what_it_is_made_of(name):
    x = dispatch.ones(2)
    with pytest.raises(RuntimeError, match=f"Tensor.{name} cannot be deleted"):
        delattr(x, name)
    assert x.tolist() == [1, 1]


def test_data_is_the_very_tensor_that_a_mode_returned():
    """A tracer knows tensors by identity: of another object it would make a constant."""

    class Last(dispatch.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.found = func(*args, **(kwargs or {}))
            return self.found

    x = dispatch.ones(2, requires_grad=True)
    with Last() as mode:
        data = x.data
        assert data is mode.found
        assert x.view(dispatch.int32) is mode.found
    assert not data._is_view() and data._base is None and not data.requires_grad
    data.add_(1)
    assert (data._version, x._version) == (1, 0)
    assert x.tolist() == [2, 2]


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "bfloat16", "complex64", "int64", "bool"])
def test_data_of_another_dtype_fits_unless_gradients_would_not(dtype, requires_grad):
    x = dispatch.ones(2, requires_grad=requires_grad)
    given = dispatch.zeros(3, dtype=getattr(dispatch, dtype))
    if requires_grad and dtype in ("int64", "bool"):
        with pytest.raises(RuntimeError, match=rf"Tensor\.data: dispatch\.{dtype}"):
            x.data = given
        given = dispatch.ones(2)
    else:
        x.data = given
    assert x.dtype is given.dtype and x.tolist() == given.tolist()
    assert x.requires_grad is requires_grad
