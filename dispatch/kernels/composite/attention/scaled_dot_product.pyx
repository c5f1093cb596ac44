"""scaled_dot_product_attention: PyTorch's choice of an implementation, and the one in operators.

Called for every attention layer of a model. On cpu, fake or not, inputs that the fused kernel takes
go to it (`uses_flash`, PyTorch's use_flash_attention_cpp); on an accelerator to the flash or the
memory-efficient kernel; everything else, and the meta device, is matmul, softmax, matmul. The choice shows in the layout of the
result: the fused kernel follows the query.
"""
import math

from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from dispatch._C import dtypes
from dispatch._C.errors cimport refused
from dispatch._ops import ops

from dispatch._C.dtypes cimport (
    DEV_CPU, DEV_META, DTYPES_FLOATING, DTYPES_REDUCED_FLOATING, ST_bool, ST_float32, get_dtype, is_in,
)
from dispatch._C.size cimport new_size
from dispatch._C.symbolic cimport eq, eq_or_false, expect_eq, floordiv, is_symbolic, le, mod, ne, size_object
from dispatch._C.tensor cimport Tensor, needs_grad
from dispatch._C.tls cimport tls
from dispatch.kernels.composite.callee cimport Callee, callee
from dispatch.kernels.composite.matrix.matmul cimport call_array, differ, is_subclass_like

cdef Callee FLASH_FOR_CPU = callee("_scaled_dot_product_flash_attention_for_cpu")
cdef Callee FLASH = callee("_scaled_dot_product_flash_attention")
cdef Callee EFFICIENT = callee("_scaled_dot_product_efficient_attention")
cdef Callee IN_OPERATORS = callee("_scaled_dot_product_attention_math")

_add = ops.aten.add.Tensor
_add_ = ops.aten.add_.Tensor
_dropout = ops.aten.dropout.default
_logical_not = ops.aten.logical_not.default
_masked_fill = ops.aten.masked_fill.Scalar
_matmul = ops.aten.matmul.default
_mul = ops.aten.mul.Scalar
_ones = ops.aten.ones.default
_repeat_interleave = ops.aten.repeat_interleave.self_int
_safe_softmax = ops.aten._safe_softmax.default
_scalar_tensor = ops.aten.scalar_tensor.default
_sum = ops.aten.sum.default
_to = ops.aten.to.dtype
_transpose = ops.aten.transpose.int
_tril = ops.aten.tril.default
_where = ops.aten.where.self
_zeros = ops.aten.zeros.default

# What PyTorch's SDPBackend calls its choices.
cdef enum:
    BY_MATH = 0
    BY_FLASH = 1

# Which implementations may be taken, in all threads (`sdpa_kernel`).
cdef bint flash_allowed = True
cdef bint efficient_allowed = True
cdef bint math_allowed = True


def allow(bint flash, bint efficient, bint math):
    """From now on only these implementations are chosen: the flash kernels, the memory-efficient one, operators."""
    global flash_allowed, efficient_allowed, math_allowed
    flash_allowed, efficient_allowed, math_allowed = flash, efficient, math


# ---- checks and choice -------------------------------------------------------------------------

cdef list shape_of(Tensor t):
    return list(new_size(t.c_ndim, t.c_sizes))


cdef int raise_dtypes(Tensor query, Tensor key, Tensor value) except -1:
    raise refused(f"Expected query, key, and value to have the same dtype, got {query.dtype}, {key.dtype} and {value.dtype}")


cdef int raise_devices(Tensor query, Tensor key, Tensor value) except -1:
    raise refused(f"query ({query.device}), key "
                  f"({key.device}) and value ({value.device}) must be on one device")


cdef int raise_dims(Tensor query, Tensor key, Tensor value) except -1:
    raise refused("query, key and value must have at "
                  f"least 2 dimensions, got {shape_of(query)}, {shape_of(key)} and "
                  f"{shape_of(value)}")


cdef int raise_mask(Tensor query, Tensor mask) except -1:
    raise refused("attn_mask must be bool, float32 or "
                  f"{query.dtype}, got {mask.dtype}")


cdef inline bint same_device(Tensor a, Tensor b) noexcept:
    return a.c_devtype == b.c_devtype and a.c_devindex == b.c_devindex


cdef int check_inputs(Tensor query, Tensor key, Tensor value, Tensor mask) except -1:
    cdef int kind = query.c_dtype
    if key.c_dtype != kind or value.c_dtype != kind:
        raise_dtypes(query, key, value)
    if not same_device(query, key) or not same_device(query, value):
        raise_devices(query, key, value)
    if query.c_ndim < 2 or key.c_ndim < 2 or value.c_ndim < 2:
        raise_dims(query, key, value)
    if mask is not None and mask.c_dtype not in (ST_bool, ST_float32, kind):
        raise_mask(query, mask)
    return 0


