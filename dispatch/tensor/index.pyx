"""Indexing: `x[...]` and `x[...] = value` as operators, in the order of PyTorch's indexing.

What is simple becomes `select`, `slice` and `unsqueeze`, dimension by dimension; tensors and lists that remain are gathered for
one `index` or `index_put_`. `methods` makes both functions hooks of Tensor.
"""
from operator import index as as_int

from cpython.long cimport PyLong_AsLongLongAndOverflow
from cpython.object cimport PyObject
from cpython.sequence cimport PySequence_Check
from libc.stdint cimport INT64_MAX, INT64_MIN, int64_t

from dispatch._C.dtypes cimport DEV_CPU, ST_bool, ST_uint8, is_complex_code, is_floating_code
from dispatch._C.symbolic cimport NK_INT, NK_NONE, eq_or_false, is_symbolic, known_le, number_kind, size_from, size_object
from dispatch._C.tensor cimport TF_CUSTOM_DEVICE, TF_CUSTOM_SIZES, Tensor

from dispatch._C.advice import advise
from dispatch._C.dtypes import int64, strided
from dispatch._ops import ops
from dispatch.tensor.data import tensor_for_index

__all__ = ["getitem", "setitem"]

cdef object aten = ops.aten
cdef object ALIAS = aten.alias.default
cdef object EMPTY = aten.empty.memory_format
cdef object EXPAND = aten.expand.default
cdef object FILL = aten.fill_.Scalar
cdef object FULL = aten.full.default
cdef object INDEX = aten.index.Tensor
cdef object INDEX_PUT = aten.index_put_.default
cdef object LIFT = aten.lift_fresh.default
cdef object SCALAR = aten.scalar_tensor.default
cdef object SELECT = aten.select.int
cdef object SLICE = aten.slice.Tensor
cdef object UNSQUEEZE = aten.unsqueeze.default
cdef object VIEW = aten.view.default
cdef object LOWEST = INT64_MIN, HIGHEST = INT64_MAX
cdef object TO_THE_END = HIGHEST

cdef enum:
    LONGEST_TUPLE = 32          # a list that is shorter may stand for a tuple


def getitem(Tensor self not None, index):
    """`self[index]`: a view where slices, ints and None suffice, else a new tensor."""
    cdef list tensors
    if type(index) is int:
        return chosen(self, 0, index, 0, asked_sizes(self))
    if type(index) is slice:
        return sliced(self, 0, index, True, asked_sizes(self))
    if index is None:
        asked_sizes(self)
        return UNSQUEEZE(self, 0)
    if index is Ellipsis:
        asked_sizes(self)
        return ALIAS(self)
    tensors = []
    if type(index) is bool:
        asked_sizes(self)
        found = UNSQUEEZE(self, 0)
        record(tensors, 0, flag_index(index, found))
        return INDEX(found, on_device(tensors, found))
    found = apply(self, as_tuple(index), tensors)
    if tensors:
        return INDEX(found, on_device(tensors, found))
    return ALIAS(found) if found is self else found


def setitem(Tensor self not None, index, value):
    """`self[index] = value`."""
    cdef list tensors
    cdef Tensor source = as_source(self, value)
    if index is False:
        return
    if index is Ellipsis:
        asked_sizes(self)
        copy_to(self, source)
    elif index is None or index is True:
        asked_sizes(self)
        copy_to(UNSQUEEZE(self, 0), source)
    elif type(index) is slice:
        asked = asked_sizes(self)
        copy_to(sliced(self, 0, index, n_dims(self, asked) == 0, asked), source)     # no slice of a 0-d tensor takes everything
    elif type(index) is int:
        copy_to(chosen(self, 0, index, 0, asked_sizes(self)), source)
    else:
        tensors = []
        found = apply(self, as_tuple(index), tensors)
        if not tensors:
            copy_to(found, source)
            return
        shape = without_leading_ones(source.shape)
        if len(shape) != dims_of(source) != 0:
            source = VIEW(source, shape)
        INDEX_PUT(found, on_device(tensors, found), source)


# ---- one entry of an index -------------------------------------------------------------------------------------------

cdef inline int dims_of(Tensor t) except? -1:               # a wrapper may say anything
    return t.dim() if t.c_flags & TF_CUSTOM_SIZES else t.c_ndim


cdef inline object asked_sizes(Tensor t):                   # of a wrapper that answers itself: once for each entry of an index
    return t.shape if t.c_flags & TF_CUSTOM_SIZES else None


cdef inline Py_ssize_t n_dims(Tensor t, object asked) except -1:
    return t.c_ndim if asked is None else len(asked)


cdef inline object size_at(Tensor t, int dim, object asked):
    return size_object(t.c_sizes[dim]) if asked is None else asked[dim]


