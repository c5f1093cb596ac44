"""Tensor subclasses: how instances are made, and what their class answers about its own metadata.

`Tensor._make_subclass`, `_make_wrapper_subclass` and `as_subclass` make instances; one may leave its strides, sizes, device or
layout to `__torch_dispatch__` (a *policy*, kept as TF_CUSTOM_* flags). The accessors of `tensor` call `answer` for such a tensor:
it asks the modes and the class with an operator that stands for the question (`aten.sym_size`, `prim.device` ...) and checks what
comes back, as PyTorch's PyInterpreter does. No operator goes through this module. At the end stands what every tensor ends with.
"""
from operator import index

from cpython.object cimport PyObject, PyTypeObject, destructor
from libc.stdint cimport INT64_MAX, INT64_MIN, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free

from dispatch._C cimport dtypes
from dispatch._C.dispatcher cimport call_boxed, need_entry
from dispatch._C.dtypes cimport DEV_META, LAYOUT_jagged, LAYOUT_sparse_coo, LAYOUT_strided, MF_contiguous
from dispatch._C.keys cimport (
    DispatchKeySet, KS_BY_DEVICE_TYPE, KS_Dense, KS_FULL_BACKENDS, KS_Python, KS_PythonTLSSnapshot, key_bits,
)
from dispatch._C.operator cimport OperatorEntry, qualified_name
from dispatch._C.python_kernel cimport ask_handlers
from dispatch._C.python_api cimport PyErr_Fetch_, PyErr_Restore_, PyObject_GC_UnTrack_, Py_DECREF_
from dispatch._C.references cimport take
from dispatch._C.errors cimport refused
from dispatch._C.geometry cimport TF_CONTIGUOUS, product, reach_of, read_ints
from dispatch._C.size cimport new_size
from dispatch._C.storage cimport Storage
from dispatch._C.symbolic cimport NK_INT, NK_NONE, is_symbolic, larger, number_kind, size_from, size_object
from dispatch._C.tensor cimport (
    TF_CUSTOM_DEVICE, TF_CUSTOM_LAYOUT, TF_CUSTOM_SIZES, TF_CUSTOM_STRIDES, TF_HAS_TORCH_DISPATCH, TF_HEAP_GEOMETRY,
    TF_REQUIRES_GRAD, TF_SYMBOLIC, TF_VIEW_MARKS, Tensor, VersionCounter, alias_as, blank_of, init_tensor, is_contiguous_as,
    is_dense, keys_for, place_tensor, set_base, set_class_flags, set_requires_grad, set_storage, share_version,
)
from dispatch._C.tls cimport n_dispatch_modes, tls

from dispatch._C.slots import _install_tensor_attribute, _set_tensor_hook
from dispatch._C.tls import _pop_torch_dispatch_stack, _push_on_torch_dispatch_stack

__all__ = ["answer", "answers", "has_handler", "layout_code", "set_source", "share_memory", "share_storage", "stored_fact"]


# ---- questions to the class ------------------------------------------------------------------------------------------

cdef dict entries = {}                  # operator's full name -> OperatorEntry


cdef object ask(Tensor t, str name, str overload, object argument):
    """What the modes and the class answer to the operator, called with the tensor (and one argument that is not None)."""
    cdef OperatorEntry e = entries.get((name, overload))
    cdef PyObject* args[2]
    if e is None or not e.defined:
        e = entries[name, overload] = need_entry(name, overload)
    args[0] = <PyObject*>t
    args[1] = <PyObject*>argument
    return take(ask_handlers(<PyObject*>e, args, tls(), True))


cdef object refuse(Tensor t, str question, object value, str wanted):
    raise RuntimeError(f"{type(t).__name__}.__torch_dispatch__ answered {question} with {type(value).__name__}, expected {wanted}")


