"""Bodies of losses that take the value of the class which a target names.

One loop for rows and images of classes: `outer` x `classes` x `inner` values, a target for each of
`outer` x `inner`. Targets are checked before anything is written; a loop that runs without the
interpreter's lock passes over those that another thread spoils meanwhile. Sums are in float64. Of
16-bit values only those that targets name are read and converted.
"""
from cython cimport floating
from libc.stdint cimport int64_t, uint16_t
from libc.string cimport memset

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DEV_CPU, ST_float16, ST_int64, ST_uint8
from dispatch._C.errors cimport refused
from dispatch._C.tensor cimport Tensor, new_empty
from dispatch.kernels.cpu.runs cimport (
    address, check_dtype, finish, floating_code, loop, plain, run, run_floating, run_spans, written_as,
)

cdef extern from "vectorised.h":
    pass

cdef extern from "halves.h" nogil:
    uint16_t f16_of_f32(float x)
    uint16_t bf16_of_f32(float x)

cdef enum:
    REDUCE_NONE, REDUCE_MEAN, REDUCE_SUM
    WORK = 16                    # a loss takes as long as so many bytes that are copied

cdef struct Classes:
    int64_t outer, classes, inner
    int64_t ignored              # the target that counts for nothing
    const int64_t* targets
    const void* values           # NULL in the backward pass
    bint wide                    # float64
    bint is_half                 # float16, not bfloat16
    bint named                   # they are one for each target, not one for each class
    const void* weights          # NULL: 1 each
    void* out                    # a loss for each target, or the gradient of the values
    const void* grads            # of the losses
    int64_t grad_step            # 0: one for all
    double scale                 # of the gradient
    double loss, total           # sums


cdef int64_t take_values(Classes* j, floating* typed) noexcept nogil:
    """Losses one by one (`out`), or their sum and that of the weights."""
    cdef int64_t b, i, at, target, inner = j.inner, classes = j.classes, ignored = j.ignored
    cdef const floating* values = <const floating*>j.values
    cdef const floating* weights = <const floating*>j.weights
    cdef const int64_t* targets = j.targets
    cdef floating* out = <floating*>j.out
    cdef floating w = 1, value
    cdef double loss = j.loss, total = j.total
    for b in range(j.outer):
        at = b * inner
        for i in range(inner):
            target = targets[at]
            value = 0
            if target != ignored and 0 <= target < classes:
                if weights != NULL:
                    w = weights[target]
                value = -values[at if j.named else target * inner + i] * w
                loss += value
                total += w
            if out != NULL:
                out[at] = value
            at += 1
        if not j.named:
            values += classes * inner
    j.loss, j.total = loss, total
    return 0


cdef void take_part(void* job, int64_t part, int64_t first, int64_t end) noexcept nogil:
    """The losses of some rows or images, one by one."""
    cdef Classes j = (<Classes*>job)[0]
    cdef int64_t at = first * j.inner, item = sizeof(double) if j.wide else sizeof(float)
    j.outer = end - first
    j.targets += at
    j.values = <const char*>j.values + (at if j.named else at * j.classes) * item
    j.out = <char*>j.out + at * item
    if j.wide:
        take_values(&j, <double*>NULL)
    else:
        take_values(&j, <float*>NULL)


cdef int64_t spread_grads(Classes* j, floating* typed) noexcept nogil:
    """Gradients to where the values came from; `out` is zero elsewhere."""
    cdef int64_t b, i, at = 0, target
    cdef const floating* grads = <const floating*>j.grads
    cdef const floating* weights = <const floating*>j.weights
    cdef floating* out = <floating*>j.out
    cdef floating w
    memset(out, 0, j.outer * j.classes * j.inner * sizeof(floating))
    for b in range(j.outer):
        for i in range(j.inner):
            target = j.targets[at]
            if target != j.ignored and 0 <= target < j.classes:
                w = weights[target] if weights != NULL else 1
                out[(b * j.classes + target) * j.inner + i] = \
                    -w * grads[at * j.grad_step] * <floating>j.scale
            at += 1
    return 0


