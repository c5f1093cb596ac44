"""Copies, fills and single values on the CPU: where dtypes are converted.

`copy_values` serves `copy_`, `clone` and `_to_copy`: the loops of `casts` and `strided`. What is read and written are plain
memory: conjugate and negative bits are applied here. Memory that is shared in part is copied first.
"""
cimport numpy as cnp
from libc.float cimport FLT_MAX
from libc.math cimport isinf, isnan
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memmove, memset

import numpy as np

from dispatch._C.advice import advise_once

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DEV_CPU, DTYPES_FLOAT8, DTYPES_REDUCED_FLOATING, ST_bool, ST_complex32, ST_complex64, ST_complex128, ST_float16,
    ST_bfloat16, ST_float32, ST_float64, ST_int8, ST_int16, ST_int32, ST_int64, ST_uint64, category_of_code,
    is_complex_code, is_in,
)
from dispatch._C.errors cimport refused
from dispatch._C.keys cimport KS_Conjugate, KS_Negative, KS_ZeroTensor
from dispatch._C.geometry cimport TF_CONTIGUOUS, TF_NON_OVERLAPPING_DENSE
from dispatch._C.steady cimport steady
from dispatch._C.storage cimport new_borrowed_storage
from dispatch._C.tensor cimport Tensor, data_of, get_numpy, new_empty, new_tensor
from dispatch.kernels.cpu.casts cimport cast_loop, get_cast
from dispatch.kernels.cpu.copy.strided cimport (
    LONG_RUN, copier, dispatch_moves, dispatch_run, itemsize_of, memory_meets, move_between, owners,
    set_moves,
)
from dispatch.kernels.meta cimport rules
from dispatch.kernels.meta.copy cimport copies as meta_copy

cnp.import_array()

cdef uint64_t ZERO_BIT = KS_ZeroTensor & ~<uint64_t>0xFFFF
cdef uint64_t BITS = (KS_Conjugate | KS_Negative) & ~<uint64_t>0xFFFF


cdef extern from "../kernels/cpu/copy/signs.h" nogil:
    # NULL: no loop for the dtype.
    dispatch_run dispatch_conjugator(int code) noexcept
    dispatch_run dispatch_negator(int code) noexcept


cdef dispatch_run caster(int from_, int to) noexcept:
    return copier(dtypes.itemsize_table()[to]) if from_ == to else <dispatch_run>get_cast(from_, to)


# ---- copy --------------------------------------------------------------------------------------

cdef inline bint same_geometry(Tensor a, Tensor b) noexcept:
    """The same sizes, and elements at the same places relative to the first, without gaps."""
    cdef size_t n = a.c_ndim * sizeof(int64_t)
    if a.c_ndim != b.c_ndim or memcmp(a.c_sizes, b.c_sizes, n):
        return False
    if a.c_flags & b.c_flags & TF_CONTIGUOUS:
        return True
    return (a.c_flags & b.c_flags & TF_NON_OVERLAPPING_DENSE
            and memcmp(a.c_strides, b.c_strides, n) == 0)


cdef int copy_array(Tensor out, object values) except -1:
    cdef int64_t sizes[64]
    cdef int d
    cdef cnp.ndarray array = np.asarray(values, order="C")
    cdef int code = dtypes.code_of_numpy(array.dtype)
    for d in range(cnp.PyArray_NDIM(array)):
        sizes[d] = cnp.PyArray_DIM(array, d)
    if not cnp.PyArray_ISCARRAY_RO(array):
        array = array.copy()
    return copy_values(out, new_tensor(
        new_borrowed_storage(<char*>cnp.PyArray_DATA(array), cnp.PyArray_NBYTES(array), array), code,
        cnp.PyArray_NDIM(array), sizes, NULL, 0))


cdef int move_values(Tensor out, Tensor src, dispatch_run run) except -1:
    cdef dispatch_moves m
    set_moves(&m, out, src)
    return move_between(&m, data_of(out, itemsize_of(out)), data_of(src, itemsize_of(src)), run, out, src)


