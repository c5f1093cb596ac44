"""Steps of optimisers over lists of parameters: Adam, AdamW, SGD, Adagrad, one pass over each.

A parameter, its gradient and its state are read and written together. Everything is checked before
anything is written. 16-bit floats are computed in float32. With `found_inf` 1 nothing is done; with
`grad_scale` gradients are divided by it first, and stored so. `maximize` turns them around.
Source of the semantics: PyTorch's FusedAdam.cpp, FusedSGD.cpp, FusedAdagrad.cpp.
"""
from libc.math cimport pow
from libc.stdint cimport int64_t

from dispatch._C.dtypes cimport DTYPES_REDUCED_FLOATING, ST_float32, ST_float64, is_in, itemsize_table
from dispatch._C.errors cimport refused
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.cpu.runs cimport (
    address, check_dtype, finish, floating_code, loop, plain, run_spans,
)

cdef extern from "steps.h" nogil:
    ctypedef struct Step "optimiser_step":
        int64_t n
        void* grads
        void* first
        void* second
        void* largest
        double unscale
        bint maximize
        double lr, weight_decay, eps
        double beta1, beta2
        double correction1, correction2
        bint decoupled
        double momentum, dampening
        bint nesterov, begins
        int half
        loop each
    int64_t step_of_halves(void* job, void* params)
    const loop ADAM_STEP[2]          # float32, float64
    const loop SGD_STEP[2]
    const loop ADAGRAD_STEP[2]


# ---- lists -------------------------------------------------------------------------------------

cdef double number_of(Tensor t) except? -1:
    check_dtype("grad_scale or found_inf", t, ST_float32)
    return (<float*>address(t))[0] if t.c_numel else 0


cdef bint begin(Step* j, Tensor grad_scale, Tensor found_inf, bint maximize) except -1:
    """False: a gradient is infinite, nothing is to be done."""
    if found_inf is not None and number_of(found_inf) == 1:
        return False
    j.unscale = number_of(grad_scale) if grad_scale is not None else 0
    j.maximize = maximize
    j.first = j.second = j.largest = NULL
    return True


cdef int check_list(str name, list given, list params) except -1:
    """As many tensors, of the same sizes and dtypes."""
    cdef Tensor t, p
    if len(given) != len(params):
        raise refused(f"expected {name} for {len(params)} tensors, got {len(given)}")
    for one, other in zip(given, params):
        t, p = one, other
        check_dtype(name, t, p.c_dtype)
        if t.c_numel != p.c_numel:
            raise refused(f"expected {name} of shape {list(p.shape)}, got {list(t.shape)}")
    return 0


cdef int check_params(list params) except -1:
    for t in params:
        floating_code(t)
    return 0


cdef int check_steps(list steps, list params) except -1:
    if len(steps) != len(params):
        raise refused(f"expected state_steps for {len(params)} tensors, got {len(steps)}")
    for t in steps:
        check_dtype("state_steps", t, ST_float32)
        if (<Tensor>t).c_numel == 0:
            raise refused("expected state_steps with an element each")
    return 0


cdef struct Part:
    Step* whole
    loop each
    char* params
    int size


cdef inline void* past(void* p, int64_t n) noexcept nogil:
    return <char*>p + n if p != NULL else NULL


