# cython: embedsignature=False
"""The shape and dtype rules that operators share: promotion, broadcasting, dimensions, strides.

Shape functions and views call the C functions that `rules.pxd` declares; Python shape functions
call the faces at the end of this file, which have the same names. Nothing here makes a tensor or
keeps state. The rules are PyTorch's (each names its source there).
"""
from cpython.bool cimport PyBool_Check
from cpython.complex cimport PyComplex_Check
from cpython.float cimport PyFloat_Check
from cpython.long cimport PyLong_Check
from cpython.object cimport PyObject
from libc.stdint cimport int8_t, int64_t, uint64_t
from libc.string cimport memcmp, memcpy

from dispatch._C.dtypes import promote_types

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    MF_channels_last, MF_channels_last_3d, MF_contiguous, ST_COUNT, ST_NONE, ST_bfloat16,
    ST_bool, ST_complex32, ST_complex64, ST_complex128, ST_float16, ST_float32, ST_float64,
    ST_int64, is_complex_code, is_floating_code, is_integral_code,
)
from dispatch._C.geometry cimport TF_CONTIGUOUS, TF_NON_OVERLAPPING_DENSE, add_overflows, mul_overflows, read_ints
from dispatch._C.tensor cimport TF_WRAPPED_NUMBER, Tensor

cdef extern from *:
    PyObject** PySequence_Fast_ITEMS(object) noexcept

cdef int8_t* PROMOTE = dtypes.promote_table()


cdef inline bint is_tensor(PyObject* item) noexcept:
    return isinstance(<object>item, Tensor)


cdef tuple as_tuple(const int64_t* values, int n):
    return tuple([values[i] for i in range(n)])


# ---- dtypes ------------------------------------------------------------------------------------

cdef int promoted(int a, int b) except -1:
    cdef int result = PROMOTE[a * ST_COUNT + b]
    if result < 0:
        raise RuntimeError("no type promotion is defined between "
                           f"{dtypes.get_dtype(a)!r} and {dtypes.get_dtype(b)!r}")
    return result


cdef inline int default_complex_code() noexcept:
    cdef int code = dtypes.default_dtype_code()
    if code == ST_float64:
        return ST_complex128
    return ST_complex32 if code == ST_float16 else ST_complex64


cdef inline int number_code(int code) noexcept:
    """The dtype that a number of dtype `code` promotes as: floats count as the default dtype."""
    if is_floating_code(code):
        return dtypes.default_dtype_code()
    return default_complex_code() if is_complex_code(code) else code


cdef int code_of_number(PyObject* item) except -2:
    """The dtype of a Python number. TypeError for anything else."""
    cdef object o = <object>item
    if PyBool_Check(o):
        return ST_bool
    if PyFloat_Check(o):
        return ST_float64
    if PyLong_Check(o) or hasattr(o, "__index__"):
        return ST_int64
    if PyComplex_Check(o):
        return ST_complex128
    if hasattr(o, "__float__"):
        return ST_float64
    raise TypeError(f"result_type: expected tensors and numbers, got {type(o).__name__}")


cdef inline int promote_into(int* slot, int code) except -1:
    slot[0] = code if slot[0] == ST_NONE or slot[0] == code else promoted(slot[0], code)
    return 0


cdef int combine_ranks(int higher, int lower) except -2:
    """A rank's type beside a lower rank's: its own, unless the lower one's category is higher."""
    if higher == ST_NONE or lower == ST_NONE:
        return lower if higher == ST_NONE else higher
    if is_complex_code(higher):
        return higher
    if is_floating_code(higher):
        return promoted(higher, ST_complex32) if is_complex_code(lower) else higher
    if is_complex_code(lower):
        return lower             # also for uint16 and the like, which no complex type promotes
    if higher == ST_bool or is_floating_code(lower):
        return promoted(higher, lower)
    return higher


cdef int result_type(PyObject** items, int n) except -2:
    """at::result_type. Operands have three ranks: tensors with dimensions, 0-d tensors, numbers."""
    cdef int ranks[3]
    cdef int i, code
    cdef Tensor t
    ranks[0] = ranks[1] = ranks[2] = ST_NONE
    for i in range(n):
        if items[i] == <PyObject*>None:
            continue
        if is_tensor(items[i]):
            t = <Tensor>items[i]
            if not t.c_flags & TF_WRAPPED_NUMBER:
                promote_into(&ranks[0 if t.c_ndim else 1], t.c_dtype)
                continue
            code = t.c_dtype
        else:
            code = code_of_number(items[i])
        promote_into(&ranks[2], number_code(code))
    return combine_ranks(ranks[0], combine_ranks(ranks[1], ranks[2]))


cdef int float_type(int code) noexcept:
    return dtypes.default_dtype_code() if is_integral_code(code, True) else code


cdef int sum_type(int code, int given) noexcept:
    if given != ST_NONE:
        return given
    return ST_int64 if is_integral_code(code, True) else code


