"""What programs call on tensors most: `to` and what is made of it, `type`, `tolist`, `float()` and its like, `T`, `grad`.

`methods` enters them into the type, `operators` runs `int()`, `float()` and what indexes other sequences. Each calls the
operators that PyTorch's binding calls, so that modes see the same calls.
"""
from cpython.object cimport PyObject

from dispatch._C.dtypes cimport (
    DEV_CPU, ST_bool, ST_float32, ST_float64, ST_int32, ST_int64, device, device_of, dtype, memory_format,
)
from dispatch._C.keys cimport KS_Conjugate, KS_Negative
from dispatch._C.python_api cimport PyDict_GetItem_, PyObject_GetDictPtr_, PyObject_Vectorcall_
from dispatch._C.references cimport take
from dispatch._C.symbolic cimport is_symbolic
from dispatch._C.tensor cimport TF_CUSTOM_SIZES, TF_HAS_TORCH_DISPATCH, Tensor, get_numpy, needs_grad
from dispatch._C.tls cimport n_dispatch_modes, tls

import numpy

from dispatch._C import dtypes
from dispatch._C.advice import advise, advise_once
from dispatch._C.generated.type_names import TENSOR_TYPES
from dispatch._C.naming import full_name, package_name
from dispatch._ops import ops
from dispatch.tensor.data import advise_cut, plain_values

__all__ = ["as_index", "cpu", "device_method", "dtype_method", "gradient", "to", "tolist", "transposed", "type_of", "value_as"]

cdef str GRAD = "grad"
cdef object aten = ops.aten
cdef object CONJ = aten.resolve_conj.default
cdef object IS_NONZERO = aten.is_nonzero.default
cdef object ITEM = aten.item.default
cdef object NEG = aten.resolve_neg.default
cdef object NUMPY_T = aten.numpy_T.default
cdef object TO_DEVICE = aten.to.device
cdef object TO_DTYPE = aten.to.dtype
cdef object TO_LAYOUT = aten.to.dtype_layout
cdef tuple OPTIONS = ("dtype", "layout", "device")
cdef object CPU = dtypes.device("cpu")
cdef tuple FLAGS = ("non_blocking", "copy")
cdef dict PYTHON_DTYPES = {bool: dtypes.bool, int: dtypes.int64, float: dtypes.float64, complex: dtypes.complex128}


# ---- dtypes and devices

def to(Tensor self not None, *args, **kwargs):
    """`to(dtype)`, `to(device, dtype)`, `to(other)`, with non_blocking, copy and memory_format.

    Returns self when nothing would change.
    """
    cdef object target = None, wanted = None
    cdef Py_ssize_t n = len(args)
    cdef dict rest
    if n == 1 and not kwargs:
        target = args[0]
        if type(target) is dtype:
            return TO_DTYPE(self, target)
        if isinstance(target, Tensor):
            return TO_DEVICE(self, target.device, target.dtype)
    elif n == 2 and not kwargs:
        target, wanted = args
    elif n == 0 and len(kwargs) == 1:
        target, wanted = kwargs.get("device"), kwargs.get("dtype")
        if type(wanted) is dtype:
            return TO_DTYPE(self, wanted)
    if type(target) is device or type(target) is str:
        if wanted is None and n < 2:
            return moved(self, device_of(target), None)
        if type(wanted) is dtype:
            return TO_DEVICE(self, device_of(target), wanted)
    target, wanted, rest = to_arguments(args, kwargs)
    if isinstance(target, Tensor):
        wanted, target = target.dtype, target.device
    if target is not None and wanted is not None:
        return TO_DEVICE(self, target, wanted, **rest)
    if wanted is not None:
        return TO_DTYPE(self, wanted, **rest)
    if target is None and not rest.get("copy") and rest.get("memory_format") is None:
        return self
    return moved(self, target, rest)


cdef object moved(Tensor self, object target, dict rest):
    """As PyTorch's bindings move a tensor: its own options are written out."""
    cdef PyObject* given[4]
    cdef object kind = self.dtype, layout = self.layout
    if target is None:
        target = self.device
    if rest:
        return TO_LAYOUT(self, dtype=kind, layout=layout, device=target, **rest)
    given[0], given[1], given[2], given[3] = <PyObject*>self, <PyObject*>kind, <PyObject*>layout, <PyObject*>target
    return take(PyObject_Vectorcall_(<PyObject*>TO_LAYOUT, given, 1, <PyObject*>OPTIONS))


# The signatures, in the order in which they are tried; `memory_format` is for each.
cdef tuple SIGNATURES = (("device", "dtype", *FLAGS), ("dtype", *FLAGS), ("tensor", *FLAGS))


