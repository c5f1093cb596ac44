"""Bodies of losses that ask for a margin between classes: loops over rows.

A structured kernel calls them with outputs of the right sizes. Targets are checked before anything
is written; they are read once each, so that a loop without the interpreter's lock bears another
thread's writes. Losses are summed in float64.
"""
from cython cimport floating
from libc.stdint cimport int64_t
from libc.string cimport memset

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport ST_float32, ST_float64, ST_int64
from dispatch._C.errors cimport refused
from dispatch._C.errors import unserved
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.cpu.copy.copies cimport fill_values
from dispatch.kernels.cpu.runs cimport (
    address, are_in_range, check_dtype, finish, loop, plain, run_floating, written_as,
)

cdef extern from "vectorised.h":
    pass

cdef enum:
    REDUCE_NONE, REDUCE_MEAN, REDUCE_SUM

cdef struct Margins:
    int64_t rows, classes
    const int64_t* targets       # one a row, or one a class
    const void* values
    const void* weights          # by class; NULL: 1 each
    void* is_target              # 0 or 1 for each class
    bint squared
    double margin
    double scale                 # of a row's loss, and of the gradient
    void* out                    # a loss for each row (`each`), one for all, or the gradient
    bint each
    const void* grads            # of the losses: one a row, or one for all
    int64_t grad_step


cdef void set_rows(Margins* j, Tensor self) noexcept:
    j.rows = self.c_sizes[0] if self.c_ndim == 2 else 1
    j.classes = self.c_sizes[self.c_ndim - 1] if self.c_ndim else 1
    j.values = j.weights = j.is_target = j.out = j.grads = NULL
    j.grad_step = 0


cdef int check_floats(Tensor self) except -1:
    if self.c_dtype != ST_float32 and self.c_dtype != ST_float64:
        raise unserved(dtypes.get_dtype(self.c_dtype))
    return 0


cdef int place_grads(Margins* j, Tensor grads, int64_t reduction) except -1:
    j.grads = address(grads)
    j.grad_step = reduction == REDUCE_NONE and grads.c_ndim > 0
    return 0


cdef double scale_of(Margins* j, int64_t reduction) noexcept:
    cdef double scale = 1 / <double>j.classes
    return scale / j.rows if reduction == REDUCE_MEAN else scale


# ---- one target a row --------------------------------------------------------------------------

cdef int64_t one_target(Margins* j, floating* typed) noexcept nogil:
    cdef int64_t i, d, target
    cdef const floating* x
    cdef const floating* weights = <const floating*>j.weights
    cdef floating* out = <floating*>j.out
    cdef floating z
    cdef double loss, total = 0
    for i in range(j.rows):
        x = <const floating*>j.values + i * j.classes
        target = j.targets[i]
        loss = 0
        if not 0 <= target < j.classes:
            continue
        for d in range(j.classes):
            z = <floating>j.margin - x[target] + x[d]
            if d != target and z > 0:
                z = z * z if j.squared else z
                loss += z * weights[target] if weights != NULL else z
        loss *= j.scale
        total += loss
        if j.each:
            out[i] = <floating>loss
    if not j.each:
        out[0] = <floating>total
    return 0


cdef int64_t one_target_grads(Margins* j, floating* typed) noexcept nogil:
    cdef int64_t i, d, target
    cdef const floating* x
    cdef const floating* weights = <const floating*>j.weights
    cdef floating* out
    cdef floating z, h, sum
    cdef floating g
    for i in range(j.rows):
        x = <const floating*>j.values + i * j.classes
        out = <floating*>j.out + i * j.classes
        target = j.targets[i]
        g = <floating>j.scale * (<const floating*>j.grads)[i * j.grad_step]
        sum = 0
        if not 0 <= target < j.classes:
            continue
        for d in range(j.classes):
            z = <floating>j.margin - x[target] + x[d]
            h = 0
            if d != target and z > 0:
                h = 2 * g * z if j.squared else g
                if weights != NULL:
                    h *= weights[target]
            sum -= h
            out[d] = h
        out[target] = sum
    return 0


cdef int begin_one(Margins* j, Tensor self, Tensor targets, object p, object margin,
                   Tensor weight, int64_t reduction) except -1:
    cdef int64_t wrong
    set_rows(j, self)
    j.targets = <const int64_t*>address(targets)
    if not are_in_range(j.targets, j.rows, 0, j.classes, &wrong):
        raise refused(f"target {wrong} is out of bounds for {j.classes} classes")
    j.values, j.weights = address(self), address(weight)
    j.squared, j.margin = int(p) == 2, margin
    j.scale = scale_of(j, reduction)
    return 0


cdef int check_one(Tensor self, Tensor target, Tensor weight) except -1:
    check_floats(self)
    check_dtype("target", target, ST_int64)
    if weight is not None:
        check_dtype("weight", weight, self.c_dtype)
    return 0


def multi_margin_loss(Tensor out not None, Tensor self not None, Tensor target not None, p, margin, Tensor weight or None,
                      int64_t reduction):
    """The mean over classes of what lacks to `margin` between a row's target and each other class."""
    cdef Margins j
    cdef int code = self.c_dtype
    cdef Tensor values, targets, weights, losses
    if self.c_numel == 0:
        fill_values(out, 0)
        return
    check_one(self, target, weight)
    values, targets, weights = plain(self, code), plain(target, ST_int64), plain(weight, code)
    losses = written_as(out, code)
    begin_one(&j, values, targets, p, margin, weights, reduction)
    j.out, j.each = address(losses), reduction == REDUCE_NONE and target.c_ndim > 0
    run_floating(<loop>one_target[float], <loop>one_target[double], &j, values, self.c_numel,
                 (values, targets, weights, losses))
    finish(out, losses)