# ---- sizes -------------------------------------------------------------------------------------

cdef int raise_negative_size(const int64_t* sizes, int ndim, int dim) except -1:
    raise RuntimeError(f"size {sizes[dim]} at dimension {dim} of {as_tuple(sizes, ndim)} "
                       "is negative")


cdef int64_t numel(const int64_t* sizes, int ndim) except -1:
    cdef int64_t result = 1
    cdef int i
    cdef bint overflow = False
    for i in range(ndim):
        if sizes[i] < 0:
            raise_negative_size(sizes, ndim, i)
        overflow |= mul_overflows(result, sizes[i], &result)
    if overflow:
        raise RuntimeError(f"the number of elements of sizes {as_tuple(sizes, ndim)} "
                           "does not fit in 64 bits")
    return result


cdef int raise_broadcast(const int64_t* a, int a_ndim, const int64_t* b, int b_ndim,
                         int back) except -1:
    raise RuntimeError(f"sizes {as_tuple(a, a_ndim)} and {as_tuple(b, b_ndim)} do not broadcast: "
                       f"{a[a_ndim - back]} does not match {b[b_ndim - back]} at dimension "
                       f"{max(a_ndim, b_ndim) - back}")


cdef int broadcast_into(int64_t* out, int out_ndim, const int64_t* sizes, int ndim) except -1:
    """at::infer_size. A failure leaves `out` as it was."""
    cdef int back, shift
    cdef int64_t a, b
    for back in range(1, min(ndim, out_ndim) + 1):           # counted from the last dimension
        a, b = out[out_ndim - back], sizes[ndim - back]
        if a != b and a != 1 and b != 1:
            raise_broadcast(out, out_ndim, sizes, ndim, back)
    shift = ndim - out_ndim
    if shift > 0:
        for back in range(1, out_ndim + 1):
            out[ndim - back] = out[out_ndim - back]
        for back in range(shift):
            out[back] = 1
        out_ndim = ndim
    for back in range(1, ndim + 1):
        if out[out_ndim - back] == 1:
            out[out_ndim - back] = sizes[ndim - back]
    return out_ndim


cdef int broadcast(int64_t* out, PyObject** items, int n) except -1:
    cdef int i, ndim = 0
    cdef Tensor t
    for i in range(n):
        if is_tensor(items[i]):
            t = <Tensor>items[i]
            if t.c_ndim != ndim or memcmp(out, t.c_sizes, ndim * sizeof(int64_t)):
                ndim = broadcast_into(out, ndim, t.c_sizes, t.c_ndim)
    return ndim


cdef int64_t wrap_dim(int64_t dim, int64_t ndim, bint wrap_scalar) except -1:
    cdef int64_t extent = 1 if ndim == 0 and wrap_scalar else ndim
    if extent <= 0:
        raise IndexError(f"dimension {dim} is given, but the tensor has no dimensions")
    if dim < -extent or dim >= extent:
        raise IndexError(f"dimension {dim} is out of range: expected {-extent} to {extent - 1}")
    return dim + extent if dim < 0 else dim


cdef int wrap_dims(int64_t* dims, int n, int ndim, bint wrap_scalar) except -1:
    cdef uint64_t seen = 0, bit
    cdef int i
    for i in range(n):
        dims[i] = wrap_dim(dims[i], ndim, wrap_scalar)
        bit = <uint64_t>1 << dims[i]
        if seen & bit:
            raise RuntimeError(f"dimension {dims[i]} is given more than once")
        seen |= bit
    return 0


cdef int reduced_sizes(int64_t* out, const int64_t* sizes, int ndim, const int64_t* dims, int n,
                       bint keepdim) noexcept nogil:
    cdef uint64_t reduced = 0 if dims != NULL else ~<uint64_t>0
    cdef int i, k = 0
    if dims != NULL:
        for i in range(n):
            reduced |= <uint64_t>1 << dims[i]
    for i in range(ndim):
        if not (reduced >> i) & 1:
            out[k] = sizes[i]
            k += 1
        elif keepdim:
            out[k] = 1
            k += 1
    return k


cdef int infer_size(int64_t* out, const int64_t* sizes, int ndim, int64_t numel) except -1:
    """at::infer_size for view and reshape."""
    cdef int64_t known = 1
    cdef int i, hole = -1
    cdef bint overflow = False
    for i in range(ndim):
        if sizes[i] == -1:
            if hole >= 0:
                raise RuntimeError("only one dimension can be inferred, "
                                   f"got {as_tuple(sizes, ndim)}")
            hole = i
        elif sizes[i] < 0:
            raise RuntimeError(f"invalid size {sizes[i]} at dimension {i} "
                               f"of {as_tuple(sizes, ndim)}")
        else:
            overflow |= mul_overflows(known, sizes[i], &known)
    if hole >= 0 and known == 0 and numel == 0 and not overflow:
        raise RuntimeError(f"the size -1 of shape {as_tuple(sizes, ndim)} can be anything "
                           "for a tensor without elements")
    if overflow or (numel != known if hole < 0 else known == 0 or numel % known != 0):
        raise RuntimeError(f"shape {as_tuple(sizes, ndim)} is invalid "
                           f"for a tensor of {numel} elements")
    memcpy(out, sizes, ndim * sizeof(int64_t))
    if hole >= 0:
        out[hole] = numel // known
    return 0


