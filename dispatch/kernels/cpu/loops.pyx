"""numpy's ufuncs and their inner loops, behind the elementwise CPU kernels.

`PyUFuncObject` holds a table of inner loops by dtype; called directly, one costs a few nanoseconds
where the ufunc costs hundreds, and it sets no floating-point error state that anybody reads. Loops
take strides in bytes, so broadcasting and views need no copy: the outer dimensions are walked here.
A long loop gives up the interpreter's lock, and holds what owns the memory that it walks: another
thread may resize the storages, or give the tensors others.
"""
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint64_t

import numpy

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    ST_COUNT, ST_bool, ST_complex32, ST_float32, ST_float64, ST_int8, ST_int16, ST_int32, ST_int64,
    ST_uint8, is_floating_code,
)
from dispatch._C.errors cimport refused
from dispatch._C.geometry cimport TF_CONTIGUOUS
from dispatch._C.storage cimport shared_owner
from dispatch._C.tensor cimport TF_WRAPPED_NUMBER, Tensor, data_of, get_numpy

cdef extern from "numpy/ndarraytypes.h":      # what the other header is made of
    pass

cdef extern from "numpy/ufuncobject.h":
    ctypedef struct PyUFuncObject:
        int nin, nout, nargs, ntypes
        inner_loop* functions
        void** data
        const char* types

cdef enum:
    LONG_RUN = 1 << 15           # elements from which the interpreter's lock is given up

# ---- the table of loops ------------------------------------------------------------------------

# Codes whose numpy dtype is built in and has loops of its own.
cdef tuple LOOP_DTYPES = (
    "uint8", "int8", "int16", "int32", "int64", "float32", "float64", "complex64", "complex128",
    "bool", "uint16", "uint32", "uint64",
)


cdef Ufunc new_ufunc(object call, uint64_t missing, bint keeps_number=False):
    cdef Ufunc u = Ufunc.__new__(Ufunc)
    cdef int code
    u.call, u.keeps_number = call, keeps_number
    u.missing = missing | <uint64_t>1 << ST_complex32    # numpy has none
    if isinstance(call, numpy.ufunc):
        for numpy_name in LOOP_DTYPES:
            descr = numpy.dtype(numpy_name)
            code = dtypes.code_of_numpy(descr)
            if not u.missing >> code & 1:
                find_loop(u, <PyUFuncObject*><void*>call, code, descr.num)
    return u


cdef int find_loop(Ufunc u, PyUFuncObject* f, int code, int num) except -1:
    """The loop from operands of numpy's type `num` to the same, or to bool."""
    cdef int i, k
    cdef const char* types
    cdef bint fits
    for i in range(f.ntypes):
        types = f.types + i * f.nargs
        fits = f.functions != NULL and f.functions[i] != NULL
        for k in range(f.nin):
            fits = fits and types[k] == num
        if fits and (types[f.nin] == num or types[f.nin] == 0):
            u.loops[code], u.data[code] = f.functions[i], f.data[i]
            u.gives_bool = types[f.nin] == 0 and num != 0 or u.gives_bool
            return 0
    return 0


cdef int check_supported(Ufunc u, int code) except -1:
    if u.missing >> code & 1:
        raise refused(f"no CPU kernel for {dtypes.get_dtype(code)!r}", NotImplementedError)
    return 0


# ---- raw loops ---------------------------------------------------------------------------------

cdef struct Walk:                # what is to be done: pointers, steps in bytes, the output last
    int n                        # operands and output
    int ndim
    char* pointers[3]
    int64_t sizes[64]
    Py_ssize_t steps[64][3]


cdef inline bint is_aligned(Walk* w, int itemsize, int out_size) noexcept nogil:
    cdef size_t bits = 0
    cdef int k
    for k in range(w.n - 1):
        bits |= <size_t>w.pointers[k]
    if itemsize == out_size:
        bits |= <size_t>w.pointers[w.n - 1]              # else it is a bool
    return bits & ((itemsize if itemsize < 8 else 8) - 1) == 0


