"""Copies, fills and single values on the CPU: where dtypes are converted.

`copy_values` serves `copy_`, `clone` and `_to_copy`. A conversion is PyTorch's: floats to integers
by truncation, complex to real by the real part, to the 16- and 8-bit floats through float32.
numpy's warnings about casts never reach the user. What is read and written are plain memory:
conjugate and negative bits are applied here.
"""
cimport numpy as cnp
from libc.float cimport FLT_MAX
from libc.math cimport isinf, isnan
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memmove, memset

import numpy as np

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DEV_CPU, ST_bool, ST_complex32, ST_complex64, ST_complex128, ST_float8_e4m3fn, ST_float16,
    ST_float32, ST_float64, ST_int8, ST_int16, ST_int32, ST_int64, ST_uint32, category_of_code,
    is_complex_code,
)
from dispatch._C.errors cimport refused
from dispatch._C.keys cimport KS_Conjugate, KS_Negative, KS_ZeroTensor
from dispatch._C.geometry cimport TF_CONTIGUOUS, TF_NON_OVERLAPPING_DENSE
from dispatch._C.tensor cimport Tensor, data_of, get_numpy, new_empty
from dispatch.kernels.meta.copy cimport copies as meta_copy

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    int PyArray_CopyInto(cnp.ndarray, cnp.ndarray) except -1

cdef uint64_t ZERO_BIT = KS_ZeroTensor & ~<uint64_t>0xFFFF
cdef uint64_t BITS = (KS_Conjugate | KS_Negative) & ~<uint64_t>0xFFFF


cdef int write_array(object out, object values) except -1:
    """numpy's own copy: broadcasts, casts, and bears overlap."""
    if not isinstance(values, cnp.ndarray):
        values = np.asarray(values)                # numpy makes scalars of 0-d results
    return PyArray_CopyInto(<cnp.ndarray>out, <cnp.ndarray>values)


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


cdef inline bint through_float32(int code) noexcept:
    return code == ST_float16 or dtypes.is_floating_code(code) and code > ST_complex128


cdef bint warns(int old, int new) noexcept:
    """Whether numpy may warn about a value of the conversion."""
    if category_of_code(old) < 2:
        return through_float32(new)
    return category_of_code(new) < category_of_code(old) or \
        dtypes.itemsize_table()[new] < dtypes.itemsize_table()[old] or through_float32(new)


cdef object in_float32(object values, int new):
    """float32 values in the range of a narrower float; float8_e4m3fn alone saturates."""
    values = values.astype(np.float32, copy=False)
    return np.clip(values, -448, 448) if new == ST_float8_e4m3fn else values


cdef object converted(object values, int old, int new):
    """`values` in a dtype that numpy casts to `new` as PyTorch does. numpy may warn."""
    if new == ST_bool:
        return values if not through_float32(old) else values.astype(np.float32)
    if is_complex_code(old) and not is_complex_code(new):
        values = values.real
    if through_float32(old) and old != ST_float16:
        values = values.astype(np.float32)
    return in_float32(values, new) if through_float32(new) and old != new else values


cdef int copy_array(Tensor out, object values) except -1:
    cdef int old = dtypes.code_of_numpy(values.dtype)
    if old == out.c_dtype:
        write_array(get_numpy(out), values)
    elif warns(old, out.c_dtype):
        with np.errstate(all="ignore"):
            write_array(get_numpy(out), converted(values, old, out.c_dtype))
    else:
        write_array(get_numpy(out), converted(values, old, out.c_dtype))
    return 0


cdef int copy_raw(Tensor out, Tensor src) except -1:
    """complex32, which numpy has not: as its bits."""
    write_array(raw_view(out), raw_view(src))
    return 0


cdef object raw_view(Tensor t):
    cdef Tensor v = meta_copy.alias_of_dtype(t, ST_uint32)
    return get_numpy(v)


cdef object complex32_values(Tensor t):
    """As complex64."""
    pairs = raw_view(t)
    halves = np.ascontiguousarray(pairs).view(np.float16).astype(np.float32)
    return halves.view(np.complex64).reshape(pairs.shape)


cdef int store_complex32(Tensor out, object values) except -1:
    with np.errstate(all="ignore"):
        values = np.array(values, dtype=np.complex64, order="C")
        halves = np.atleast_1d(values).view(np.float32).astype(np.float16).view(np.uint32)
    write_array(raw_view(out), halves.reshape(values.shape))
    return 0


