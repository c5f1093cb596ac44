"""Fake quantisation: values rounded to the steps of a scale, and which of them were in range.

One loop for a whole tensor (one channel) and for a scale for each channel: `outer` x `channels` x
`inner` values. The learnable forms are the same with a zero point rounded first; their gradients go
to the scale and the zero point too. Scales are float32, as in PyTorch, in every dtype.
"""
from cython cimport floating
from libc.math cimport fmax, fmin, nearbyint
from libc.stdint cimport int64_t, uint8_t

from dispatch._C.dtypes cimport ST_bfloat16, ST_bool, ST_float16, ST_float32, ST_int64
from dispatch._C.errors cimport refused
from dispatch._C.tensor cimport Tensor, new_empty
from dispatch.kernels.cpu.copy.copies cimport copy_values, fill_values
from dispatch.kernels.cpu.runs cimport (
    address, check_dtype, finish, floating_code, loop, plain, run_floating, written_as,
)

cdef struct Fake:
    int64_t outer, channels, inner
    const float* scales          # by channel
    const float* zeros           # zero points by channel; whole numbers unless `floats`
    bint floats                  # zero points are added before rounding
    bint single                  # one scale: values saturate, and are scaled back in single precision
    int64_t low, high            # the range of quantised values
    const void* values
    void* out
    uint8_t* mask                # which values are in range
    # gradients: of the output, of scales and of zero points by value
    const void* grads
    void* scale_grads
    void* zero_grads
    double factor


cdef inline double quantised(Fake* j, floating x, float scale, float zero) noexcept nogil:
    """A whole number; by channel one of 64 bits, so that what is too large becomes the smallest."""
    if j.floats:
        return <double><int64_t>nearbyint(zero + x * (<float>1 / scale))
    if j.single:
        return zero + nearbyint(x * (<float>1 / scale))
    return <double><int64_t>(zero + nearbyint(x * (<float>1 / scale)))


cdef int64_t fake_values(Fake* j, floating* out) noexcept nogil:
    cdef int64_t a, c, i, at = 0
    cdef const floating* values = <const floating*>j.values
    cdef float scale, zero
    cdef double q, steps
    for a in range(j.outer):
        for c in range(j.channels):
            scale, zero = j.scales[c], j.zeros[c]
            for i in range(j.inner):
                q = quantised(j, values[at], scale, zero)
                j.mask[at] = j.low <= q <= j.high
                steps = fmin(fmax(q, <double>j.low), <double>j.high) - zero
                out[at] = <floating>(<float>steps * scale if j.single else steps * scale)
                at += 1
    return 0


cdef int64_t fake_grads(Fake* j, floating* out) noexcept nogil:
    """Gradients of the values; of the scales and zero points, for each value."""
    cdef int64_t a, c, i, q, at = 0
    cdef const floating* values = <const floating*>j.values
    cdef const floating* grads = <const floating*>j.grads
    cdef floating* by_scale = <floating*>j.scale_grads
    cdef floating* by_zero = <floating*>j.zero_grads
    cdef floating factor = <floating>j.factor
    cdef float scale, zero, inverse
    for a in range(j.outer):
        for c in range(j.channels):
            scale, zero = j.scales[c], j.zeros[c]
            inverse = 1 / scale
            for i in range(j.inner):
                q = <int64_t>nearbyint(zero + values[at] * inverse)
                if j.low <= q <= j.high:
                    out[at], by_zero[at] = grads[at], 0
                    by_scale[at] = grads[at] * ((q - zero) * scale - values[at]) * inverse * factor
                else:
                    out[at], by_zero[at] = 0, -grads[at] * scale * factor
                    by_scale[at] = grads[at] * ((j.low if q < j.low else j.high) - zero) * factor
                at += 1
    return 0


cdef void set_channels(Fake* j, Tensor self, int64_t axis) noexcept:
    """`axis` -1: one channel."""
    cdef int d
    j.outer = j.inner = j.channels = 1
    for d in range(self.c_ndim):
        if d < axis:
            j.outer *= self.c_sizes[d]
        elif d == axis:
            j.channels = self.c_sizes[d]
        else:
            j.inner *= self.c_sizes[d]


