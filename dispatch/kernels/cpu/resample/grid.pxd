"""Bodies of sampling on a grid, and of its gradients."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor

cdef int grid_sampler(Tensor out, Tensor input, Tensor grid, int64_t interpolation_mode,
                      int64_t padding_mode, bint align_corners) except -1
cdef int grid_sampler_backward(Tensor grad_input, Tensor grad_grid, Tensor grad_output, Tensor input,
                               Tensor grid, int64_t interpolation_mode, int64_t padding_mode,
                               bint align_corners, object output_mask) except -1
