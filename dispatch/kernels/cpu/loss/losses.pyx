"""Bodies of losses that compare element by element. `reduction`: 0 none, 1 the mean, 2 the sum.

Called by the structured kernels with an output of the right size. Operands are broadcast, and
converted to one dtype where the loops do not as they read; the loops of `losses.h` store the losses,
or add them up.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t
from libc.string cimport memcmp

from dispatch._C.dtypes cimport DTYPES_FLOATING, ST_float64, itemsize_table
from dispatch._C.errors cimport refused
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.cpu.dense cimport check_kernel, computed_in
from dispatch.kernels.cpu.runs cimport (
    address, finish, loop, plain, run_floating, run_spans, written_as,
)
from dispatch.kernels.meta cimport rules

from dispatch.kernels.meta.rules import broadcast_shapes

cdef enum:
    REDUCE_NONE, REDUCE_MEAN, REDUCE_SUM

cdef extern from "losses.h" nogil:
    ctypedef struct Pairs "loss_pairs":
        int64_t n
        const void* x
        const void* y
        const void* weights
        int x_code, y_code, weights_code, out_code
        const void* grads
        bint one_grad
        void* out
        double bound, scale, sum
    const loop SQUARES[2]            # float32, float64
    const loop SMOOTH[2]
    const loop HUBER[2]
    const loop ENTROPY[2]
    const loop ENTROPY_SLOPE[2]
    const loop IS_PROBABLE[2]


# ---- operands ----------------------------------------------------------------------------------

cdef bint same_sizes(Tensor a, Tensor b) noexcept:
    return a.c_ndim == b.c_ndim and memcmp(a.c_sizes, b.c_sizes, a.c_ndim * sizeof(int64_t)) == 0


cdef Tensor spread(Tensor t, Tensor like, int code):
    """As large as `like`, without gaps. None gives None."""
    cdef int i, new
    if t is not None and not same_sizes(t, like):
        new = like.c_ndim - t.c_ndim
        for i in range(t.c_ndim):
            if new < 0 or t.c_sizes[i] != 1 and t.c_sizes[i] != like.c_sizes[new + i]:
                raise refused(f"sizes {list(t.shape)} do not expand to {list(like.shape)}")
    return plain(t if t is None or same_sizes(t, like) else t.expand(like.shape), code)


cdef int common_code(Tensor self, Tensor target) except -1:
    cdef PyObject* items[2]
    cdef int kind
    items[0], items[1] = <PyObject*>self, <PyObject*>target
    kind = rules.result_type(items, 2)
    check_kernel(kind, DTYPES_FLOATING)
    return computed_in(kind)


cdef int kept(Tensor t, int code) noexcept:
    """The dtype itself where the loop of `code` converts it as it reads or writes, else `code`."""
    return t.c_dtype if computed_in(t.c_dtype) == code else code


cdef struct Share:
    const Pairs* whole
    loop each
    int size                     # bytes of an element of the type that is computed in
    double sums[64]              # of each part


cdef inline char* past(const void* p, int64_t n, int size) noexcept nogil:
    return <char*>p + n * size if p != NULL else NULL


cdef void run_part(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Share* s = <Share*>context
    cdef Pairs j = s.whole[0]
    j.n, j.sum = end - first, 0
    j.x, j.y = past(j.x, first, itemsize_table()[j.x_code]), past(j.y, first, itemsize_table()[j.y_code])
    j.weights = past(j.weights, first, itemsize_table()[j.weights_code])
    j.grads = j.grads if j.one_grad else past(j.grads, first, s.size)
    j.out = past(j.out, first, itemsize_table()[j.out_code])
    s.each(&j, NULL)
    s.sums[part] = j.sum


cdef double run_pairs(const Pairs* j, const loop* loops, int code, tuple tensors) except? -1:
    """The loop of `code` over parts of the pairs; their sum."""
    cdef Share s
    cdef int64_t i
    cdef double sum = 0
    s.whole, s.each, s.size = j, loops[code == ST_float64], itemsize_table()[code]
    for i in range(64):
        s.sums[i] = 0
    run_spans(run_part, &s, j.n, j.n, 2 * j.n * s.size, tensors)
    for i in range(64):
        sum += s.sums[i]
    return sum


cdef int reduce_pairs(Tensor out, Pairs* j, const loop* loops, int code, Tensor x, Tensor y, Tensor weights,
                      int64_t reduction) except -1:
    """Runs the loop of `code` over operands of one size, which it reads as they are."""
    cdef Tensor made = written_as(out, kept(out, code) if reduction == REDUCE_NONE else code)
    cdef double sum = 0
    j.n, j.x, j.y, j.weights = x.c_numel, address(x), address(y), address(weights)
    j.x_code, j.y_code, j.out_code = x.c_dtype, y.c_dtype, made.c_dtype
    j.weights_code = code if weights is None else weights.c_dtype
    j.grads, j.one_grad, j.out = NULL, False, NULL
    if reduction == REDUCE_NONE:
        j.out = address(made)
    if j.n:
        sum = run_pairs(j, loops, code, (x, y, weights, made))
    if reduction != REDUCE_NONE:
        sum = sum / j.n if reduction == REDUCE_MEAN else sum
        if made.c_dtype == ST_float64:
            (<double*>address(made))[0] = sum
        else:
            (<float*>address(made))[0] = <float>sum
    return finish(out, made)


cdef int compare(Tensor out, Tensor self, Tensor target, int64_t reduction, double bound, const loop* loops) except -1:
    cdef Pairs j
    cdef int code = common_code(self, target)
    cdef Tensor like = self
    if not same_sizes(self, target):
        sizes = out.shape if reduction == REDUCE_NONE else broadcast_shapes(self.shape, target.shape)
        like = self.expand(sizes)
    j.bound = bound
    return reduce_pairs(out, &j, loops, code, spread(like, like, kept(like, code)),
                        spread(target, like, kept(target, code)), None, reduction)


def mse_loss(Tensor out not None, Tensor self not None, Tensor target not None, int64_t reduction):
    """Squares of differences."""
    compare(out, self, target, reduction, 0, SQUARES)


def smooth_l1_loss(Tensor out not None, Tensor self not None, Tensor target not None, int64_t reduction, double beta):
    """A square near 0, the distance from `beta` on."""
    compare(out, self, target, reduction, beta, SMOOTH)


def huber_loss(Tensor out not None, Tensor self not None, Tensor target not None, int64_t reduction, double delta):
    """A square near 0, a line from `delta` on."""
    compare(out, self, target, reduction, delta, HUBER)


def binary_cross_entropy(Tensor out not None, Tensor self not None, Tensor target not None, Tensor weight or None,
                         int64_t reduction):
    """Cross entropy of two classes, for probabilities."""
    cdef Pairs j
    cdef int code
    cdef Tensor x
    if target.c_dtype != self.c_dtype:
        raise refused(f"expected a target of {self.dtype}, got {target.dtype}")
    code = common_code(self, self)
    x = plain(self, code)
    j.n, j.x = x.c_numel, address(x)
    if not run_floating(IS_PROBABLE[0], IS_PROBABLE[1], &j, x, j.n, (x,)):
        raise refused("all elements of input should be between 0 and 1")
    reduce_pairs(out, &j, ENTROPY, code, x, spread(target, self, code),
                 spread(weight, self, code), reduction)


def binary_cross_entropy_backward(Tensor grad_input not None, Tensor grad_output not None, Tensor self not None,
                                  Tensor target not None, Tensor weight or None, int64_t reduction):
    """The slope at each element, times the loss's gradient."""
    cdef Pairs j
    cdef int code = common_code(self, self)
    cdef bint one = grad_output.c_numel == 1
    cdef Tensor x = plain(self, code), y = spread(target, self, code)
    cdef Tensor grads = plain(grad_output, code) if one else spread(grad_output, self, code)
    cdef Tensor weights = spread(weight, self, code), made = written_as(grad_input, code)
    if not x.c_numel:
        return
    j.n, j.x, j.y, j.weights = x.c_numel, address(x), address(y), address(weights)
    j.grads, j.one_grad, j.out = address(grads), one, address(made)
    j.x_code = j.y_code = j.weights_code = j.out_code = code
    j.scale = 1 / <double>j.n if reduction == REDUCE_MEAN else 1
    run_pairs(&j, ENTROPY_SLOPE, code, (x, y, grads, weights, made))
    finish(grad_input, made)
