"""DLPack and the buffer protocol: memory is shared both ways, and lives as long as either side."""

import ctypes
import gc
import weakref

import numpy as np
import pytest

import dispatch
from dispatch import FakeTensorMode, from_dlpack
from dispatch._C import dlpack

SHARED = [
    "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "float32",
    "float64", "complex64", "complex128", "bool",
]  # fmt: skip
ONLY_HERE = [
    "bfloat16", "complex32", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
    "float8_e8m0fnu",
]  # fmt: skip
VERSIONS = [None, (0, 8), (1, 0), (1, 1)]
LENDS_READ_ONLY = np.lib.NumpyVersion(np.__version__) >= "2.1.0"  # capsules of DLPack 1.0


class Lender:
    """An array of another library: it gives out a capsule as it was told to."""

    def __init__(self, array, versioned=True, device=(1, 0)):
        self.array = array
        self.versioned = versioned
        self.device = device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **arguments):
        if arguments and not self.versioned:
            raise TypeError("no arguments before DLPack 1.0")
        return self.array.__dlpack__(**arguments)


@pytest.mark.parametrize("dtype", SHARED)
def test_numpy_reads_and_writes_a_tensors_memory(dtype):
    tensor = dispatch.zeros(2, 3, dtype=getattr(dispatch, dtype))
    array = np.from_dlpack(tensor)
    assert array.dtype == dtype and array.shape == (2, 3)
    tensor[1, 2] = 1
    assert array[1, 2] == 1
    assert array.ctypes.data == tensor.data_ptr()


@pytest.mark.parametrize("dtype", SHARED)
def test_a_tensor_reads_and_writes_an_arrays_memory(dtype):
    array = np.zeros((2, 3), dtype)
    tensor = from_dlpack(array)
    assert tensor.dtype == getattr(dispatch, dtype)
    tensor[0, 1] = 1
    assert array[0, 1] == 1
    assert array.ctypes.data == tensor.data_ptr()


@pytest.mark.parametrize("dtype", [*SHARED, *ONLY_HERE])
@pytest.mark.parametrize("version", VERSIONS)
def test_a_capsule_comes_back_as_the_same_memory(dtype, version):
    tensor = dispatch.empty(2, 3, dtype=getattr(dispatch, dtype))
    back = from_dlpack(tensor.__dlpack__(max_version=version))
    assert (back.dtype, back.shape, back.data_ptr()) == (tensor.dtype, (2, 3), tensor.data_ptr())


@pytest.mark.parametrize("version", VERSIONS)
def test_a_capsule_is_versioned_when_the_reader_knows_versions(version):
    text = repr(dispatch.ones(1).__dlpack__(max_version=version))
    assert ("dltensor_versioned" in text) == (version is not None and version[0] >= 1)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1),
        np.arange(24.0)[5:20:3],
        np.array(3.0),
        np.zeros((0, 3)),
        np.broadcast_to(np.arange(3.0), (4, 3)),
    ],
    ids=["permuted", "strided", "0-d", "empty", "expanded"],
)
@pytest.mark.parametrize("versioned", [False, True])
def test_geometry_survives_both_ways(array, versioned):
    if not array.flags.writeable and not LENDS_READ_ONLY:
        pytest.skip("this numpy lends no read-only array")
    tensor = from_dlpack(Lender(array, versioned)) if array.flags.writeable else from_dlpack(array)
    np.testing.assert_array_equal(tensor.numpy(), array)
    np.testing.assert_array_equal(np.from_dlpack(tensor), array)


def test_the_array_lives_as_long_as_a_tensor_stands_on_it():
    array = np.arange(5.0)
    gone = weakref.ref(array)
    view = from_dlpack(array)[1:]
    del array
    gc.collect()
    assert gone() is not None and view.tolist() == [1, 2, 3, 4]
    del view
    gc.collect()
    assert gone() is None


def test_the_memory_lives_as_long_as_an_array_stands_on_it():
    tensor = dispatch.arange(5)
    gone = weakref.ref(tensor)
    array = np.from_dlpack(tensor)
    del tensor
    gc.collect()
    assert gone() is None
    assert array.tolist() == [0, 1, 2, 3, 4]


