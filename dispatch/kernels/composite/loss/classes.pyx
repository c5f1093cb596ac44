"""Losses of classes: minus the value of the class that a target names, and the cross entropy made of it.

Called for tensors of all kinds; what they call goes through the dispatcher, in PyTorch's order.
"""
from libc.stdint cimport int64_t

from dispatch._C.dtypes cimport is_floating_code
from dispatch._C.errors cimport refused
from dispatch._C.symbolic cimport is_symbolic, size_object
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.composite.callee cimport Callee, callee, sizes_of

cdef Callee ADD = callee("add", "Tensor")
cdef Callee ADD_NUMBER = callee("add", "Scalar")
cdef Callee BITWISE_NOT = callee("bitwise_not")
cdef Callee CONTIGUOUS = callee("contiguous")
cdef Callee DIV = callee("div", "Tensor")
cdef Callee DIV_NUMBER = callee("div", "Scalar")
cdef Callee EQ = callee("eq", "Scalar")
cdef Callee GATHER = callee("gather")
cdef Callee LOG_SOFTMAX = callee("log_softmax", "int")
cdef Callee MASKED_FILL = callee("masked_fill", "Scalar")
cdef Callee MASKED_FILL_ = callee("masked_fill_", "Scalar")
cdef Callee MUL = callee("mul", "Tensor")
cdef Callee MUL_NUMBER = callee("mul", "Scalar")
cdef Callee NEG = callee("neg")
cdef Callee NLL_LOSS = callee("nll_loss")
cdef Callee NLL_LOSS2D = callee("nll_loss2d")
cdef Callee NLL_LOSS2D_FORWARD = callee("nll_loss2d_forward")
cdef Callee NLL_LOSS_FORWARD = callee("nll_loss_forward")
cdef Callee NLL_LOSS_ND = callee("nll_loss_nd")
cdef Callee RESHAPE = callee("reshape")
cdef Callee SUM = callee("sum")
cdef Callee SUM_DIMS = callee("sum", "dim_IntList")
cdef Callee VIEW = callee("view")

cdef enum:
    REDUCE_NONE = 0
    REDUCE_MEAN = 1
    REDUCE_SUM = 2


cdef object nll_loss(Tensor self, Tensor target, Tensor weight, int64_t reduction, int64_t ignore_index):
    return NLL_LOSS_FORWARD.call((self, target, weight, reduction, size_object(ignore_index)))[0]


cdef object nll_loss2d(Tensor self, Tensor target, Tensor weight, int64_t reduction, int64_t ignore_index):
    return NLL_LOSS2D_FORWARD.call((self, target, weight, reduction, size_object(ignore_index)))[0]


cdef object nll_loss_nd(Tensor self, Tensor target, Tensor weight, int64_t reduction, int64_t ignore_index):
    """Classes in the second of any number of dimensions: more than two become pictures of one row."""
    cdef object ignored = size_object(ignore_index)
    cdef list shape, flat
    if self.c_ndim < 1:
        raise refused("expected self to have at least one dimension", ValueError)
    if self.c_ndim != 1 and not (target.c_ndim and is_same_size(self.c_sizes[0], target.c_sizes[0])):
        if target.c_ndim == 0:
            raise refused("expected a target with a batch, got one without dimensions", IndexError)
        raise refused(f"Expected input batch_size ({size_object(self.c_sizes[0])}) to match target batch_size "
                      f"({size_object(target.c_sizes[0])})", ValueError)
    if self.c_ndim <= 2:
        return NLL_LOSS.call((self, target, weight, reduction, ignored))
    if self.c_ndim == 4:
        return NLL_LOSS2D.call((self, target, weight, reduction, ignored))
    shape = sizes_of(self)
    wanted = sizes_of(target)
    if wanted[1:] != shape[2:]:
        raise refused(f"Expected target size {shape[:1] + shape[2:]}, got {wanted}")
    self, made = CONTIGUOUS.call((self,)), CONTIGUOUS.call((target,))
    flat = [1, -1] if self.numel() > 0 else [0, 0]
    pictures = VIEW.call((self, shape[:2] + flat))
    loss = NLL_LOSS2D.call((pictures, VIEW.call((made, wanted[:1] + flat)), weight, reduction, ignored))
    return loss if reduction else VIEW.call((loss, wanted))