cdef object chosen(Tensor self, int dim, object index, int real_dim, object asked):
    if asked is None and type(index) is int and is_within(self, dim, index):
        return SELECT(self, dim, index)
    if is_symbol(index):
        return SELECT(self, dim, index)
    if not LOWEST <= index <= HIGHEST:
        raise ValueError(f"index {index} does not fit in 64 bits")
    if n_dims(self, asked) == 0:
        raise IndexError("invalid index of a 0-dim tensor: there is no element to choose, use item() for its value")
    size = size_at(self, dim, asked)
    if not is_symbol(size) and not -size <= index < size:      # of a symbol the operator asks
        raise IndexError(f"{SELECT.name()}: index {index} is out of bounds for dimension {real_dim} with size {size}")
    return SELECT(self, dim, index)


cdef bint is_within(Tensor self, int dim, object index) except -1:
    """Whether an int indexes a dimension that is no symbol, as most do (row `first_row`)."""
    cdef int beyond = 0
    cdef int64_t number = PyLong_AsLongLongAndOverflow(index, &beyond)
    if beyond or dim >= self.c_ndim or is_symbolic(self.c_sizes[dim]):
        return False
    return -self.c_sizes[dim] <= number < self.c_sizes[dim]


cdef object sliced(Tensor self, int dim, slice index, bint always, object asked):
    """With `always` off, a slice that takes everything is left out."""
    step = 1 if index.step is None else slice_int(index.step)
    if step <= 0:
        raise ValueError(f"slice: step must be greater than zero, got {step}")
    start = 0 if index.start is None else slice_int(index.start)
    stop = TO_THE_END if index.stop is None else slice_int(index.stop)
    if not always and takes_all(start, stop, step, size_at(self, dim, asked)):
        return self
    return SLICE(self, dim, start, stop, step)


cdef inline bint is_symbol(object value) noexcept:
    return number_kind(<PyObject*>value) == NK_INT


cdef bint takes_all(object start, object stop, object step, object size) except -1:
    """Whether a slice is of everything. Nothing is guarded on: a symbolic end is beyond the size when it is so for every value, and
    so is the largest number, which a size without a bound may pass."""
    if is_symbol(start) or is_symbol(step) or start != 0 or step != 1:
        return False
    if is_symbol(stop) or is_symbol(size):
        return stop is size or known_le(size_from(size), size_from(stop))
    return stop >= size


cdef object slice_int(object value):
    if is_symbol(value):
        return value
    try:
        number = value if type(value) is int else as_int(value)
    except TypeError:
        raise TypeError(f"slice indices must be integers or None or have an __index__ method, got {value!r}") from None
    return max(LOWEST, min(number, HIGHEST))


cdef inline bint is_mask(Tensor t) noexcept:
    return t.c_dtype == ST_bool or t.c_dtype == ST_uint8


cdef inline int taken(Tensor entry) except? -1:
    """How many dimensions an index tensor takes: a mask as many as it has."""
    return dims_of(entry) if is_mask(entry) else 1


cdef int dims_taken(list index) except? -1:
    """How many dimensions of self the entries speak for."""
    cdef int n = 0
    for entry in index:
        if isinstance(entry, Tensor):
            n += taken(entry)
        elif entry is not None and entry is not Ellipsis and type(entry) is not bool:
            n += 1
    return n


cdef object apply(Tensor self, tuple index, list tensors):
    """Select, slice and unsqueeze; into `tensors` what is left for `index`, by dimension of the result."""
    cdef list entries = [normal(entry) for entry in index]
    cdef int n = dims_taken(entries), ndim = dims_of(self), dim = 0, real_dim = 0
    found = self
    if n > ndim:
        raise IndexError(f"Tensor.__getitem__: too many indices for tensor of dimension {ndim}: {n}")
    for entry in entries:
        asked = asked_sizes(found)
        if type(entry) is int:
            found = chosen(found, dim, entry, real_dim, asked)
        elif type(entry) is slice:
            found = sliced(found, dim, entry, False, asked)
            dim += 1
        elif entry is None:
            found = UNSQUEEZE(found, dim)
            dim += 1
        elif entry is Ellipsis:
            dim += dims_of(self) - n
        elif type(entry) is bool:
            found = UNSQUEEZE(found, dim)
            dim = record(tensors, dim, flag_index(entry, found))
        elif isinstance(entry, Tensor):
            if dims_of(entry) or is_floating_code((<Tensor>entry).c_dtype) or is_complex_code((<Tensor>entry).c_dtype):
                dim = record(tensors, dim, entry)
            elif is_mask(entry):
                found = UNSQUEEZE(found, dim)
                dim = record(tensors, dim, flag_index(bool(entry), found))
            else:
                found = chosen(found, dim, int(entry), real_dim, asked)
        else:                                          # an int of a class of its own, or a symbolic one
            found = chosen(found, dim, entry, real_dim, asked)
        real_dim += 1
    return found


