"""Overloads of reductions that are another overload with some arguments filled in.

Called for the composite operators; call operators through the dispatcher. `unbiased` is PyTorch's
older word for a correction of 1 (else 0).
"""
from dispatch._C.dtypes cimport ST_NONE, get_dtype
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.composite.callee cimport Callee, callee

cdef Callee MEAN = callee("mean", "dim")
cdef Callee MEAN_OUT = callee("mean", "out")
cdef Callee STD = callee("std", "correction")
cdef Callee STD_OUT = callee("std", "correction_out")
cdef Callee VAR = callee("var", "correction")
cdef Callee VAR_MEAN = callee("var_mean", "correction")
cdef Callee VAR_OUT = callee("var", "correction_out")


cdef object mean(Tensor self, int dtype):
    return MEAN.call((self, [], False, None if dtype == ST_NONE else get_dtype(dtype)))


def mean_out(self, *, dtype=None, out):
    """mean over all dimensions into `out`."""
    return MEAN_OUT.call((self, [], False, dtype, out))


def std(self, bint unbiased=True):
    """std over all dimensions."""
    return STD.call((self, None, int(unbiased), False))


def std_dim(self, dim, bint unbiased=True, bint keepdim=False):
    """std over `dim`."""
    return STD.call((self, dim, int(unbiased), keepdim))


def std_out(self, dim, bint unbiased=True, bint keepdim=False, *, out):
    """std over `dim` into `out`."""
    return STD_OUT.call((self, dim, int(unbiased), keepdim, out))


def var(self, bint unbiased=True):
    """var over all dimensions."""
    return VAR.call((self, None, int(unbiased), False))


def var_mean(self, bint unbiased=True):
    """(var, mean) over all dimensions."""
    return VAR_MEAN.call((self, None, int(unbiased), False))


def var_mean_dim(self, dim, bint unbiased=True, bint keepdim=False):
    """(var, mean) over `dim`."""
    return VAR_MEAN.call((self, dim, int(unbiased), keepdim))


def var_dim(self, dim, bint unbiased=True, bint keepdim=False):
    """var over `dim`."""
    return VAR.call((self, dim, int(unbiased), keepdim))


def var_out(self, dim, bint unbiased=True, bint keepdim=False, *, out):
    """var over `dim` into `out`."""
    return VAR_OUT.call((self, dim, int(unbiased), keepdim, out))