# ---- strides of a memory format ----------------------------------------------------------------

cdef void contiguous_strides(int64_t* out, const int64_t* sizes, int ndim) noexcept nogil:
    cdef int64_t step = 1
    cdef int i
    for i in range(ndim - 1, -1, -1):
        out[i] = step
        step *= sizes[i] if sizes[i] > 1 else 1


cdef inline int channels_last_dim(int ndim, int k) noexcept nogil:
    """The k-th dimension from the innermost: C, then the spatial ones from the back, then N."""
    return 1 if k == 0 else (ndim - k if k < ndim - 1 else 0)


cdef void channels_last_strides(int64_t* out, const int64_t* sizes, int ndim) noexcept nogil:
    cdef int64_t step = 1
    cdef int k, d
    for k in range(ndim):
        d = channels_last_dim(ndim, k)
        out[d] = step
        step *= sizes[d]         # a size of 0 gives strides of 0, unlike in contiguous tensors


cdef int strides_for(int64_t* out, const int64_t* sizes, int ndim, int memory_format) except -1:
    cdef int rank = 4 if memory_format == MF_channels_last else 5
    if memory_format == MF_contiguous:
        contiguous_strides(out, sizes, ndim)
        return 0
    name = repr(dtypes.get_memory_format(memory_format))
    if memory_format != MF_channels_last and memory_format != MF_channels_last_3d:
        raise RuntimeError(f"{name} gives no strides without a tensor to follow")
    if ndim != rank:
        raise RuntimeError(f"{name} needs a tensor of {rank} dimensions, got {ndim}")
    channels_last_strides(out, sizes, ndim)
    return 0


cdef bint is_contiguous(const int64_t* sizes, const int64_t* strides, int ndim) noexcept nogil:
    cdef int64_t step = 1
    cdef int i
    for i in range(ndim):
        if sizes[i] == 0:
            return True
    for i in range(ndim - 1, -1, -1):
        if sizes[i] != 1:
            if strides[i] != step:
                return False
            step *= sizes[i]
    return True


cdef bint is_channels_last(const int64_t* sizes, const int64_t* strides, int ndim) noexcept nogil:
    cdef int64_t step = 1
    cdef int k, d
    if ndim != 4 and ndim != 5:
        return False
    for k in range(ndim):
        d = channels_last_dim(ndim, k)
        if sizes[d] != 1:
            if strides[d] != step:
                return False
            step *= sizes[d]
    return True


cdef bint is_channels_last_like(const int64_t* sizes, const int64_t* strides,
                                int ndim) noexcept nogil:
    """c10's is_channels_last_strides. Ambiguous strides (sizes N, C, 1, 1) count as contiguous."""
    cdef int64_t least = 0
    cdef int k, d
    if (ndim != 4 and ndim != 5) or strides[1] == 0:
        return False
    for k in range(ndim):
        d = channels_last_dim(ndim, k)
        if sizes[d] == 0 or strides[d] < least or (d == 0 and least == strides[1]):
            return False
        least = strides[d] * (sizes[d] if sizes[d] > 1 else 1)
    return True


cdef int suggest_memory_format(Tensor t) noexcept:
    if not is_channels_last_like(t.c_sizes, t.c_strides, t.c_ndim):
        return MF_contiguous
    return MF_channels_last if t.c_ndim == 4 else MF_channels_last_3d


# ---- the order of dimensions in memory ---------------------------------------------------------

cdef enum:
    MAX_OPERANDS = 8             # operands after the eighth have no say in the order of dimensions

cdef struct Operands:
    const int64_t* sizes         # of the result
    int ndim
    int n
    int64_t strides[MAX_OPERANDS][MAX_DIMS]      # along the result's dimensions; 0: broadcast
    # what all operands have in common, for the short cuts
    bint same_shape, same_strides, contiguous, channels_last


cdef int compare_dims(Operands* ops, int inner, int outer) noexcept nogil:
    """Whether `inner`, now the inner one, changes places with `outer`: 1 yes, -1 no, 0 undecided.

    The first operand with an opinion decides. A stride of 0 decides nothing; of equal strides the
    smaller size belongs inside.
    """
    cdef int64_t a, b
    cdef int i
    for i in range(ops.n):
        a, b = ops.strides[i][inner], ops.strides[i][outer]
        if a == 0 or b == 0:
            continue
        if a != b:
            return 1 if a > b else -1
        if ops.sizes[inner] > ops.sizes[outer]:
            return 1
    return 0