cdef int64_t spread_halves(Classes* j, uint16_t* out) noexcept nogil:
    """The same into 16-bit floats; what they are made of is in float32."""
    cdef int64_t b, i, at = 0, target
    cdef const float* grads = <const float*>j.grads
    cdef const float* weights = <const float*>j.weights
    cdef float grad
    memset(out, 0, j.outer * j.classes * j.inner * sizeof(uint16_t))
    for b in range(j.outer):
        for i in range(j.inner):
            target = j.targets[at]
            if target != j.ignored and 0 <= target < j.classes:
                grad = -(weights[target] if weights != NULL else <float>1) * grads[at * j.grad_step] * <float>j.scale
                out[(b * j.classes + target) * j.inner + i] = f16_of_f32(grad) if j.is_half else bf16_of_f32(grad)
            at += 1
    return 0


cdef int64_t pick(Classes* j, uint16_t* to) noexcept nogil:
    """The 16 bits that each target names; 0 where it names none."""
    cdef int64_t b, i, at = 0, target
    cdef const uint16_t* values = <const uint16_t*>j.values
    for b in range(j.outer):
        for i in range(j.inner):
            target = j.targets[at]
            to[at] = values[(b * j.classes + target) * j.inner + i] if 0 <= target < j.classes else 0
            at += 1
    return 0


cdef Tensor named_values(Classes* j, Tensor self, Tensor targets):
    cdef int64_t n = j.outer * j.inner
    cdef Tensor values = plain(self, self.c_dtype), made = new_empty(self.c_dtype, DEV_CPU, -1, 1, &n, NULL)
    j.values = address(values)
    run(<loop>pick, j, address(made), n, (values, targets, made))
    return made


cdef int check_targets(Classes* j, int64_t n) except -1:
    cdef int64_t i, target
    for i in range(n):
        target = j.targets[i]
        if target != j.ignored and not 0 <= target < j.classes:
            raise refused(f"target {target} is out of bounds for {j.classes} classes", IndexError)
    return 0


cdef void set_sizes(Classes* j, Tensor self, int64_t ignore_index) noexcept:
    j.ignored = ignore_index
    j.outer = j.inner = 1
    j.classes = self.c_sizes[0]
    if self.c_ndim > 1:
        j.outer, j.classes = self.c_sizes[0], self.c_sizes[1]
    if self.c_ndim == 4:
        j.inner = self.c_sizes[2] * self.c_sizes[3]


cdef int forward(Tensor output, Tensor total_weight, Tensor self, Tensor target, Tensor weight,
                 int64_t reduction, int64_t ignore_index) except -1:
    cdef Classes j
    cdef int code = floating_code(self)
    cdef bint each = reduction == REDUCE_NONE and self.c_ndim > 1
    cdef Tensor values, targets = plain(target, ST_int64)
    cdef Tensor weights, losses = written_as(output, code), totals = written_as(total_weight, code)
    if weight is not None:
        check_dtype("weight", weight, self.c_dtype)
    weights = plain(weight, code)
    set_sizes(&j, self, ignore_index)
    j.targets = <const int64_t*>address(targets)
    j.weights, j.out = address(weights), address(losses) if each else NULL
    j.loss = j.total = 0
    check_targets(&j, j.outer * j.inner)
    j.named = code != self.c_dtype
    values = plain(named_values(&j, self, targets) if j.named else self, code)
    j.values = address(values)
    j.wide = values.c_dtype == dtypes.ST_float64
    if each:
        run_spans(take_part, &j, j.outer, j.outer * j.inner, WORK * j.outer * j.inner, (values, targets, weights, losses))
    else:
        run_floating(<loop>take_values[float], <loop>take_values[double], &j, values,
                     j.outer * j.inner, (values, targets, weights, losses))
    if reduction == REDUCE_MEAN:
        j.loss /= j.total            # nothing counted: NaN
    if not each:
        store_number(losses, j.loss)
    store_number(totals, 0 if each else j.total)
    finish(output, losses)
    return finish(total_weight, totals)


