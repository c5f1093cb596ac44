"""Bodies of interpolation and of its gradients; `linear2d` is bilinear, `linear3d` trilinear."""
from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray

cdef int nearest1d(Tensor out, Tensor self, IntArray output_size, object scales) except -1
cdef int nearest2d(Tensor out, Tensor self, IntArray output_size, object scales_h,
                   object scales_w) except -1
cdef int nearest3d(Tensor out, Tensor self, IntArray output_size, object scales_d, object scales_h,
                   object scales_w) except -1
cdef int nearest_exact1d(Tensor out, Tensor self, IntArray output_size, object scales) except -1
cdef int nearest_exact2d(Tensor out, Tensor self, IntArray output_size, object scales_h,
                         object scales_w) except -1
cdef int nearest_exact3d(Tensor out, Tensor self, IntArray output_size, object scales_d,
                         object scales_h, object scales_w) except -1
cdef int linear1d(Tensor out, Tensor self, IntArray output_size, bint align_corners,
                  object scales) except -1
cdef int linear2d(Tensor out, Tensor self, IntArray output_size, bint align_corners,
                  object scales_h, object scales_w) except -1
cdef int linear3d(Tensor out, Tensor self, IntArray output_size, bint align_corners,
                  object scales_d, object scales_h, object scales_w) except -1
cdef int bicubic2d(Tensor out, Tensor self, IntArray output_size, bint align_corners,
                   object scales_h, object scales_w) except -1
cdef int bilinear2d_aa(Tensor out, Tensor self, IntArray output_size, bint align_corners,
                       object scales_h, object scales_w) except -1
cdef int bicubic2d_aa(Tensor out, Tensor self, IntArray output_size, bint align_corners,
                      object scales_h, object scales_w) except -1
cdef int lanczos2d_aa(Tensor out, Tensor self, IntArray output_size, bint align_corners,
                      object scales_h, object scales_w) except -1
cdef int nearest1d_backward(Tensor grad_input, Tensor grad_output, IntArray output_size,
                            IntArray input_size, object scales) except -1
cdef int nearest2d_backward(Tensor grad_input, Tensor grad_output, IntArray output_size,
                            IntArray input_size, object scales_h, object scales_w) except -1
cdef int nearest3d_backward(Tensor grad_input, Tensor grad_output, IntArray output_size,
                            IntArray input_size, object scales_d, object scales_h,
                            object scales_w) except -1
cdef int nearest_exact1d_backward(Tensor grad_input, Tensor grad_output, IntArray output_size,
                                  IntArray input_size, object scales) except -1
cdef int nearest_exact2d_backward(Tensor grad_input, Tensor grad_output, IntArray output_size,
                                  IntArray input_size, object scales_h, object scales_w) except -1
cdef int nearest_exact3d_backward(Tensor grad_input, Tensor grad_output, IntArray output_size,
                                  IntArray input_size, object scales_d, object scales_h,
                                  object scales_w) except -1
cdef int linear1d_backward(Tensor grad_input, Tensor grad_output, IntArray output_size,
                           IntArray input_size, bint align_corners, object scales) except -1
cdef int linear2d_backward(Tensor grad_input, Tensor grad_output, IntArray output_size,
                           IntArray input_size, bint align_corners, object scales_h,
                           object scales_w) except -1
cdef int linear3d_backward(Tensor grad_input, Tensor grad_output, IntArray output_size,
                           IntArray input_size, bint align_corners, object scales_d,
                           object scales_h, object scales_w) except -1
cdef int bicubic2d_backward(Tensor grad_input, Tensor grad_output, IntArray output_size,
                            IntArray input_size, bint align_corners, object scales_h,
                            object scales_w) except -1
cdef int bilinear2d_aa_backward(Tensor grad_input, Tensor grad_output, IntArray output_size,
                                IntArray input_size, bint align_corners, object scales_h,
                                object scales_w) except -1
cdef int bicubic2d_aa_backward(Tensor grad_input, Tensor grad_output, IntArray output_size,
                               IntArray input_size, bint align_corners, object scales_h,
                               object scales_w) except -1
cdef int lanczos2d_aa_backward(Tensor grad_input, Tensor grad_output, IntArray output_size,
                               IntArray input_size, bint align_corners, object scales_h,
                               object scales_w) except -1
