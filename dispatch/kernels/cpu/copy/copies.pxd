"""Copies, fills and single values on the CPU: where dtypes are converted."""
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.cpu.copy.strided cimport dispatch_run

cdef object copy_(Tensor self, Tensor src, bint non_blocking)
cdef object fill_(Tensor self, object value)
cdef object fill_tensor_(Tensor self, Tensor value)
cdef object zero_(Tensor self)
cdef object _local_scalar_dense(Tensor self)
cdef int clone(Tensor out, Tensor self, int memory_format) except -1

# ---- for other kernels
# An array of any dtype and of the sizes of `out` into it, converted as PyTorch converts.
cdef int copy_array(Tensor out, object values) except -1
# The run that casts from one dtype to another, or copies; NULL: there is none, `copy_values` knows what to do.
cdef dispatch_run caster(int from_, int to) noexcept
# The values of `src` into `out` of the same sizes: nothing is checked.
cdef int copy_values(Tensor out, Tensor src) except -1
# A warning where complex numbers become real ones of dtype `code`. Before anything is read.
cdef int advise_lossy(int code, Tensor src) except -1
# One number into `out`, converted. RuntimeError when its dtype cannot hold it.
cdef int fill_values(Tensor out, object value) except -1