cdef object whole(Tensor t, str question, object value):
    if number_kind(<PyObject*>value) == NK_INT:
        return value
    if type(value) is int and not INT64_MIN <= value <= INT64_MAX:
        raise ValueError(f"{type(t).__name__}.__torch_dispatch__: {question} is {value!s:.40}, which does not fit in 64 bits")
    if isinstance(value, (float, complex, Tensor)) or not hasattr(value, "__index__"):
        refuse(t, question, value, "an int")
    return index(value)


cdef list whole_list(Tensor t, str question, object values):
    if not isinstance(values, (tuple, list)):
        refuse(t, question, values, "a list or tuple of ints")
    return [whole(t, question, v) for v in values]


def answer(Tensor t not None, str question, memory_format=None):
    """The metadata of a tensor that leaves them to its class: what `__torch_dispatch__` says to an operator.

    `question` is the operator's name in `aten` (`sym_size`, `size`, `sym_stride`, `stride`, `sym_numel`, `numel`, `dim`,
    `sym_storage_offset`, `is_contiguous`, `is_strides_like_format`, `is_non_overlapping_and_dense`), or `device` or `layout`.
    None as the answer means what the tensor was made with, but for `dim`, `device` and `layout`.

    RuntimeError: an answer of another type. TypeError: all handlers return NotImplemented.
    """
    if question == "device":
        return device_of_class(t)
    if question == "layout":
        return layout_of_class(t)
    if question.startswith("is_"):
        return fact_of_class(t, question, memory_format)
    value = ask(t, "aten::" + question, "", None)
    if question == "dim":
        return whole(t, question, value)
    if question.endswith("size"):
        return tuple(whole_list(t, question, value)) if value is not None else tuple(new_size(t.c_ndim, t.c_sizes))
    if question.endswith("stride"):
        return tuple(whole_list(t, question, value)) if value is not None else tuple(new_size(t.c_ndim, t.c_strides))
    if value is None:
        return size_object(t.c_offset if question == "sym_storage_offset" else t.c_numel)
    return whole(t, question, value)


cdef object fact_of_class(Tensor t, str question, object memory_format):
    """A bool: whether the tensor is contiguous, laid out like a format, or dense."""
    cdef int mf = (<dtypes.memory_format?>memory_format).code if memory_format is not None else MF_contiguous
    cdef bint plain = question == "is_contiguous" and mf == MF_contiguous
    if plain:
        value = ask(t, "aten::is_contiguous", "", None)
    else:
        value = ask(t, "aten::" + question, "memory_format" if question == "is_contiguous" else "", memory_format)
    if value is None:
        return stored_fact(t, question, memory_format)
    if not isinstance(value, bool):
        refuse(t, question, value, "a bool")
    return value


def stored_fact(Tensor t not None, str question, memory_format=None):
    """The same bools from the metadata that the tensor was made with."""
    cdef int mf = (<dtypes.memory_format?>memory_format).code if memory_format is not None else MF_contiguous
    if question == "is_non_overlapping_and_dense":
        return is_dense(t)
    if question == "is_strides_like_format" and mf == MF_contiguous:
        return False
    return is_contiguous_as(t, mf)


def has_handler(Tensor t not None):
    """Whether the tensor's class has a `__torch_dispatch__` of its own."""
    return t.c_flags & TF_HAS_TORCH_DISPATCH != 0


def answers(Tensor t not None, str policy):
    """Whether the tensor's class answers for its "sizes" or "strides"."""
    return t.c_flags & (TF_CUSTOM_SIZES if policy == "sizes" else TF_CUSTOM_STRIDES) != 0


def layout_code(Tensor t not None):
    """PyTorch's number of the tensor's layout."""
    return (<dtypes.layout?>t.layout).code


cdef object device_of_class(Tensor t):
    value = ask(t, "prim::device", "", None)
    if isinstance(value, dtypes.device):
        return value
    if not isinstance(value, str):
        refuse(t, "device", value, "a device")
    return dtypes.device_of(value)


cdef object layout_of_class(Tensor t):
    value = ask(t, "prim::layout", "", None)
    if isinstance(value, dtypes.layout):
        return value
    if not isinstance(value, int) or not 0 <= value <= LAYOUT_jagged:
        refuse(t, "layout", value, "a layout")
    return dtypes.get_layout(value)


