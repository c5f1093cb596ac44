"""Bodies of the averages. The output has the right size and dtype already; it may be `self`."""
import numpy as np

from dispatch._C.tensor cimport Tensor, get_numpy


cdef int ema(Tensor out, Tensor self, double decay) except -1:
    cdef double[:, ::1] rows
    cdef double value
    cdef Py_ssize_t i, j
    if self.c_numel == 0:
        return 0
    n = self.c_sizes[self.c_ndim - 1] if self.c_ndim else 1
    smooth = np.array(get_numpy(self), dtype=np.float64, order="C")
    rows = smooth.reshape(-1, n)
    for i in range(rows.shape[0]):
        value = rows[i, 0]
        for j in range(1, rows.shape[1]):
            value = rows[i, j] = decay * value + (1 - decay) * rows[i, j]
    get_numpy(out)[...] = smooth
    return 0