cdef int check_sizes(Tensor query, Tensor key, Tensor value, Tensor mask) except -1:
    """Sizes that any implementation would stumble over; what symbols stand for is its own affair."""
    cdef int64_t length = key.c_sizes[key.c_ndim - 2]
    if differ(query.c_sizes[query.c_ndim - 1], key.c_sizes[key.c_ndim - 1]):
        raise refused(f"query and key must be as wide (the last dimension), got {shape_of(query)} and {shape_of(key)}")
    if differ(length, value.c_sizes[value.c_ndim - 2]):
        raise refused("key and value must be as long (the dimension before the last), got "
                      f"{shape_of(key)} and {shape_of(value)}")
    if mask is not None and mask.c_ndim >= 2 and (
            does_not_expand(mask.c_sizes[mask.c_ndim - 1], length)
            or does_not_expand(mask.c_sizes[mask.c_ndim - 2], query.c_sizes[query.c_ndim - 2])):
        raise refused(f"attn_mask of shape {shape_of(mask)} does not expand to query's and key's lengths, "
                      f"{size_object(query.c_sizes[query.c_ndim - 2])} and {size_object(length)}")
    return 0


cdef inline bint does_not_expand(int64_t size, int64_t to) noexcept:
    return size != 1 and differ(size, to)


cdef bint mask_fits(Tensor mask, Tensor query, Tensor key) except -1:
    """Whether the fused kernel takes the mask: it broadcasts, and no gradient is asked of it."""
    cdef int64_t full[4]
    cdef int i, back
    if needs_grad(mask):
        return False
    if mask.c_ndim < 2:
        raise refused("attn_mask must have at least 2 "
                      f"dimensions, got {shape_of(mask)}", IndexError)
    if mask.c_ndim != 2 and mask.c_ndim != 4:
        return False
    full[0], full[1], full[2] = query.c_sizes[0], query.c_sizes[1], query.c_sizes[2]
    full[3] = key.c_sizes[2]
    for i in range(mask.c_ndim):
        back = 4 - mask.c_ndim + i
        if ne(mask.c_sizes[i], 1) and ne(mask.c_sizes[i], full[back]):
            return False
    return True


cdef inline bint all_equal(int64_t a, int64_t b, int64_t c) except -1:
    return eq(a, b) and eq(b, c)


cdef bint heads_fit(int64_t query, int64_t key, int64_t value, bint enable_gqa) except -1:
    if enable_gqa:
        return eq(key, value) and ne(key, 0) and eq(mod(query, key), 0)
    return all_equal(query, key, value)


cdef bint uses_flash(Tensor query, Tensor key, Tensor value, Tensor mask, double dropout_p,
                     bint enable_gqa) except -1:
    """Whether PyTorch's fused CPU kernel takes these inputs."""
    cdef int64_t* q = query.c_sizes
    cdef int64_t* k = key.c_sizes
    cdef int64_t* v = value.c_sizes
    if not flash_allowed or dropout_p > 0 or query.c_ndim != 4 or key.c_ndim != 4 or value.c_ndim != 4:
        return False
    if not is_in(DTYPES_FLOATING, query.c_dtype) or key.c_dtype != query.c_dtype or value.c_dtype != query.c_dtype:
        return False
    return (
        all_equal(q[0], k[0], v[0])
        and heads_fit(q[1], k[1], v[1], enable_gqa)
        and (mask is None or mask_fits(mask, query, key))
        and all_equal(q[3], k[3], v[3])
        and not eq_or_false(q[2], 0)
        and not eq_or_false(k[2], 0)
        and eq(query.c_strides[3], 1)
        and eq(key.c_strides[3], 1)
        and eq(value.c_strides[3], 1)
    )


cdef object float_mask(Tensor mask, object kind):
    """A bool mask as what is added: 0 where attention is allowed, -inf elsewhere."""
    device = mask.device
    never = _scalar_tensor(-math.inf, dtype=kind, device=device)
    allowed = _scalar_tensor(0.0, dtype=kind, layout=dtypes.strided, device=device)
    return _where(mask, allowed, never)


cdef object without_elements(Tensor query, Tensor key, Tensor value):
    """Zeros that depend on all three inputs, so that each gets a gradient."""
    sizes = shape_of(query)
    sizes[query.c_ndim - 1] = size_object(value.c_sizes[value.c_ndim - 1])
    out = _zeros(sizes, dtype=query.dtype, layout=dtypes.strided, device=query.device)
    sums = [_sum(query), _sum(key), _sum(value)]
    return _add(out, _mul(_add(_add(sums[0], sums[1]), sums[2]), 0))