cdef tuple to_arguments(tuple args, dict kwargs):
    """(tensor or device or None, dtype, what is left) of a call of `to`; a number counts as a tensor."""
    cdef dict given
    for names in SIGNATURES:
        given = bound(<tuple>names, args, kwargs)
        if given is None:
            continue
        tensor, target, wanted = given.pop("tensor", None), given.pop("device", None), given.pop("dtype", None)
        if tensor is not None:
            return (tensor, None, given) if isinstance(tensor, Tensor) else (CPU, number_dtype(tensor), given)
        if target is not None and not isinstance(target, device):
            target = dtypes.device(target)
        return target, wanted if wanted is None or isinstance(wanted, dtype) else PYTHON_DTYPES[wanted], given
    raise TypeError(f"to: expected a dtype, device or tensor, got {args!r} {kwargs if kwargs else ''}")


cdef dict bound(tuple names, tuple args, dict kwargs):
    """The arguments by name; None where they do not fit the signature."""
    cdef dict given = {}
    cdef Py_ssize_t i, n = len(args)
    if n > len(names) or not args and names[0] != "device" and names[0] not in kwargs:
        return None
    for i in range(n):
        given[names[i]] = args[i]
    for name, value in kwargs.items():
        if name in given or name not in names and name != "memory_format":
            return None
        given[name] = value
    for name, value in given.items():
        if not fits(name, value, names[0] == name):
            return None
    return given


cdef bint fits(str name, object value, bint first):
    if name == "device":
        return value is None or isinstance(value, (str, device)) or is_int(value)
    if name == "dtype":
        return is_dtype(value) or value is None and not first
    if name == "tensor":
        return isinstance(value, Tensor) or isinstance(value, (int, float, complex, numpy.number, numpy.bool_))
    if name == "memory_format":
        return value is None or isinstance(value, memory_format)
    return isinstance(value, bool)


cdef bint is_int(object value):
    return isinstance(value, int) and not isinstance(value, bool)


cdef object number_dtype(object number):
    """The dtype of a 0-d tensor that holds it."""
    if isinstance(number, (bool, numpy.bool_)):
        return dtypes.bool
    if isinstance(number, (complex, numpy.complexfloating)):
        return dtypes.complex128
    return dtypes.int64 if isinstance(number, (int, numpy.integer)) else dtypes.float64


cdef int check_format(str name, object given) except -1:
    if given is not None and not isinstance(given, memory_format):
        raise TypeError(f"Tensor.{name}: argument 'memory_format' must be a memory_format, got {type(given).__name__}")
    return 0


cdef bint is_dtype(object value):
    return isinstance(value, dtype) or value is float or value is int or value is bool or value is complex


def dtype_method(str name not None, wanted):
    """`x.float()` and its like."""
    def convert(Tensor self not None, *, memory_format=None):
        if memory_format is None:
            return TO_DTYPE(self, wanted)
        check_format(name, memory_format)
        return TO_DTYPE(self, wanted, memory_format=memory_format)

    convert.__name__ = name
    convert.__doc__ = f"This tensor as {wanted}."
    return convert


def cpu(Tensor self not None, *, memory_format=None):
    """This tensor on the CPU."""
    if memory_format is None:
        return moved(self, CPU, None)
    check_format("cpu", memory_format)
    return moved(self, CPU, {"memory_format": memory_format})


def device_method(str name not None):
    """`x.cuda()` and its like. RuntimeError for a device of another kind."""
    cdef object own = dtypes.device(name)

    def move(Tensor self not None, device=None, non_blocking=False, *, memory_format=None):
        target = own if device is None else dtypes.device(name, device) if is_int(device) else dtypes.device(device)
        check_format(name, memory_format)
        if target.type != name:
            raise RuntimeError(f"Tensor.{name}: Invalid device, must be {name} device, got {target}")
        return moved(self, target, {"non_blocking": non_blocking, "memory_format": memory_format})

    move.__name__ = name
    move.__doc__ = f"This tensor on {name}."
    return move


cdef dict type_names = {getattr(dtypes, dtype_name): name for name, dtype_name in TENSOR_TYPES.items()}


def type_of(Tensor self not None, dtype=None, non_blocking=False, *, memory_format=None):
    """The name of the tensor's type, `dispatch.FloatTensor`; or this tensor as another dtype."""
    check_format("type", memory_format)
    if dtype is None:
        place = "" if self.device.type == "cpu" else self.device.type + "."
        return full_name(place + type_names[self.dtype])
    if isinstance(dtype, type) and (dtype is Tensor or dtype.__module__ == package_name()):      # `FloatTensor`
        dtype = full_name(dtype.__name__)
    if isinstance(dtype, str):
        return TO_DEVICE(self, *type_named(dtype), non_blocking, memory_format=memory_format)
    if not is_dtype(dtype):
        raise TypeError(f"Tensor.type: dtype must be a type, str, or dtype object, got {type(dtype).__name__}")
    return TO_DTYPE(self, dtype, non_blocking, memory_format=memory_format)


