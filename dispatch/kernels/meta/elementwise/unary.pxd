"""Shape functions of elementwise operators of one tensor; each names its rule for the dtype."""
from libc.stdint cimport int64_t

from dispatch._C.tensor cimport Tensor
from dispatch._C.structured cimport Spec

cdef int same_op(Spec* s, Tensor self) except -1             # self's dtype: sign
cdef int rounding(Spec* s, Tensor self) except -1            # the same: floor
cdef int round(Spec* s, Tensor self) except -1
cdef int conj_physical(Spec* s, Tensor self) except -1
cdef int bitwise_not(Spec* s, Tensor self) except -1
cdef int neg(Spec* s, Tensor self) except -1                 # no bool
cdef int relu(Spec* s, Tensor self) except -1                # no bool, but on Meta
cdef int abs(Spec* s, Tensor self) except -1                 # complex gives its real type
cdef int float_op(Spec* s, Tensor self) except -1            # not floating: the default dtype
cdef int predicate(Spec* s, Tensor self) except -1           # bool
cdef int silu(Spec* s, Tensor self) except -1
cdef int gelu(Spec* s, Tensor self, object approximate) except -1
cdef int nan_to_num(Spec* s, Tensor self, object nan, object posinf, object neginf) except -1
cdef int elu(Spec* s, Tensor self, object alpha, object scale, object input_scale) except -1
cdef int hardtanh(Spec* s, Tensor self, object min_val, object max_val) except -1
cdef int leaky_relu(Spec* s, Tensor self, object negative_slope) except -1
cdef int softplus(Spec* s, Tensor self, object beta, object threshold) except -1
cdef int real_predicate(Spec* s, Tensor self) except -1      # the same, not of complex numbers
cdef int signbit(Spec* s, Tensor self) except -1
cdef int angle(Spec* s, Tensor self) except -1
cdef int frac(Spec* s, Tensor self) except -1
cdef int logit(Spec* s, Tensor self, object eps) except -1
cdef int round_decimals(Spec* s, Tensor self, int64_t decimals) except -1
cdef int activation(Spec* s, Tensor self) except -1
cdef int hardshrink(Spec* s, Tensor self, object lambd) except -1
cdef int softshrink(Spec* s, Tensor self, object lambd) except -1
cdef int threshold(Spec* s, Tensor self, object threshold, object value) except -1