cdef Tensor plain_copy(Tensor src, uint64_t differ):
    """The values of `src` in memory of its own, conjugated and negated by the bits of `differ`."""
    cdef Tensor out = new_empty(src.c_dtype, DEV_CPU, -1, src.c_ndim, src.c_sizes, NULL)
    cdef dispatch_run conjugate = dispatch_conjugator(src.c_dtype)
    if differ & KS_Negative & ~<uint64_t>0xFFFF and dispatch_negator(src.c_dtype) == NULL:
        raise refused(f"no negative of {dtypes.get_dtype(src.c_dtype)!r}")
    if differ & KS_Conjugate & ~<uint64_t>0xFFFF and conjugate != NULL:
        move_values(out, src, conjugate)
        if not differ & KS_Negative & ~<uint64_t>0xFFFF:
            return out
        src = out
    move_values(out, src, dispatch_negator(src.c_dtype) if differ & KS_Negative & ~<uint64_t>0xFFFF
                else copier(itemsize_of(src)))
    return out


cdef int copy_values(Tensor out, Tensor src) except -1:
    cdef uint64_t differ = (out.c_keys ^ src.c_keys) & BITS
    cdef dispatch_run run
    cdef int size
    if out.c_numel == 0:
        return 0
    if src.c_keys & ZERO_BIT:
        return fill_values(out, 0)
    if out.c_dtype == src.c_dtype and not differ and same_geometry(out, src):
        size = itemsize_of(out)
        if out.c_numel < LONG_RUN:
            memmove(data_of(out, size), data_of(src, size), out.c_numel * size)
            return 0
        return move_block(out, src, out.c_numel * size)
    run = dispatch_conjugator(src.c_dtype) if differ == KS_Conjugate & ~<uint64_t>0xFFFF and out.c_dtype == src.c_dtype else NULL
    if run != NULL and not memory_meets(out, src):
        return move_values(out, src, run)
    if differ or memory_meets(out, src):
        out, src = steady(out), steady(src)
        src = plain_copy(src, differ)
    if out.c_dtype == src.c_dtype:
        return move_values(out, src, copier(itemsize_of(out)))
    run = caster(src.c_dtype, out.c_dtype)
    if run == NULL:
        raise refused(f"{dtypes.get_dtype(src.c_dtype)!r} cannot be converted to {dtypes.get_dtype(out.c_dtype)!r}")
    return move_values(out, src, run)


cdef int move_block(Tensor out, Tensor src, int64_t nbytes) except -1:
    """Elements in memory's order; one thread where the two blocks share memory."""
    cdef object kept
    cdef dispatch_moves m
    cdef int size = itemsize_of(out)
    cdef char* to = data_of(out, size)
    cdef char* from_ = data_of(src, size)
    if from_ < to + nbytes and to < from_ + nbytes:
        kept = owners(out, src)
        with nogil:
            memmove(to, from_, nbytes)
        return 0
    m.ndim, m.sizes[0], m.to[0], m.from_[0] = 1, out.c_numel, size, size
    return move_between(&m, to, from_, copier(size), out, src)


cdef bint same_view(Tensor a, Tensor b) noexcept:
    cdef size_t n = a.c_ndim * sizeof(int64_t)
    return (a.c_storage is b.c_storage and a.c_dtype == b.c_dtype and a.c_offset == b.c_offset
            and a.c_ndim == b.c_ndim and not (a.c_keys ^ b.c_keys) & BITS
            and memcmp(a.c_sizes, b.c_sizes, n) == 0
            and memcmp(a.c_strides, b.c_strides, n) == 0)


cdef int check_overlap(Tensor self, Tensor src) except -1:
    """at::assert_no_internal_overlap, at::assert_no_partial_overlap."""
    cdef int i, a_size = dtypes.itemsize_table()[self.c_dtype]
    cdef int b_size = dtypes.itemsize_table()[src.c_dtype]
    cdef char* a = data_of(self, a_size)
    cdef char* b = data_of(src, b_size)
    for i in range(self.c_ndim):
        if self.c_strides[i] == 0 and self.c_sizes[i] > 1:
            raise refused("unsupported operation: elements of self share memory, a single memory location; clone() it first")
    if self.c_storage is not src.c_storage or not (
            self.c_flags & src.c_flags & TF_NON_OVERLAPPING_DENSE):
        return 0
    if a == b and self.c_numel * a_size == src.c_numel * b_size:
        if self.c_ndim == src.c_ndim and memcmp(
                self.c_strides, src.c_strides, self.c_ndim * sizeof(int64_t)) == 0:
            return 0
    elif a >= b + src.c_numel * b_size or b >= a + self.c_numel * a_size:
        return 0
    raise refused("unsupported operation: elements of src and self share memory, clone() one of them first")