cdef int record(list tensors, int dim, Tensor entry) except? -1:
    """Enter an index tensor for dimension `dim`; the dimension that comes after it."""
    cdef int position = dim
    for t in tensors:                  # a mask is one entry of the list, however many dimensions it takes
        if t is not None:
            position -= taken(t) - 1
    while len(tensors) < position:
        tensors.append(None)
    tensors.append(entry)
    return dim + taken(entry)


cdef object flag_index(bint flag, object like):
    """True keeps the new dimension, False empties it."""
    made = EMPTY([1 if flag else 0], dtype=int64, layout=like.layout, device=like.device)
    return FILL(made, 0) if flag else made


cdef bint is_sequence(object index) except -1:
    return isinstance(index, list) or (
        PySequence_Check(index) and not isinstance(index, Tensor) and not hasattr(index, "__array__"))


cdef tuple as_tuple(object index):
    """A sequence with anything but numbers in it stands for a tuple, as it did in early numpy: that is deprecated."""
    if isinstance(index, tuple):
        return tuple(index)
    if is_sequence(index) and len(index) < LONGEST_TUPLE:
        for item in index:
            if item is None or item is Ellipsis or isinstance(item, (Tensor, slice)) or PySequence_Check(item):
                advise("x[list] for x[tuple(list)] is deprecated: it will be an index of one dimension")
                return tuple(index)
    return (index,)


cdef object normal(object entry):
    """An entry as one of the types that `apply` knows."""
    if entry is None or entry is Ellipsis or isinstance(entry, (int, slice, Tensor)):
        return entry
    if hasattr(entry, "__len__") and hasattr(entry, "__getitem__"):
        return tensor_for_index(entry)
    if is_symbol(entry):
        return entry
    if hasattr(entry, "__index__"):
        return as_int(entry)
    raise IndexError("only integers, slices (`:`), ellipsis (`...`), None and long, byte or bool tensors are valid indices, "
                     f"got {type(entry).__name__}")


cdef list on_device(list tensors, Tensor like):
    """Index tensors that were made from lists follow the indexed tensor to its device."""
    cdef int i
    if like.c_devtype == DEV_CPU and not like.c_flags & TF_CUSTOM_DEVICE:
        return tensors
    device = like.device
    for i, t in enumerate(tensors):
        if t is not None and t.device != device and t.device.type == "cpu":
            tensors[i] = t.to(device)
    return tensors


# ---- assignment ------------------------------------------------------------------------------------------------------

cdef object number_tensor = None           # of `arrays`, whose kernels are not imported before the first number is written


cdef object new_number(object value, object dtype):
    global number_tensor
    if number_tensor is None:
        from dispatch.tensor.arrays import number_tensor as found

        number_tensor = found
    return number_tensor(value, dtype)


cdef object as_source(Tensor self, object value):
    if isinstance(value, Tensor):
        return value
    if number_kind(<PyObject*>value) != NK_NONE:
        return SCALAR(value, dtype=self.dtype, layout=strided, device=self.device)
    if isinstance(value, (int, float, complex)):
        if isinstance(value, int) and not LOWEST <= value <= HIGHEST:
            raise ValueError(f"value {value} does not fit in 64 bits")
        if self.device.type in ("cpu", "meta"):
            return LIFT(new_number(value, self.dtype))
        return FULL([], value, dtype=self.dtype, device=self.device)
    raise TypeError(f"can't assign a {type(value).__name__} to a tensor of {self.dtype}")


cdef list without_leading_ones(object shape):
    cdef int first = 0
    while first < len(shape) and eq_or_false(size_from(shape[first]), 1):
        first += 1
    return list(shape[first:])


cdef int copy_to(object target, Tensor source) except -1:
    if target.shape == source.shape:
        target.copy_(source)
    elif dims_of(source) == 0 and source.device.type == "cpu":
        target.fill_(source)
    else:
        left = without_leading_ones(source.shape)
        view = VIEW(source, left)
        sizes = target.shape
        if sizes != view.shape:
            check_expands(left, list(sizes))
            view = EXPAND(view, list(target.shape))
        target.copy_(view)
    return 0


cdef int check_expands(list sizes, list to) except -1:
    """Sizes that are numbers; what symbols stand for is left to `expand`."""
    cdef Py_ssize_t i, new = len(to) - len(sizes)
    for i in range(len(sizes)):
        if new < 0 or type(sizes[i]) is int and type(to[new + i]) is int and sizes[i] != 1 and sizes[i] != to[new + i]:
            raise RuntimeError(f"Tensor.__setitem__: The expanded size of the tensor ({to}) must match the existing size ({sizes})")
    return 0
