"""The common device of a call (torch._subclasses.fake_tensor.FakeTensor._find_common_device).

All tensors of a call lie on one device, but a 0-d CPU tensor goes with any; a few operators are stricter, a few are laxer.
`propagate` asks for the device of what a Meta kernel made, programs ask for that of arguments in a flat list: both merge one tensor
after the other with `merge_device`, which alone knows the rule.
"""
from cpython.object cimport PyObject

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DEV_CPU, DEV_META
from dispatch._C.emitted cimport AF_WRITE, AK_DEVICE, AK_TENSOR
from dispatch._C.operator cimport OperatorEntry, qualified_name
from dispatch._C.overload cimport OpOverload
from dispatch._C.python_kernel cimport get_overload
from dispatch._C.tensor cimport TF_FAKE, TF_WRAPPED_NUMBER, Tensor
from dispatch._C.tls cimport ThreadState

from dispatch._C.operator import _should_allow_numbers_as_tensors
from dispatch.fake import config
from dispatch.fake.exceptions import FakeTensorDeviceMismatchError

__all__ = ["find_common_device", "init_gpu_context", "is_indexed_device_type", "should_allow_numbers_as_tensors"]

cdef frozenset indexed = frozenset(("cuda", "hpu", "xpu", "mps", "mtia", "privateuseone"))

# Arguments of these overloads may lie on other devices than the result, which is on the first one's.
cdef frozenset multi_device = frozenset("aten::" + n for n in (
    "copy_", "copy", "copy.out", "slice_scatter", "slice_scatter.out", "diagonal_scatter", "index.Tensor", "index_put",
    "index_put_", "_unsafe_index_put", "_embedding_bag", "resize_as", "resize_as_"))

cdef struct CommonDevice:
    int devtype
    int devindex
    bint found                   # False: no tensor yet
    bint zero_dim_cpu            # only 0-d CPU tensors so far: any other device takes over


def is_indexed_device_type(device_type):
    """Whether devices of the type are told apart by an index."""
    return device_type in indexed


def init_gpu_context(device):
    """Nothing to do here: no accelerator has a context of its own."""


def should_allow_numbers_as_tensors(func):
    """Whether the operator takes Python numbers where its schema says Tensor."""
    return bool(_should_allow_numbers_as_tensors(func.name().rpartition("::")[2].partition(".")[0]))


cdef dtypes.device normalized(dtypes.device dev):
    if dev.devindex >= 0 or dev.devtype == DEV_CPU or dev.devtype == DEV_META or dev.type not in indexed:
        return dev
    return dtypes.new_device(dev.devtype, 0)


# ---- the rule --------------------------------------------------------------------------------------------------------

cdef inline CommonDevice no_device() noexcept:
    cdef CommonDevice c
    c.devtype = DEV_CPU
    c.devindex = -1
    c.found = c.zero_dim_cpu = False
    return c


cdef int merge_device(OperatorEntry e, Tensor t, CommonDevice* c) except -1:
    """Add the device of one tensor. FakeTensorDeviceMismatchError: it does not go with those before it."""
    cdef bint zero = t.c_devtype == DEV_CPU and t.c_ndim == 0
    if c.found and c.devtype == t.c_devtype and c.devindex == t.c_devindex:
        c.zero_dim_cpu = c.zero_dim_cpu and zero
        return 0
    if c.found and (zero or not c.zero_dim_cpu or is_strict(e)):
        if (zero and not is_strict(e)) or may_mix(e, c.devtype, t.c_devtype):
            return 0
        if is_preferred(c.devtype):
            return 0
        if not is_preferred(t.c_devtype):
            raise FakeTensorDeviceMismatchError(get_overload(e), dtypes.new_device(c.devtype, c.devindex),
                                                dtypes.new_device(t.c_devtype, t.c_devindex))
    c.found = True
    c.zero_dim_cpu = zero
    c.devtype = t.c_devtype
    c.devindex = t.c_devindex
    return 0


