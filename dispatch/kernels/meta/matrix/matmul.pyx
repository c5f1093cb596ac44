"""Shape functions of matrix products: dimensions, contracted sizes, dtypes; results are contiguous.

Called by the structured kernels. PyTorch's Meta kernels of mm, mv and addmm take operands of
different dtypes, its eager ones refuse them: `is_eager` tells the two apart.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    ST_NONE, ST_bfloat16, ST_float16, ST_float32, ST_int32, is_integral_code,
)
from dispatch._C.errors cimport refused
from dispatch._C.errors import scalar_type
from dispatch._C.size cimport new_size
from dispatch._C.symbolic cimport eq_or_false, expect_eq, larger, lt_or_false, mod, mul, ne_or_true, size_object
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.meta cimport rules
from dispatch._C.structured cimport Spec


# ---- checks ------------------------------------------------------------------------------------

cdef int raise_ndim(str name, Tensor t, int ndim) except -1:
    raise refused(f"{name} must be a {'matrix' if ndim == 2 else f'{ndim}D tensor'}, got shape "
                  f"{list(new_size(t.c_ndim, t.c_sizes))}")


cdef inline int check_ndim(str name, Tensor t, int ndim) except -1:
    return 0 if t.c_ndim == ndim else raise_ndim(name, t, ndim)


cdef int raise_dtypes(str a_name, Tensor a, str b_name, Tensor b) except -1:
    raise refused(f"expected {a_name} and {b_name} to have the same dtype, but got: "
                  f"{dtypes.get_dtype(a.c_dtype)!r} != {dtypes.get_dtype(b.c_dtype)!r}")


cdef inline int check_dtypes(str a_name, Tensor a, str b_name, Tensor b) except -1:
    return 0 if a.c_dtype == b.c_dtype else raise_dtypes(a_name, a, b_name, b)


cdef int raise_shapes(Tensor a, Tensor b) except -1:
    cdef str x = "x".join(map(str, new_size(a.c_ndim, a.c_sizes))), y = "x".join(map(str, new_size(b.c_ndim, b.c_sizes)))
    raise refused(f"mat1 and mat2 shapes cannot be multiplied ({x} and {y})")


cdef int raise_expand(Spec* s, Tensor self) except -1:
    raise refused(f"self of shape {list(new_size(self.c_ndim, self.c_sizes))} does not "
                  f"expand to {list(new_size(s.ndim, s.sizes))}")


cdef int check_expand(Spec* s, Tensor self) except -1:
    """Whether self expands to the result's sizes."""
    cdef int i, lead = s.ndim - self.c_ndim
    if lead < 0:
        return raise_expand(s, self)
    for i in range(self.c_ndim):
        if not eq_or_false(self.c_sizes[i], 1) and not expect_eq(self.c_sizes[i], s.sizes[lead + i]):
            return raise_expand(s, self)
    return 0


cdef bint is_zero(object beta, Tensor self) except -1:
    """Whether self has no part in the result; integers are scaled by an integer."""
    return (int(beta) if is_integral_code(self.c_dtype, True) else beta) == 0


cdef int promote(Tensor a, Tensor b, Tensor c) except -1:
    cdef PyObject* items[3]
    items[0], items[1], items[2] = <PyObject*>a, <PyObject*>b, <PyObject*>c
    return rules.result_type(items, 3)


# ---- products ----------------------------------------------------------------------------------

cdef int fill_mm(Spec* s, Tensor a, Tensor b, str a_name, str b_name) except -1:
    check_ndim(a_name, a, 2)
    check_ndim(b_name, b, 2)
    if not expect_eq(a.c_sizes[1], b.c_sizes[0]):
        raise_shapes(a, b)
    s.ndim = 2
    s.sizes[0], s.sizes[1] = a.c_sizes[0], b.c_sizes[1]
    s.dtype = a.c_dtype
    return 0


cdef int mm(Spec* s, Tensor self, Tensor mat2) except -1:
    fill_mm(s, self, mat2, "self", "mat2")
    if self.c_dtype != mat2.c_dtype and rules.is_eager(self):
        raise_dtypes("m1", self, "m2", mat2)
    return 0