cdef bint sort_dims(int* perm, Operands* ops) noexcept nogil:
    """Dimensions from the innermost to the outermost; returns whether they are row-major.

    TensorIterator's insertion sort (reorder_dimensions), swap by swap: it goes on past an undecided
    comparison, so another sort would end elsewhere.
    """
    cdef int i, inner, at, verdict
    for i in range(ops.ndim):
        perm[i] = ops.ndim - 1 - i
    for i in range(1, ops.ndim):
        at = i
        for inner in range(i - 1, -1, -1):
            verdict = compare_dims(ops, perm[inner], perm[at])
            if verdict < 0:
                break
            if verdict > 0:
                perm[inner], perm[at] = perm[at], perm[inner]
                at = inner
    for i in range(ops.ndim):
        if perm[i] != ops.ndim - 1 - i:
            return False
    return True


cdef void packed_strides(int64_t* out, Operands* ops) noexcept nogil:
    """Strides without gaps in the operands' order; a size of 0 counts as 1."""
    cdef int perm[MAX_DIMS]
    cdef int64_t step = 1
    cdef int i
    sort_dims(perm, ops)
    for i in range(ops.ndim):
        out[perm[i]] = step
        step *= ops.sizes[perm[i]] if ops.sizes[perm[i]] > 1 else 1


cdef void dense_strides(int64_t* out, const int64_t* sizes, const int64_t* strides,
                        int ndim) noexcept nogil:
    """at::infer_dense_strides."""
    cdef Operands ops
    ops.sizes, ops.ndim, ops.n = sizes, ndim, 1
    memcpy(ops.strides[0], strides, ndim * sizeof(int64_t))
    packed_strides(out, &ops)


cdef bint non_overlapping_dense(const int64_t* sizes, const int64_t* strides,
                                int ndim) noexcept nogil:
    """Whether some order of the dimensions makes the strides contiguous; always for no elements."""
    cdef int64_t dense[MAX_DIMS]
    cdef int i
    if is_contiguous(sizes, strides, ndim):
        return True
    dense_strides(dense, sizes, strides, ndim)
    for i in range(ndim):
        if sizes[i] > 1 and strides[i] != dense[i]:
            return False
    return True


cdef void dense_like_strides(int64_t* out, Tensor t) noexcept:
    if t.c_flags & TF_NON_OVERLAPPING_DENSE:
        memcpy(out, t.c_strides, t.c_ndim * sizeof(int64_t))
    else:
        dense_strides(out, t.c_sizes, t.c_strides, t.c_ndim)


# ---- the output of an elementwise operator -----------------------------------------------------

cdef inline bint same_ints(const int64_t* a, const int64_t* b, int n) noexcept nogil:
    return memcmp(a, b, n * sizeof(int64_t)) == 0


cdef inline bint has_sizes(Tensor t, const int64_t* sizes, int ndim) noexcept:
    return t.c_ndim == ndim and same_ints(t.c_sizes, sizes, ndim)


cdef bint all_contiguous(const int64_t* sizes, int ndim, PyObject** items, int n) noexcept:
    """Whether all operands are contiguous tensors of the result's sizes: nearly every call."""
    cdef Tensor t
    cdef int i
    for i in range(n):
        if not is_tensor(items[i]):
            return False
        t = <Tensor>items[i]
        if not (t.c_flags & TF_CONTIGUOUS and has_sizes(t, sizes, ndim)):
            return False
    return True


cdef int64_t* add_operand(Operands* ops, Tensor t, bint convert) noexcept:
    """One more operand, as it is or as a copy of another dtype would be; returns its row."""
    cdef int lead = ops.ndim - t.c_ndim, d
    cdef int64_t copied[MAX_DIMS]
    cdef const int64_t* strides = t.c_strides
    cdef int64_t* row = ops.strides[ops.n]
    if convert and not t.c_flags & TF_NON_OVERLAPPING_DENSE:
        dense_strides(copied, t.c_sizes, t.c_strides, t.c_ndim)
        strides = copied
    ops.n += 1
    for d in range(lead):
        row[d] = 0
    for d in range(lead, ops.ndim):
        row[d] = 0 if t.c_sizes[d - lead] != ops.sizes[d] else strides[d - lead]
    return row


cdef void expand_leading(int64_t* row, const int64_t* sizes, int ndim, int lead) noexcept nogil:
    """`expand`'s strides of new leading dimensions: those of size 1 get a contiguous one's."""
    cdef int d
    if lead == ndim:
        return                   # a 0-d tensor
    for d in range(lead - 1, -1, -1):
        if sizes[d] == 1:
            row[d] = sizes[d + 1] * row[d + 1]