def test_a_resized_tensor_leaves_what_it_lent_alone():
    tensor = dispatch.arange(4)
    array = np.from_dlpack(tensor)
    tensor.resize_(100_000)
    tensor.fill_(7)
    assert array.tolist() == [0, 1, 2, 3]


def test_borrowed_memory_is_not_resized():
    with pytest.raises(RuntimeError, match="not resizable"):
        from_dlpack(np.arange(4.0)).resize_(100)


def test_capsules_leak_nothing(grown_blocks):
    tensor, array = dispatch.ones(2, 3), np.ones((2, 3))

    def lend_and_borrow():
        tensor.__dlpack__()
        tensor.__dlpack__(max_version=(1, 0))
        np.from_dlpack(tensor)
        from_dlpack(array)
        from_dlpack(tensor.__dlpack__())

    assert grown_blocks(lend_and_borrow) < 100


def test_a_capsule_is_used_once():
    capsule = dispatch.ones(1).__dlpack__()
    from_dlpack(capsule)
    with pytest.raises(RuntimeError, match="only once"):
        from_dlpack(capsule)


def test_a_copy_has_memory_of_its_own():
    tensor = dispatch.ones(3)
    copy = from_dlpack(tensor.__dlpack__(copy=True, max_version=(1, 0)))
    assert copy.tolist() == [1, 1, 1] and copy.data_ptr() != tensor.data_ptr()
    array = np.ones(3)
    assert from_dlpack(array, copy=True).data_ptr() != array.ctypes.data


class Older(Lender):
    """An array of a library that knows some arguments only."""

    def __init__(self, array, *known):
        super().__init__(array)
        self.known = known

    def __dlpack__(self, **arguments):
        if not set(arguments) <= set(self.known):
            raise TypeError(f"unexpected among {list(arguments)}")
        return dispatch.from_numpy(self.array).__dlpack__(**arguments)


@pytest.mark.parametrize("known", [(), ("copy",), ("max_version",), ("copy", "max_version")])
@pytest.mark.parametrize("copy", [None, False, True])
def test_lenders_may_know_fewer_arguments(known, copy):
    array = np.ones(3)
    tensor = from_dlpack(Older(array, *known), copy=copy)
    assert (tensor.data_ptr() == array.ctypes.data) == (copy is not True)
    assert tensor.tolist() == [1, 1, 1]


def fake():
    with FakeTensorMode():
        return dispatch.empty(2)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: dispatch.ones(2, requires_grad=True), "require gradient"),
        (lambda: dispatch.ones(2, dtype=dispatch.complex64).conj(), "conjugate bit"),
        (lambda: dispatch.ones(2, dtype=dispatch.complex64).conj().imag, "negative bit"),
        (lambda: dispatch.empty(2, device="meta"), "meta"),
        (fake, "fake"),
    ],
    ids=["requires_grad", "conj", "neg", "meta", "fake"],
)
def test_what_cannot_be_shared_is_refused(make, text):
    tensor = make()
    with pytest.raises(BufferError, match=text):
        tensor.__dlpack__()
    with pytest.raises(BufferError):
        memoryview(tensor)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"stream": 1}, AssertionError),
        ({"stream": "x"}, TypeError),
        ({"dl_device": (2, 0)}, BufferError),
    ],
)
def test_wrong_arguments_of_dlpack(arguments, error):
    with pytest.raises(error):
        dispatch.ones(1).__dlpack__(**arguments)


@pytest.mark.parametrize(
    ("lender", "error"),
    [
        (3, RuntimeError),
        (np.arange(4.0)[::-1], ValueError),
        (np.arange(4.0).astype(">f8"), BufferError),
        (np.array(["text"]), BufferError),
        (Lender(np.ones(2), device=(2, 0)), BufferError),
    ],
    ids=["no array", "negative stride", "byte order", "text", "device"],
)
def test_wrong_arguments_of_from_dlpack(lender, error):
    with pytest.raises(error):
        from_dlpack(lender)


def test_from_dlpack_lends_to_the_cpu_only():
    assert from_dlpack(np.ones(2), device="cpu").tolist() == [1, 1]
    with pytest.raises(BufferError, match="cuda"):
        from_dlpack(np.ones(2), device="cuda")