cdef object call_flash(Tensor query, Tensor key, Tensor value, object mask, object dropout_p,
                       object is_causal, object scale):
    cdef PyObject* args[16]
    args[0], args[1], args[2] = <PyObject*>query, <PyObject*>key, <PyObject*>value
    args[3], args[4] = <PyObject*>dropout_p, <PyObject*>is_causal
    args[5], args[6] = <PyObject*>mask, <PyObject*>scale
    return (<tuple>call_array(FLASH_FOR_CPU, args, 7))[0]


cdef bint is_half(Tensor t) noexcept:
    return is_in(DTYPES_REDUCED_FLOATING, t.c_dtype)


cdef bint uses_accelerator_kernel(Tensor query, Tensor key, Tensor value, object mask, bint enable_gqa) except -1:
    """Whether an accelerator's fused kernels take these inputs (sdp_utils.cpp's checks on sizes and dtypes)."""
    if query.c_devtype == DEV_CPU or query.c_devtype == DEV_META or not (flash_allowed or efficient_allowed):
        return False
    if query.c_ndim != 4 or key.c_ndim != 4 or value.c_ndim != 4:
        return False
    if not (is_half(query) or query.c_dtype == ST_float32):
        return False
    return (all_equal(query.c_sizes[0], key.c_sizes[0], value.c_sizes[0])
            and heads_fit(query.c_sizes[1], key.c_sizes[1], value.c_sizes[1], enable_gqa)
            and (not enable_gqa or is_half(query)) and eq(query.c_sizes[3], key.c_sizes[3])
            and (efficient_allowed or takes_flash(query, value, mask)))


cdef inline bint takes_flash(Tensor query, Tensor value, object mask) except -1:
    return (flash_allowed and mask is None and is_half(query) and eq(query.c_sizes[3], value.c_sizes[3])
            and le(query.c_sizes[3], 256))


cdef object call_accelerator(Tensor query, Tensor key, Tensor value, object mask, object dropout_p,
                             object is_causal, object scale):
    """Flash attention for half types without a mask, else the memory-efficient kernel; both lay their
    output out as (batch, length, heads, width) in memory."""
    cdef PyObject* args[16]
    cdef object no = False
    args[0], args[1], args[2] = <PyObject*>query, <PyObject*>key, <PyObject*>value
    if takes_flash(query, value, mask):
        args[3], args[4], args[5], args[6] = <PyObject*>dropout_p, <PyObject*>is_causal, <PyObject*>no, <PyObject*>scale
        return (<tuple>call_array(FLASH, args, 7))[0]
    args[3], args[4], args[5] = <PyObject*>mask, <PyObject*>no, <PyObject*>dropout_p
    args[6], args[7] = <PyObject*>is_causal, <PyObject*>scale
    return (<tuple>call_array(EFFICIENT, args, 8))[0]


cdef object call_math(Tensor query, Tensor key, Tensor value, object mask, object dropout_p,
                      object is_causal, object scale, object enable_gqa):
    cdef PyObject* args[16]
    args[0], args[1], args[2] = <PyObject*>query, <PyObject*>key, <PyObject*>value
    args[3], args[4] = <PyObject*>mask, <PyObject*>dropout_p
    args[5], args[6] = <PyObject*>is_causal, <PyObject*>None
    args[7], args[8] = <PyObject*>scale, <PyObject*>enable_gqa
    return (<tuple>call_array(IN_OPERATORS, args, 9))[0]


cdef object scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor attn_mask,
                                         double dropout_p, bint is_causal, object scale,
                                         bint enable_gqa):
    cdef bint flash
    cdef object mask = attn_mask
    check_inputs(query, key, value, attn_mask)
    if eq_or_false(query.c_numel, 0) or eq_or_false(key.c_numel, 0) or eq_or_false(value.c_numel, 0):
        return without_elements(query, key, value)
    check_sizes(query, key, value, attn_mask)
    flash = query.c_devtype == DEV_CPU and uses_flash(query, key, value, attn_mask, dropout_p,
                                                      enable_gqa)
    if attn_mask is not None and attn_mask.c_dtype == ST_bool:
        mask = float_mask(attn_mask, query.dtype)
    if flash:
        return call_flash(query, key, value, mask, dropout_p, is_causal, scale)
    if uses_accelerator_kernel(query, key, value, mask, enable_gqa):
        return call_accelerator(query, key, value, mask, dropout_p, is_causal, scale)
    check_math(query)
    return call_math(query, key, value, mask, dropout_p, is_causal, scale, enable_gqa)


cdef int check_math(Tensor query) except -1:
    """Nothing is left but operators: are they allowed? The meta device knows nothing else."""
    if not math_allowed and query.c_devtype != DEV_META:
        raise refused("no implementation that is allowed takes these inputs (sdpa_kernel, enable_math_sdp)", RuntimeError)
    return 0