cdef void add_operands(Operands* ops, PyObject** items, int n, int code, bint expanded) noexcept:
    """All tensors among `items`; with a `code`, those of another dtype as converted copies."""
    cdef Tensor t
    cdef int64_t* row
    cdef int i
    ops.same_shape = ops.same_strides = ops.contiguous = True
    ops.channels_last = ops.ndim == 4
    for i in range(n):
        if items[i] == <PyObject*>None:
            continue
        if not is_tensor(items[i]) or (<Tensor>items[i]).c_flags & TF_WRAPPED_NUMBER:
            ops.same_shape = ops.same_shape and ops.ndim == 0
        elif ops.n < MAX_OPERANDS:
            t = <Tensor>items[i]
            ops.same_shape = ops.same_shape and has_sizes(t, ops.sizes, ops.ndim)
            row = add_operand(ops, t, code != ST_NONE and t.c_dtype != code)
            if expanded:
                expand_leading(row, ops.sizes, ops.ndim, ops.ndim - t.c_ndim)
            ops.same_strides = ops.same_strides and same_ints(row, ops.strides[0], ops.ndim)
            ops.contiguous = ops.contiguous and is_contiguous(ops.sizes, row, ops.ndim)
            ops.channels_last = ops.channels_last and is_channels_last(ops.sizes, row, ops.ndim)


cdef int elementwise_strides(int64_t* out, const int64_t* sizes, int ndim, PyObject** items, int n,
                             int code) noexcept:
    """TensorIterator: its fast set-up for operands of one shape, else their common order."""
    cdef Operands ops
    if all_contiguous(sizes, ndim, items, n):
        contiguous_strides(out, sizes, ndim)
        return 1
    ops.sizes, ops.ndim, ops.n = sizes, ndim, 0
    add_operands(&ops, items, n, code, False)
    if not ops.same_shape or ops.n == 0:
        return ordered_strides(out, &ops)
    if ops.contiguous or ops.channels_last:
        return format_strides(out, &ops, not ops.contiguous)
    if not (ops.same_strides and non_overlapping_dense(sizes, ops.strides[0], ndim)):
        return ordered_strides(out, &ops)
    memcpy(out, ops.strides[0], ndim * sizeof(int64_t))
    return 0


cdef inline bint format_strides(int64_t* out, Operands* ops, bint channels_last) noexcept nogil:
    if channels_last:
        channels_last_strides(out, ops.sizes, ops.ndim)
    else:
        contiguous_strides(out, ops.sizes, ops.ndim)
    return not channels_last


cdef bint ordered_strides(int64_t* out, Operands* ops) noexcept nogil:
    """TensorIterator without fast set-up: row-major, or with a size of 0 giving strides of 0."""
    cdef int perm[MAX_DIMS]
    cdef int64_t step = 1
    cdef int i
    if sort_dims(perm, ops):
        return format_strides(out, ops, False)
    for i in range(ops.ndim):
        out[perm[i]] = step
        step *= ops.sizes[perm[i]]
    return False


cdef inline int compute_type(int code) noexcept nogil:
    """The dtype in which references compute: half precision is widened."""
    if code == ST_float16 or code == ST_bfloat16:
        return ST_float32
    return ST_complex64 if code == ST_complex32 else code


cdef int elementwise_strides_meta(int64_t* out, const int64_t* sizes, int ndim, PyObject** items,
                                  int n, int code) noexcept:
    """PyTorch's Meta kernels of elementwise operators (so fake tensors too), Python references.

    Their rule (_prims_common.compute_elementwise_output_logical_to_physical_perm) looks at the
    operands after conversion to the dtype of computation and expansion, has no short cut for dense
    operands of one shape, and counts a size of 0 as 1.
    """
    cdef Operands ops
    ops.sizes, ops.ndim, ops.n = sizes, ndim, 0
    add_operands(&ops, items, n, compute_type(code), True)
    if ops.contiguous != ops.channels_last or ndim < 2:
        return format_strides(out, &ops, ops.channels_last)
    packed_strides(out, &ops)
    return is_contiguous(sizes, out, ndim)


# ---- views -------------------------------------------------------------------------------------

cdef bint compute_view_strides(int64_t* out, const int64_t* sizes, const int64_t* strides, int ndim,
                               const int64_t* new_sizes, int new_ndim) noexcept nogil:
    """at::detail::computeStride.

    Old dimensions fall into chunks that lie evenly in memory; a new one must not span two of them.
    """
    cdef int old, new = new_ndim - 1
    cdef int64_t base, old_count = 1, new_count = 1
    for old in range(ndim):
        if sizes[old] == 0:
            if ndim == new_ndim and memcmp(sizes, new_sizes, ndim * sizeof(int64_t)) == 0:
                memcpy(out, strides, ndim * sizeof(int64_t))
            else:
                contiguous_strides(out, new_sizes, new_ndim)
            return True
    if ndim == 0:
        for new in range(new_ndim):
            out[new] = 1
        return True
    base = strides[ndim - 1]
    for old in range(ndim - 1, -1, -1):
        old_count *= sizes[old]
        if old > 0 and (sizes[old - 1] == 1 or strides[old - 1] == old_count * base):
            continue                         # the chunk goes on
        while new >= 0 and (new_count < old_count or new_sizes[new] == 1):
            out[new] = new_count * base
            new_count *= new_sizes[new]
            new -= 1
        if new_count != old_count:
            return False
        if old > 0:
            base = strides[old - 1]
            old_count = new_count = 1
    return new == -1


