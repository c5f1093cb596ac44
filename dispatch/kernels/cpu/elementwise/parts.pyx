"""CPU kernels of complex numbers from two parts: real and imaginary, or lengths and angles.

Each is a whole kernel of an out variant. The parts are copied, or computed by other operators, into
the two halves of the output, which are views of every other number in its memory.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t
from libc.string cimport memcmp

from dispatch._C.dtypes cimport MF_contiguous, ST_NONE, ST_float32, ST_float64, get_dtype
from dispatch._C.errors cimport refused
from dispatch._C.errors import unserved
from dispatch._C.size cimport new_size
from dispatch._C.tensor cimport Tensor, data_of, is_contiguous_as, new_view, new_view_dtype, set_geometry
from dispatch.kernels.cpu.copy.copies cimport copy_values
from dispatch.kernels.cpu.copy.strided cimport itemsize_of, memory_meets, owners
from dispatch.kernels.cpu.threads cimport in_spans, parts_for
from dispatch.kernels.meta cimport rules
from dispatch.kernels.meta.fft.transforms cimport check_pair, complex_of

from dispatch._C.naming import tensor_word
from dispatch._C.structured import check_written
from dispatch._ops import ops
from dispatch.kernels.meta.outputs import resize_out

cdef extern from "../kernels/cpu/elementwise/parts.h" nogil:
    ctypedef struct parts_job:
        const char* real
        const char* imag
        char* to
        int size
    void interleave_parts(void* context, int64_t part, int64_t first, int64_t end) noexcept


cdef enum:
    MAX_DIMS = 64


cdef int check_parts(Tensor out, Tensor first, Tensor second) except -1:
    """Broadcast sizes for the output, and strides as elementwise operators have them once it is resized."""
    cdef int64_t sizes[MAX_DIMS]
    cdef int64_t strides[MAX_DIMS]
    cdef PyObject* items[2]
    cdef int ndim
    check_pair(first, second)
    if complex_of(first.c_dtype) != out.c_dtype:
        raise refused(f"Expected object of scalar type {tensor_word(get_dtype(complex_of(first.c_dtype)))} but got scalar type "
                      f"{tensor_word(get_dtype(out.c_dtype))} for argument 'out'")
    items[0], items[1] = <PyObject*>first, <PyObject*>second
    ndim = rules.broadcast(sizes, items, 2)
    check_written(out)
    if out.c_ndim != ndim or memcmp(out.c_sizes, sizes, ndim * sizeof(int64_t)):
        resize_out(out, new_size(ndim, sizes))
        rules.elementwise_strides(strides, sizes, ndim, items, 2, ST_NONE)
        set_geometry(out, ndim, sizes, strides, out.c_offset)
    return 0


cdef Tensor part_of(Tensor out, int code, int which):
    cdef int64_t strides[MAX_DIMS]
    cdef int d
    for d in range(out.c_ndim):
        strides[d] = 2 * out.c_strides[d]
    return new_view_dtype(out, code, out.c_ndim, out.c_sizes, strides, 2 * out.c_offset + which)


cdef bint interleave(Tensor out, Tensor real, Tensor imag) except -1:
    """Parts that lie in the order of `out`, without gaps, are written in turn. False: they lie otherwise; nothing is done."""
    cdef parts_job j
    cdef Tensor t
    for t in (real, imag):
        if t.c_numel != out.c_numel or not is_contiguous_as(t, MF_contiguous) or memory_meets(out, t):
            return False
    if not is_contiguous_as(out, MF_contiguous) or not out.c_numel:
        return False
    j.size = itemsize_of(real)
    j.real, j.imag, j.to = data_of(real, j.size), data_of(imag, j.size), data_of(out, 2 * j.size)
    kept = owners(real, imag), owners(out, out)
    with nogil:
        in_spans(interleave_parts, &j, out.c_numel, parts_for(out.c_numel, 4 * j.size * out.c_numel))
    return True


cdef int put(Tensor part, Tensor value) except -1:
    """`value`, broadcast."""
    cdef int64_t strides[MAX_DIMS]
    cdef int d, lead = part.c_ndim - value.c_ndim
    for d in range(part.c_ndim):
        strides[d] = 0 if d < lead or value.c_sizes[d - lead] != part.c_sizes[d] else value.c_strides[d - lead]
    return copy_values(part, new_view(value, part.c_ndim, part.c_sizes, strides, value.c_offset))


def complex_out(Tensor real not None, Tensor imag not None, *, Tensor out not None):
    """Real and imaginary parts."""
    check_parts(out, real, imag)
    if interleave(out, real, imag):
        return out
    if memory_meets(out, imag):
        imag = ops.aten.clone(imag)
    put(part_of(out, real.c_dtype, 0), real)
    put(part_of(out, real.c_dtype, 1), imag)
    return out


def polar_out(Tensor abs not None, Tensor angle not None, *, Tensor out not None):
    """Lengths and angles."""
    if abs.c_dtype != ST_float32 and abs.c_dtype != ST_float64:
        raise unserved(get_dtype(abs.c_dtype))
    check_parts(out, abs, angle)
    real = ops.aten.mul.Tensor(abs, ops.aten.cos(angle))
    imaginary = ops.aten.mul.Tensor(abs, ops.aten.sin(angle))
    if not interleave(out, real, imaginary):
        put(part_of(out, abs.c_dtype, 0), real)
        put(part_of(out, abs.c_dtype, 1), imaginary)
    return out