def _fused_sdp_choice(Tensor query not None, Tensor key not None, Tensor value not None,
                      Tensor attn_mask=None, double dropout_p=0.0, bint is_causal=False, *,
                      scale=None, bint enable_gqa=False):
    if query.c_devtype != DEV_CPU or tls().meta_in_include:     # fake: PyTorch asks its Meta kernel
        return BY_MATH
    if uses_flash(query, key, value, attn_mask, dropout_p, enable_gqa):
        return BY_FLASH
    check_math(query)
    return BY_MATH


# ---- in operators ------------------------------------------------------------------------------

cdef tuple repeat_heads(Tensor query, Tensor key, Tensor value):
    """Key and value with as many heads as the query has (grouped-query attention)."""
    cdef int64_t heads, k, v
    if query.c_ndim < 3 or key.c_ndim < 3 or value.c_ndim < 3:
        raise refused(f"enable_gqa needs a dimension of heads, got {shape_of(query)}, "
                      f"{shape_of(key)} and {shape_of(value)}", IndexError)
    heads = query.c_sizes[query.c_ndim - 3]
    k, v = key.c_sizes[key.c_ndim - 3], value.c_sizes[value.c_ndim - 3]
    if all_equal(heads, k, v):
        return key, value
    if eq(k, 0) or eq(v, 0) or not expect_eq(mod(heads, k), 0) or not expect_eq(mod(heads, v), 0):
        raise refused(f"{size_object(k)} heads of key and {size_object(v)} of value must divide the {size_object(heads)} of "
                      "query")
    return (_repeat_interleave(key, size_object(floordiv(heads, k)), -3),
            _repeat_interleave(value, size_object(floordiv(heads, v)), -3))


cdef object as_dtype(Tensor t, int kind):
    return t if t.c_dtype == kind else _to(t, get_dtype(kind))


cdef object half_of_scale(Tensor query, object scale):
    """Half of the scale goes on each side of the product, which keeps it in range."""
    cdef int64_t width = query.c_sizes[query.c_ndim - 1]
    if scale is not None:
        return math.sqrt(abs(scale))
    if is_symbolic(width):
        return size_object(width) ** -0.25           # an expression too: math.sqrt needs a number
    return math.sqrt(1 / math.sqrt(width)) if width else math.inf


cdef object causal_mask(Tensor query, Tensor key):
    sizes = [size_object(query.c_sizes[query.c_ndim - 2]), size_object(key.c_sizes[key.c_ndim - 2])]
    lower = _tril(_ones(sizes, dtype=dtypes.bool, layout=dtypes.strided, device=query.device))
    return float_mask(lower, query.dtype)


def _scaled_dot_product_attention_math(Tensor query not None, Tensor key not None,
                                       Tensor value not None, Tensor attn_mask=None,
                                       double dropout_p=0.0, bint is_causal=False,
                                       Tensor dropout_mask=None, *, scale=None,
                                       bint enable_gqa=False):
    cdef int kind = query.c_dtype
    cdef object half
    cdef Tensor attn
    if query.c_ndim < 2 or key.c_ndim < 2 or value.c_ndim < 2:
        raise refused("query, key and value must have "
                      f"at least 2 dimensions, got {shape_of(query)}, {shape_of(key)} and "
                      f"{shape_of(value)}", IndexError)
    if is_in(DTYPES_REDUCED_FLOATING, kind):     # computed in float32, rounded at the end
        query, key, value = (as_dtype(query, ST_float32), as_dtype(key, ST_float32),
                             as_dtype(value, ST_float32))
    half = half_of_scale(query, scale)
    scaled = _mul(query, -half if scale is not None and scale < 0 else half)
    if is_causal:
        if attn_mask is not None:
            raise refused("attn_mask must not be "
                          "given with is_causal")
        attn_mask = causal_mask(scaled, key)
    if enable_gqa:
        key, value = repeat_heads(query, key, value)
    attn = _matmul(scaled, _mul(_transpose(key, -2, -1), half))
    if attn_mask is not None:
        if is_subclass_like(attn) or is_subclass_like(attn_mask):
            attn = _add(attn, attn_mask)
        else:
            attn = _add_(attn, attn_mask)
    attn = _safe_softmax(attn, -1)
    if dropout_p > 0:
        if dropout_mask is not None:
            attn = _masked_fill(attn, _logical_not(dropout_mask), 0.0)
            return _matmul(attn, _mul(value, 1 / (1 - dropout_p))), attn
        attn = _dropout(attn, dropout_p, True)
    rounded = as_dtype(attn, kind)
    return as_dtype(_matmul(attn, value), kind), rounded