def test_device_numbers():
    assert dispatch.ones(1).__dlpack_device__() == (dlpack.DLDeviceType.kDLCPU, 0)
    with FakeTensorMode():
        assert dispatch.empty(1, device="cuda:2").__dlpack_device__() == (2, 2)
    with pytest.raises(ValueError, match="meta"):
        dispatch.empty(1, device="meta").__dlpack_device__()


def test_torch_shares_memory_both_ways():
    torch = pytest.importorskip("torch")
    tensor = dispatch.zeros(2, 3, dtype=dispatch.bfloat16)
    theirs = torch.from_dlpack(tensor)
    theirs[1, 2] = 5
    assert theirs.dtype is torch.bfloat16 and tensor[1, 2].item() == 5
    ours = from_dlpack(theirs)
    del tensor, theirs
    gc.collect()
    assert ours.tolist() == [[0, 0, 0], [0, 0, 5]]


def test_jax_arrays_are_read():
    jnp = pytest.importorskip("jax.numpy")
    assert from_dlpack(jnp.arange(3)).tolist() == [0, 1, 2]
    assert jnp.from_dlpack(dispatch.arange(3, dtype=dispatch.int32)).tolist() == [0, 1, 2]


# -- the buffer protocol ------------------------------------------------------------------------


def test_memoryview_shares_memory():
    tensor = dispatch.arange(6, dtype=dispatch.float32).reshape(2, 3)
    view = memoryview(tensor)
    assert (view.shape, view.format, view.strides) == ((2, 3), "f", (12, 4))
    view[1, 2] = 9.0
    assert tensor[1, 2].item() == 9
    assert memoryview(tensor.t()).strides == (4, 12)


def test_a_memoryview_outlives_its_tensor():
    tensor = dispatch.arange(3)
    view = memoryview(tensor)
    tensor.resize_(10_000)
    del tensor
    gc.collect()
    assert view.tolist() == [0, 1, 2]


def test_a_buffer_becomes_a_tensor():
    content = bytearray(8)
    tensor = dispatch.asarray(memoryview(content), dtype=dispatch.uint8)
    tensor[3] = 7
    assert content[3] == 7


def test_a_dtype_that_buffers_do_not_know_is_refused():
    with pytest.raises(BufferError):
        memoryview(dispatch.ones(2, dtype=dispatch.bfloat16))


def test_numpy_still_sees_what_it_may_not_share():
    """numpy asks for a buffer first, and then calls `__array__`, whose error is the clear one."""
    with pytest.raises(RuntimeError, match="requires grad"):
        np.asarray(dispatch.ones(2, requires_grad=True))
    assert np.asarray(dispatch.ones(2, dtype=dispatch.bfloat16)).dtype == "bfloat16"


# -- what user code answers ---------------------------------------------------------------------


@pytest.mark.parametrize("given", [(), [], (1,), (1, 0, 0), "10", 1, ("1", "0"), {1: 0, 2: 0}])
@pytest.mark.parametrize("name", ["max_version", "dl_device"])
def test_a_version_or_device_of_another_form_is_refused(name, given):
    with pytest.raises(TypeError, match=f"{name}: expected a tuple of 2"):
        dispatch.ones(2).__dlpack__(**{name: given})


@pytest.mark.parametrize("device", [(), [], (1,), None, (None, 0), ("cpu", 0)])
def test_a_lender_whose_device_is_no_pair_is_refused(device):
    lender = Lender(np.ones(3), device=device)
    with pytest.raises(BufferError, match="__dlpack_device__"):
        from_dlpack(lender)


def test_a_lender_may_answer_with_a_list():
    assert from_dlpack(Lender(np.ones(3), device=[1, 0])).tolist() == [1, 1, 1]


class Described(ctypes.Structure):
    """DLManagedTensor, the struct of a capsule from before DLPack 1.0."""

    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
    ]  # fmt: skip


class Versioned(ctypes.Structure):
    """The head of DLManagedTensorVersioned."""

    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("rest", Described)]


def capsule(struct, name=b"dltensor"):
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = (
        ctypes.py_object,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
    )
    return make(ctypes.addressof(struct), name, None)


