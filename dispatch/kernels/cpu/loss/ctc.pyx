"""Bodies of the CTC loss: the forward and the backward recursion of Graves et al. (2006).

Equations are numbered as there. A structured kernel calls them with outputs of the right sizes and
the longest target's length. Everything is in logarithms; -inf is what cannot happen. Targets are
copied and checked before anything is written. Source of the semantics: LossCTC.cpp.
"""
from cython cimport floating
from libc.math cimport INFINITY, exp, expf, log, logf
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport ST_float32, ST_float64, ST_int64
from dispatch._C.errors cimport refused
from dispatch._C.errors import unserved
from dispatch._C.tensor cimport Tensor, new_empty
from dispatch.kernels.cpu.runs cimport (
    address, are_in_range, check_dtype, finish, plain, run_spans, written_as,
)
from dispatch.kernels.cpu.threads cimport parts_for

cdef extern from "loss/ctc.h" nogil:
    void ctc_step_f32(const float* from_, const int64_t* places, float* to, int64_t n, int64_t next)
    void ctc_step_f64(const double* from_, const int64_t* places, double* to, int64_t n, int64_t next)
    void ctc_gradient_f32(float* out, const float* probs, int64_t n, float loss, float grad)
    void ctc_gradient_f64(double* out, const double* probs, int64_t n, double loss, double grad)

cdef enum:
    WORK = 64                    # an element of a table takes as long as so many bytes that are copied

cdef struct Ctc:
    int64_t steps, batch, labels, width, blank
    bint zero_infinity
    const int64_t* places        # labels of a target with blanks around each; `width` for each of the batch, each in range
    const int64_t* input_lengths
    const int64_t* target_lengths
    const void* log_probs        # steps x batch x labels
    void* losses                 # batch
    void* alpha                  # batch x steps x width
    # the backward pass alone
    const void* grads            # of the losses
    void* beta                   # two times' x width, of each thread
    void* out                    # steps x batch x labels


cdef inline floating power(floating x) noexcept nogil:
    """e to the x, in x's own precision; most terms are the largest itself, or those of paths that cannot happen."""
    if x == -INFINITY:
        return 0
    if x == 0:
        return 1
    if floating is float:
        return expf(x)
    else:
        return exp(x)


cdef inline floating log_sum(floating a, floating b) noexcept nogil:
    cdef floating m = b if b > a else a
    if m == -INFINITY:
        return m
    if floating is float:
        return logf(power(a - m) + power(b - m)) + m
    else:
        return log(power(a - m) + power(b - m)) + m


cdef inline void step(const floating* before, const int64_t* places, floating* to, const floating* probs, int64_t n,
                      int64_t next) noexcept nogil:
    """The neighbouring time's row; `next` is 1 where a path comes from places behind, -1 where from those in front."""
    cdef int64_t first = 0 if next < 0 else n - 1, rest = 2 if next < 0 else 0, s
    to[first] = before[first]
    if n > 1:
        to[first - next] = log_sum(before[first - next], before[first])
    if floating is float:
        ctc_step_f32(before + rest, places + rest, to + rest, n - 2, next)
    else:
        ctc_step_f64(before + rest, places + rest, to + rest, n - 2, next)
    for s in range(n):
        to[s] += probs[places[s]]


cdef void forward(Ctc* j, int64_t first, int64_t stop, floating* typed) noexcept nogil:
    cdef int64_t b, t, s, n, end
    cdef floating* alpha
    cdef const floating* probs
    cdef const int64_t* places
    for b in range(first, stop):
        n, end = j.input_lengths[b], 2 * j.target_lengths[b] + 1
        alpha, places = <floating*>j.alpha + b * j.steps * j.width, j.places + b * j.width
        for s in range(j.steps * j.width):
            alpha[s] = -INFINITY
        if n == 0:
            (<floating*>j.losses)[b] = 0 if end == 1 else INFINITY
            continue
        probs = <const floating*>j.log_probs + b * j.labels
        for s in range(min(end, 2)):                       # (6)
            alpha[s] = probs[places[s]]
        for t in range(1, n):                              # (7), (8)
            probs += j.batch * j.labels
            step(alpha, places, alpha + j.width, probs, end, -1)
            alpha += j.width
        (<floating*>j.losses)[b] = -log_sum(alpha[end - 1], alpha[end - 2] if end > 1 else <floating>-INFINITY)


