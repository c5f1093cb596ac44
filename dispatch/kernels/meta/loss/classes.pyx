"""Shape functions of losses that take the value of the class which a target names.

Called by the structured kernels of `nll_loss_*` (rows of classes) and `nll_loss2d_*` (images of
them, classes in the second dimension). `reduction`: 0 none, 1 the mean, 2 the sum.
PyTorch's Meta kernels are Python decompositions: they assert, and promote the gradient's dtype.
"""
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport ST_bool, ST_int32, ST_int64, default_dtype_code, is_integral_code
from dispatch._C.errors cimport refused
from dispatch._C.structured cimport Spec
from dispatch._C.symbolic cimport expect_eq, size_object
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.meta.rules cimport is_eager, promoted
from dispatch.kernels.meta.rules.sizes cimport sizes_of
from dispatch.kernels.meta.rules.numbers cimport agree


cdef object asserted(Tensor t):
    """The type of an error that PyTorch's Meta kernel asserts."""
    return RuntimeError if is_eager(t) else AssertionError


cdef int raise_sizes(Tensor self, Tensor target, object error) except -1:
    raise refused(f"target of shape {sizes_of(target)} does not fit self of shape {sizes_of(self)}",
                  error)


cdef int raise_weight(int64_t classes, Tensor weight) except -1:
    raise refused(f"weight tensor should be defined either for all {size_object(classes)} classes or no classes "
                  f"but got weight tensor of shape: {sizes_of(weight)}", asserted(weight))


cdef int check_target(Tensor target) except -1:
    """On Meta alone: the body has its own words for it."""
    if not is_eager(target) and target.c_dtype != ST_int64 and target.c_dtype != ST_int32:
        raise refused(f"expected an int64 target, got {dtypes.get_dtype(target.c_dtype)!r}")
    return 0


cdef int set_loss_dtype(Spec* s, Tensor self, Tensor weight, int64_t reduction) except -1:
    s.dtype = self.c_dtype
    if is_eager(self):
        return 0
    if weight is not None:
        s.dtype = s[1].dtype = promoted(s.dtype, weight.c_dtype)
    if not is_integral_code(s.dtype, True):
        return 0
    if self.c_dtype == ST_bool:
        raise refused(f"no loss of {dtypes.get_dtype(self.c_dtype)!r}")
    if reduction == 1:
        s.dtype = default_dtype_code()
    return 0


cdef int set_grad_dtype(Spec* s, Tensor self, Tensor grad, Tensor total, Tensor weight) except -1:
    s.dtype = self.c_dtype
    if not is_eager(self):
        s.dtype = promoted(promoted(s.dtype, grad.c_dtype), total.c_dtype)
        if weight is not None:
            s.dtype = promoted(s.dtype, weight.c_dtype)
    return 0


cdef int set_number(Spec* s, Tensor like) except -1:
    s.ndim, s.dtype = 0, like.c_dtype
    return 0


cdef int set_like(Spec* s, Tensor like) except -1:
    s.ndim, s.dtype = like.c_ndim, like.c_dtype
    memcpy(s.sizes, like.c_sizes, like.c_ndim * sizeof(int64_t))
    return 0


cdef int check_number(str name, Tensor t) except -1:
    if not expect_eq(t.c_numel, 1):
        raise refused(f"expected {name} to have one element, got shape {sizes_of(t)}", asserted(t))
    return 0


# ---- rows --------------------------------------------------------------------------------------

cdef int check_dims(Tensor self, Tensor target) except -1:
    if self.c_ndim < 1 or self.c_ndim > 2:
        raise refused(f"expected self to have 1 or 2 dimensions, got {sizes_of(self)}", asserted(self))
    if target.c_ndim > 1:
        raise refused(f"0D or 1D target tensor expected, got {sizes_of(target)}",
                      asserted(self))
    if self.c_ndim > target.c_ndim + 1:
        raise refused(f"expected a target for each row of self, of shape {sizes_of(self)}", IndexError)
    return 0


cdef int check_rows(Tensor self, Tensor target) except -1:
    check_dims(self, target)
    if self.c_ndim == 1 and target.c_ndim == 1:
        if not is_eager(self):
            raise refused("expected a target without dimensions beside a self of one")
        if not expect_eq(target.c_numel, 1):
            raise refused(f"expected one target, got {size_object(target.c_numel)}", ValueError)
    elif target.c_ndim and not expect_eq(self.c_sizes[0], target.c_sizes[0]):
        raise_sizes(self, target, RuntimeError)
    return check_target(target)


