"""Shape functions of sampling on a grid, and of the grid's gradient."""
from libc.stdint cimport int64_t

from dispatch._C.structured cimport Spec
from dispatch._C.tensor cimport Tensor

cdef int grid_sampler_2d(Spec* s, Tensor input, Tensor grid, int64_t interpolation_mode,
                         int64_t padding_mode, bint align_corners) except -1
cdef int grid_sampler_3d(Spec* s, Tensor input, Tensor grid, int64_t interpolation_mode,
                         int64_t padding_mode, bint align_corners) except -1
cdef int grid_sampler_2d_backward(Spec* s, Tensor grad_output, Tensor input, Tensor grid,
                                  int64_t interpolation_mode, int64_t padding_mode,
                                  bint align_corners, object output_mask) except -1
cdef int grid_sampler_3d_backward(Spec* s, Tensor grad_output, Tensor input, Tensor grid,
                                  int64_t interpolation_mode, int64_t padding_mode,
                                  bint align_corners, object output_mask) except -1