cdef bint collapse(int64_t* sizes, int64_t* strides, int* ndim, int start, int end) noexcept nogil:
    """Merge the dimensions start..end into one, in place; False when they do not lie evenly in memory."""
    cdef int i
    cdef int64_t length = sizes[end], step = strides[end]
    for i in range(end - 1, start - 1, -1):
        if sizes[i] != 1 and sizes[i + 1] != 1 and strides[i] != strides[i + 1] * sizes[i + 1]:
            return False
    for i in range(end - 1, start - 1, -1):
        length *= sizes[i]
        if sizes[i] != 1 and strides[i] < step:
            step = strides[i]
    sizes[start] = length
    strides[start] = step
    for i in range(end + 1, ndim[0]):
        sizes[i - end + start] = sizes[i]
        strides[i - end + start] = strides[i]
    ndim[0] -= end - start
    return True


cdef void split(int64_t* sizes, int64_t* strides, int* ndim, int dim, int64_t outer) noexcept nogil:
    """Make two dimensions, of `outer` and the rest, out of one, in place."""
    cdef int i
    cdef int64_t inner = sizes[dim] // outer
    for i in range(ndim[0] - 1, dim, -1):
        sizes[i + 1] = sizes[i]
        strides[i + 1] = strides[i]
    sizes[dim] = outer
    sizes[dim + 1] = inner
    strides[dim + 1] = strides[dim]
    strides[dim] *= inner
    ndim[0] += 1


cdef bint compute_view_strides_meta(int64_t* out, const int64_t* sizes, const int64_t* strides, int ndim,
                                    const int64_t* new_sizes, int new_ndim) noexcept nogil:
    """torch._refs._reshape_view_helper: dimensions are merged and split from the left.

    It takes the same views as `compute_view_strides`; strides of dimensions of size 1 can differ.
    """
    cdef int64_t size[192]
    cdef int64_t step[192]
    cdef int64_t length, count = 1
    cdef int i, end, at = 0, n = ndim
    for i in range(ndim):
        count *= sizes[i]
        size[i] = sizes[i]
        step[i] = strides[i]
    if count == 0:
        contiguous_strides(out, new_sizes, new_ndim)
        return True
    if ndim == 0 or (is_contiguous(sizes, strides, ndim) and ((new_ndim == 1 and ndim > 1) or (new_ndim == 2 and ndim == 1))):
        contiguous_strides(out, new_sizes, new_ndim)
        return True
    if new_ndim == 0:
        return True
    for i in range(new_ndim):
        length = new_sizes[i]
        if at >= n:
            split(size, step, &n, n - 1, size[n - 1])
        elif length != size[at]:
            end = at
            count = size[at]
            while count % length != 0:
                end += 1
                count *= size[end]
            if end != at and not collapse(size, step, &n, at, end):
                return False
            if count != length:
                split(size, step, &n, at, length)
        at += 1
    for i in range(new_ndim):
        out[i] = step[i]
    return True


cdef int64_t storage_nbytes(const int64_t* sizes, const int64_t* strides, int ndim, int64_t offset,
                            int itemsize) except -1:
    """at::detail::computeStorageNbytes."""
    cdef int64_t last = offset, step
    cdef int i
    cdef bint overflow = False
    for i in range(ndim):
        if sizes[i] == 0:
            return 0
    for i in range(ndim):
        overflow |= mul_overflows(sizes[i] - 1, strides[i], &step)
        overflow |= add_overflows(last, step, &last)
    overflow |= add_overflows(last, 1, &last)
    overflow |= mul_overflows(last, itemsize, &last)
    if overflow or last < 0:
        raise RuntimeError(f"the storage of sizes {as_tuple(sizes, ndim)} with strides "
                           f"{as_tuple(strides, ndim)} does not fit in 64 bits")
    return last


cdef int check_bounds(const int64_t* sizes, const int64_t* strides, int ndim, int64_t offset,
                      int itemsize, int64_t nbytes) except -1:
    cdef int64_t needed
    cdef int i
    for i in range(ndim):
        if sizes[i] < 0:
            raise_negative_size(sizes, ndim, i)
        if strides[i] < 0:
            raise RuntimeError(f"negative strides are not supported, got {as_tuple(strides, ndim)}")
    if offset < 0:
        raise RuntimeError(f"storage offset {offset} is negative")
    needed = storage_nbytes(sizes, strides, ndim, offset, itemsize)
    if needed > nbytes:
        raise RuntimeError(f"sizes {as_tuple(sizes, ndim)}, strides {as_tuple(strides, ndim)} and "
                           f"offset {offset} need {needed} bytes, and the storage has {nbytes}")
    return 0


