"""Tensors as plain memory for loops in C: without gaps, channels first or last, in the dtype to compute in.

Who calls: bodies whose loops run over images (pools, resampling, convolutions). `dense` gives the
tensor itself where it is so already, else a copy; `target` the output or one like it, which
`finish` copies back, rounded once. 16-bit floats are computed in float32, integers in int64.
"""
from libc.stdint cimport int64_t, uint64_t

from dispatch._C.storage cimport shared_owner
from dispatch._C.tensor cimport Tensor

cdef enum:
    LONG_RUN = 1 << 15           # elements from which a loop gives up the interpreter's lock

cdef struct Image:
    # Sizes of a batch of images, volumes or lines; what a tensor has not is 1.
    int64_t n, c
    int64_t size[3]              # depth, height, width
    int64_t plane                # their product

# NotImplementedError unless `code` is in the set `allowed` (DTYPES_*, or bits by ScalarType).
cdef int check_kernel(int code, uint64_t allowed) except -1
# The dtype that values of this one are computed in.
cdef int computed_in(int code) noexcept
# The memory format that a loop over images runs in: the one of `t`; contiguous without a batch.
cdef int format_of(Tensor t) noexcept
# Sizes of `t` with `dims` spatial dimensions; a tensor without a batch has n = 1.
cdef Image image_of(Tensor t, int dims) noexcept
# What a loop over images is shared out by: whole images where channels are last, else planes.
cdef inline int64_t lead_of(const Image* m, bint last) noexcept nogil:
    return m.n if last else m.n * m.c
# Leaves `count` of them, from `first` on; returns the elements before.
cdef inline int64_t take_lead(Image* m, bint last, int64_t first, int64_t count) noexcept nogil:
    if last:
        m.n = count
        return first * m.plane * m.c
    m.n, m.c = 1, count
    return first * m.plane
# Rows of pixels: what such a loop with channels last may be shared out by as well.
cdef inline int64_t lines_of(const Image* m) noexcept nogil:
    return m.n * m.size[0] * m.size[1]
cdef Tensor dense(Tensor t, int code, int memory_format)
cdef Tensor target(Tensor out, int code, int memory_format)
cdef int finish(Tensor out, Tensor made) except -1
# What keeps the bytes of these alive while a loop runs without the lock, however short it is.
cdef inline object held(Tensor a, Tensor b, Tensor c=None, Tensor d=None):
    return (shared_owner(a.c_storage), shared_owner(b.c_storage),
            None if c is None else shared_owner(c.c_storage), None if d is None else shared_owner(d.c_storage))
# The same, None for a short loop: one that keeps the lock.
cdef inline object pinned(int64_t work, Tensor a, Tensor b, Tensor c=None, Tensor d=None):
    return None if work < LONG_RUN else held(a, b, c, d)