# ---- arguments of the makers -----------------------------------------------------------------------------------------

cdef uint32_t policy_flags(object policy, bint device, bint layout) except? 0xFFFFFFFF:
    cdef uint32_t flags = (TF_CUSTOM_DEVICE if device else 0) | (TF_CUSTOM_LAYOUT if layout else 0)
    if policy is None:
        return flags
    if not isinstance(policy, str):
        raise TypeError(f"dispatch_sizes_strides_policy: expected a str, got {type(policy).__name__}")
    if policy == "strides":
        return flags | TF_CUSTOM_STRIDES
    if policy == "sizes":
        return flags | TF_CUSTOM_STRIDES | TF_CUSTOM_SIZES
    raise ValueError(f"dispatch_sizes_strides_policy: expected 'strides' or 'sizes', got {policy!r}")


cdef type tensor_class(object cls, str who):
    if not isinstance(cls, type) or not issubclass(cls, Tensor):
        raise TypeError(f"{who}: Creating a Tensor subclass from a class that does not inherit from Tensor: cls must be "
                        f"a subclass, got {cls!r}")
    return <type>cls            # of a metaclass of its own, it may be


cdef int read_dims(object values, int64_t* out, str who, str name) except -1:
    """A list or tuple of ints into `out`; how many."""
    if not isinstance(values, (list, tuple)) or any([isinstance(v, float) or not hasattr(v, "__index__") for v in values]):
        raise TypeError(f"{who}: argument '{name}' must be a tuple of ints, got {values!r}")
    return read_ints(values, out, name)


cdef int check_type(object value, object kinds, str who, str name) except -1:
    if not isinstance(value, kinds):
        raise TypeError(f"{who}: argument '{name}' must not be {type(value).__name__}")
    return 0


cdef int check_bools(str who, dict given) except -1:
    for name, value in given.items():
        check_type(value, bool, who, name)
    return 0


# ---- instances over the memory of another tensor ---------------------------------------------------------------------

cdef Tensor call_without_modes(str name, Tensor t):
    """An operator of one tensor, with all modes off: the tensor's class may answer."""
    cdef OperatorEntry e = need_entry(name, "")
    cdef PyObject* args[1]
    cdef list modes = []
    args[0] = <PyObject*>t
    while n_dispatch_modes(tls()):
        modes.append(_pop_torch_dispatch_stack())
    try:
        made = take(call_boxed(e, args))
    finally:
        for mode in reversed(modes):
            _push_on_torch_dispatch_stack(mode)
    if not isinstance(made, Tensor):
        raise RuntimeError(f"{qualified_name(e)}: expected a tensor from {type(t).__name__}, got {type(made).__name__}")
    return made


def make_subclass(cls, data, require_grad=False, *, dispatch_sizes_strides_policy=None, dispatch_device=False,
                  dispatch_layout=False, device_for_backend_keys=None):
    """An instance of `cls` over the memory of `data`, detached from it (torch.Tensor._make_subclass).

    Args: `dispatch_sizes_strides_policy` None, "strides" or "sizes", `dispatch_device`, `dispatch_layout`: what the class answers
    itself through `__torch_dispatch__`; `device_for_backend_keys`: whose backend's kernels serve the instance.

    TypeError: `cls` is no subclass of Tensor, `data` no tensor. ValueError: an unknown policy. RuntimeError: `require_grad` with
    integers.
    """
    cdef Tensor t
    cdef dtypes.device dev
    cdef uint32_t flags
    tensor_class(cls, "_make_subclass")
    check_type(data, Tensor, "_make_subclass", "data")
    check_bools("_make_subclass", {"require_grad": require_grad, "dispatch_device": dispatch_device,
                                   "dispatch_layout": dispatch_layout})
    flags = policy_flags(dispatch_sizes_strides_policy, dispatch_device, dispatch_layout)
    if (<Tensor>data).c_flags & TF_HAS_TORCH_DISPATCH:
        t = as_instance(call_without_modes("aten::detach", data), <type>cls)
    else:
        t = alias_as(<Tensor>data, <type>cls)
        share_version(t, <Tensor>data)
    set_requires_grad(t, require_grad)
    t.c_flags |= flags
    if device_for_backend_keys is not None:
        dev = dtypes.device_of(device_for_backend_keys)
        t.c_keys = KS_BY_DEVICE_TYPE[dev.devtype] | (t.c_keys & (KS_Python | KS_PythonTLSSnapshot))
    return t