# ---- faces for Python shape functions: `py_NAME` is entered as NAME ----------------------------

def py_result_type(*tensors_or_numbers):
    """The dtype that operands are promoted to (torch.result_type, for any number of them)."""
    cdef int n = <int>len(tensors_or_numbers)
    cdef int code = result_type(PySequence_Fast_ITEMS(tensors_or_numbers), n)
    if code == ST_NONE:
        raise ValueError("result_type: expected at least one tensor or number")
    return dtypes.get_dtype(code)


def py_float_type(dtype):
    """The dtype of an operator that gives floats: the default dtype for integers and bool."""
    return dtypes.get_dtype(float_type(dtypes.dtype_code(dtype)))


def py_sum_type(dtype, given=None):
    """The dtype of a sum over `dtype`: `given` if there is one, int64 for integers and bool."""
    return dtypes.get_dtype(sum_type(dtypes.dtype_code(dtype), code_or_none(given)))


def py_numel(sizes):
    """The number of elements. RuntimeError for a negative size or more than 64 bits."""
    cdef int64_t buffer[MAX_DIMS]
    return numel(buffer, read_ints(sizes, buffer, "sizes"))


def py_broadcast_shapes(*shapes):
    """The sizes that all shapes (sequences; an int is one dimension) broadcast to. RuntimeError."""
    cdef int64_t out[MAX_DIMS]
    cdef int64_t one[MAX_DIMS]
    cdef int ndim = 0
    for shape in shapes:
        sizes = (shape,) if isinstance(shape, int) else shape
        ndim = broadcast_into(out, ndim, one, read_ints(sizes, one, "shape"))
    return as_tuple(out, ndim)


def py_wrap_dim(dim, ndim, wrap_scalar=True):
    """`dim` counted from the front. IndexError when it is out of range."""
    return wrap_dim(dim, ndim, wrap_scalar)


def py_wrap_dims(dims, ndim, wrap_scalar=True):
    """All `dims` counted from the front. IndexError; RuntimeError when one is given twice."""
    cdef int64_t buffer[MAX_DIMS]
    cdef int n = read_ints(dims, buffer, "dims")
    wrap_dims(buffer, n, ndim, wrap_scalar)
    return as_tuple(buffer, n)


def py_reduced_sizes(sizes, dims=None, keepdim=False):
    """Sizes after a reduction over `dims` (None or empty: all of them)."""
    cdef int64_t shape[MAX_DIMS]
    cdef int64_t out[MAX_DIMS]
    cdef int64_t which[MAX_DIMS]
    cdef int ndim = read_ints(sizes, shape, "sizes"), n = read_ints(dims or (), which, "dims")
    wrap_dims(which, n, ndim, True)
    return as_tuple(out, reduced_sizes(out, shape, ndim, which if n else NULL, n, keepdim))


def py_infer_size(shape, numel):
    """`shape` with its -1, if any, worked out for a tensor of `numel` elements. RuntimeError."""
    cdef int64_t wanted[MAX_DIMS]
    cdef int64_t out[MAX_DIMS]
    cdef int n = read_ints(shape, wanted, "shape")
    infer_size(out, wanted, n, numel)
    return as_tuple(out, n)


def py_contiguous_strides(sizes):
    """Row-major strides, in elements."""
    return strides_tuple(sizes, MF_contiguous)


def py_channels_last_strides(sizes):
    """Strides of channels_last (4 dimensions) or channels_last_3d (5)."""
    return strides_tuple(sizes, MF_channels_last_3d if len(sizes) == 5 else MF_channels_last)


def py_strides_for(sizes, memory_format):
    """Strides of a new tensor in `memory_format`. RuntimeError when that needs other dimensions."""
    return strides_tuple(sizes, (<dtypes.memory_format?>memory_format).code)


def py_suggest_memory_format(Tensor tensor not None):
    """The format that a tensor's strides suggest: contiguous, channels_last, channels_last_3d."""
    return dtypes.get_memory_format(suggest_memory_format(tensor))


def py_is_contiguous(sizes, strides):
    """Whether strides are row-major without gaps; always for no elements."""
    cdef int64_t shape[MAX_DIMS]
    cdef int64_t steps[MAX_DIMS]
    cdef int ndim = read_geometry(sizes, strides, shape, steps)
    return is_contiguous(shape, steps, ndim)


def py_is_non_overlapping_and_dense(sizes, strides):
    """Whether the elements fill their memory, each place once, in whatever order of dimensions."""
    cdef int64_t shape[MAX_DIMS]
    cdef int64_t steps[MAX_DIMS]
    cdef int ndim = read_geometry(sizes, strides, shape, steps)
    return non_overlapping_dense(shape, steps, ndim)