def multi_margin_loss_backward(Tensor grad_input not None, Tensor grad_output not None, Tensor self not None,
                               Tensor target not None, p, margin, Tensor weight or None, int64_t reduction):
    """What the loss's gradient is to each value."""
    cdef Margins j
    cdef int code = self.c_dtype
    cdef Tensor values, targets, weights, grads, out
    if self.c_numel == 0:
        return
    check_one(self, target, weight)
    check_dtype("grad_output", grad_output, code)
    values, targets, weights = plain(self, code), plain(target, ST_int64), plain(weight, code)
    grads, out = plain(grad_output, code), written_as(grad_input, code)
    begin_one(&j, values, targets, p, margin, weights, reduction)
    place_grads(&j, grads, reduction)
    j.out = address(out)
    run_floating(<loop>one_target_grads[float], <loop>one_target_grads[double], &j, values,
                 self.c_numel, (values, targets, weights, grads, out))
    finish(grad_input, out)


# ---- several targets a row ---------------------------------------------------------------------

cdef int64_t mark_targets(Margins* j, floating* typed) noexcept nogil:
    cdef int64_t i, d, target
    cdef floating* marks
    for i in range(j.rows):
        marks = <floating*>j.is_target + i * j.classes
        for d in range(j.classes):
            target = j.targets[i * j.classes + d]
            if not 0 <= target < j.classes:
                break
            marks[target] = 1
    return 0


cdef int64_t many_targets(Margins* j, floating* typed) noexcept nogil:
    cdef int64_t i, d, k, target
    cdef const floating* x
    cdef const floating* marks
    cdef floating* out = <floating*>j.out
    cdef floating z
    cdef double loss, total = 0
    mark_targets(j, typed)
    for i in range(j.rows):
        x = <const floating*>j.values + i * j.classes
        marks = <const floating*>j.is_target + i * j.classes
        loss = 0
        for k in range(j.classes):
            target = j.targets[i * j.classes + k]
            if not 0 <= target < j.classes:
                break
            for d in range(j.classes):
                z = 1 - x[target] + x[d]
                if marks[d] == 0 and z > 0:
                    loss += z
        loss *= j.scale
        total += loss
        if j.each:
            out[i] = <floating>loss
    if not j.each:
        out[0] = <floating>total
    return 0


cdef int64_t many_targets_grads(Margins* j, floating* typed) noexcept nogil:
    cdef int64_t i, d, k, target
    cdef const floating* x
    cdef const floating* marks
    cdef floating* out
    cdef floating g
    for i in range(j.rows):
        x = <const floating*>j.values + i * j.classes
        marks = <const floating*>j.is_target + i * j.classes
        out = <floating*>j.out + i * j.classes
        g = <floating>j.scale * (<const floating*>j.grads)[i * j.grad_step]
        for k in range(j.classes):
            target = j.targets[i * j.classes + k]
            if not 0 <= target < j.classes:
                break
            for d in range(j.classes):
                if marks[d] == 0 and 1 - x[target] + x[d] > 0:
                    out[target] -= g
                    out[d] += g
    return 0


cdef int begin_many(Margins* j, Tensor self, Tensor targets, int64_t reduction) except -1:
    cdef int64_t wrong
    set_rows(j, self)
    j.targets = <const int64_t*>address(targets)
    if not are_in_range(j.targets, targets.c_numel, -1, j.classes, &wrong):
        raise refused(f"target {wrong} is out of bounds for {j.classes} classes")
    j.values, j.scale = address(self), scale_of(j, reduction)
    return 0


cdef int clear(Tensor t) except -1:
    if t.c_numel:
        memset(address(t), 0, t.c_numel * dtypes.itemsize_table()[t.c_dtype])
    return 0


def multilabel_margin_loss_forward(Tensor output not None, Tensor is_target not None, Tensor self not None,
                                   Tensor target not None, int64_t reduction):
    """The mean over classes of what lacks to 1 between each target and each class that is none."""
    cdef Margins j
    cdef int code = self.c_dtype
    cdef Tensor values, targets, marks, losses
    if self.c_numel == 0:
        fill_values(output, 0)
        return
    check_floats(self)
    check_dtype("target", target, ST_int64)
    values, targets = plain(self, code), plain(target, ST_int64)
    marks, losses = written_as(is_target, code), written_as(output, code)
    begin_many(&j, values, targets, reduction)
    clear(marks)
    j.is_target, j.out = address(marks), address(losses)
    j.each = reduction == REDUCE_NONE and target.c_ndim > 1
    run_floating(<loop>many_targets[float], <loop>many_targets[double], &j, values,
                 self.c_numel, (values, targets, marks, losses))
    finish(is_target, marks)
    finish(output, losses)


def multilabel_margin_loss_backward(Tensor grad_input not None, Tensor grad_output not None, Tensor self not None,
                                    Tensor target not None, int64_t reduction, Tensor is_target not None):
    """What the loss's gradient is to each value."""
    cdef Margins j
    cdef int code = self.c_dtype
    cdef Tensor values, targets, marks, grads, out
    if self.c_numel == 0:
        return
    check_floats(self)
    check_dtype("target", target, ST_int64)
    check_dtype("is_target", is_target, code)
    check_dtype("grad_output", grad_output, code)
    values, targets, marks = plain(self, code), plain(target, ST_int64), plain(is_target, code)
    grads, out = plain(grad_output, code), written_as(grad_input, code)
    begin_many(&j, values, targets, reduction)
    clear(out)
    place_grads(&j, grads, reduction)
    j.is_target, j.out = address(marks), address(out)
    run_floating(<loop>many_targets_grads[float], <loop>many_targets_grads[double], &j, values,
                 self.c_numel, (values, targets, marks, grads, out))
    finish(grad_input, out)