cdef int advise_lossy(int code, Tensor src) except -1:
    """Before anything is read: who shows a warning may do anything."""
    if is_complex_code(src.c_dtype) and not is_complex_code(code) and code != ST_bool:
        advise_once("complex numbers as real ones", "the imaginary parts are lost")
    return 0


cdef object copy_(Tensor self, Tensor src, bint non_blocking):
    if self is src:
        return self
    if self.c_dtype != src.c_dtype:
        advise_lossy(self.c_dtype, src)
    meta_copy.check_copy(self, src)
    if self.c_keys & ZERO_BIT:
        raise refused("zeros without memory cannot be written: clone() them first")
    if src.c_keys & ZERO_BIT:
        fill_values(self, 0)
        return self
    if same_view(self, src):
        return self
    if self.c_numel:
        if rules.is_eager(self):                 # PyTorch's Meta kernel has no loop to mind it
            check_overlap(self, src)
        copy_values(self, src)
    return self


cdef int clone(Tensor out, Tensor self, int memory_format) except -1:
    return copy_values(out, self)


# ---- fill --------------------------------------------------------------------------------------

cdef int raise_overflow(int code, object value) except -1:
    raise RuntimeError(f"value cannot be converted to type {dtypes.get_dtype(code)} "
                       "without overflow")


cdef int64_t stored_integer(int code, object value) except? -1:
    """`value` as the bits of an integer dtype. RuntimeError unless c10's checked conversion takes
    it: negative integers wrap around in unsigned dtypes."""
    cdef object bits = 8 * dtypes.itemsize_table()[code]
    signed = code in (ST_int8, ST_int16, ST_int32, ST_int64)
    high = (1 << (bits - 1)) - 1 if signed else (1 << bits) - 1
    low = -high - 1 if signed else -high
    if isinstance(value, float):
        if not (low if signed else 0) <= value <= float(high):     # NaN too
            raise_overflow(code, value)
        value = int(value)                  # float(high) of int64 is one more
    elif not -(1 << 63) <= value < 1 << 64:
        raise OverflowError("the value does not fit in 64 bits")
    elif not low <= value <= high:
        raise_overflow(code, value)
    value &= 0xFFFFFFFFFFFFFFFF
    return <int64_t><uint64_t>value


cdef double largest(int code) except -1:
    if code == ST_float32 or code == ST_complex64:
        return FLT_MAX
    if code == ST_float16 or code == ST_complex32:
        return 65504.0
    if code == ST_float64 or code == ST_complex128:
        return 1.7976931348623157e308
    if code == ST_bfloat16:
        return 3.3895313892515355e38
    import ml_dtypes
    return float(ml_dtypes.finfo(dtypes.numpy_descr(code)).max)


cdef double stored_float(int code, double value) except? -1.0:
    if not isinf(value) and not isnan(value) and (
            value > largest(code) or value < -largest(code)):
        raise_overflow(code, value)
    return value


