"""Shape functions of places in sorted values: metadata only, values unseen."""
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport ST_int32, ST_int64
from dispatch._C.errors cimport refused
from dispatch._C.geometry cimport TF_CONTIGUOUS
from dispatch._C.structured cimport Spec
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.meta cimport rules
from dispatch.kernels.meta.rules.sizes cimport sizes_of

from dispatch._C.advice import advise_once


cdef int found(Spec* s, Tensor values, bint out_int32) except -1:
    """Of the sizes of the values, or of a number."""
    if values is not None:
        s.ndim = values.c_ndim
        memcpy(s.sizes, values.c_sizes, values.c_ndim * sizeof(int64_t))
    s.dtype = ST_int32 if out_int32 else ST_int64
    return 0


cdef int advise_of_copy(Tensor t, str name) except -1:
    if rules.is_eager(t) and not t.c_flags & TF_CONTIGUOUS:
        advise_once(f"torch.searchsorted(): {name} tensor is non-contiguous", "it is copied for the call")
    return 0


cdef int check_sorted(Tensor boundaries, Tensor values, bint right, object side, Tensor sorter) except -1:
    cdef int n
    advise_of_copy(boundaries, "boundary")
    if values is not None:
        advise_of_copy(values, "input value")
    if sorter is not None:
        advise_of_copy(sorter, "sorter")
    if side is not None and side != "left" and side != "right":
        raise refused(f"side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise refused("side and right can't be set to opposites, got side of left while right was True")
    if boundaries.c_ndim == 0:
        raise refused("boundaries tensor should have positive dimension, but got 0 dimension")
    if sorter is not None:
        if sizes_of(sorter) != sizes_of(boundaries):
            raise refused("boundary and sorter must have the same size, but got boundary tensor "
                          f"{sizes_of(boundaries)}and got sorter tensor {sizes_of(sorter)}")
        if sorter.c_dtype != ST_int64:
            raise refused(f"sorter must be a tensor of long dtype but got {dtypes.get_dtype(sorter.c_dtype)!r}")
    if boundaries.c_ndim == 1:
        return 0
    if values is None:
        raise refused("input value can be a scalar only when boundaries tensor dimension is 1, "
                      f"but we got boundaries of shape {sizes_of(boundaries)}")
    n = boundaries.c_ndim
    if values.c_ndim != n or sizes_of(values)[:n - 1] != sizes_of(boundaries)[:n - 1]:
        raise refused("the first N-1 dimensions of boundaries tensor and input value tensor must match, "
                      f"but we got {sizes_of(boundaries)} and {sizes_of(values)}")
    return 0


cdef int searchsorted_tensor(Spec* s, Tensor sorted_sequence, Tensor self, bint out_int32, bint right, object side,
                             Tensor sorter) except -1:
    check_sorted(sorted_sequence, self, right, side, sorter)
    return found(s, self, out_int32)


cdef int searchsorted_scalar(Spec* s, Tensor sorted_sequence, object self, bint out_int32, bint right, object side,
                             Tensor sorter) except -1:
    check_sorted(sorted_sequence, None, right, side, sorter)
    return found(s, None, out_int32)


cdef int check_boundaries(Tensor boundaries) except -1:
    if boundaries.c_ndim != 1:
        raise refused(f"boundaries tensor must be 1 dimension, but got dim({boundaries.c_ndim})")
    return 0


cdef int bucketize_tensor(Spec* s, Tensor self, Tensor boundaries, bint out_int32, bint right) except -1:
    if rules.is_eager(self):
        check_boundaries(boundaries)
        check_sorted(boundaries, self, right, None, None)
    return found(s, self, out_int32)


cdef int bucketize_scalar(Spec* s, object self, Tensor boundaries, bint out_int32, bint right) except -1:
    check_boundaries(boundaries)
    check_sorted(boundaries, None, right, None, None)
    return found(s, None, out_int32)