cdef bint is_preferred(int devtype) except -1:
    """Whether the settings say that devices of the type go before others."""
    wanted = config.fake_tensor_prefer_device_type
    return wanted is not None and dtypes.new_device(devtype, -1).type == wanted


cdef bint is_strict(OperatorEntry e) except -1:
    """Whether 0-d CPU tensors are tensors like all others."""
    return e.name == "aten::nextafter" and not e.overload_name


cdef bint may_mix(OperatorEntry e, int a, int b) except -1:
    if e.name == "aten::_foreach_copy":
        return DEV_CPU == a or DEV_CPU == b
    return (e.name == "aten::add_" or e.name == "aten::embedding") and (DEV_META == a or DEV_META == b)


# ---- asked by calls --------------------------------------------------------------------------------------------------

cdef dtypes.device output_device(OperatorEntry e, PyObject** args, ThreadState* ts):
    cdef CommonDevice c = no_device()
    cdef int i
    cdef object given = None
    cdef bint many = qualified_name(e) in multi_device
    for i in range(e.sig.n_args):
        if e.sig.args[i].kind == AK_DEVICE and given is None:
            given = <object>args[i]
        if e.sig.args[i].kind != AK_TENSOR or (many and c.found):
            continue
        if isinstance(<object>args[i], Tensor):
            if not (<Tensor>args[i]).c_flags & TF_WRAPPED_NUMBER:
                merge_device(e, <Tensor>args[i], &c)
        elif isinstance(<object>args[i], list):
            for t in <list>args[i]:
                if isinstance(t, Tensor):
                    merge_device(e, <Tensor>t, &c)
    if not many and c.found and c.devtype != DEV_CPU:
        check_written(e, args, &c)
    if given is not None:
        return normalized(<dtypes.device>given)
    if not c.found and ts.default_device != NULL:
        return normalized(<dtypes.device>(<object>ts.default_device))
    return dtypes.new_device(c.devtype, c.devindex)


cdef int check_written(OperatorEntry e, PyObject** args, CommonDevice* c) except -1:
    """A 0-d CPU tensor goes with any device where it is read; what is written lies on the device of the call."""
    cdef int i
    for i in range(e.sig.n_args):
        if e.sig.args[i].flags & AF_WRITE and e.sig.args[i].kind == AK_TENSOR and isinstance(<object>args[i], Tensor) and \
                (<Tensor>args[i]).c_devtype == DEV_CPU:
            raise RuntimeError(f"{qualified_name(e)}: output device {(<Tensor>args[i]).device} does not match the device "
                               f"{dtypes.new_device(c.devtype, c.devindex)} of the call\n  {e._schema_text}")
    return 0


cdef dtypes.device device_at(OperatorEntry e, PyObject** args, Py_ssize_t at):
    cdef CommonDevice c = no_device()
    cdef int i
    for i in range(e.sig.n_args):
        if e.sig.args[i].kind == AK_TENSOR and isinstance(<object>args[i], list) and at < len(<list>args[i]):
            t = (<list>args[i])[at]
            if isinstance(t, Tensor):
                merge_device(e, <Tensor>t, &c)
    return dtypes.new_device(c.devtype, c.devindex)


# ---- asked by programs -----------------------------------------------------------------------------------------------

def find_common_device(OpOverload func not None, flat_args):
    """(common device of the fake tensors, whether the call has numbers only).

    Raises: FakeTensorDeviceMismatchError; AssertionError when nothing tells the device.
    """
    cdef CommonDevice c = no_device()
    for t in flat_args:
        if isinstance(t, Tensor) and (<Tensor>t).c_flags & TF_FAKE:
            merge_device(func.entry, <Tensor>t, &c)
    if not c.found and not should_allow_numbers_as_tensors(func):
        raise AssertionError(f"{qualified_name(func.entry)}: no fake tensor among the arguments tells the device")
    return dtypes.new_device(c.devtype, c.devindex), not c.found