def described(data=True, sizes=(2, 3), strides=None, **fields):
    """Six float32 and what a lender says of them; the memory lives as long as the struct."""
    made = Described(None, 1, 0, len(sizes), 2, 32, 1)
    made.memory = (ctypes.c_float * 6)(*range(6))
    made.data = ctypes.addressof(made.memory) if data else None
    made.shape = (ctypes.c_int64 * len(sizes))(*sizes)
    if strides is not None:
        made.strides = (ctypes.c_int64 * len(strides))(*strides)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def test_a_described_tensor_is_read_in_place():
    for struct, want in [
        (described(), [[0, 1, 2], [3, 4, 5]]),
        (described(strides=(1, 2)), [[0, 2, 4], [1, 3, 5]]),
        (described(sizes=(2,), byte_offset=8), [2, 3]),
        (described(sizes=()), 0),
        (described(data=False, sizes=(0, 3), strides=(70, 1)), []),
        (described(sizes=(1, 2), strides=(2**62, 1)), [[0, 1]]),
    ]:
        assert from_dlpack(capsule(struct)).tolist() == want


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ({"lanes": 2}, RuntimeError, "elements of 2 lanes are not supported"),
        ({"bits": 24}, RuntimeError, "no dtype for DLPack's type code 2 of 24 bits"),
        ({"code": 99}, RuntimeError, "no dtype for DLPack's type code 99 of 32 bits"),
        ({"device_type": 2}, BufferError, "DLPack's device type 2, expected cpu"),
        ({"ndim": -1}, BufferError, "a tensor of -1 dimensions"),
        ({"ndim": 65}, BufferError, "a tensor of 65 dimensions"),
        ({"shape": None}, BufferError, "a tensor of 2 dimensions"),
        ({"sizes": (2, -1)}, BufferError, "size -1 in dimension 1"),
        ({"strides": (3, -1)}, ValueError, "negative stride in dimension 1"),
        ({"sizes": (2**30, 2**30)}, BufferError, "more than 2**58 elements"),
        ({"strides": (2**51, 1)}, BufferError, "stride 2251799813685248 in dimension 0"),
        ({"data": False}, BufferError, "no data where 24 bytes were expected"),
    ],
)
def test_a_tensor_that_cannot_be_is_refused_and_the_capsule_stays(given, error, text):
    struct = described(**given)
    lent = capsule(struct)
    for _ in range(2):
        with pytest.raises(error) as raised:
            from_dlpack(lent)
        assert raised.type is error and text in str(raised.value)


def test_a_capsule_of_another_version_is_refused():
    struct = Versioned(2, 3)
    with pytest.raises(BufferError, match=r"DLPack version 2\.3, expected 1\.x"):
        from_dlpack(capsule(struct, b"dltensor_versioned"))


class Lending:
    """Another library's array: memory by DLPack and nothing else."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack__(self, **options):
        return self.tensor.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()


def test_tensors_are_made_of_what_lends_its_memory():
    base = dispatch.arange(3)
    copied = dispatch.tensor(Lending(base), dtype=dispatch.float64, requires_grad=True)
    shared, also = dispatch.as_tensor(Lending(base)), dispatch.asarray(Lending(base))
    base.add_(1)
    assert copied.tolist() == [0.0, 1.0, 2.0] and copied.requires_grad
    assert shared.tolist() == also.tolist() == [1, 2, 3]


def test_strides_of_dimensions_of_one_are_kept():
    x = dispatch.ones(16)[::3][:1]
    assert from_dlpack(x).stride() == (3,)


def test_a_capsule_of_the_older_function_is_of_tensors_that_require_grad_too():
    from dispatch.as_torch import dlpack

    x = dispatch.ones(2, requires_grad=True)
    capsule = dlpack.to_dlpack(x)
    assert "dltensor_versioned" not in repr(capsule)
    y = dlpack.from_dlpack(capsule)
    assert y.data_ptr() == x.data_ptr() and not y.requires_grad
    with pytest.raises(TypeError, match="expected a Tensor"):
        dlpack.to_dlpack(3)
    with pytest.raises(BufferError, match="Unsupported device_type: 16"):
        x.detach().__dlpack__(dl_device=(dlpack.DLDeviceType.kDLHexagon, 0))
