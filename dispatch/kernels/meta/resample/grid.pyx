"""Shape functions of sampling on a grid: input (N, C, sizes...) at grid (N, places..., dimensions).

Called by the structured kernels of `grid_sampler_2d` and `grid_sampler_3d` and of their gradients.
PyTorch's Meta kernels check less than its eager ones. All results are contiguous; the gradient of
input is there only where it is asked for.
"""
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from dispatch._C cimport dtypes
from dispatch._C.errors cimport refused
from dispatch._C.structured cimport Spec
from dispatch._C.symbolic cimport gt
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.meta cimport rules
from dispatch.kernels.meta.rules.sizes cimport sizes_of
from dispatch.kernels.meta.rules.numbers cimport agree


cdef int check_sampled(Tensor input, Tensor grid, int dims, int64_t mode, int64_t padding, bint exactly) except -1:
    """Not `exactly`: sizes that differ are refused, but no guard keeps them away (PyTorch's gradients look at nothing)."""
    cdef bint fits, eager = rules.is_eager(input)
    cdef int i
    if not 0 <= mode <= 2:
        raise refused(f"expected interpolation_mode to be 0, 1 or 2, got {mode}")
    if not 0 <= padding <= 2:
        raise refused(f"expected padding_mode to be 0, 1 or 2, got {padding}")
    if dims == 3 and mode == 2:
        raise refused(f"bicubic interpolation only supports 4D input, got {sizes_of(input)}")
    if eager and input.c_dtype != grid.c_dtype:
        raise refused(f"expected input ({dtypes.get_dtype(input.c_dtype)!r}) and grid "
                      f"({dtypes.get_dtype(grid.c_dtype)!r}) to have one dtype")
    fits = input.c_ndim == grid.c_ndim == dims + 2 and agree(grid.c_sizes[dims + 1], dims, exactly) and \
        agree(input.c_sizes[0], grid.c_sizes[0], exactly)
    if fits and (eager or dims == 3):
        for i in range(dims):
            fits = fits and gt(input.c_sizes[2 + i], 0)
    if not fits:
        raise refused(f"{wrong_of(input, grid, dims)}: expected input (N, C, {dims} sizes) and grid "
                      f"(N, {dims} sizes, {dims}), got {sizes_of(input)} and {sizes_of(grid)}")
    return 0


cdef str wrong_of(Tensor input, Tensor grid, int dims):
    """In PyTorch's order and words."""
    if input.c_ndim < 2 or grid.c_ndim < 1 or grid.c_sizes[grid.c_ndim - 1] != input.c_ndim - 2:
        return f"expected grid to have size {max(input.c_ndim - 2, 0)} in last dimension"
    if input.c_sizes[0] != grid.c_sizes[0]:
        return "expected grid and input to have same batch size"
    if input.c_ndim == grid.c_ndim == dims + 2:
        return "expected input to have non-empty spatial dimensions"
    return f"expected {dims + 2}D input and grid with same number of dimensions"


cdef int sampled(Spec* s, Tensor input, Tensor grid, int dims, int64_t mode, int64_t padding) except -1:
    check_sampled(input, grid, dims, mode, padding, True)
    s.ndim, s.dtype = dims + 2, input.c_dtype
    memcpy(s.sizes, input.c_sizes, 2 * sizeof(int64_t))
    memcpy(s.sizes + 2, grid.c_sizes + 1, dims * sizeof(int64_t))
    return 0


cdef int sampled_backward(Spec* s, Tensor grad_output, Tensor input, Tensor grid, int dims, int64_t mode,
                          int64_t padding, object output_mask) except -1:
    cdef int i
    cdef bint fits = grad_output.c_ndim == dims + 2, eager = rules.is_eager(input)
    check_sampled(input, grid, dims, mode, padding, eager)
    if fits:
        for i in range(dims + 2):
            fits = fits and agree(grad_output.c_sizes[i], input.c_sizes[i] if i < 2 else grid.c_sizes[i - 1], eager)
    if not fits:
        raise refused(f"grad_output {sizes_of(grad_output)} does not fit input {sizes_of(input)} and "
                      f"grid {sizes_of(grid)}")
    s[0].absent = not output_mask[0]
    s[0].ndim, s[0].dtype = input.c_ndim, input.c_dtype
    memcpy(s[0].sizes, input.c_sizes, input.c_ndim * sizeof(int64_t))
    s[1].ndim, s[1].dtype = grid.c_ndim, grid.c_dtype
    memcpy(s[1].sizes, grid.c_sizes, grid.c_ndim * sizeof(int64_t))
    return 0


cdef int grid_sampler_2d(Spec* s, Tensor input, Tensor grid, int64_t interpolation_mode,
                         int64_t padding_mode, bint align_corners) except -1:
    return sampled(s, input, grid, 2, interpolation_mode, padding_mode)


cdef int grid_sampler_3d(Spec* s, Tensor input, Tensor grid, int64_t interpolation_mode,
                         int64_t padding_mode, bint align_corners) except -1:
    return sampled(s, input, grid, 3, interpolation_mode, padding_mode)


cdef int grid_sampler_2d_backward(Spec* s, Tensor grad_output, Tensor input, Tensor grid,
                                  int64_t interpolation_mode, int64_t padding_mode,
                                  bint align_corners, object output_mask) except -1:
    return sampled_backward(s, grad_output, input, grid, 2, interpolation_mode, padding_mode, output_mask)


cdef int grid_sampler_3d_backward(Spec* s, Tensor grad_output, Tensor input, Tensor grid,
                                  int64_t interpolation_mode, int64_t padding_mode,
                                  bint align_corners, object output_mask) except -1:
    return sampled_backward(s, grad_output, input, grid, 3, interpolation_mode, padding_mode, output_mask)