cdef void run_part(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    """Elements `first` to `end` of one parameter."""
    cdef Part* c = <Part*>context
    cdef Step j = c.whole[0]
    cdef int64_t by = first * c.size
    j.n = end - first
    j.grads, j.first = past(j.grads, by), past(j.first, by)
    j.second, j.largest = past(j.second, by), past(j.largest, by)
    c.each(&j, c.params + by)


cdef int walk(Step* j, const loop* loops, Tensor param, Tensor grad, Tensor first, Tensor second, Tensor largest) except -1:
    """One parameter: what has gaps is copied and stored again."""
    cdef int code = param.c_dtype
    cdef Part c
    cdef Tensor p = plain(param, code), g = plain(grad, code), one = plain(first, code)
    cdef Tensor two = plain(second, code), most = plain(largest, code)
    j.n = param.c_numel
    if j.n == 0:
        return 0
    j.grads, j.first = address(g), address(one)
    j.second, j.largest = address(two), address(most)
    j.half, j.each = code, loops[code == ST_float64]
    c.each = step_of_halves if is_in(DTYPES_REDUCED_FLOATING, code) else j.each
    c.whole, c.params, c.size = j, <char*>address(p), itemsize_table()[code]
    run_spans(run_part, &c, j.n, 4 * j.n, 4 * j.n * c.size, (p, g, one, two, most))
    for t, made in ((first, one), (second, two), (largest, most)):
        if t is not None:
            finish(t, made)
    if j.unscale != 0:
        finish(grad, g)
    return finish(param, p)


# ---- optimisers --------------------------------------------------------------------------------

cdef int run_adam(list params, list grads, list exp_avgs, list exp_avg_sqs, list largest, list steps,
                  double lr, double beta1, double beta2, double weight_decay, double eps, bint amsgrad,
                  bint maximize, Tensor grad_scale, Tensor found_inf, bint decoupled) except -1:
    cdef Step j
    cdef double step
    if not begin(&j, grad_scale, found_inf, maximize):
        return 0
    check_params(params)
    for name, given in (("grads", grads), ("exp_avgs", exp_avgs), ("exp_avg_sqs", exp_avg_sqs)):
        check_list(name, given, params)
    if amsgrad:
        check_list("max_exp_avg_sqs", largest, params)
    elif largest:
        raise refused(f"expected no max_exp_avg_sqs without amsgrad, got {len(largest)}")
    check_steps(steps, params)
    j.lr, j.beta1, j.beta2, j.weight_decay, j.eps = lr, beta1, beta2, weight_decay, eps
    j.decoupled = decoupled
    for i in range(len(params)):
        step = number_of(steps[i])
        j.correction1, j.correction2 = 1 - pow(beta1, step), 1 - pow(beta2, step)
        walk(&j, ADAM_STEP, params[i], grads[i], exp_avgs[i],
             exp_avg_sqs[i], largest[i] if amsgrad else None)
    return 0


def adam(list self, list grads, list exp_avgs, list exp_avg_sqs, list max_exp_avg_sqs,
         list state_steps, *, double lr, double beta1, double beta2, double weight_decay, double eps,
         bint amsgrad, bint maximize, Tensor grad_scale=None, Tensor found_inf=None):
    """Adam, with the decay in the gradient."""
    run_adam(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, lr, beta1, beta2,
             weight_decay, eps, amsgrad, maximize, grad_scale, found_inf, False)


def adamw(list self, list grads, list exp_avgs, list exp_avg_sqs, list max_exp_avg_sqs,
          list state_steps, *, double lr, double beta1, double beta2, double weight_decay, double eps,
          bint amsgrad, bint maximize, Tensor grad_scale=None, Tensor found_inf=None):
    """Adam, with the decay apart from the gradient."""
    run_adam(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, lr, beta1, beta2,
             weight_decay, eps, amsgrad, maximize, grad_scale, found_inf, True)


def sgd(list self, list grads, list momentum_buffer_list, *, double weight_decay, double momentum,
        double lr, double dampening, bint nesterov, bint maximize, bint is_first_step,
        Tensor grad_scale=None, Tensor found_inf=None):
    """Stochastic gradient descent."""
    cdef Step j
    cdef bint moves = momentum != 0
    if not begin(&j, grad_scale, found_inf, maximize):
        return
    check_params(self)
    check_list("grads", grads, self)
    if moves:
        check_list("momentum_buffer_list", momentum_buffer_list, self)
    elif momentum_buffer_list:
        raise refused(f"expected no momentum_buffer_list without momentum, got "
                      f"{len(momentum_buffer_list)}")
    j.lr, j.weight_decay, j.momentum, j.dampening = lr, weight_decay, momentum, dampening
    j.nesterov, j.begins = nesterov, is_first_step
    for i in range(len(self)):
        walk(&j, SGD_STEP, self[i], grads[i],
             momentum_buffer_list[i] if moves else None, None, None)


def adagrad(list self, list grads, list state_sums, list state_steps, *, double lr, double lr_decay,
            double weight_decay, double eps, bint maximize, Tensor grad_scale=None,
            Tensor found_inf=None):
    """Adagrad."""
    cdef Step j
    if not begin(&j, grad_scale, found_inf, maximize):
        return
    check_params(self)
    check_list("grads", grads, self)
    check_list("state_sums", state_sums, self)
    check_steps(state_steps, self)
    j.weight_decay, j.eps = weight_decay, eps
    for i in range(len(self)):
        j.lr = lr / (1 + (number_of(state_steps[i]) - 1) * lr_decay)
        walk(&j, ADAGRAD_STEP, self[i], grads[i],
             state_sums[i], None, None)


# ---- the rate in a tensor ----------------------------------------------------------------------

def adam_tensor_lr(*lists, lr, **options):
    """Adam."""
    adam(*lists, lr=lr.item(), **options)


def adamw_tensor_lr(*lists, lr, **options):
    """AdamW."""
    adamw(*lists, lr=lr.item(), **options)


def sgd_tensor_lr(*lists, lr, **options):
    """Stochastic gradient descent."""
    sgd(*lists, lr=lr.item(), **options)


def adagrad_tensor_lr(*lists, lr, **options):
    """Adagrad."""
    adagrad(*lists, lr=lr.item(), **options)
