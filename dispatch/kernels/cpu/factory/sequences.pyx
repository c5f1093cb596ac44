"""CPU kernels of sequences of numbers and index pairs: loops in C; complex numbers by numpy."""
from libc.math cimport pow
from libc.stdint cimport int16_t, int32_t, int64_t

import numpy as np

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DEV_CPU, DTYPES_BOOL, DTYPES_FLOAT8, DTYPES_REDUCED_FLOATING, DTYPES_WIDE_UNSIGNED, ST_bool, ST_float32, ST_float64,
    ST_int16, ST_int32, ST_int64, is_complex_code, is_floating_code, is_in,
)
from dispatch._C.errors cimport refused
from dispatch._C.errors import unserved
from dispatch._C.geometry cimport TF_CONTIGUOUS
from dispatch._C.tensor cimport Tensor, data_of, new_empty, new_view
from dispatch.kernels.cpu.copy.copies cimport copy_array, copy_values, fill_values
from dispatch.kernels.cpu.driver cimport check_fits
from dispatch.kernels.cpu.threads cimport in_spans, parts_for

from dispatch._C.dtypes import _numpy_dtype
from dispatch._C.structured import check_written
from dispatch._ops import ops
from dispatch.kernels.meta.factory import sequences as meta

__all__ = [
    "eye_m_out",
    "eye_out",
    "linspace_out",
    "logspace_out",
    "range_out",
    "tril_indices",
    "triu_indices",
]

cdef extern from "../kernels/cpu/factory/sequences.h" nogil:
    void dispatch_linspace_f32(float* to, float first, float last, int64_t n) noexcept
    void dispatch_linspace_f64(double* to, double first, double last, int64_t n) noexcept
    void dispatch_triangle_i16(int16_t* rows, int64_t count, int64_t row, int64_t col, int64_t offset, int lower) noexcept
    void dispatch_triangle_i32(int32_t* rows, int64_t count, int64_t row, int64_t col, int64_t offset, int lower) noexcept
    void dispatch_triangle_i64(int64_t* rows, int64_t count, int64_t row, int64_t col, int64_t offset, int lower) noexcept


def eye_out(n, *, out):
    """Ones on the diagonal of a square matrix."""
    return eye_m_out(n, n, out=out)


def eye_m_out(n, m, *, Tensor out not None):
    """Ones on the diagonal of an n by m matrix."""
    cdef int64_t size, step
    check_written(meta.eye_m_out(n, m, out=out))
    if is_in(DTYPES_WIDE_UNSIGNED, dtypes.dtype_code(out.dtype)):
        raise unserved(out.dtype)
    fill_values(out, 0)
    size, step = min(out.c_sizes[0], out.c_sizes[1]), out.c_strides[0] + out.c_strides[1]
    if size:
        fill_values(new_view(out, 1, &size, &step, out.c_offset), 1)
    return out