cdef int store_number(Tensor out, double value) except -1:
    if out.c_dtype == dtypes.ST_float64:
        (<double*>address(out))[0] = value
    else:
        (<float*>address(out))[0] = <float>value
    return 0


cdef double number_of(Tensor t, int code) except? -1:
    cdef Tensor read = plain(t, code)
    if code == dtypes.ST_float64:
        return (<double*>address(read))[0]
    return (<float*>address(read))[0]


cdef int backward(Tensor grad_input, Tensor grad_output, Tensor self, Tensor target, Tensor weight,
                  int64_t reduction, int64_t ignore_index, Tensor total_weight) except -1:
    cdef Classes j
    cdef int code = floating_code(self)
    cdef bint each = reduction == REDUCE_NONE and self.c_ndim > 1
    cdef Tensor targets = plain(target, ST_int64), grads = plain(grad_output, code), weights
    cdef Tensor out = written_as(grad_input, self.c_dtype)
    check_dtype("grad_output", grad_output, self.c_dtype)
    check_dtype("total_weight", total_weight, self.c_dtype)
    if weight is not None:
        check_dtype("weight", weight, self.c_dtype)
    weights = plain(weight, code)
    set_sizes(&j, self, ignore_index)
    j.scale = 1 / number_of(total_weight, code) if reduction == REDUCE_MEAN else 1
    j.targets, j.grads, j.grad_step = <const int64_t*>address(targets), address(grads), each
    j.weights, j.out, j.values = address(weights), address(out), NULL
    check_targets(&j, j.outer * j.inner)
    j.is_half = out.c_dtype == ST_float16
    if out.c_numel and out.c_dtype != code:
        run(<loop>spread_halves, &j, address(out), out.c_numel, (targets, grads, weights, out))
    elif out.c_numel:
        run_floating(<loop>spread_grads[float], <loop>spread_grads[double], &j, out, out.c_numel,
                     (targets, grads, weights, out))
    return finish(grad_input, out)


# ---- rows and images ---------------------------------------------------------------------------

cdef int check_target(Tensor target, bint bytes_too) except -1:
    if target.c_dtype != ST_int64 and not (bytes_too and target.c_dtype == ST_uint8):
        raise refused(f"expected target dtype to be Long or Byte, but found {dtypes.get_dtype(target.c_dtype)!r}")
    return 0


cdef int nll_loss_forward(Tensor output, Tensor total_weight, Tensor self, Tensor target,
                          Tensor weight, int64_t reduction, int64_t ignore_index) except -1:
    floating_code(self)
    check_target(target, True)
    return forward(output, total_weight, self, target, weight, reduction, ignore_index)


cdef int nll_loss_backward(Tensor grad_input, Tensor grad_output, Tensor self, Tensor target,
                           Tensor weight, int64_t reduction, int64_t ignore_index,
                           Tensor total_weight) except -1:
    floating_code(self)
    check_target(target, True)
    return backward(grad_input, grad_output, self, target, weight, reduction, ignore_index,
                    total_weight)


cdef int nll_loss2d_forward(Tensor output, Tensor total_weight, Tensor self, Tensor target,
                            Tensor weight, int64_t reduction, int64_t ignore_index) except -1:
    floating_code(self)
    check_target(target, False)
    return forward(output, total_weight, self, target, weight, reduction, ignore_index)


cdef int nll_loss2d_backward(Tensor grad_input, Tensor grad_output, Tensor self, Tensor target,
                             Tensor weight, int64_t reduction, int64_t ignore_index,
                             Tensor total_weight) except -1:
    floating_code(self)
    check_target(target, False)
    return backward(grad_input, grad_output, self, target, weight, reduction, ignore_index,
                    total_weight)
