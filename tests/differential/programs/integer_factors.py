"""Integers: factors that are cut off, and losses of one row."""


def factors_of_integer_matrices(s, log):
    T = s.T
    m = T.ones(2, 4, dtype=T.int64)
    a, b = T.arange(6).reshape(1, 2, 3), T.arange(12).reshape(1, 3, 4)
    for beta, alpha in ((2.7, 1.9), (2.0, 1.0), (-0.5, -1.5), (True, 2)):
        log.attempt("addbmm", T.addbmm, m, a, b, beta=beta, alpha=alpha)
        log.attempt("floats", T.addbmm, m.float(), a.float(), b.float(), beta=beta, alpha=alpha)


def losses_of_one_row(s, log):
    T, nll = s.T, s.ops.aten.nll_loss_forward.default
    row, weight = T.tensor([1.0, 2.0, 3.0]), T.tensor([0.5, 0.25, 1.0])
    for reduction in (0, 1, 2):
        for target in (T.tensor(1), T.tensor([1]), T.tensor([1, 2]), T.tensor([1, 2, 0])):
            log.attempt(f"{reduction} {tuple(target.shape)}", nll, row, target, None, reduction, -100)
            log.attempt("weighted", nll, row, target, weight, reduction, -100)
            log.attempt("ignored", nll, row, target, None, reduction, 1)
    log.attempt("rows", nll, T.ones(2, 3), T.tensor([1, 2]), weight, 0, -100)