cdef int run_fake(Fake* j, Tensor output, Tensor mask, Tensor self) except -1:
    cdef int code = floating_code(self)
    cdef Tensor values = plain(self, code), made = written_as(output, code)
    cdef Tensor marks = written_as(mask, ST_bool)
    if self.c_numel == 0:
        return 0
    j.values, j.out, j.mask = address(values), address(made), <uint8_t*>address(marks)
    run_floating(<loop>fake_values[float], <loop>fake_values[double], j, made, self.c_numel,
                 (values, made, marks))
    finish(mask, marks)
    return finish(output, made)


def per_tensor(Tensor output not None, Tensor mask not None, Tensor self not None, double scale, int64_t zero_point,
               int64_t quant_min, int64_t quant_max):
    """One scale for all values."""
    cdef Fake j
    cdef float scale_value = <float>scale, zero = <float>zero_point
    set_channels(&j, self, -1)
    j.scales, j.zeros, j.low, j.high = &scale_value, &zero, quant_min, quant_max
    j.floats, j.single = False, True
    run_fake(&j, output, mask, self)


def per_tensor_of_tensors(Tensor output not None, Tensor mask not None, Tensor self not None, Tensor scale not None,
                          Tensor zero_point not None, Tensor fake_quant_enabled not None, int64_t quant_min, int64_t quant_max):
    """The same with scale and zero point in tensors; not enabled, values stay."""
    floating_code(self)
    if not fake_quant_enabled.flatten()[0].item():
        copy_values(output, self)
        fill_values(mask, True)
        return
    per_tensor(output, mask, self, scale.flatten()[0].item(), int(zero_point.flatten()[0].item()),
               quant_min, quant_max)


cdef int check_zeros(Tensor zero_point, int64_t low, int64_t high) except -1:
    cdef Tensor zeros = plain(zero_point, ST_int64)
    cdef int64_t i, zero
    for i in range(zeros.c_numel):
        zero = (<int64_t*>address(zeros))[i]
        if not low <= zero <= high:
            raise refused(f"expected zero_point from quant_min {low} to quant_max {high}, got {zero}")
    return 0


def per_channel(Tensor output not None, Tensor mask not None, Tensor self not None, Tensor scale not None,
                Tensor zero_point not None, int64_t axis, int64_t quant_min, int64_t quant_max):
    """A scale for each channel along `axis`."""
    cdef Fake j
    cdef Tensor scales = plain(scale, ST_float32), zeros
    j.floats = zero_point.c_dtype == ST_float32 or zero_point.c_dtype == ST_float16
    if not j.floats:
        check_zeros(zero_point, quant_min, quant_max)
    zeros = plain(zero_point, ST_float32)
    set_channels(&j, self, axis)
    j.scales, j.zeros = <const float*>address(scales), <const float*>address(zeros)
    j.low, j.high, j.single = quant_min, quant_max, False
    run_fake(&j, output, mask, self)


# ---- learnable ---------------------------------------------------------------------------------

cdef Tensor rounded_zeros(Tensor zero_point, int64_t low, int64_t high, bint to_even):
    """In range, as float32: rounded to even, or one half added and the rest cut off."""
    cdef Tensor given = plain(zero_point, ST_float32)
    cdef Tensor made = new_empty(ST_float32, 0, -1, given.c_ndim, given.c_sizes, NULL)
    cdef const float* from_ = <const float*>address(given)
    cdef float* to = <float*>address(made)
    cdef int64_t i
    cdef float zero
    for i in range(given.c_numel):
        zero = <float>nearbyint(from_[i]) if to_even else from_[i] + <float>0.5
        to[i] = <float><int64_t>fmin(fmax(zero, <double>low), <double>high)
    return made


cdef int run_learnable(Tensor out, Tensor self, Tensor scale, Tensor zeros, int64_t axis,
                       int64_t low, int64_t high) except -1:
    cdef Fake j
    cdef Tensor mask = new_empty(ST_bool, 0, -1, self.c_ndim, self.c_sizes, NULL)
    cdef Tensor scales = plain(scale, ST_float32)
    set_channels(&j, self, axis)
    j.scales, j.zeros = <const float*>address(scales), <const float*>address(zeros)
    j.floats, j.single, j.low, j.high = False, axis < 0, low, high
    return run_fake(&j, out, mask, self)


