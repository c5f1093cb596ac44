"""The range of what is seen, and the scale and zero point that follow from it.

`choose` is PyTorch's ChooseQuantizationParams (QuantUtils.h), in its precisions: the scale is worked
out in double precision from a range in single precision that has 0 in it.
"""
from libc.math cimport fabs, fmax, fmin, isinf, nearbyint, sqrt
from libc.stdint cimport int32_t, int64_t, uint16_t

from dispatch._C.dtypes cimport ST_float16, ST_float32, ST_int32
from dispatch._C.errors cimport refused
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.cpu.casts cimport get_cast
from dispatch.kernels.cpu.runs cimport address, check_dtype, finish, plain

from dispatch._C import dtypes
from dispatch._ops import ops
from dispatch.kernels.meta.quantise.observe import check_axis

cdef float SMALLEST_SCALE = 6.1e-5

cdef struct Chosen:
    double scale
    int32_t zero


cdef int choose(Chosen* c, float low, float high, int32_t qmin, int32_t qmax, bint symmetric,
                bint reduced) except -1:
    """`symmetric`: the zero point is in the middle; `reduced`: half the range of quantised values."""
    cdef double scale, from_low, from_high, zero, most
    cdef int below, above
    cdef float given, larger
    if reduced:
        qmin, qmax = qmin // 2, qmax // 2
    if low < 0 and high > 0 and symmetric:
        below, above = -((qmax - qmin) // 2 + 1), (qmax - qmin) // 2
        most = fmax(fabs(low / below), fabs(high / above))
        low, high = <float>(most * below), <float>(most * above)
    low, high = fmin(low, 0), fmax(high, 0)
    if qmin >= qmax:
        raise refused(f"expected quant_min to be below quant_max {qmax}, got {qmin}")
    scale = (<double>high - low) / (qmax - qmin)
    if <float>scale == 0 or isinf(<float>1 / <float>scale):
        scale = 0.1
    if scale < SMALLEST_SCALE:
        given, scale = <float>scale, SMALLEST_SCALE
        larger = SMALLEST_SCALE / given
        if low == 0:
            high = SMALLEST_SCALE * (qmax - qmin)
        elif high == 0:
            low = -SMALLEST_SCALE * (qmax - qmin)
        else:
            low, high = low * larger, high * larger
    from_low, from_high = qmin - low / scale, qmax - high / scale
    zero = from_high
    if fabs(<double>qmin) + fabs(low / scale) < fabs(<double>qmax) + fabs(high / scale):
        zero = from_low
    if low < 0 and high > 0 and symmetric:
        zero = <double>(qmin + qmax) / 2
    c.scale = scale
    c.zero = qmin if zero < qmin else qmax if zero > qmax else <int32_t>nearbyint(zero)
    return 0


def choose_per_tensor(Tensor self not None, bint reduce_range=False):
    """Scale and zero point of the values' range in 8 bits without a sign."""
    cdef Chosen c
    if self.c_numel == 0:
        raise refused("expected self to have elements")
    choose(&c, self.min().item(), self.max().item(), 0, 255, False, reduce_range)
    return c.scale, c.zero


# ---- a range that moves ------------------------------------------------------------------------

cdef int follow(Tensor running, Tensor seen, float share) except -1:
    cdef Tensor to = plain(running, ST_float32), by = plain(seen, ST_float32)
    cdef float* old = <float*>address(to)
    cdef const float* new = <const float*>address(by)
    cdef int64_t i
    if to.c_numel < by.c_numel:
        raise refused(f"expected running_min and running_max for {by.c_numel} rows, got {to.c_numel}")
    for i in range(by.c_numel):
        old[i] = new[i] if isinf(old[i]) else old[i] + share * (new[i] - old[i])
    return finish(running, to)


cdef int make_room(int64_t rows, Tensor running_min, Tensor running_max, Tensor scale,
                   Tensor zero_point) except -1:
    """For the first time."""
    running_min.resize_(rows).fill_(float("inf"))
    running_max.resize_(rows).fill_(float("-inf"))
    scale.resize_(rows)
    zero_point.resize_(rows)
    return 0


cdef int observe(Tensor self, Tensor running_min, Tensor running_max, float share, int64_t axis,
                 bint by_row) except -1:
    if not by_row:
        low, high = ops.aten.aminmax(self)
    else:
        order = list(range(self.c_ndim))
        order[0], order[axis] = axis, 0
        rows = self if self.c_ndim == 2 else self.permute(order).flatten(1)
        if axis != 0:
            raise refused(f"expected ch_axis 0 for rows, got {axis}")
        low, high = ops.aten.aminmax(rows, dim=1)
    follow(running_min, low, share)
    follow(running_max, high, share)
    return 0


cdef int choose_all(Tensor low, Tensor high, Tensor scale, Tensor zero_point, int64_t qmin,
                    int64_t qmax, bint symmetric) except -1:
    """A scale and zero point for each range."""
    cdef Tensor lows = plain(low, ST_float32), highs = plain(high, ST_float32)
    cdef Tensor scales = plain(scale, ST_float32), zeros = plain(zero_point, ST_int32)
    cdef Chosen c
    cdef int64_t i
    for name, t in (("running_max", high), ("scale", scale), ("zero_point", zero_point)):
        if (<Tensor>t).c_numel < low.c_numel:
            raise refused(f"expected {name} of shape {list(low.shape)}, got {list(t.shape)}")
    for i in range(low.c_numel):
        choose(&c, (<float*>address(lows))[i], (<float*>address(highs))[i], <int32_t>qmin,
               <int32_t>qmax, symmetric, False)
        (<float*>address(scales))[i], (<int32_t*>address(zeros))[i] = <float>c.scale, c.zero
    finish(scale, scales)
    return finish(zero_point, zeros)


def moving_average(Tensor self not None, Tensor observer_on not None, Tensor fake_quant_on not None,
                   Tensor running_min not None, Tensor running_max not None, Tensor scale not None, Tensor zero_point not None,
                   double averaging_const, int64_t quant_min, int64_t quant_max, int64_t ch_axis, bint per_row_fake_quant=False,
                   bint symmetric_quant=False):
    """Observed and fake-quantised, each if it is on; otherwise a copy and a mask of ones."""
    check_axis(self, ch_axis)
    if per_row_fake_quant and running_min.c_numel == 0:
        make_room(self.shape[ch_axis], running_min, running_max, scale, zero_point)
    if observer_on.item():
        for name, t in (("self", self), ("running_min", running_min), ("running_max", running_max)):
            check_dtype(name, t, ST_float32)
        observe(self, running_min, running_max, <float>averaging_const, ch_axis, per_row_fake_quant)
    if not fake_quant_on.item():
        return self.clone(), ops.aten.ones_like(self, dtype=dtypes.bool)
    choose_all(running_min, running_max, scale, zero_point, quant_min, quant_max, symmetric_quant)
    if per_row_fake_quant:
        return ops.aten.fake_quantize_per_channel_affine_cachemask(
            self, scale, zero_point, ch_axis, quant_min, quant_max)
    return ops.aten.fake_quantize_per_tensor_affine_cachemask(
        self, scale.item(), int(zero_point.item()), quant_min, quant_max)


# ---- the range with the least error ------------------------------------------------------------

cdef float error_of(const float* x, int64_t n, float low, float high, int bits) noexcept:
    """The length of what quantisation within [low, high] changes; scale and zero are of 16 bits."""
    cdef float steps = (1 << bits) - 1, scale, inverse, q, d, sum = 0
    cdef int64_t i
    low = half(low)
    scale = half((high - low) / steps) if high != low else 1
    inverse = 1 / scale
    for i in range(n):
        q = <float>fmax(0, fmin(nearbyint((x[i] - low) * inverse), steps))
        d = x[i] - (q * scale + low)
        sum += d * d
    return <float>sqrt(sum)


cdef inline float half(float x) noexcept:
    """Rounded to 16 bits."""
    cdef uint16_t bits
    get_cast(ST_float32, ST_float16)(<const char*>&x, 4, <char*>&bits, 2, 1)
    get_cast(ST_float16, ST_float32)(<const char*>&bits, 2, <char*>&x, 4, 1)
    return x


def least_error(Tensor input not None, int64_t numel, int64_t n_bins, double ratio, int64_t bit_width):
    """(largest, least) value of the range that is narrowed, bin by bin, to where the error is least."""
    cdef Tensor values
    cdef const float* x
    cdef float low, high, best_low, best_high, step, shortest, loss, left, right
    cdef float best
    cdef int64_t i
    cdef int bits = <int>bit_width
    check_dtype("input", input, ST_float32)
    if not 0 < numel <= input.c_numel:
        raise refused(f"expected numel from 1 to {input.c_numel}, got {numel}")
    if n_bins < 1 or not 1 <= bit_width <= 30:
        raise refused(f"expected n_bins of 1 or more and bit_width from 1 to 30, got {n_bins} and "
                      f"{bit_width}")
    values = plain(input, ST_float32)
    x = <const float*>address(values)
    low = high = x[0]
    for i in range(1, numel):
        low, high = x[i] if x[i] < low else low, x[i] if x[i] > high else high
    best_low, best_high = low, high
    best = loss = error_of(x, numel, low, high, bits)
    step = (high - low) / n_bins
    shortest = <float>(n_bins * (1.0 - <float>ratio)) * step
    while low + shortest < high:
        left = error_of(x, numel, low + step, high, bits)
        right = error_of(x, numel, low, high - step, bits)
        if loss < left and loss < right and loss < best:
            best, best_low, best_high = loss, low, high
        if low + step == low and high - step == high:
            break
        if left < right:
            low, loss = low + step, left
        else:
            high, loss = high - step, right
    kind, device = input.dtype, input.device
    return (ops.aten.full([1], best_high, dtype=kind, device=device),
            ops.aten.full([1], best_low, dtype=kind, device=device))
