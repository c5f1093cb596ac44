"""Steps of optimisers over lists of parameters: Adam, AdamW, SGD, Adagrad, one pass over each.

A parameter, its gradient and its state are read and written together. Everything is checked before
anything is written. 16-bit floats are computed in float32. With `found_inf` 1 nothing is done; with
`grad_scale` gradients are divided by it first, and stored so. `maximize` turns them around.
Source of the semantics: PyTorch's FusedAdam.cpp, FusedSGD.cpp, FusedAdagrad.cpp.
"""
from cython cimport floating
from libc.math cimport fabs, pow, sqrt
from libc.stdint cimport int64_t

from dispatch._C.dtypes cimport ST_float32
from dispatch._C.errors cimport refused
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.cpu.runs cimport (
    address, check_dtype, finish, floating_code, loop, plain, run_floating,
)

cdef struct Step:
    int64_t n
    void* grads
    void* first                  # exp_avg, the momentum, the sum of squares; NULL: none
    void* second                 # exp_avg_sq
    void* largest                # the largest exp_avg_sq; NULL: not asked for
    double unscale               # what gradients are divided by; 0: nothing
    bint maximize
    double lr, weight_decay, eps
    double beta1, beta2          # Adam
    double correction1, correction2
    bint decoupled               # AdamW: the decay is no part of the gradient
    double momentum, dampening   # SGD
    bint nesterov, begins


cdef inline floating gradient(Step* j, int64_t i, floating* grads) noexcept nogil:
    """That of element i, unscaled in place."""
    if j.unscale != 0:
        grads[i] /= <floating>j.unscale
    return -grads[i] if j.maximize else grads[i]


cdef int64_t adam_step(Step* j, floating* params) noexcept nogil:
    cdef int64_t i
    cdef floating g, m, v, root
    cdef floating* grads = <floating*>j.grads
    cdef floating* first = <floating*>j.first
    cdef floating* second = <floating*>j.second
    cdef floating* largest = <floating*>j.largest
    cdef floating b1 = <floating>(1 - j.beta1), b2 = <floating>(1 - j.beta2), keep = <floating>j.beta2
    cdef floating size = <floating>(j.lr / j.correction1), scale = <floating>sqrt(j.correction2)
    cdef floating decay = <floating>j.weight_decay, shrink = <floating>(j.lr * j.weight_decay)
    cdef floating eps = <floating>j.eps
    for i in range(j.n):
        g = gradient(j, i, grads)
        if j.decoupled:
            params[i] -= shrink * params[i]
        else:
            g += decay * params[i]
        if fabs(b1) < 0.5:
            m = first[i] + b1 * (g - first[i])
        else:
            m = g - (g - first[i]) * (1 - b1)
        v = second[i] * keep + b2 * g * g
        first[i], second[i] = m, v
        if largest != NULL:
            v = largest[i] = v if v > largest[i] else largest[i]
        root = <floating>sqrt(v)
        params[i] -= size * m / (root / scale + eps)
    return 0


cdef int64_t sgd_step(Step* j, floating* params) noexcept nogil:
    cdef int64_t i
    cdef floating g
    cdef floating* grads = <floating*>j.grads
    cdef floating* first = <floating*>j.first
    cdef floating decay = <floating>j.weight_decay, momentum = <floating>j.momentum
    cdef floating share = <floating>(1 - j.dampening), lr = <floating>j.lr
    for i in range(j.n):
        g = gradient(j, i, grads) + decay * params[i]
        if first != NULL:
            first[i] = g if j.begins else first[i] * momentum + g * share
            g = g + first[i] * momentum if j.nesterov else first[i]
        params[i] -= lr * g
    return 0


cdef int64_t adagrad_step(Step* j, floating* params) noexcept nogil:
    cdef int64_t i
    cdef floating g
    cdef floating* grads = <floating*>j.grads
    cdef floating* first = <floating*>j.first
    cdef floating decay = <floating>j.weight_decay, lr = <floating>j.lr, eps = <floating>j.eps
    for i in range(j.n):
        g = gradient(j, i, grads) + decay * params[i]
        first[i] += g * g
        params[i] -= lr * g / (<floating>sqrt(first[i]) + eps)
    return 0


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


cdef int walk(Step* j, loop f32, loop f64, Tensor param, Tensor grad, Tensor first, Tensor second,
              Tensor largest) except -1:
    """One parameter: what has gaps or 16 bits is copied and stored again."""
    cdef int code = floating_code(param)
    cdef Tensor p = plain(param, code), g = plain(grad, code), one = plain(first, code)
    cdef Tensor two = plain(second, code), most = plain(largest, code)
    j.n = param.c_numel
    if j.n == 0:
        return 0
    j.grads, j.first = address(g), address(one)
    j.second, j.largest = address(two), address(most)
    run_floating(f32, f64, j, p, 4 * j.n, (p, g, one, two, most))
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
        walk(&j, <loop>adam_step[float], <loop>adam_step[double], params[i], grads[i], exp_avgs[i],
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
        walk(&j, <loop>sgd_step[float], <loop>sgd_step[double], self[i], grads[i],
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
        walk(&j, <loop>adagrad_step[float], <loop>adagrad_step[double], self[i], grads[i],
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
