"""Shape functions of interpolation, by number of dimensions; `linear`: whatever has align_corners."""
from dispatch._C.structured cimport Spec
from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray

cdef int nearest1d(Spec* s, Tensor self, IntArray output_size, object scales) except -1
cdef int nearest2d(Spec* s, Tensor self, IntArray output_size, object scales_h,
                   object scales_w) except -1
cdef int nearest3d(Spec* s, Tensor self, IntArray output_size, object scales_d, object scales_h,
                   object scales_w) except -1
cdef int linear1d(Spec* s, Tensor self, IntArray output_size, bint align_corners,
                  object scales) except -1
cdef int linear2d(Spec* s, Tensor self, IntArray output_size, bint align_corners, object scales_h,
                  object scales_w) except -1
cdef int linear3d(Spec* s, Tensor self, IntArray output_size, bint align_corners, object scales_d,
                  object scales_h, object scales_w) except -1
cdef int nearest1d_backward(Spec* s, Tensor grad_output, IntArray output_size, IntArray input_size,
                            object scales) except -1
cdef int nearest2d_backward(Spec* s, Tensor grad_output, IntArray output_size, IntArray input_size,
                            object scales_h, object scales_w) except -1
cdef int nearest3d_backward(Spec* s, Tensor grad_output, IntArray output_size, IntArray input_size,
                            object scales_d, object scales_h, object scales_w) except -1
cdef int linear1d_backward(Spec* s, Tensor grad_output, IntArray output_size, IntArray input_size,
                           bint align_corners, object scales) except -1
cdef int linear2d_backward(Spec* s, Tensor grad_output, IntArray output_size, IntArray input_size,
                           bint align_corners, object scales_h, object scales_w) except -1
cdef int linear3d_backward(Spec* s, Tensor grad_output, IntArray output_size, IntArray input_size,
                           bint align_corners, object scales_d, object scales_h,
                           object scales_w) except -1
cdef int bicubic2d_backward(Spec* s, Tensor grad_output, IntArray output_size, IntArray input_size,
                            bint align_corners, object scales_h, object scales_w) except -1
cdef int smooth2d(Spec* s, Tensor self, IntArray output_size, bint align_corners, object scales_h,
                  object scales_w) except -1
cdef int lanczos2d_backward(Spec* s, Tensor grad_output, IntArray output_size, IntArray input_size,
                            bint align_corners, object scales_h, object scales_w) except -1
