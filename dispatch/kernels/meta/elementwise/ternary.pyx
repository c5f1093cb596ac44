"""Shape functions of elementwise operators of three operands: clamp, where, addcmul, addcdiv.

Called by the structured adapters on every key; each decides on the dtype, makes the checks that
need no data, and leaves sizes and strides to `pointwise`.
"""
from cpython.object cimport PyObject

from dispatch._C.dtypes cimport DEV_META, ST_NONE, ST_bool, ST_uint8, is_floating_code, is_integral_code
from dispatch._C.errors cimport refused
from dispatch._C.errors import scalar_type
from dispatch._C.geometry cimport TF_CONTIGUOUS
from dispatch._C.storage cimport has_bytes
from dispatch._C.tensor cimport Tensor, new_empty
from dispatch.kernels.meta cimport rules
from dispatch.kernels.meta.elementwise cimport pointwise
from dispatch.kernels.meta.elementwise.pointwise cimport CAST_SAME, is_meta
from dispatch._C.structured cimport CAST_EXACT, OVERLAP_SELF, Spec, init_spec

from dispatch._C.advice import advise_once

cdef struct Three:
    PyObject* items[3]


cdef inline Three three(object a, object b, object c) noexcept:
    """Borrowed operands."""
    cdef Three r
    r.items[0], r.items[1], r.items[2] = <PyObject*>a, <PyObject*>b, <PyObject*>c
    return r


cdef int check_bounds(Three* operands) except -1:
    if operands.items[1] == <PyObject*>None and operands.items[2] == <PyObject*>None:
        raise (ValueError if pointwise.on_meta(operands.items, 1) else RuntimeError)(
            "clamp: At least one of 'min' or 'max' must not be None")
    return 0


cdef int fill_promoted(Spec* s, Three* operands, int n_tensors) except -1:
    """All three promote the dtype; the first `n_tensors` of them decide on sizes and strides."""
    cdef int code = rules.result_type(operands.items, 3)
    if n_tensors > 1 or not pointwise.try_one(s, <Tensor>operands.items[0], code):
        pointwise.fill(s, operands.items, n_tensors, code, code)
    if n_tensors == 1 and not is_meta(<Tensor>operands.items[0]):
        s.cast = CAST_EXACT | OVERLAP_SELF       # TensorIterator's unary operators
    return 0


cdef int clamp(Spec* s, Tensor self, object min, object max) except -1:
    cdef Three operands = three(self, min, max)
    if (isinstance(min, complex) or isinstance(max, complex)) and is_floating_code(self.c_dtype) and has_bytes(self.c_storage):
        raise refused("min and max must be real numbers")         # PyTorch's CPU kernel; its Meta kernel takes them
    check_bounds(&operands)
    fill_promoted(s, &operands, 1)
    return pointwise.choose_number(s, self, self)


cdef int clamp_tensor(Spec* s, Tensor self, Tensor min, Tensor max) except -1:
    cdef Three operands = three(self, min, max)
    check_bounds(&operands)
    fill_promoted(s, &operands, 3)
    return restride_bounded(s, self, min, max)


cdef int restride_bounded(Spec* s, Tensor self, Tensor min, Tensor max) except -1:
    """On Meta, the reference chooses between self and min, then between that and max."""
    cdef Tensor kept = self
    cdef PyObject* items[1]
    if is_contiguous(self) and is_contiguous(min) and is_contiguous(max) or not is_meta(self):
        return 0
    if min is not None:
        kept = chosen(kept, min, s.dtype)
    if max is not None:
        kept = chosen(kept, max, s.dtype)
    items[0] = <PyObject*>kept
    return pointwise.restride(s, items, 1, True)


cdef inline bint is_contiguous(Tensor t) noexcept:
    return t is None or t.c_flags & TF_CONTIGUOUS != 0


cdef Tensor chosen(Tensor t, Tensor bound, int code):
    """`where(compare(t, bound) | isnan(t), t, bound)`."""
    cdef Three pair = three(t, bound, None)
    cdef Tensor asked = made(&pair, 2, ST_bool, code), nans = pointwise.as_copied(t, ST_bool)
    cdef Three both = three(asked, nans, None)
    cdef Tensor condition = made(&both, 2, ST_bool, ST_bool)
    cdef Tensor a = pointwise.as_copied(t, code), b = pointwise.as_copied(bound, code)
    cdef Three choice = three(condition, a, b)
    return made(&choice, 3, code, ST_NONE)