cdef inline bint apart(Tensor out, Tensor a) noexcept:
    """Whether writing `out` element by element cannot spoil operands that are still to be read."""
    cdef int i
    if out.c_storage is not a.c_storage:
        return (a.c_storage.data + a.c_storage.c_nbytes <= out.c_storage.data
                or out.c_storage.data + out.c_storage.c_nbytes <= a.c_storage.data)
    if out.c_offset != a.c_offset or out.c_ndim != a.c_ndim or out.c_dtype != a.c_dtype:
        return False
    for i in range(out.c_ndim):
        if out.c_strides[i] != a.c_strides[i]:
            return False
    return True


cdef inline bint has_loop(Ufunc u, Tensor out, int code) noexcept:
    return u.loops[code] != NULL and out.c_dtype == (ST_bool if u.gives_bool else code)


cdef inline int place(Walk* w, int k, Tensor t, int itemsize) except -1:
    """Operand (or output) number k."""
    w.pointers[k] = data_of(t, itemsize)
    return 0


cdef inline void run_flat(Ufunc u, Walk* w, int code, int64_t n, Py_ssize_t* steps) noexcept:
    cdef Py_ssize_t count = n
    cdef inner_loop loop = u.loops[code]
    cdef void* data = u.data[code]
    if n >= LONG_RUN:
        with nogil:
            loop(w.pointers, &count, steps, data)
    else:
        loop(w.pointers, &count, steps, data)


cdef void set_steps(Walk* w, int k, Tensor t, int itemsize, int lead) noexcept:
    """Steps of operand k along the output's dimensions; 0 where it is broadcast."""
    cdef int d
    for d in range(w.ndim):
        if d < lead or t.c_sizes[d - lead] == 1:
            w.steps[d][k] = 0
        else:
            w.steps[d][k] = t.c_strides[d - lead] * itemsize


cdef void simplify(Walk* w) noexcept nogil:
    """Dimensions of size 1 out, the output's smallest step innermost, runs of dimensions joined."""
    cdef int d, e, k, last = w.n - 1
    cdef bint joined
    e = 0
    for d in range(w.ndim):
        if w.sizes[d] != 1:
            move_dim(w, d, e)
            e += 1
    w.ndim = e
    for d in range(1, w.ndim):                           # insertion sort, the largest step outside
        e = d
        while e > 0 and w.steps[e - 1][last] < w.steps[e][last]:
            swap_dims(w, e - 1, e)
            e -= 1
    e = 0
    for d in range(1, w.ndim):
        joined = True
        for k in range(w.n):
            joined = joined and w.steps[e][k] == w.steps[d][k] * w.sizes[d]
        if joined:
            w.sizes[d] *= w.sizes[e]
        else:
            e += 1
        move_dim(w, d, e)
    if w.ndim:
        w.ndim = e + 1


cdef inline void move_dim(Walk* w, int from_, int to) noexcept nogil:
    cdef int k
    w.sizes[to] = w.sizes[from_]
    for k in range(w.n):
        w.steps[to][k] = w.steps[from_][k]


cdef inline void swap_dims(Walk* w, int a, int b) noexcept nogil:
    cdef int k
    w.sizes[a], w.sizes[b] = w.sizes[b], w.sizes[a]
    for k in range(w.n):
        w.steps[a][k], w.steps[b][k] = w.steps[b][k], w.steps[a][k]


cdef void run_walk(Walk* w, inner_loop loop, void* data) noexcept nogil:
    """The innermost dimension in one call of the loop, the others counted up."""
    cdef int64_t at[64]
    cdef int d, k, inner = w.ndim - 1
    cdef char* pointers[3]
    cdef Py_ssize_t one = 1
    if w.ndim == 0:
        loop(w.pointers, &one, w.steps[0], data)
        return
    for d in range(w.ndim):
        at[d] = 0
    while True:
        for k in range(w.n):
            pointers[k] = w.pointers[k]
        one = w.sizes[inner]
        loop(pointers, &one, w.steps[inner], data)
        d = inner - 1
        while d >= 0:
            at[d] += 1
            for k in range(w.n):
                w.pointers[k] += w.steps[d][k]
            if at[d] < w.sizes[d]:
                break
            for k in range(w.n):
                w.pointers[k] -= w.steps[d][k] * w.sizes[d]
            at[d] = 0
            d -= 1
        if d < 0:
            return