cdef object equal_steps(object start, object end, object steps, object kind):
    """In numpy's type `kind` throughout."""
    first, last = kind(start), kind(end)
    if steps == 1:
        return np.array([first])
    step = (last - first) / kind(steps - 1)
    count = np.arange(steps)
    low = first + step * count.astype(kind)
    high = last - step * (steps - 1 - count).astype(kind)
    return np.where(count < steps // 2, low, high)


cdef object whole_bound(object number, int code):
    """An end of integers in their dtype; a negative one is taken modulo the range of unsigned ones."""
    cdef object value = int(number), limits
    if code == ST_bool:
        return bool(number)
    limits = np.iinfo(_numpy_dtype(dtypes.get_dtype(code)))
    if not (limits.min or -limits.max) <= value <= limits.max:
        raise refused(f"value {number} cannot be converted to {dtypes.get_dtype(code)} without overflow")
    return value if limits.min else value % (limits.max + 1)


cdef Tensor real_steps(object start, object end, int64_t steps, int code, Tensor out=None):
    """Numbers at equal distances in float32 or, for other dtypes, float64; integers from whole bounds. `out`: where they go.

    Halves are rounded after each step of the formula, the distance first.
    """
    cdef Tensor row = out
    if row is None:
        row = new_empty(ST_float32 if code == ST_float32 else ST_float64, DEV_CPU, -1, 1, &steps, NULL)
    if code == ST_float32:
        dispatch_linspace_f32(<float*>data_of(row, 4), <float><double>start, <float><double>end, steps)
    elif is_in(DTYPES_REDUCED_FLOATING, code):
        with np.errstate(all="ignore"):
            copy_array(row, equal_steps(start, end, steps, _numpy_dtype(dtypes.get_dtype(code)).type).astype(np.float64))
    else:
        if not is_floating_code(code):
            start, end = whole_bound(start, code), whole_bound(end, code)
        dispatch_linspace_f64(<double*>data_of(row, 8), <double>start, <double>end, steps)
    return row


cdef enum:
    POWER_WORK = 64              # a power takes as long as copying so many bytes

cdef struct Powers:
    double base
    const void* exponents
    bint single
    double* to


cdef void power_span(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Powers* p = <Powers*>context
    cdef int64_t i
    for i in range(first, end):
        p.to[i] = pow(p.base, <double>(<const float*>p.exponents)[i] if p.single else (<const double*>p.exponents)[i])


cdef Tensor powers_of(double base, Tensor exponents):
    """In float64."""
    cdef Tensor made = new_empty(ST_float64, DEV_CPU, -1, 1, exponents.c_sizes, NULL)
    cdef int64_t n = exponents.c_numel
    cdef Powers p
    p.base, p.to, p.single = base, <double*>data_of(made, 8), exponents.c_dtype == ST_float32
    p.exponents = data_of(exponents, 4 if p.single else 8)
    with nogil:
        in_spans(power_span, &p, n, parts_for(n, POWER_WORK * n))
    return made


cdef object complex_kind(Tensor out):
    return np.complex64 if out.element_size() == 8 else np.complex128


cdef int check_linspace(Tensor out, object start, object end) except -1:
    """One number is only filled in, which any dtype can be."""
    if is_floating_code(out.c_dtype):
        check_fits(start, out.c_dtype, "start")
        check_fits(end, out.c_dtype, "end")
    if is_in(DTYPES_BOOL | DTYPES_FLOAT8 | DTYPES_WIDE_UNSIGNED, out.c_dtype) and out.c_numel > 1:
        raise unserved(out.dtype)
    return 0


cdef bint takes_steps(Tensor out) noexcept:
    """Whether numbers can be written where they go: in their own dtype, aligned and without gaps."""
    cdef int size = 4 if out.c_dtype == ST_float32 else 8
    return (out.c_flags & TF_CONTIGUOUS and (out.c_dtype == ST_float32 or out.c_dtype == ST_float64)
            and <size_t>data_of(out, size) % size == 0)


cdef object shaped(object values, Tensor out):
    return values.reshape(tuple(out.shape))


def linspace_out(start, end, steps, *, Tensor out not None):
    """`steps` numbers from start to end."""
    check_written(meta.linspace_out(start, end, steps, out=out))
    if not steps:
        return out
    check_linspace(out, start, end)
    if is_complex_code(out.c_dtype):
        with np.errstate(all="ignore"):
            copy_array(out, shaped(equal_steps(start, end, steps, complex_kind(out)), out))
    elif takes_steps(out):
        real_steps(start, end, steps, out.c_dtype, out)
    else:
        copy_values(out, ops.aten.view(real_steps(start, end, steps, out.c_dtype), list(out.shape)))
    return out


def logspace_out(start, end, steps, base=10.0, *, Tensor out not None):
    """Powers of `base`; those of halves are rounded once."""
    cdef int code
    check_written(meta.logspace_out(start, end, steps, base, out=out))
    if not steps:
        return out
    check_linspace(out, start, end)
    if is_complex_code(out.c_dtype):
        with np.errstate(all="ignore"):
            exponents = equal_steps(start, end, steps, complex_kind(out)).astype(np.complex128)
            copy_array(out, shaped(np.power(np.complex128(base), exponents), out))
        return out
    code = ST_float64 if is_in(DTYPES_REDUCED_FLOATING, out.c_dtype) else out.c_dtype
    powers = powers_of(base, real_steps(start, end, steps, code))
    copy_values(out, powers if out.c_ndim == 1 else ops.aten.view(powers, list(out.shape)))
    return out


def range_out(start, end, step=1, *, Tensor out not None):
    """Numbers from start to end, which is included."""
    check_written(meta.range_out(start, end, step, out=out))
    if out.numel():
        start, end, step = meta.range_numbers(start, end, step, out.dtype)
        copy_array(out, shaped(start + np.arange(out.numel()) * step, out))
    return out


cdef object pairs(object row, object col, object offset, bint lower, dict options):
    cdef Tensor out
    cdef int64_t count = meta.count_triangle(row, col, offset, lower), by
    kind = options.get("dtype")
    cdef int code = ST_int64 if kind is None else dtypes.dtype_code(kind)
    if code != ST_int16 and code != ST_int32 and code != ST_int64:
        raise unserved(kind)
    out = ops.aten.empty([2, count], **{**options, "dtype": dtypes.get_dtype(code)})
    if count == 0:
        return out
    by = min(max(offset, -row), col)
    if code == ST_int64:
        dispatch_triangle_i64(<int64_t*>data_of(out, 8), count, row, col, by, lower)
    elif code == ST_int32:
        dispatch_triangle_i32(<int32_t*>data_of(out, 4), count, row, col, by, lower)
    else:
        dispatch_triangle_i16(<int16_t*>data_of(out, 2), count, row, col, by, lower)
    return out


def tril_indices(row, col, offset=0, **options):
    """Rows and columns of the lower triangle."""
    return pairs(row, col, offset, True, options)


def triu_indices(row, col, offset=0, **options):
    """Rows and columns of the upper triangle."""
    return pairs(row, col, offset, False, options)
