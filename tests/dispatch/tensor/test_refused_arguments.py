"""Methods and functions of tensors and storages refuse what does not fit, with PyTorch's type."""

import numpy
import pytest

import dispatch
from tests.dispatch.refused import (
    check_refused,
    f32,
    i64,
    o,
    tensor,
    z,
)  # fmt: skip

CALLS = [
    (
        lambda: o(2).index((0,), (1,)),
        NotImplementedError,
        "Tensor.index: there are no first-class dimensions here",
    ),
    (lambda: o(2).type("torch.OddTensor"), ValueError, "type: invalid type: 'torch.OddTensor'"),
    (lambda: o(2).type("Float"), ValueError, "type: invalid type: 'Float'"),
    (
        lambda: o(2).__array__("int64", copy=False),
        ValueError,
        "__array__: dispatch.float32 cannot be shared as int64",
    ),
    (lambda: tensor([o(2), 1]), ValueError, "tensor: a tensor of 2 elements is not one number"),
    (lambda: tensor([o(2)]), ValueError, "tensor: a tensor of 2 elements is not one number"),
    (
        lambda: tensor(numpy.ones(4)[::-1]),
        ValueError,
        "tensor: an array of another byte order, or with negative",
    ),
    (
        lambda: dispatch.asarray(o(2), dtype=i64, copy=False),
        ValueError,
        "can't alias tensor with dtype 'dispatch.float32' into dtype 'dispatch.int64'",
    ),
    (
        lambda: dispatch.asarray(o(2), device="meta", copy=False),
        ValueError,
        "can't alias tensor from device 'cpu' to 'meta'",
    ),
    (
        lambda: dispatch.Tensor(2, device="meta"),
        RuntimeError,
        "Tensor(): makes tensors on cpu, but device meta was given",
    ),
    (
        lambda: dispatch.Tensor(2, "a"),
        TypeError,
        "Tensor(): expected sizes, a sequence or a tensor, got (2, 'a')",
    ),
    (
        lambda: dispatch.Tensor(2.5, 3),
        TypeError,
        "Tensor(): expected sizes, a sequence or a tensor, got (2.5, 3)",
    ),
    (
        lambda: dispatch.tensordot(o(2), o(2), dims="a"),
        RuntimeError,
        "tensordot: expected a number or two lists for dims, got 'a'",
    ),
    (
        lambda: dispatch.tensordot(o(2), o(2), dims=-1),
        RuntimeError,
        "tensordot expects dims >= 0, but got dims=-1",
    ),
    (
        lambda: dispatch.tensordot(o(2), o(2), dims=2),
        RuntimeError,
        "tensordot expects dims < ndim_a or ndim_b, but got dims=2",
    ),
    (
        lambda: dispatch.norm(o(2, 2), "odd"),
        RuntimeError,
        "norm: expected a number, 'fro' or 'nuc' for p, got 'odd'",
    ),
    (
        lambda: dispatch.norm(o(2, 2), "odd", dim=[0, 1]),
        RuntimeError,
        "norm: expected a number, 'fro' or 'nuc' for p, got 'odd'",
    ),
    (lambda: o(2)[2**70], ValueError, "index 1180591620717411303424 does not fit in 64 bits"),
    (lambda: o(2)[-(2**70)], ValueError, "index -1180591620717411303424 does not fit in 64 bits"),
    (
        lambda: o(2, dtype=i64).__setitem__(0, 2**70),
        ValueError,
        "value 1180591620717411303424 does not fit in 64 bits",
    ),
    (
        lambda: o(2).__setitem__(0, 2**70),
        ValueError,
        "value 1180591620717411303424 does not fit in 64 bits",
    ),
    (
        lambda: dispatch.pca_lowrank(o(2, 2, dtype=i64)),
        RuntimeError,
        "pca_lowrank: expected a floating or complex dtype, got dispatch.int64",
    ),
    (
        lambda: dispatch.pca_lowrank(o(2, 2), niter=-1),
        ValueError,
        "niter(=-1) must be non-negative integer",
    ),
    (lambda: o(2).nonzero(as_tuple=1), TypeError, "nonzero: as_tuple must be a bool, got int"),
    (lambda: o(2).nonzero(as_tuple="a"), TypeError, "nonzero: as_tuple must be a bool, got str"),
    (
        lambda: dispatch.broadcast_shapes((2, -1), (2, 2)),
        ValueError,
        "broadcast_shapes: a dimension with negative length in (2, -1)",
    ),
    (
        lambda: dispatch.broadcast_shapes((-1,)),
        ValueError,
        "broadcast_shapes: a dimension with negative length in (-1,)",
    ),
    (
        lambda: dispatch.broadcast_shapes(-1),
        ValueError,
        "broadcast_shapes: a dimension with negative length in (-1,)",
    ),
    (
        lambda: dispatch.broadcast_shapes(1.5),
        RuntimeError,
        "broadcast_shapes: Input shapes should be of type ints, a tuple of ints, or a list of ints",
    ),
    (lambda: dispatch.nonzero(3), TypeError, "nonzero: expected a Tensor, got int"),
    (
        lambda: dispatch.nonzero(o(2), out=z(2, 1, dtype=i64), as_tuple=True),
        RuntimeError,
        "nonzero: `out` takes no tuple",
    ),
    (
        lambda: dispatch._C._set_only_lift_cpu_tensors("a"),
        TypeError,
        "_set_only_lift_cpu_tensors: expected a bool, got 'a'",
    ),
    (
        lambda: dispatch.TypedStorage(2, wrap_storage=o(2).untyped_storage(), dtype=f32),
        RuntimeError,
        "TypedStorage: No positional arguments should be given when using 'wrap_storage'; expected",
    ),
    (
        lambda: dispatch.TypedStorage(wrap_storage=o(2).untyped_storage()),
        RuntimeError,
        "TypedStorage: Argument 'dtype' must be specified",
    ),
    (
        lambda: dispatch.TypedStorage(wrap_storage=o(2).untyped_storage(), dtype=3),
        TypeError,
        "TypedStorage: Argument 'dtype' must be a dtype, got <class 'int'>",
    ),
    (
        lambda: dispatch.TypedStorage(wrap_storage=o(2).untyped_storage(), dtype=f32, device="cpu"),
        RuntimeError,
        "TypedStorage: Argument 'device' should not be specified",
    ),
    (
        lambda: dispatch.TypedStorage(wrap_storage=3, dtype=f32),
        TypeError,
        "TypedStorage: Argument 'wrap_storage' must be UntypedStorage, but got <class 'int'>",
    ),
    (
        lambda: dispatch.TypedStorage(0, 0),
        RuntimeError,
        "TypedStorage: Too many positional arguments",
    ),
    (
        lambda: dispatch.TypedStorage(dtype=3),
        RuntimeError,
        "TypedStorage: expected a dtype, got <class 'int'>",
    ),
    (lambda: dispatch.TypedStorage("a"), TypeError, "TypedStorage: invalid data type 'str'"),
    (
        lambda: dispatch.TypedStorage(o(2)),
        TypeError,
        "TypedStorage: Argument type not recognized: <class",
    ),
    (
        lambda: dispatch.TypedStorage(2)["a"],
        RuntimeError,
        "TypedStorage: can't index with str, indices are integers",
    ),
    (
        lambda: dispatch.TypedStorage(2)[:1],
        RuntimeError,
        "TypedStorage: can't index with slices, indices are integers",
    ),
    (
        lambda: dispatch.TypedStorage(2)[2],
        IndexError,
        "TypedStorage: index 2 out of range for size 2",
    ),
    (
        lambda: dispatch.TypedStorage(2)[-3],
        IndexError,
        "TypedStorage: index -3 out of range for size 2",
    ),
    (
        lambda: dispatch.UntypedStorage("a"),
        RuntimeError,
        "UntypedStorage: expected a sequence of ints, got a str",
    ),
    (
        lambda: dispatch.UntypedStorage([1.5]),
        RuntimeError,
        "UntypedStorage: expected a sequence of ints, got a float",
    ),
    (
        lambda: dispatch.UntypedStorage(None),
        RuntimeError,
        "UntypedStorage: expected a sequence, got NoneType",
    ),
    (lambda: o(2).untyped_storage()["a"], TypeError, "storage: indices are integers, got str"),
    (lambda: o(2).untyped_storage()[1.5], TypeError, "storage: indices are integers, got float"),
    (lambda: o(2).untyped_storage()[True], TypeError, "storage: indices are integers, got bool"),
    (lambda: o(2).untyped_storage()[::2], RuntimeError, "storage: a slice has a step of 1"),
    (
        lambda: o(2).untyped_storage().copy_(o(3).untyped_storage()),
        RuntimeError,
        "copy_: size 12 does not match 8",
    ),
    (
        lambda: dispatch.UntypedStorage.from_buffer(b"abcd", dtype=f32),
        RuntimeError,
        "from_buffer: a dtype is needed, and a byte order unless it is",
    ),
    (
        lambda: dispatch.UntypedStorage.from_buffer(b"abcd", byte_order="native"),
        RuntimeError,
        "from_buffer: a dtype is needed, and a byte order unless it is",
    ),
    (
        lambda: dispatch.UntypedStorage.from_buffer(b"abcd", dtype=f32, byte_order="odd"),
        ValueError,
        "from_buffer: 'odd' is no byte order",
    ),
    (
        lambda: dispatch.UntypedStorage.from_buffer(
            b"abcd", dtype=f32, byte_order="native", offset=1
        ),
        ValueError,
        "from_buffer: 3 bytes from 1 on are no elements",
    ),
    (
        lambda: dispatch.UntypedStorage.from_buffer(
            b"abcd", dtype=f32, byte_order="native", offset=-1
        ),
        ValueError,
        "from_buffer: 5 bytes from -1 on are no elements",
    ),
    (
        lambda: dispatch.UntypedStorage.from_buffer(
            b"abcd", dtype=f32, byte_order="native", count=2
        ),
        ValueError,
        "from_buffer: 8 bytes asked for, 4 there",
    ),
]


@pytest.mark.parametrize(("call", "error", "text"), CALLS)
def test_it_is_refused(call, error, text):
    check_refused(call, error, text)