cdef Tensor made(Three* operands, int n, int dtype, int compute):
    cdef Spec s
    init_spec(&s)
    pointwise.fill(&s, operands.items, n, dtype, compute)
    return new_empty(dtype, DEV_META, -1, s.ndim, s.sizes, s.strides if s.has_strides else NULL)


cdef int clamp_bound(Spec* s, Tensor self, object bound) except -1:
    cdef Three operands = three(self, bound, None)
    fill_promoted(s, &operands, 1)
    return pointwise.choose_number(s, self, self)


cdef int clamp_bound_tensor(Spec* s, Tensor self, Tensor bound) except -1:
    cdef Three operands = three(self, bound, None)
    fill_promoted(s, &operands, 2)
    return restride_bounded(s, self, bound, None)


cdef int where(Spec* s, Tensor condition, Tensor self, Tensor other) except -1:
    cdef Three operands = three(condition, self, other)
    cdef int code, kind = condition.c_dtype
    if kind == ST_uint8 and not pointwise.on_meta(operands.items, 3):
        advise_once("where of a uint8 condition", "deprecated, make it bool")     # before anything is read
    code = rules.result_type(&operands.items[1], 2)
    if kind != ST_bool and (kind != ST_uint8 or pointwise.on_meta(operands.items, 3)):
        raise refused("where expected condition to be a boolean tensor, but got a tensor with dtype "
                      f"{scalar_type(condition.dtype)}")
    pointwise.fill(s, operands.items, 3, code, ST_NONE)
    if self.c_dtype != code or other.c_dtype != code:
        restride_converted(s, &operands, code)
    s.cast = CAST_EXACT if pointwise.on_meta(operands.items, 3) else CAST_SAME
    return 0


cdef int restride_converted(Spec* s, Three* operands, int code) except -1:
    """self and other are converted first, the condition is not."""
    cdef Tensor a = pointwise.as_copied(<Tensor>operands.items[1], code)
    cdef Tensor b = pointwise.as_copied(<Tensor>operands.items[2], code)
    cdef Three made = three(<object>operands.items[0], a, b)
    return pointwise.restride(s, made.items, 3, pointwise.on_meta(operands.items, 3))


cdef int addcmul(Spec* s, Tensor self, Tensor tensor1, Tensor tensor2, object value) except -1:
    cdef Three operands = three(self, tensor1, tensor2)
    return fill_promoted(s, &operands, 3)


cdef int addcdiv(Spec* s, Tensor self, Tensor tensor1, Tensor tensor2, object value) except -1:
    cdef Three operands = three(self, tensor1, tensor2)
    cdef bint with_bool = not pointwise.on_meta(operands.items, 3)
    if (is_integral_code(tensor1.c_dtype, with_bool)
            and is_integral_code(tensor2.c_dtype, with_bool)):
        raise refused("Integer division with addcdiv is no longer supported: tensor1 and tensor2 must not both be integer tensors")
    return fill_promoted(s, &operands, 3)


cdef int check_lerp(Tensor self, str name, Tensor other) except -1:
    if self.c_dtype != other.c_dtype:
        raise refused(f"{name} must have the dtype of self, {self.dtype!r}, got {other.dtype!r}")
    return 0


cdef int lerp_scalar(Spec* s, Tensor self, Tensor end, object weight) except -1:
    cdef Three operands = three(self, end, None)
    check_lerp(self, "end", end)
    return pointwise.fill(s, operands.items, 2, self.c_dtype, self.c_dtype)


cdef int lerp_tensor(Spec* s, Tensor self, Tensor end, Tensor weight) except -1:
    cdef Three operands = three(self, end, weight)
    cdef int code
    check_lerp(self, "end", end)
    if weight.c_ndim:
        check_lerp(self, "weight", weight)
    code = rules.result_type(operands.items, 3)
    pointwise.fill(s, operands.items, 3, code, code)
    if weight.c_ndim and not pointwise.on_meta(operands.items, 3):
        s.cast = CAST_SAME                  # PyTorch's kernel converts only beside a 0-d weight
    return 0