def as_subclass(Tensor self not None, cls):
    """This tensor as an instance of `cls`: an alias, a view for autograd, of the same memory and version
    (torch.Tensor.as_subclass)."""
    cdef Tensor made, t
    tensor_class(cls, "as_subclass")
    made = call_without_modes("aten::alias", self)
    if self.c_flags & TF_HAS_TORCH_DISPATCH or type(made) is cls:
        return as_instance(made, <type>cls)
    t = alias_as(made, <type>cls)
    adopt_view(t, made)
    return t


cdef Tensor as_instance(Tensor made, type cls):
    """What a handler made, if it is of that class: nobody changes the class of an object that a program holds."""
    if not isinstance(made, cls):
        raise RuntimeError(f"Creating a new Tensor subclass {cls.__name__} but the raw Tensor object is already associated to a "
                           f"python object of type {type(made).__name__} which is not a subclass of the requested type")
    return made


def adopt_view(Tensor t not None, Tensor made not None):
    """Give `t`, an alias of the fresh view `made`, its place: version, base, and what autograd knows."""
    share_version(t, made)
    t.c_flags |= made.c_flags & (TF_REQUIRES_GRAD | TF_VIEW_MARKS)
    t.c_autograd = made.c_autograd
    if made.c_base is not None:
        set_base(t, made.c_base)


def share_storage(Tensor tensor not None, Tensor like not None):
    """Give a tensor the storage of another; sizes, strides and offset stay (torch._functionalize_unsafe_set).

    RuntimeError: they reach beyond that storage.
    """
    set_storage(tensor, like.c_storage)


def share_memory(Tensor tensor not None, Tensor source not None):
    """Storage and geometry of `source` become those of `tensor` (aten::set_.source_Tensor). A tensor on meta, as Meta kernels
    make them, may take those of a fake tensor."""
    cdef bint together = tensor.c_devtype == source.c_devtype or (
        tensor.c_devtype == DEV_META and source.c_storage.devtype == DEV_META)
    if tensor.c_dtype != source.c_dtype or not together:
        raise refused(
            f"expected a source of {tensor.dtype} on {tensor.device}, got {source.dtype} on {source.device}")
    place_tensor(tensor, source.c_storage, source.c_ndim, source.c_sizes, source.c_strides, source.c_offset)


def set_source(Tensor tensor not None, Storage storage not None, storage_offset, size, stride):
    """Give a tensor a storage and a geometry over it (the kernels of `aten.set_`). RuntimeError when they do not fit together.

    The storage grows when it must and can.
    """
    cdef int64_t sizes[64]
    cdef int64_t steps[64]
    cdef int n = read_ints(size, sizes, "size")
    cdef bint strided = len(stride) != 0 or n == 0
    if storage.devtype != tensor.c_storage.devtype:                  # a fake tensor's is on meta
        raise refused(f"the storage is on {storage.device}, the tensor's on {tensor.c_storage.device}")
    if strided and read_ints(stride, steps, "stride") != n:
        raise refused(f"size {tuple(size)} and stride {tuple(stride)} differ in length")
    place_tensor(tensor, storage, n, sizes, steps if strided else NULL, size_from(storage_offset))


# ---- wrappers: instances without memory ------------------------------------------------------------------------------