cdef void forward_of(void* job, int64_t part, int64_t first, int64_t end) noexcept nogil:
    forward[float](<Ctc*>job, first, end, NULL)


cdef void forward_of_double(void* job, int64_t part, int64_t first, int64_t end) noexcept nogil:
    forward[double](<Ctc*>job, first, end, NULL)


cdef void backward(Ctc* j, int64_t part, int64_t first, int64_t stop, floating* typed) noexcept nogil:
    cdef int64_t b
    cdef floating loss
    for b in range(first, stop):
        loss = (<const floating*>j.losses)[b]
        fill_column(j, b, <floating>(0 if j.zero_infinity and loss == INFINITY else -INFINITY))
        if not (j.zero_infinity and loss == INFINITY):
            add_paths(j, b, <floating*>j.beta + 2 * part * j.width)
            finish_column(j, b, loss)


cdef void backward_of(void* job, int64_t part, int64_t first, int64_t end) noexcept nogil:
    backward[float](<Ctc*>job, part, first, end, NULL)


cdef void backward_of_double(void* job, int64_t part, int64_t first, int64_t end) noexcept nogil:
    backward[double](<Ctc*>job, part, first, end, NULL)


cdef void fill_column(Ctc* j, int64_t b, floating value) noexcept nogil:
    cdef int64_t t, c
    for t in range(j.steps):
        for c in range(j.labels):
            (<floating*>j.out)[(t * j.batch + b) * j.labels + c] = value


cdef void add_paths(Ctc* j, int64_t b, floating* room) noexcept nogil:
    """The sums of (16) over the places of each label, in `out`."""
    cdef int64_t s, t, n = j.input_lengths[b], end = 2 * j.target_lengths[b] + 1, row = j.batch * j.labels
    cdef const int64_t* places = j.places + b * j.width
    cdef floating* beta
    cdef const floating* alpha
    cdef const floating* probs
    cdef floating* out
    for t in range(n - 1, -1, -1):
        beta = room + t % 2 * j.width
        alpha = <const floating*>j.alpha + (b * j.steps + t) * j.width
        probs = <const floating*>j.log_probs + t * row + b * j.labels
        out = <floating*>j.out + t * row + b * j.labels
        if t == n - 1:                                     # (9)
            for s in range(end):
                beta[s] = probs[places[s]] if s >= end - 2 else <floating>-INFINITY
        else:                                              # (10), (11)
            step(room + (t + 1) % 2 * j.width, places, beta, probs, end, 1)
        for s in range(end - 1, -1, -1):
            if alpha[s] + beta[s] != -INFINITY:
                out[places[s]] = log_sum(out[places[s]], alpha[s] + beta[s])


cdef void finish_column(Ctc* j, int64_t b, floating loss) noexcept nogil:
    """The rest of (16); zero behind the input's end."""
    cdef int64_t t, c
    cdef floating* out
    cdef const floating* probs
    cdef floating grad = (<const floating*>j.grads)[b]
    for t in range(j.steps):
        probs = <const floating*>j.log_probs + (t * j.batch + b) * j.labels
        out = <floating*>j.out + (t * j.batch + b) * j.labels
        if t >= j.input_lengths[b]:
            for c in range(j.labels):
                out[c] = 0
            continue
        if floating is float:
            ctc_gradient_f32(out, probs, j.labels, loss, grad)
        else:
            ctc_gradient_f64(out, probs, j.labels, loss, grad)


# ---- arguments ---------------------------------------------------------------------------------