def py_dense_like_strides(Tensor tensor not None):
    """Strides of `empty_like(tensor)`: its own if dense, else packed in the order of its own."""
    cdef int64_t out[MAX_DIMS]
    dense_like_strides(out, tensor)
    return as_tuple(out, tensor.c_ndim)


def py_dense_strides(sizes, strides):
    """Strides of a clone of a tensor of `sizes` and `strides`: those if dense, else packed in their order."""
    cdef int64_t shape[MAX_DIMS]
    cdef int64_t steps[MAX_DIMS]
    cdef int64_t out[MAX_DIMS]
    cdef int ndim = read_geometry(sizes, strides, shape, steps)
    if non_overlapping_dense(shape, steps, ndim):
        return as_tuple(steps, ndim)
    dense_strides(out, shape, steps, ndim)
    return as_tuple(out, ndim)


def py_is_eager(Tensor tensor not None):
    """Whether a tensor has data: neither fake nor on the meta device."""
    return is_eager(tensor)


cdef tuple operands_of(object tensors, int ndim):
    """What the two functions below take; RuntimeError for an operand that cannot be broadcast to `ndim` dimensions."""
    items = tuple(tensors)
    if any([isinstance(t, Tensor) and (<Tensor>t).c_ndim > ndim for t in items]):
        raise RuntimeError(f"expected operands of at most {ndim} dimensions")
    return items


def py_elementwise_strides(shape, tensors, dtype=None):
    """Strides of the new output, of sizes `shape`, of an elementwise operator on CPU.

    `tensors` may hold numbers and None. `dtype`: what operands are converted to first (a copy can
    have other strides); None: no conversion.
    """
    cdef int64_t sizes[MAX_DIMS]
    cdef int64_t out[MAX_DIMS]
    cdef int ndim = read_ints(shape, sizes, "shape"), code = code_or_none(dtype)
    cdef tuple items = operands_of(tensors, ndim)
    elementwise_strides(out, sizes, ndim, PySequence_Fast_ITEMS(items), <int>len(items), code)
    return as_tuple(out, ndim)


def py_elementwise_strides_meta(shape, tensors, dtype=None):
    """elementwise_strides as PyTorch's Meta kernels have it; `dtype` is what they compute in."""
    cdef int64_t sizes[MAX_DIMS]
    cdef int64_t out[MAX_DIMS]
    cdef int ndim = read_ints(shape, sizes, "shape"), code = code_or_none(dtype)
    cdef tuple items = operands_of(tensors, ndim)
    elementwise_strides_meta(out, sizes, ndim, PySequence_Fast_ITEMS(items), <int>len(items), code)
    return as_tuple(out, ndim)


def py_compute_view_strides(sizes, strides, new_sizes):
    """Strides that show a tensor of `sizes` and `strides` as `new_sizes`; None: only a copy can.

    `new_sizes` must have as many elements (see infer_size).
    """
    cdef int64_t shape[MAX_DIMS]
    cdef int64_t steps[MAX_DIMS]
    cdef int64_t wanted[MAX_DIMS]
    cdef int64_t out[MAX_DIMS]
    cdef int ndim = read_geometry(sizes, strides, shape, steps)
    cdef int n = read_ints(new_sizes, wanted, "new_sizes")
    return as_tuple(out, n) if compute_view_strides(out, shape, steps, ndim, wanted, n) else None


def py_check_bounds(sizes, strides, offset, itemsize, nbytes):
    """RuntimeError unless sizes, strides and offset (in elements) stay within `nbytes` bytes."""
    cdef int64_t shape[MAX_DIMS]
    cdef int64_t steps[MAX_DIMS]
    cdef int ndim = read_geometry(sizes, strides, shape, steps)
    check_bounds(shape, steps, ndim, offset, itemsize, nbytes)


cdef int code_or_none(object dtype) except -2:
    return ST_NONE if dtype is None else dtypes.dtype_code(dtype)


cdef tuple strides_tuple(object sizes, int memory_format):
    cdef int64_t shape[MAX_DIMS]
    cdef int64_t out[MAX_DIMS]
    cdef int ndim = read_ints(sizes, shape, "sizes")
    strides_for(out, shape, ndim, memory_format)
    return as_tuple(out, ndim)


cdef int read_geometry(object sizes, object strides, int64_t* shape, int64_t* steps) except -1:
    cdef int ndim = read_ints(sizes, shape, "sizes")
    if read_ints(strides, steps, "strides") != ndim:
        raise RuntimeError(f"sizes {tuple(sizes)} and strides {tuple(strides)} differ in length")
    return ndim


cdef list enter_faces(dict names):
    """Rename the faces: one module cannot define a C and a Python function under one name."""
    public = ["promote_types"]
    for name in [name for name in names if name.startswith("py_")]:
        face = names.pop(name)
        face.__name__ = face.__qualname__ = name[3:]
        names[name[3:]] = face
        public.append(name[3:])
    return sorted(public)


__all__ = enter_faces(globals())
