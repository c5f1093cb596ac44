"""Keys and calls: the smallest programs."""


def key_sets(s, log):
    a = s.DispatchKeySet(s.DispatchKey.CPU)
    b = s.DispatchKeySet(s.DispatchKey.AutogradCPU)
    log(a, b, a | b, (a | b) - a, a & b)
    log((a | b).highestPriorityTypeId(), (a | b).has(s.DispatchKey.CPU))
    log.attempt("of a string", s.DispatchKeySet, "CPU")


def calls(s, log):
    x = s.T.ones(2, 3)
    log(s.ops.aten.add.Tensor(x, 1, alpha=2))
    log.attempt("no such argument", s.ops.aten.add.Tensor, x, 1, beta=2)
    log.attempt("as a function", s.T.add, x, "no")
    log.attempt("sizes that do not fit", s.ops.aten.add.Tensor, x, s.T.ones(4))
