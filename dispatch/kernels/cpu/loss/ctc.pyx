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
from dispatch._C.tensor cimport Tensor, new_empty
from dispatch.kernels.cpu.runs cimport (
    address, are_in_range, check_dtype, finish, loop, plain, run_floating, written_as,
)

cdef struct Ctc:
    int64_t steps, batch, labels, longest, blank
    bint zero_infinity
    const int64_t* targets       # `longest` for each of the batch, each in range
    const int64_t* input_lengths
    const int64_t* target_lengths
    const void* log_probs        # steps x batch x labels
    void* losses                 # batch
    void* alpha                  # batch x steps x (2 longest + 1)
    # the backward pass alone
    const void* grads            # of the losses
    void* beta                   # steps x (2 longest + 1), for one of the batch at a time
    void* out                    # steps x batch x labels


cdef inline int64_t label_at(Ctc* j, int64_t b, int64_t s) noexcept nogil:
    """The label at place s of a target with blanks around each label."""
    return j.blank if s % 2 == 0 else j.targets[b * j.longest + s // 2]


cdef inline bint may_skip(Ctc* j, int64_t b, int64_t s) noexcept nogil:
    """Whether place s can follow place s - 2: both are labels, and different."""
    return label_at(j, b, s) != label_at(j, b, s - 2)


cdef inline floating power(floating x) noexcept nogil:
    """e to the x, in x's own precision; most terms are those of paths that cannot happen."""
    if x == -INFINITY:
        return 0
    if floating is float:
        return expf(x)
    return exp(x)


cdef inline floating log_sum(floating a, floating b, floating c) noexcept nogil:
    cdef floating m = a
    m = b if b > m else m
    m = c if c > m else m
    if m == -INFINITY:
        return m
    if floating is float:
        return logf(power(a - m) + power(b - m) + power(c - m)) + m
    return log(power(a - m) + power(b - m) + power(c - m)) + m


cdef int64_t forward(Ctc* j, floating* typed) noexcept nogil:
    cdef int64_t b, t, s, width = 2 * j.longest + 1, n, end
    cdef floating* alpha
    cdef const floating* probs
    cdef floating two, three, last
    for b in range(j.batch):
        n, end = j.input_lengths[b], 2 * j.target_lengths[b] + 1
        alpha = <floating*>j.alpha + b * j.steps * width
        for s in range(j.steps * width):
            alpha[s] = -INFINITY
        if n == 0:
            (<floating*>j.losses)[b] = 0 if end == 1 else INFINITY
            continue
        probs = <const floating*>j.log_probs + b * j.labels
        alpha[0] = probs[j.blank]                          # (6)
        if end > 1:
            alpha[1] = probs[label_at(j, b, 1)]
        for t in range(1, n):
            probs += j.batch * j.labels
            for s in range(end):                           # (7), (8)
                two = alpha[s - 1] if s > 0 else -INFINITY
                three = alpha[s - 2] if s > 1 and may_skip(j, b, s) else -INFINITY
                alpha[width + s] = log_sum(alpha[s], two, three) + probs[label_at(j, b, s)]
            alpha += width
        last = alpha[end - 2] if end > 1 else -INFINITY
        (<floating*>j.losses)[b] = -log_sum(alpha[end - 1], last, <floating>-INFINITY)
    return 0


cdef int64_t backward(Ctc* j, floating* typed) noexcept nogil:
    cdef int64_t b
    cdef floating loss
    for b in range(j.batch):
        loss = (<const floating*>j.losses)[b]
        fill_column(j, b, <floating>(0 if j.zero_infinity and loss == INFINITY else -INFINITY))
        if not (j.zero_infinity and loss == INFINITY):
            add_paths(j, b, typed)
            finish_column(j, b, loss)
    return 0


cdef void fill_column(Ctc* j, int64_t b, floating value) noexcept nogil:
    cdef int64_t t, c
    for t in range(j.steps):
        for c in range(j.labels):
            (<floating*>j.out)[(t * j.batch + b) * j.labels + c] = value


cdef inline void add_path(floating* to, floating value) noexcept nogil:
    to[0] = log_sum(to[0], value, <floating>-INFINITY)


cdef void add_paths(Ctc* j, int64_t b, floating* typed) noexcept nogil:
    """The sums of (16) over the places of each label, in `out`."""
    cdef int64_t s, t, n = j.input_lengths[b], end = 2 * j.target_lengths[b] + 1
    cdef int64_t width = 2 * j.longest + 1, label
    cdef int64_t row = j.batch * j.labels
    cdef floating* beta
    cdef const floating* alpha
    cdef const floating* probs
    cdef floating* out
    cdef floating one, two, three
    if n == 0:
        return
    for s in range(width * j.steps):
        (<floating*>j.beta)[s] = -INFINITY
    for t in range(n - 1, -1, -1):
        beta = <floating*>j.beta + t * width
        alpha = <const floating*>j.alpha + (b * j.steps + t) * width
        probs = <const floating*>j.log_probs + t * row + b * j.labels
        out = <floating*>j.out + t * row + b * j.labels
        for s in range(end - 1, -1, -1):
            label = label_at(j, b, s)
            if t == n - 1:                                 # (9)
                if s < end - 2:
                    break
                beta[s] = probs[label]
            else:                                          # (10), (11)
                one = beta[width + s]
                two = beta[width + s + 1] if s + 1 < end else -INFINITY
                three = beta[width + s + 2] if s + 2 < end and may_skip(j, b, s + 2) else -INFINITY
                beta[s] = log_sum(one, two, three) + probs[label]
            add_path(&out[label], alpha[s] + beta[s])


cdef void finish_column(Ctc* j, int64_t b, floating loss) noexcept nogil:
    """The rest of (16); zero behind the input's end."""
    cdef int64_t t, c
    cdef floating* out
    cdef const floating* probs
    cdef floating grad = (<const floating*>j.grads)[b]
    for t in range(j.steps):
        probs = <const floating*>j.log_probs + (t * j.batch + b) * j.labels
        out = <floating*>j.out + (t * j.batch + b) * j.labels
        for c in range(j.labels):
            if t < j.input_lengths[b]:
                out[c] = (power(probs[c]) - power(out[c] + loss - probs[c])) * grad
            else:
                out[c] = 0


# ---- arguments ---------------------------------------------------------------------------------

cdef int64_t* new_numbers(Ctc* j, list input_lengths, list target_lengths, Tensor targets) except NULL:
    """Both lengths, and the targets in rows of the longest one's length."""
    cdef int64_t n = j.batch * (2 + j.longest), at = 0, b, k, wrong = 0, row = 0
    cdef int64_t* made = <int64_t*>malloc((n + 1) * sizeof(int64_t))
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
            for k in range(j.longest):
                made[2 * j.batch + b * j.longest + k] = \
                    given[at + k] if k < made[j.batch + b] else j.blank
            at += row if targets.c_ndim == 2 else made[j.batch + b]
        if not are_in_range(made + 2 * j.batch, j.batch * j.longest, 0, j.labels, &wrong):
            raise refused(f"target {wrong} is out of bounds for {j.labels} labels", IndexError)
    except BaseException:
        free(made)
        raise
    j.input_lengths, j.target_lengths = made, made + j.batch
    j.targets = made + 2 * j.batch
    return made


cdef int begin(Ctc* j, Tensor log_probs, int64_t blank, bint zero_infinity, int64_t longest) except -1:
    if log_probs.c_dtype != ST_float32 and log_probs.c_dtype != ST_float64:
        raise refused(f"no CPU kernel for {dtypes.get_dtype(log_probs.c_dtype)!r}",
                      NotImplementedError)
    j.steps, j.batch, j.labels = log_probs.c_sizes[0], log_probs.c_sizes[1], log_probs.c_sizes[2]
    j.blank, j.zero_infinity, j.longest = blank, zero_infinity, longest
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
        run_floating(<loop>forward[float], <loop>forward[double], &j, probs,
                     3 * alpha.c_numel, (probs, out, alpha))
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
    cdef int64_t sizes[2]
    cdef int code = log_probs.c_dtype
    cdef Tensor probs, losses, alpha, beta, grads, written
    begin(&j, log_probs, blank, zero_infinity, longest)
    check_dtype("grad", grad, code)
    check_dtype("neg_log_likelihood", neg_log_likelihood, code)
    check_dtype("log_alpha", log_alpha, code)
    probs, losses = plain(log_probs, code), plain(neg_log_likelihood, code)
    alpha, grads, written = plain(log_alpha, code), plain(grad, code), written_as(out, code)
    sizes[0], sizes[1] = j.steps, 2 * longest + 1
    beta = new_empty(code, 0, -1, 2, sizes, NULL)
    numbers = new_numbers(&j, input_lengths, target_lengths, plain(targets, ST_int64))
    try:
        j.log_probs, j.losses, j.alpha = address(probs), address(losses), address(alpha)
        j.grads, j.beta, j.out = address(grads), address(beta), address(written)
        run_floating(<loop>backward[float], <loop>backward[double], &j, probs,
                     3 * alpha.c_numel + written.c_numel, (probs, losses, alpha, grads, written))
    finally:
        free(numbers)
    finish(out, written)