cdef int64_t* new_numbers(Ctc* j, list input_lengths, list target_lengths, Tensor targets) except NULL:
    """Both lengths, and the targets with blanks between them in rows of the longest one's length."""
    cdef int64_t at = 0, b, k, wrong = 0, row = 0
    cdef int64_t* made = <int64_t*>malloc(j.batch * (2 + j.width) * sizeof(int64_t) + 1)
    cdef int64_t* places = made + 2 * j.batch
    cdef const int64_t* given
    if made == NULL:
        raise MemoryError
    try:
        given = <const int64_t*>address(targets)
        if targets.c_ndim == 2:
            row = targets.c_sizes[1]
        for b in range(j.batch):
            made[b] = input_lengths[b]
            made[j.batch + b] = target_lengths[b]
        for b in range(j.batch):
            for k in range(j.width):
                places[b * j.width + k] = \
                    given[at + k // 2] if k % 2 and k // 2 < made[j.batch + b] else j.blank
            at += row if targets.c_ndim == 2 else made[j.batch + b]
        if not are_in_range(places, j.batch * j.width, 0, j.labels, &wrong):
            raise refused(f"target {wrong} is out of bounds for {j.labels} labels", IndexError)
    except BaseException:
        free(made)
        raise
    j.input_lengths, j.target_lengths = made, made + j.batch
    j.places = places
    return made


cdef int begin(Ctc* j, Tensor log_probs, int64_t blank, bint zero_infinity, int64_t longest) except -1:
    if log_probs.c_dtype != ST_float32 and log_probs.c_dtype != ST_float64:
        raise unserved(dtypes.get_dtype(log_probs.c_dtype))
    j.steps, j.batch, j.labels = log_probs.c_sizes[0], log_probs.c_sizes[1], log_probs.c_sizes[2]
    j.blank, j.zero_infinity, j.width = blank, zero_infinity, 2 * longest + 1
    return 0


def ctc_loss(Tensor losses not None, Tensor log_alpha not None, Tensor log_probs not None, Tensor targets not None,
             list input_lengths, list target_lengths, int64_t blank, bint zero_infinity, int64_t longest):
    """Minus the logarithm of the probability of each target, by the forward recursion."""
    cdef Ctc j
    cdef int64_t* numbers
    cdef Tensor probs, out, alpha
    begin(&j, log_probs, blank, zero_infinity, longest)
    probs = plain(log_probs, log_probs.c_dtype)
    out, alpha = written_as(losses, log_probs.c_dtype), written_as(log_alpha, log_probs.c_dtype)
    numbers = new_numbers(&j, input_lengths, target_lengths, plain(targets, ST_int64))
    try:
        j.log_probs, j.losses, j.alpha = address(probs), address(out), address(alpha)
        run_spans(forward_of if log_probs.c_dtype == ST_float32 else forward_of_double, &j, j.batch, 3 * alpha.c_numel,
                  WORK * alpha.c_numel, (probs, out, alpha))
    finally:
        free(numbers)
    finish(losses, out)
    finish(log_alpha, alpha)


def ctc_loss_backward(Tensor out not None, Tensor grad not None, Tensor log_probs not None, Tensor targets not None,
                      list input_lengths, list target_lengths, Tensor neg_log_likelihood not None, Tensor log_alpha not None,
                      int64_t blank, bint zero_infinity, int64_t longest):
    """The gradient of the probabilities' logarithms, by the backward recursion."""
    cdef Ctc j
    cdef int64_t* numbers
    cdef int64_t nbytes
    cdef int64_t sizes[2]
    cdef int code = log_probs.c_dtype
    cdef Tensor probs, losses, alpha, beta, grads, written
    begin(&j, log_probs, blank, zero_infinity, longest)
    check_dtype("grad", grad, code)
    check_dtype("neg_log_likelihood", neg_log_likelihood, code)
    check_dtype("log_alpha", log_alpha, code)
    probs, losses = plain(log_probs, code), plain(neg_log_likelihood, code)
    alpha, grads, written = plain(log_alpha, code), plain(grad, code), written_as(out, code)
    nbytes = WORK * alpha.c_numel
    sizes[0], sizes[1] = 2 * parts_for(j.batch, nbytes), j.width
    beta = new_empty(code, 0, -1, 2, sizes, NULL)
    numbers = new_numbers(&j, input_lengths, target_lengths, plain(targets, ST_int64))
    try:
        j.log_probs, j.losses, j.alpha = address(probs), address(losses), address(alpha)
        j.grads, j.beta, j.out = address(grads), address(beta), address(written)
        run_spans(backward_of if code == ST_float32 else backward_of_double, &j, j.batch, 3 * alpha.c_numel + written.c_numel,
                  nbytes, (probs, losses, alpha, grads, written))
    finally:
        free(numbers)
    finish(out, written)
