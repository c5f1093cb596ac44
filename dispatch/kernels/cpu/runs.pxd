"""Loops over tensors as plain C arrays: what bodies that are such loops share.

`plain` gives a tensor without gaps in the dtype that a loop reads, `written_as` one for what it
writes, which `finish` stores: 16-bit floats are read as float32 and rounded once (in `dense`). `run`
calls the loop, without the interpreter's lock when it is long: it holds what owns the memory that
it walks, for another thread may resize the storages or give the tensors others.
"""
from libc.stdint cimport int64_t

from dispatch._C.dtypes cimport MF_contiguous, itemsize_table
from dispatch._C.tensor cimport Tensor, data_of
from dispatch.kernels.cpu cimport dense
from dispatch.kernels.cpu.threads cimport span_fn

# A loop over what `job` describes (a struct of its module's own); `typed` is a pointer to elements of
# the dtype that is computed in, which chooses the loop. Returns 0, or what the caller makes of it.
ctypedef int64_t (*loop)(void* job, void* typed) noexcept nogil

# float32 for the 16-bit floats, else the dtype itself. NotImplementedError for what is no float.
cdef int floating_code(Tensor t) except -1
# `work`: about how many elements are visited. `tensors`: all whose memory is.
cdef int64_t run(loop f, void* job, void* typed, int64_t work, tuple tensors) except? -1
# The same by the dtype of `typed`, float32 or float64.
cdef int64_t run_floating(loop f32, loop f64, void* job, Tensor typed, int64_t work,
                          tuple tensors) except? -1
# A loop over spans of n things (rows, elements), several threads' where `nbytes` are many.
cdef int run_spans(span_fn f, void* job, int64_t n, int64_t work, int64_t nbytes, tuple tensors) except -1
# `nbytes` at `data`, which are t's, become 0.
cdef int clear_bytes(Tensor t, char* data, int64_t nbytes) except -1
# RuntimeError names `name`.
cdef int check_dtype(str name, Tensor t, int code) except -1
# Whether all of `n` indices are in [low, high); else the first that is not is put into `wrong`.
cdef bint are_in_range(const int64_t* indices, int64_t n, int64_t low, int64_t high,
                       int64_t* wrong) noexcept nogil

cdef inline Tensor plain(Tensor t, int code):
    """The tensor itself where it has no gaps and that dtype, else a copy. None gives None."""
    return None if t is None else dense.dense(t, code, MF_contiguous)

cdef inline Tensor written_as(Tensor out, int code):
    """The tensor itself where it can be written so, else a new one of its sizes."""
    return dense.target(out, code, MF_contiguous)

cdef inline int finish(Tensor out, Tensor made) except -1:
    return dense.finish(out, made)

cdef inline void* address(Tensor t) except? NULL:
    """Of the first element; NULL for None and for an empty tensor."""
    return data_of(t, itemsize_table()[t.c_dtype]) if t is not None else NULL