cdef object bytes_reached(int n, const int64_t* sizes, list strides, object offset, int itemsize):
    """Bytes from the start of the storage to the last element, as the caller describes them."""
    cdef object reach = 1
    cdef int i
    for i in range(n):
        if sizes[i] == 0:
            return 0
        reach += (sizes[i] - 1) * strides[i]
    return itemsize * (offset + reach)


cdef int64_t as_int64(object value, str what) except? -1:
    if number_kind(<PyObject*>value) == NK_NONE and not -(1 << 62) <= value < 1 << 63:
        raise RuntimeError(f"_make_wrapper_subclass: the {what} does not fit in 64 bits")
    return size_from(value)


cdef int mend_strides(int n, const int64_t* sizes, int64_t* steps) except -1:
    """A negative stride counts as the contiguous one over the dimensions behind it, as in PyTorch."""
    cdef int i
    for i in range(n - 1, -1, -1):
        if steps[i] < 0 and not is_symbolic(steps[i]):
            steps[i] = 1 if i == n - 1 else product(larger(sizes[i + 1], 1), steps[i + 1])
    return 0


cdef uint64_t wrapper_keys(int devtype, int layout) except? 0:
    """The keys of a tensor of that layout: sparse layouts have a functionality of their own."""
    cdef uint64_t ks = keys_for(devtype, LAYOUT_strided)
    if layout == LAYOUT_strided or layout == LAYOUT_jagged:
        return ks
    return ks & ~KS_Dense | (key_bits("Sparse" if layout == LAYOUT_sparse_coo else "SparseCsr") & ~KS_FULL_BACKENDS)


cdef Storage wrapper_storage(dtypes.device dev, int64_t nbytes):
    cdef Storage s = Storage.__new__(Storage)
    s.devtype = dev.devtype
    s.devindex = dev.devindex
    s.fake = True
    s.owner = "a wrapper subclass"       # for the error of `data_ptr`; a fake tensor's storage, which nobody owns, has address 0
    s.c_nbytes = nbytes
    return s