cdef int nll_loss_forward(Spec* s, Tensor self, Tensor target, Tensor weight, int64_t reduction,
                          int64_t ignore_index) except -1:
    """The loss, and the sum of the weights that it was divided by."""
    check_rows(self, target)
    if weight is not None and (weight.c_ndim != 1 or not expect_eq(weight.c_numel, self.c_sizes[self.c_ndim - 1])):
        raise_weight(self.c_sizes[self.c_ndim - 1], weight)
    set_number(s, self)
    set_number(&s[1], self)
    set_loss_dtype(s, self, weight, reduction)
    if reduction == 0 and self.c_ndim == 2:
        s.ndim, s.sizes[0] = 1, self.c_sizes[0]
    return 0


cdef int nll_loss_backward(Spec* s, Tensor grad_output, Tensor self, Tensor target, Tensor weight,
                           int64_t reduction, int64_t ignore_index, Tensor total_weight) except -1:
    """self's sizes."""
    cdef int64_t rows
    if self.c_ndim == 0 and not is_eager(self):
        raise refused("self has no dimensions", IndexError)
    check_dims(self, target)
    rows = self.c_sizes[0]
    if target.c_ndim and not expect_eq(rows, target.c_sizes[0]):
        raise_sizes(self, target, asserted(self))
    check_number("total_weight", total_weight)
    if weight is not None and not expect_eq(weight.c_numel, self.c_sizes[self.c_ndim - 1]):
        raise_weight(self.c_sizes[self.c_ndim - 1], weight)
    if reduction == 0 and self.c_ndim == 2:
        if grad_output.c_ndim != 1 or not expect_eq(grad_output.c_sizes[0], rows):
            raise refused(f"expected grad_output of shape [{size_object(rows)}], got {sizes_of(grad_output)}",
                          asserted(self) if grad_output.c_ndim else IndexError)
    elif grad_output.c_ndim > 1 or not expect_eq(grad_output.c_numel, 1):
        raise refused(f"expected grad_output to have one element, got {sizes_of(grad_output)}",
                      asserted(self))
    check_target(target)
    set_like(s, self)
    return set_grad_dtype(s, self, grad_output, total_weight, weight)


# ---- images ------------------------------------------------------------------------------------

cdef bint one_image_each(Tensor self, Tensor target, bint exactly) except -1:
    """Not `exactly`: a target of another size is refused, but no guard keeps it away (PyTorch gathers from a part of self)."""
    return agree(self.c_sizes[0], target.c_sizes[0], exactly) and agree(self.c_sizes[2], target.c_sizes[1], exactly) and \
        agree(self.c_sizes[3], target.c_sizes[2], exactly)


cdef int check_images(Tensor self, Tensor target, Tensor weight, bint exactly, object error) except -1:
    if target.c_ndim != 3:
        raise refused(f"expected target to have 3 dimensions, got {sizes_of(target)}", error)
    if self.c_ndim != 4:
        raise refused(f"expected self to have 4 dimensions, got {sizes_of(self)}", error)
    if weight is not None and not expect_eq(weight.c_numel, self.c_sizes[1]):
        raise refused(f"weight tensor should be defined either for all {size_object(self.c_sizes[1])} classes or no classes "
                      f"but got weight tensor of shape: {sizes_of(weight)}")
    if not one_image_each(self, target, exactly):
        raise_sizes(self, target, error)
    return check_target(target)


cdef int nll_loss2d_forward(Spec* s, Tensor self, Tensor target, Tensor weight, int64_t reduction,
                            int64_t ignore_index) except -1:
    """The same of images: without a reduction the target's sizes."""
    check_images(self, target, weight, is_eager(self), RuntimeError)
    set_number(s, self)
    set_number(&s[1], self)
    if reduction == 0:
        set_like(s, target)
    return set_loss_dtype(s, self, weight, reduction)


cdef int nll_loss2d_backward(Spec* s, Tensor grad_output, Tensor self, Tensor target, Tensor weight,
                             int64_t reduction, int64_t ignore_index, Tensor total_weight) except -1:
    """self's sizes."""
    check_images(self, target, weight, True, asserted(self))
    check_number("total_weight", total_weight)
    if is_eager(self):
        check_image_grads(grad_output, target, reduction)
    set_like(s, self)
    return set_grad_dtype(s, self, grad_output, total_weight, weight)


cdef int check_image_grads(Tensor grad_output, Tensor target, int64_t reduction) except -1:
    cdef int i
    if reduction != 0:
        return check_number("grad_output", grad_output)
    for i in range(3):
        if grad_output.c_ndim != 3 or not expect_eq(grad_output.c_sizes[i], target.c_sizes[i]):
            raise refused(f"expected grad_output of shape {sizes_of(target)}, "
                          f"got {sizes_of(grad_output)}")
    return 0
