"""Gradients divided by a loss's scale, and the scale that follows from whether they were finite."""
from cython cimport floating
from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t

from dispatch._C.dtypes cimport ST_float32, ST_int32
from dispatch._C.errors cimport refused
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.cpu.runs cimport (
    address, check_dtype, finish, floating_code, loop, plain, run_floating,
)
from dispatch.kernels.meta.optimise.scaling import unscale as check_unscale

cdef struct Scale:
    int64_t n
    double factor
    bint found                   # something was not finite


cdef int64_t scale_all(Scale* j, floating* values) noexcept nogil:
    cdef int64_t i
    cdef floating factor = <floating>j.factor
    cdef bint found = False
    for i in range(j.n):
        found |= not isfinite(values[i])
        values[i] = values[i] if factor == 1 else values[i] * factor
    j.found |= found
    return 0


def unscale(list self, Tensor found_inf not None, Tensor inv_scale not None):
    """Gradients times `inv_scale`; `found_inf` becomes 1 if one was not finite."""
    cdef Scale j
    cdef Tensor t, made
    check_unscale(self, found_inf, inv_scale)
    check_dtype("found_inf", found_inf, ST_float32)
    check_dtype("inv_scale", inv_scale, ST_float32)
    for one in self:
        floating_code(one)
    j.factor, j.found = (<float*>address(inv_scale))[0], False
    for one in self:
        t = one
        if t.c_numel == 0:
            continue
        made = plain(t, floating_code(t))
        j.n = t.c_numel
        run_floating(<loop>scale_all[float], <loop>scale_all[double], &j, made, j.n, (made,))
        finish(t, made)
    if j.found:
        (<float*>address(found_inf))[0] = 1


def update_scale(Tensor self not None, Tensor growth_tracker not None, Tensor found_inf not None, double scale_growth_factor,
                 double scale_backoff_factor, int64_t growth_interval):
    """Smaller after an infinite gradient, larger after `growth_interval` steps without one."""
    cdef float* scale
    cdef int32_t* steps
    cdef float grown
    for name, t, code in (("self", self, ST_float32), ("growth_tracker", growth_tracker, ST_int32),
                          ("found_inf", found_inf, ST_float32)):
        if (<Tensor>t).c_numel != 1:
            raise refused(f"expected {name} to have one element, got {list(t.shape)}")
        check_dtype(name, t, code)
    scale, steps = <float*>address(self), <int32_t*>address(growth_tracker)
    if (<float*>address(found_inf))[0] != 0:
        scale[0] = <float>(scale[0] * scale_backoff_factor)
        steps[0] = 0
        return self
    steps[0] += 1
    if steps[0] == growth_interval:
        grown = <float>(scale[0] * scale_growth_factor)
        scale[0] = grown if isfinite(grown) else scale[0]
        steps[0] = 0
    return self