cdef int fill_bmm(Spec* s, Tensor a, Tensor b, str a_name, str b_name) except -1:
    check_ndim(a_name, a, 3)
    check_ndim(b_name, b, 3)
    check_dtypes(a_name, a, b_name, b)
    if not expect_eq(a.c_sizes[0], b.c_sizes[0]) or not expect_eq(a.c_sizes[2], b.c_sizes[1]):
        raise refused(f"Expected size for first two dimensions of batch2 tensor to be: "
                      f"{[size_object(a.c_sizes[0]), size_object(a.c_sizes[2])]} but got: {list(new_size(2, b.c_sizes))}.")
    s.ndim = 3
    s.sizes[0], s.sizes[1], s.sizes[2] = a.c_sizes[0], a.c_sizes[1], b.c_sizes[2]
    s.dtype = a.c_dtype
    return 0


cdef int bmm(Spec* s, Tensor self, Tensor mat2) except -1:
    return fill_bmm(s, self, mat2, "batch1", "batch2")


cdef int fill_mv(Spec* s, Tensor mat, Tensor vec, str mat_name) except -1:
    check_ndim(mat_name, mat, 2)
    check_ndim("vec", vec, 1)
    if not expect_eq(mat.c_sizes[1], vec.c_sizes[0]):
        raise refused(f"size mismatch, got mat ({size_object(mat.c_sizes[0])}x{size_object(mat.c_sizes[1])}), "
                      f"vec ({size_object(vec.c_sizes[0])})")
    s.ndim = 1
    s.sizes[0] = mat.c_sizes[0]
    s.dtype = mat.c_dtype
    return 0


cdef int mv(Spec* s, Tensor self, Tensor vec) except -1:
    fill_mv(s, self, vec, "self")
    if self.c_dtype != vec.c_dtype:
        if rules.is_eager(self):
            raise_dtypes("self", self, "vec", vec)
        s.dtype = promote(self, vec, None)
    return 0


cdef int dot(Spec* s, Tensor self, Tensor tensor) except -1:
    if self.c_ndim != 1 or tensor.c_ndim != 1:
        raise refused(f"1D tensors expected, but got {self.c_ndim}D and {tensor.c_ndim}D tensors")
    if self.c_dtype != tensor.c_dtype:
        raise refused("dot : expected both vectors to have same dtype, but found "
                      f"{scalar_type(dtypes.get_dtype(self.c_dtype))} and {scalar_type(dtypes.get_dtype(tensor.c_dtype))}")
    if not expect_eq(self.c_sizes[0], tensor.c_sizes[0]):
        raise refused(f"inconsistent tensor size, expected tensor {list(new_size(1, self.c_sizes))} and src "
                      f"{list(new_size(1, tensor.c_sizes))} to have the same number of elements")
    s.ndim = 0
    s.dtype = self.c_dtype
    return 0


# ---- products that are added to self -----------------------------------------------------------

cdef int addmm(Spec* s, Tensor self, Tensor mat1, Tensor mat2, object beta,
               object alpha) except -1:
    fill_mm(s, mat1, mat2, "mat1", "mat2")
    if rules.is_eager(self):
        check_dtypes("mat1", mat1, "mat2", mat2)
        check_dtypes("self", self, "mat2", mat2)
        return check_expand(s, self)
    if self.c_dtype != mat1.c_dtype or self.c_dtype != mat2.c_dtype:
        s.dtype = promote(self, mat1, mat2)
    if self.c_ndim > 2 or self.c_ndim and ne_or_true(self.c_sizes[self.c_ndim - 1], s.sizes[1]) \
            or self.c_ndim == 2 and ne_or_true(self.c_sizes[0], s.sizes[0]):
        if not is_zero(beta, self):
            s.ndim = rules.broadcast_into(s.sizes, s.ndim, self.c_sizes, self.c_ndim)
    return 0


cdef int addmv(Spec* s, Tensor self, Tensor mat, Tensor vec, object beta, object alpha) except -1:
    check_dtypes("self", self, "mat", mat)
    check_dtypes("mat", mat, "vec", vec)
    fill_mv(s, mat, vec, "mat")
    if rules.is_eager(self):
        return check_expand(s, self)
    if is_zero(beta, self):
        return 0
    if eq_or_false(s.sizes[0], 0):            # PyTorch's Meta kernel gives beta * self for an empty product
        s.ndim = self.c_ndim
        memcpy(s.sizes, self.c_sizes, self.c_ndim * sizeof(int64_t))
    else:
        s.ndim = rules.broadcast_into(s.sizes, s.ndim, self.c_sizes, self.c_ndim)
    return 0