cdef int copy_values(Tensor out, Tensor src) except -1:
    cdef uint64_t differ = (out.c_keys ^ src.c_keys) & BITS
    cdef int size
    if out.c_numel == 0:
        return 0
    if src.c_keys & ZERO_BIT:
        return fill_values(out, 0)
    if out.c_dtype == src.c_dtype and not differ:
        if same_geometry(out, src):
            size = dtypes.itemsize_table()[out.c_dtype]
            memmove(data_of(out, size), data_of(src, size), out.c_numel * size)
            return 0
        if out.c_dtype == ST_complex32:
            return copy_raw(out, src)
    values = complex32_values(src) if src.c_dtype == ST_complex32 else get_numpy(src)
    if differ & KS_Conjugate:
        values = np.conjugate(values)
    if differ & KS_Negative:
        values = np.negative(values)
    if out.c_dtype == ST_complex32:
        return store_complex32(out, np.broadcast_to(values, tuple(out.shape)))
    return copy_array(out, values)


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
            raise refused("elements of self share memory, clone() it first")
    if self.c_storage is not src.c_storage or not (
            self.c_flags & src.c_flags & TF_NON_OVERLAPPING_DENSE):
        return 0
    if a == b and self.c_numel * a_size == src.c_numel * b_size:
        if self.c_ndim == src.c_ndim and memcmp(
                self.c_strides, src.c_strides, self.c_ndim * sizeof(int64_t)) == 0:
            return 0
    elif a >= b + src.c_numel * b_size or b >= a + self.c_numel * a_size:
        return 0
    raise refused("elements of src and self share memory, clone() one of them first")


cdef object copy_(Tensor self, Tensor src, bint non_blocking):
    if self is src:
        return self
    meta_copy.check_copy(self, src)
    if self.c_keys & ZERO_BIT:
        raise refused("zeros without memory cannot be written: clone() them first")
    if src.c_keys & ZERO_BIT:
        fill_values(self, 0)
        return self
    if same_view(self, src):
        return self
    if self.c_numel:
        check_overlap(self, src)
        copy_values(self, src)
    return self


cdef int clone(Tensor out, Tensor self, int memory_format) except -1:
    return copy_values(out, self)


# ---- fill --------------------------------------------------------------------------------------

cdef int raise_overflow(int code, object value) except -1:
    raise RuntimeError(f"the value {value!r} cannot be converted to {dtypes.get_dtype(code)} "
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
        value = int(value)
    if value > high and not (value == high + 1 and signed and bits == 64):
        raise_overflow(code, value)
    if value < low:
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
        descr = np.dtype(np.float16) if code == ST_complex32 else dtypes.numpy_descr(code)
        with np.errstate(all="ignore"):
            raw = np.array(checked, dtype=np.float32).astype(descr).tobytes()
        memcpy(p, <char*><bytes>raw, len(raw))
    return 0


cdef void fill_bytes(char* p, int64_t n, const char* element, int size) noexcept nogil:
    """`n` elements like the given one, one after the other."""
    cdef int64_t i
    if size == 1:
        memset(p, element[0], n)
    elif size == 4 and not <size_t>p & 3:
        for i in range(n):
            (<uint32_t*>p)[i] = (<uint32_t*>element)[0]
    elif size == 8 and not <size_t>p & 7:
        for i in range(n):
            (<uint64_t*>p)[i] = (<uint64_t*>element)[0]
    else:
        for i in range(n):
            memcpy(p + i * size, element, size)


cdef int fill_values(Tensor out, object value) except -1:
    cdef uint64_t element[2]
    cdef int size = dtypes.itemsize_table()[out.c_dtype]
    cdef Tensor one
    if out.c_keys & KS_Conjugate:
        value = complex(value).conjugate()
    if out.c_keys & KS_Negative:
        value = -value
    store(<char*>element, out.c_dtype, value)
    if out.c_numel == 0:
        return 0
    if out.c_flags & TF_NON_OVERLAPPING_DENSE:
        fill_bytes(data_of(out, size), out.c_numel, <char*>element, size)
        return 0
    one = new_empty(out.c_dtype, DEV_CPU, -1, 0, NULL, NULL)
    memcpy(one.c_storage.data, element, size)
    if out.c_dtype == ST_complex32:
        return copy_raw(out, one)
    write_array(get_numpy(out), get_numpy(one))
    return 0


cdef object fill_(Tensor self, object value):
    fill_values(self, value)
    return self


cdef object fill_tensor_(Tensor self, Tensor value):
    meta_copy.check_fill(value)
    copy_values(self, value)
    return self


cdef object zero_(Tensor self):
    cdef int size = dtypes.itemsize_table()[self.c_dtype]
    if self.c_flags & TF_NON_OVERLAPPING_DENSE:
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
    values = complex32_values(self) if self.c_dtype == ST_complex32 else get_numpy(self)
    one = values.reshape(-1)[0]
    category = category_of_code(self.c_dtype)
    return int(one) if category == 1 else complex(one) if category == 3 else float(one)