cdef void walk(Ufunc u, Walk* w, Tensor out, int code, int out_size) noexcept:
    """Any strides: the steps of the operands are in place, those of the output not yet."""
    cdef int d
    cdef inner_loop loop = u.loops[code]
    cdef void* data = u.data[code]
    for d in range(w.ndim):
        w.sizes[d] = out.c_sizes[d]
    set_steps(w, w.n - 1, out, out_size, 0)
    simplify(w)
    if out.c_numel >= LONG_RUN:
        with nogil:
            run_walk(w, loop, data)
    else:
        run_walk(w, loop, data)


cdef bint try_unary(Ufunc u, Tensor out, Tensor a, int code) except -1:
    cdef Walk w
    cdef int itemsize, out_size
    cdef object kept = None
    if a.c_dtype != code or not has_loop(u, out, code) or not apart(out, a):
        return False
    if out.c_numel == 0:
        return True
    itemsize = dtypes.itemsize_table()[code]
    out_size = dtypes.itemsize_table()[out.c_dtype]
    w.n, w.ndim = 2, out.c_ndim
    place(&w, 0, a, itemsize)
    place(&w, 1, out, out_size)
    if not is_aligned(&w, itemsize, out_size):
        return False
    if out.c_numel >= LONG_RUN:
        kept = shared_owner(out.c_storage), shared_owner(a.c_storage)
    if a.c_flags & out.c_flags & TF_CONTIGUOUS:
        w.steps[0][0], w.steps[0][1] = itemsize, out_size
        run_flat(u, &w, code, out.c_numel, w.steps[0])
        return True
    set_steps(&w, 0, a, itemsize, 0)
    walk(u, &w, out, code, out_size)
    return True


cdef bint try_binary(Ufunc u, Tensor out, Tensor a, Tensor b, int code) except -1:
    cdef Walk w
    cdef int itemsize, out_size
    cdef double numbers[2][2]
    cdef object kept = None
    if not has_loop(u, out, code) or not apart(out, a) or not apart(out, b):
        return False
    if out.c_numel == 0:
        return True
    itemsize = dtypes.itemsize_table()[code]
    out_size = dtypes.itemsize_table()[out.c_dtype]
    w.n, w.ndim = 3, out.c_ndim
    if not place_operand(&w, 0, a, code, itemsize, <char*>numbers[0]):
        return False
    if not place_operand(&w, 1, b, code, itemsize, <char*>numbers[1]):
        return False
    place(&w, 2, out, out_size)
    if not is_aligned(&w, itemsize, out_size):
        return False
    if out.c_numel >= LONG_RUN:
        kept = shared_owner(out.c_storage), shared_owner(a.c_storage), shared_owner(b.c_storage)
    if a.c_flags & b.c_flags & out.c_flags & TF_CONTIGUOUS:
        w.steps[0][0] = itemsize if a.c_numel == out.c_numel else 0
        w.steps[0][1] = itemsize if b.c_numel == out.c_numel else 0
        w.steps[0][2] = out_size
        if ((a.c_numel == out.c_numel or a.c_numel == 1)
                and (b.c_numel == out.c_numel or b.c_numel == 1)):
            run_flat(u, &w, code, out.c_numel, w.steps[0])
            return True
    set_steps(&w, 0, a, itemsize, out.c_ndim - a.c_ndim)
    set_steps(&w, 1, b, itemsize, out.c_ndim - b.c_ndim)
    walk(u, &w, out, code, out_size)
    return True


# ---- numbers -----------------------------------------------------------------------------------