cdef int baddbmm(Spec* s, Tensor self, Tensor batch1, Tensor batch2, object beta,
                 object alpha) except -1:
    fill_bmm(s, batch1, batch2, "batch1", "batch2")
    check_dtypes("self", self, "batch1", batch1)
    return check_expand(s, self)


# ---- grouped products --------------------------------------------------------------------------

cdef int check_grouped(str name, Tensor t) except -1:
    """Rows or columns that start at multiples of 16 bytes; bfloat16, on CPU any shorter float."""
    cdef int d = t.c_ndim - 1
    cdef int64_t outer
    if t.c_dtype != ST_bfloat16 and not (
            rules.is_eager(t) and (t.c_dtype == ST_float16 or t.c_dtype == ST_float32)):
        raise refused(f"expected {name} to be bfloat16, got "
                      f"{dtypes.get_dtype(t.c_dtype)!r}")
    if t.c_ndim != 2 and t.c_ndim != 3:
        raise refused(f"expected {name} to have 2 or 3 dimensions, got "
                      f"shape {list(new_size(t.c_ndim, t.c_sizes))}")
    if eq_or_false(t.c_strides[d - 1], 1) and not lt_or_false(t.c_strides[d], larger(1, t.c_sizes[d - 1])):
        outer = t.c_strides[d]
    elif eq_or_false(t.c_strides[d], 1) and not lt_or_false(t.c_strides[d - 1], larger(1, t.c_sizes[d])):
        outer = t.c_strides[d - 1]
    else:
        outer = -1
    if outer == -1 or not expect_eq(mod(mul(outer, dtypes.itemsize_table()[t.c_dtype]), 16), 0):
        raise refused(f"expected {name} to have a dimension of stride 1 "
                      "and one whose stride is a multiple of 16 bytes, got strides "
                      f"{list(new_size(t.c_ndim, t.c_strides))}")
    return 0


cdef int check_offsets(Tensor offs, bint needed) except -1:
    if (offs is not None) != needed:
        raise refused("expected offs to be given exactly when self or mat2 "
                      "has 2 dimensions")
    if needed and (offs.c_ndim != 1 or offs.c_dtype != ST_int32):
        raise refused("expected offs to be int32 of 1 dimension, got "
                      f"{dtypes.get_dtype(offs.c_dtype)!r} of shape "
                      f"{list(new_size(offs.c_ndim, offs.c_sizes))}")
    return 0


cdef int check_groups(Tensor a, Tensor b, Tensor offs) except -1:
    """On CPU both operands must have as many matrices as there are groups."""
    cdef int64_t groups = offs.c_sizes[0] if offs is not None else a.c_sizes[0]
    if rules.is_eager(a) and (a.c_ndim == 3 and not expect_eq(a.c_sizes[0], groups)
                              or b.c_ndim == 3 and not expect_eq(b.c_sizes[0], groups)):
        raise_shapes(a, b)
    return 0


cdef int fill_grouped(Spec* s, Tensor a, Tensor b, Tensor offs) noexcept:
    cdef int rows = 0 if a.c_ndim == 2 else 1
    s.ndim = 2 if a.c_ndim != b.c_ndim else 3
    if s.ndim == 3:
        s.sizes[0] = offs.c_sizes[0] if a.c_ndim == 2 else a.c_sizes[0]
    s.sizes[s.ndim - 2] = a.c_sizes[rows]
    s.sizes[s.ndim - 1] = b.c_sizes[b.c_ndim - 1]
    s.dtype = a.c_dtype
    return 0


cdef int grouped_mm(Spec* s, Tensor self, Tensor mat2, Tensor offs, Tensor bias,
                    int out_dtype) except -1:
    cdef bint flat = self.c_ndim == 2 or mat2.c_ndim == 2
    check_grouped("self", self)
    check_grouped("mat2", mat2)
    check_dtypes("self", self, "mat2", mat2)
    if self.c_ndim + mat2.c_ndim > 4 and \
            not expect_eq(self.c_sizes[self.c_ndim - 1], mat2.c_sizes[mat2.c_ndim - 2]):
        raise_shapes(self, mat2)
    check_offsets(offs, flat)
    if bias is not None:
        raise refused("expected bias to be None, it is not supported")
    if out_dtype != ST_NONE and out_dtype != self.c_dtype:
        raise refused("expected out_dtype to be self's, got "
                      f"{dtypes.get_dtype(out_dtype)!r}")
    check_groups(self, mat2, offs)
    return fill_grouped(s, self, mat2, offs)