def learnable_per_tensor(Tensor out not None, Tensor self not None, Tensor scale not None, Tensor zero_point not None,
                         int64_t quant_min, int64_t quant_max, double grad_factor):
    """One scale; the zero point is rounded into the range."""
    run_learnable(out, self, scale, rounded_zeros(zero_point, quant_min, quant_max, True), -1,
                  quant_min, quant_max)


def learnable_per_channel(Tensor out not None, Tensor self not None, Tensor scale not None, Tensor zero_point not None,
                          int64_t axis, int64_t quant_min, int64_t quant_max, double grad_factor):
    """A scale for each channel."""
    run_learnable(out, self, scale, rounded_zeros(zero_point, quant_min, quant_max, True), axis,
                  quant_min, quant_max)


cdef tuple learnable_grads(Tensor grad, Tensor self, Tensor scale, Tensor zero_point, int64_t axis,
                           int64_t low, int64_t high, double factor):
    """Gradients of the values, and for each value of the scale and of the zero point."""
    cdef Fake j
    cdef int code = ST_float32
    cdef Tensor scales, zeros, values, grads, out, by_scale, by_zero
    for name, t in (("grad", grad), ("self", self), ("scale", scale), ("zero_point", zero_point)):
        if self.c_dtype != ST_bfloat16:
            check_dtype(name, t, ST_float32)
    if grad.c_numel != self.c_numel:
        raise refused(f"expected grad of shape {list(self.shape)}, got {list(grad.shape)}")
    if not low <= 0 <= high:
        raise refused(f"expected quant_min {low} and quant_max {high} to have 0 between them")
    scales, zeros = plain(scale, ST_float32), rounded_zeros(zero_point, low, high, axis >= 0)
    values, grads = plain(self, code), plain(grad, code)
    out, by_scale, by_zero = (new_empty(code, 0, -1, self.c_ndim, self.c_sizes, NULL) for _ in range(3))
    set_channels(&j, self, axis)
    j.scales, j.zeros = <const float*>address(scales), <const float*>address(zeros)
    j.floats, j.low, j.high, j.factor = False, low, high, factor
    j.values, j.grads = address(values), address(grads)
    j.scale_grads, j.zero_grads = address(by_scale), address(by_zero)
    run_floating(<loop>fake_grads[float], <loop>fake_grads[double], &j, out, 3 * self.c_numel,
                 (values, grads, out, by_scale, by_zero))
    return out, by_scale, by_zero


def learnable_per_tensor_backward(Tensor grad not None, Tensor self not None, Tensor scale not None, Tensor zero_point not None,
                                  int64_t quant_min, int64_t quant_max, double grad_factor=1.0):
    """Gradients of the values, of the scale and of the zero point."""
    if not scale.c_ndim or not scale.c_numel or not zero_point.c_ndim or not zero_point.c_numel:
        raise refused("expected scale and zero_point to have a dimension, and an element", IndexError)
    out, by_scale, by_zero = learnable_grads(grad, self, scale, zero_point, -1, quant_min, quant_max,
                                             grad_factor)
    if self.c_numel == 0:
        return self, scale, zero_point
    return out, by_scale.sum().unsqueeze(0), by_zero.sum().unsqueeze(0)


def learnable_per_channel_backward(Tensor grad not None, Tensor self not None, Tensor scale not None,
                                   Tensor zero_point not None, int64_t axis, int64_t quant_min, int64_t quant_max,
                                   double grad_factor=1.0):
    """The same, a scale and a zero point for each channel."""
    if not 0 <= axis < self.c_ndim:
        raise refused(f"expected axis to be one of {self.c_ndim} dimensions, got {axis}")
    for name, t in (("scale", scale), ("zero_point", zero_point)):
        if t.dim() != 1 or t.numel() != self.c_sizes[axis]:
            raise refused(f"expected {name} of shape [{self.c_sizes[axis]}], got {list(t.shape)}")
    out, by_scale, by_zero = learnable_grads(grad, self, scale, zero_point, axis, quant_min, quant_max,
                                             grad_factor)
    if self.c_numel == 0:
        return self, scale, zero_point
    dims = [d for d in range(self.c_ndim) if d != axis]      # none of a vector: PyTorch sums over all then
    return out, by_scale.sum(dims), by_zero.sum(dims)