cdef inline bint place_operand(Walk* w, int k, Tensor t, int code, int itemsize,
                               char* number) except -1:
    """A tensor of the loop's dtype, or a number converted to it in `number`; False: neither."""
    if t.c_dtype == code:
        place(w, k, t, itemsize)
        return True
    if not t.c_flags & TF_WRAPPED_NUMBER or not convert_number(number, t, code):
        return False
    w.pointers[k] = number
    return True


cdef bint convert_number(char* to, Tensor t, int code) except -1:
    """A wrapped number as an element of `code`, integers wrapping around; False: not done here."""
    cdef char* at = data_of(t, dtypes.itemsize_table()[t.c_dtype])
    cdef int64_t i
    cdef double d
    if t.c_numel != 1:
        return False
    if t.c_dtype == ST_float64:
        return convert_float(to, (<double*>at)[0], code)
    if t.c_dtype != ST_int64 and t.c_dtype != ST_bool:
        return False
    i = (<int64_t*>at)[0] if t.c_dtype == ST_int64 else (<uint8_t*>at)[0]
    if code == ST_int64:
        (<int64_t*>to)[0] = i
    elif code == ST_int32:
        (<int32_t*>to)[0] = <int32_t>i
    elif code == ST_int16:
        (<int16_t*>to)[0] = <int16_t>i
    elif code == ST_int8 or code == ST_uint8:
        (<uint8_t*>to)[0] = <uint8_t>i
    elif is_floating_code(code):
        d = <double>i
        return i == <int64_t>d and -(1 << 24) <= i <= 1 << 24 and convert_float(to, d, code)
    else:
        return False
    return True


cdef inline bint convert_float(char* to, double value, int code) noexcept:
    if code == ST_float32:
        (<float*>to)[0] = <float>value
    elif code == ST_float64:
        (<double*>to)[0] = value
    else:
        return False
    return True


# ---- the whole ufunc ---------------------------------------------------------------------------

cdef int compute_code(Ufunc u, int code) noexcept:
    if u.gives_bool or not is_floating_code(code) or code == ST_float64:
        return code              # comparisons compare what the dtype holds, numbers rounded to it
    return ST_float32


cdef object array_of(Tensor t, int code):
    return get_numpy(t).astype(dtypes.numpy_descr(code), copy=False)


cdef object widened(Tensor t, int code, int wide):
    """Rounded to the dtype `code`, then in the dtype of computation."""
    array = array_of(t, code)
    return array if wide == code else array.astype(dtypes.numpy_descr(wide))


cdef object quietly(object function, tuple args):
    with numpy.errstate(all="ignore"):
        return function(*args)


cdef int store(Tensor out, object values, int code) except -1:
    if out.c_dtype != code and values.dtype.kind != "b":
        values = values.astype(dtypes.numpy_descr(code), copy=False)
    numpy.copyto(get_numpy(out), values, casting="unsafe")
    return 0


def apply_unary(Ufunc u not None, Tensor out not None, Tensor a not None, int code):
    """Convert, compute, round once into the output."""
    store(out, u.call(widened(a, code, compute_code(u, code))), code)


def apply_binary(Ufunc u not None, Tensor out not None, Tensor a not None, Tensor b not None, int code):
    """The same; a number as second operand is not rounded first where PyTorch's kernel does not."""
    cdef int wide = compute_code(u, code)
    second = widened(b, wide if u.keeps_number and b.c_numel == 1 else code, wide)
    store(out, u.call(widened(a, code, wide), second), code)


cdef int run_unary(Ufunc u, Tensor out, Tensor a, int code) except -1:
    if not try_unary(u, out, a, code):
        check_supported(u, code)
        quietly(apply_unary, (u, out, a, code))
    return 0


cdef int run_binary(Ufunc u, Tensor out, Tensor a, Tensor b, int code) except -1:
    if not try_binary(u, out, a, b, code):
        check_supported(u, code)
        quietly(apply_binary, (u, out, a, b, code))
    return 0