def make_wrapper_subclass(cls, size, strides=None, storage_offset=None, memory_format=None, dtype=None, layout=dtypes.get_layout(0),
                          device=None, pin_memory=False, requires_grad=False, dispatch_sizes_strides_policy=None,
                          dispatch_device=False, dispatch_layout=False, _extra_dispatch_keys=None, storage_size=None):
    """An instance of `cls` with metadata and no memory, for classes that wrap other tensors (torch.Tensor._make_wrapper_subclass).

    Args: `size`, `strides`, `storage_offset` (only with strides), `dtype`, `layout`, `device`: what the instance says of itself;
    `memory_format` and `pin_memory` change nothing; `dispatch_sizes_strides_policy` None, "strides" or "sizes", `dispatch_device`,
    `dispatch_layout`: what the class answers itself; `_extra_dispatch_keys`: a key set to add; `storage_size` in bytes.

    TypeError: `cls` is no subclass of Tensor with a `__torch_dispatch__`, or an argument of another type. ValueError: an unknown
    policy. RuntimeError: sizes and strides that do not fit together, `requires_grad` with integers.
    """
    cdef int64_t sizes[64]
    cdef int64_t steps[64]
    cdef str who = "_make_wrapper_subclass"
    cdef int i, n, code
    cdef uint32_t flags
    cdef dtypes.device dev
    cdef Tensor t
    tensor_class(cls, who)
    n = read_dims(size, sizes, who, "size")
    if strides is not None and read_dims(strides, steps, who, "strides") != n:
        raise RuntimeError(f"{who}: strides {tuple(strides)} and size {tuple(size)} differ in length")
    if strides is None and storage_offset is not None:
        raise RuntimeError(f"{who}: a storage_offset is taken only together with strides")
    check_type(dtype, (dtypes.dtype, type(None)), who, "dtype")
    check_type(layout, dtypes.layout, who, "layout")
    check_type(memory_format, (dtypes.memory_format, type(None)), who, "memory_format")
    check_type(_extra_dispatch_keys, (DispatchKeySet, type(None)), who, "_extra_dispatch_keys")
    check_bools(who, {"requires_grad": requires_grad, "pin_memory": pin_memory, "dispatch_device": dispatch_device,
                      "dispatch_layout": dispatch_layout})
    flags = policy_flags(dispatch_sizes_strides_policy, dispatch_device, dispatch_layout)
    dev = dtypes.device_of("cpu" if device is None else device)
    code = dtypes.default_dtype_code() if dtype is None else dtypes.dtype_code(dtype)
    t = blank_of(<type>cls)
    set_class_flags(t, <type>cls)
    if not t.c_flags & TF_HAS_TORCH_DISPATCH:
        raise TypeError(f"{who}: {cls.__name__} must define __torch_dispatch__, which its operations are handled by")
    given = None if strides is None else [steps[i] for i in range(n)]
    if strides is not None:
        mend_strides(n, sizes, steps)
    init_tensor(t, wrapper_storage(dev, 0), code, wrapper_keys(dev.devtype, (<dtypes.layout>layout).code), n, sizes,
                steps if strides is not None else NULL, 0 if storage_offset is None else as_int64(storage_offset, "storage_offset"))
    if given is None:
        given = [t.c_strides[i] for i in range(n)]
    if storage_size is not None:
        t.c_storage.c_nbytes = as_int64(storage_size, "storage size")
    elif t.c_flags & TF_SYMBOLIC:
        t.c_storage.c_nbytes = reach_of(dtypes.itemsize_table()[code], n, t.c_sizes, t.c_strides, t.c_offset)
    else:
        t.c_storage.c_nbytes = as_int64(bytes_reached(n, sizes, given, t.c_offset, dtypes.itemsize_table()[code]), "storage size")
    set_class_flags(t, <type>cls)
    if (<dtypes.layout>layout).code != LAYOUT_jagged:
        t.c_layout = (<dtypes.layout>layout).code
    if t.c_layout == LAYOUT_sparse_coo:
        t.c_flags &= ~<uint32_t>TF_CONTIGUOUS
    if _extra_dispatch_keys is not None:
        t.c_keys |= (<DispatchKeySet>_extra_dispatch_keys).ks
    t.c_flags |= flags
    set_requires_grad(t, requires_grad)
    return t


# ---- how instances end -----------------------------------------------------------------------------------------------

# In front of Cython's deallocator, where a `__dealloc__` would be: around that Cython takes the exception that is set away and
# puts it back (row `add`: 70 instructions), which only the end of an instance dictionary needs.
cdef destructor dealloc_fields = (<PyTypeObject*>Tensor).tp_dealloc


cdef void dealloc(PyObject* o) noexcept:
    """A tensor to which nobody refers: nothing here may count a reference to it."""
    cdef VersionCounter* version = (<Tensor>o).c_version
    if (<Tensor>o).c_flags & TF_HEAP_GEOMETRY:
        free((<Tensor>o).c_sizes)
    if version != NULL:
        version.refs -= 1
        if version.refs == 0:
            free(version)
    if (<Tensor>o).c_dict != NULL:
        dealloc_dict(o)
    dealloc_fields(o)


cdef void dealloc_dict(PyObject* o) noexcept:
    """What ends with the dictionary may run code of others: the collector must not see the tensor any more."""
    cdef PyObject* kind
    cdef PyObject* value
    cdef PyObject* trace
    cdef PyObject* attributes = (<Tensor>o).c_dict
    PyObject_GC_UnTrack_(o)
    (<Tensor>o).c_dict = NULL
    PyErr_Fetch_(&kind, &value, &trace)
    Py_DECREF_(attributes)
    PyErr_Restore_(kind, value, trace)


(<PyTypeObject*>Tensor).tp_dealloc = dealloc
_set_tensor_hook("answer", answer)
_install_tensor_attribute("_make_subclass", staticmethod(make_subclass))
_install_tensor_attribute("_make_wrapper_subclass", staticmethod(make_wrapper_subclass))
_install_tensor_attribute("as_subclass", as_subclass)