cdef tuple type_named(str text):
    """`dispatch.cuda.FloatTensor` (`torch.` too) as a device and a dtype."""
    cdef list parts = text.split(".")
    name = parts[len(parts) - 1]
    if name == "Tensor":                                    # of the default dtype
        name = type_names[dtypes.get_default_dtype()]
    if not (name in TENSOR_TYPES and 2 <= len(parts) <= 3) or parts[0] not in ("dispatch", "torch"):
        raise ValueError(f"type: invalid type: '{text}'")
    place = parts[1] if len(parts) == 3 else "cpu"
    return dtypes.device(place), getattr(dtypes, TENSOR_TYPES[name])


# ---- values

def tolist(Tensor self not None):
    """The values as nested lists of Python numbers."""
    cdef bint handled = self.c_flags & TF_HAS_TORCH_DISPATCH != 0
    if self.c_devtype == DEV_CPU and not handled and is_as_numpy_has_it(self) and not n_dispatch_modes(tls()):
        return get_numpy(self).tolist()
    if handled and not hasattr(self, "fake_mode"):
        raise RuntimeError(f".tolist() is not supported for tensor subclasses, got {type(self).__name__}")
    if self.device.type == "meta":
        raise NotImplementedError("tolist: a tensor on meta has no values")
    if n_dispatch_modes(tls()):                   # below autograd, modes see these
        self = NEG(CONJ(self))
    if self.device.type != "cpu" and not handled:      # by the kernels that its device has
        self = self.detach().to("cpu")
    return plain_values(self).tolist()


cdef inline bint is_as_numpy_has_it(Tensor t) noexcept:
    return not t.c_keys & (KS_Conjugate | KS_Negative) and (
        t.c_dtype == ST_float32 or t.c_dtype == ST_int64 or t.c_dtype == ST_float64 or t.c_dtype == ST_int32 or
        t.c_dtype == ST_bool)


# ---- one value

cdef dict VALUE_TYPES = {"bool": bool, "int": int, "float": float, "complex": complex}


def value_as(str kind not None):
    """`bool()`, `int()`, `float()` or `complex()` of a tensor. ValueError unless it has one element."""
    cdef object value_type = VALUE_TYPES[kind]
    cdef bint told = kind == "float" or kind == "complex"

    def convert(Tensor self not None):
        if told and needs_grad(self):
            advise_cut()
        value = IS_NONZERO(self) if value_type is bool else single_item(self, kind)
        return value if type(value) is value_type else value_type(value)

    return convert


cdef object single_item(Tensor self, str kind):
    n = numel_of(self)
    if n != 1:
        raise ValueError(f"a tensor of {n} elements has no {kind} value")
    value = ITEM(self)
    if isinstance(value, complex) and kind != "complex":
        if value.imag != 0:
            raise RuntimeError(f"value {value} cannot be converted to {kind} without overflow")
        return value.real
    return value


cdef object numel_of(Tensor t):
    return t.numel() if t.c_flags & TF_CUSTOM_SIZES or is_symbolic(t.c_numel) else t.c_numel


def as_index(Tensor self not None):
    """What indexes other sequences. TypeError unless it is one integer."""
    if numel_of(self) != 1 or self.dtype.is_floating_point or self.dtype.is_complex:
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(ITEM(self))


# ---- attributes

def transposed(Tensor self not None):
    """All dimensions in reverse; deprecated for other than matrices."""
    cdef object n = self.c_ndim if not self.c_flags & TF_CUSTOM_SIZES else self.ndim
    if n == 0:
        advise_once("Tensor.T of a number", "deprecated, for it stays as it is")
    elif n != 2:
        advise_once("Tensor.T of other than matrices", "deprecated, call mT or permute")
    return NUMPY_T(self)


def gradient(Tensor self not None):
    """What somebody assigned: no call looks at it. UserWarning for what no backward fills."""
    cdef PyObject** held = PyObject_GetDictPtr_(<PyObject*>self)
    cdef PyObject* found = PyDict_GetItem_(held[0], <PyObject*>GRAD) if held != NULL and held[0] != NULL else NULL
    if found != NULL and <object>found is not None:
        return <object>found
    if needs_grad(self) and not self.is_leaf and not self.retains_grad:
        advise("Tensor.grad: this is no leaf, its gradient is kept after retain_grad() only")
    return None