cdef int store(char* p, int code, object value) except -1:
    """Write a number to the memory of one element."""
    cdef int64_t bits
    cdef int size = dtypes.itemsize_table()[code]
    if code == ST_bool:
        p[0] = 1 if value else 0
        return 0
    if is_complex_code(code):
        z = complex(value)
        return store_float(p, code, z.real) or store_float(p + size // 2, code, z.imag)
    if isinstance(value, complex):
        if value.imag != 0:
            raise_overflow(code, value)
        value = value.real
    if category_of_code(code) == 1:
        bits = stored_integer(code, value)
        memcpy(p, &bits, size)           # little endian
        return 0
    return store_float(p, code, float(value))


cdef int store_float(char* p, int code, double value) except -1:
    cdef float single
    cdef double checked = stored_float(code, value)
    if code == ST_float32 or code == ST_complex64:
        single = <float>checked
        memcpy(p, &single, 4)
    elif code == ST_float64 or code == ST_complex128:
        memcpy(p, &checked, 8)
    else:
        get_cast(ST_float64, ST_float16 if code == ST_complex32 else code)(<char*>&checked, 0, p, 0, 1)
    return 0


cdef int fill_values(Tensor out, object value) except -1:
    cdef uint64_t element[2]
    cdef dispatch_moves m
    cdef int d, size = itemsize_of(out)
    if out.c_keys & KS_Conjugate:
        value = complex(value).conjugate()
    if out.c_keys & KS_Negative:
        value = -value
    store(<char*>element, out.c_dtype, value)
    if out.c_numel == 0:
        return 0
    if out.c_flags & TF_NON_OVERLAPPING_DENSE:
        m.ndim, m.sizes[0], m.to[0], m.from_[0] = 1, out.c_numel, size, 0
        return move_between(&m, data_of(out, size), <char*>element, copier(size), out, out)
    m.ndim = out.c_ndim
    for d in range(out.c_ndim):
        m.sizes[d], m.to[d], m.from_[d] = out.c_sizes[d], out.c_strides[d] * size, 0
    return move_between(&m, data_of(out, size), <char*>element, copier(size), out, out)


cdef object fill_(Tensor self, object value):
    """One short floating-point element takes any number, as PyTorch casts it; more are checked for overflow."""
    cdef Tensor wide
    if self.c_numel == 1 and is_in(DTYPES_REDUCED_FLOATING | DTYPES_FLOAT8, self.c_dtype) and not isinstance(value, complex):
        wide = new_empty(ST_float64, DEV_CPU, -1, 0, NULL, NULL)
        fill_values(wide, value)
        copy_values(self, wide)
    else:
        fill_values(self, value)
    return self


cdef object fill_tensor_(Tensor self, Tensor value):
    advise_lossy(self.c_dtype, value)
    meta_copy.check_fill(value)
    copy_values(self, value)
    return self


cdef object zero_(Tensor self):
    cdef int size = dtypes.itemsize_table()[self.c_dtype]
    if self.c_flags & TF_NON_OVERLAPPING_DENSE and self.c_numel < LONG_RUN:
        if self.c_numel:
            memset(data_of(self, size), 0, self.c_numel * size)
    else:
        fill_values(self, 0)
    return self


# ---- one value ---------------------------------------------------------------------------------

cdef object _local_scalar_dense(Tensor self):
    cdef int code = self.c_dtype
    cdef char* p
    cdef double bits = 0             # memory from elsewhere need not be aligned
    if self.c_numel < 1:
        raise refused("the tensor has no elements")
    p = data_of(self, dtypes.itemsize_table()[code])
    if dtypes.itemsize_table()[code] <= 8:
        memcpy(&bits, p, dtypes.itemsize_table()[code])
        p = <char*>&bits
    if code == ST_float32:
        return (<float*>p)[0]
    if code == ST_float64:
        return (<double*>p)[0]
    if code == ST_int64:
        return (<int64_t*>p)[0]
    if code == ST_int32:
        return (<int32_t*>p)[0]
    if code == ST_bool:
        return p[0] != 0
    return other_value(self)


cdef object other_value(Tensor self):
    cdef double pair[2]
    cdef int64_t whole = 0
    cdef int category = category_of_code(self.c_dtype)
    cdef cast_loop run = get_cast(self.c_dtype, ST_int64 if category == 1 else ST_complex128)
    if run == NULL:
        raise refused(f"{dtypes.get_dtype(self.c_dtype)!r} has no values")
    run(data_of(self, itemsize_of(self)), 0, <char*>&whole if category == 1 else <char*>pair, 0, 1)
    if category == 1:
        return <uint64_t>whole if self.c_dtype == ST_uint64 else whole
    return complex(pair[0], pair[1]) if category == 3 else pair[0]