cdef bint is_same_size(int64_t a, int64_t b) except -1:
    """Whether they are equal: expressions are guarded on."""
    return a == b or ((is_symbolic(a) or is_symbolic(b)) and size_object(a) == size_object(b))


cdef bint has_shape_of(Tensor a, Tensor b) except -1:
    """Whether the sizes are the same; those of other lengths are asked about no size."""
    cdef int d
    if a.c_ndim != b.c_ndim:
        return False
    for d in range(a.c_ndim):
        if not is_same_size(a.c_sizes[d], b.c_sizes[d]):
            return False
    return True


cdef object cross_entropy_loss(Tensor self, Tensor target, Tensor weight, int64_t reduction, int64_t ignore_index,
                               double label_smoothing):
    """`nll_loss` of the logarithm of the softmax; the target names classes, or is probabilities."""
    cdef int64_t dim = 0 if self.c_ndim == 1 else 1
    if has_shape_of(self, target):
        if not is_floating_code(target.c_dtype):
            raise refused("Expected floating point type for target with class probabilities, got " + repr(target.dtype))
        if ignore_index >= 0:
            raise refused("ignore_index is not supported for floating point target")
        return of_probabilities(self, target, weight, reduction, label_smoothing, dim)
    if not 0.0 <= label_smoothing <= 1.0:
        raise refused(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    logs = LOG_SOFTMAX.call((self, dim))
    loss = NLL_LOSS_ND.call((logs, target, weight, reduction, size_object(ignore_index)))
    if label_smoothing == 0.0:
        return loss
    return smoothed(logs, target, weight, reduction, size_object(ignore_index), label_smoothing, loss, dim)


cdef object weights_along(Tensor weight, Tensor logs):
    if logs.c_ndim == 1:
        return weight
    return VIEW.call((weight, [1, weight.shape[0]] + [1] * (logs.c_ndim - 2)))


cdef object of_probabilities(Tensor self, Tensor target, Tensor weight, int64_t reduction, double smoothing, int64_t dim):
    logs = LOG_SOFTMAX.call((self, dim))
    classes = self.shape[dim]
    if smoothing > 0.0:
        target = ADD_NUMBER.call((MUL_NUMBER.call((target, 1 - smoothing)), smoothing / classes))
    along = None if weight is None else weights_along(weight, self)
    product = MUL.call((logs, target))
    if along is not None:
        product = MUL.call((product, along))
    if reduction == REDUCE_NONE:
        return NEG.call((SUM_DIMS.call((product, [dim])),))
    total = NEG.call((SUM.call((product,)),))
    if reduction == REDUCE_SUM:
        return total
    return DIV_NUMBER.call((total, self.numel() // classes if classes else 1))


cdef object smoothed(Tensor logs, Tensor target, Tensor weight, int64_t reduction, object ignore_index, double smoothing,
                     object loss, int64_t dim):
    weighted = logs if weight is None else MUL.call((logs, weights_along(weight, logs)))
    smooth = NEG.call((SUM_DIMS.call((weighted, [dim])),))
    ignored = EQ.call((target, ignore_index))
    MASKED_FILL_.call((smooth, ignored, 0.0))
    if reduction == REDUCE_MEAN:
        if weight is None:
            count = SUM.call((BITWISE_NOT.call((ignored,)),))
        else:
            safe = MASKED_FILL.call((target, ignored, 0))
            chosen = GATHER.call((weight, 0, RESHAPE.call((safe, [-1]))))
            count = SUM.call((MASKED_FILL.call((chosen, RESHAPE.call((ignored, [-1])), 0.0)),))
        smooth = DIV.call((SUM.call((smooth,)), count))
    elif reduction == REDUCE_SUM:
        smooth = SUM.call((smooth,))
    scaled = MUL_NUMBER.call((smooth, smoothing / logs.shape[dim]))
    return ADD.call((MUL_NUMBER.call((loss, 1 - smoothing)), scaled))
