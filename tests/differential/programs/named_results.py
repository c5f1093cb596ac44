"""Operators with several named results: what functions, methods, operators and modes give."""

import pickle


def _facts(log, label, r):
    kind = type(r)
    log(label, kind.__name__, isinstance(r, tuple), kind is tuple, len(r))
    log(
        " fields", [n for n in ("values", "indices", "var", "mean", "eigenvalues") if hasattr(r, n)]
    )


def functions_and_methods(s, log):
    T = s.T
    x = T.tensor([[1.0, 3.0, 2.0], [6.0, 4.0, 5.0]])
    for label, r in (
        ("max", T.max(x, 1)),
        ("x.max", x.max(1)),
        ("min", T.min(x, 0)),
        ("x.min keepdim", x.min(0, keepdim=True)),
        ("sort", T.sort(x)),
        ("x.sort", x.sort(0, descending=True)),
        ("stable", x.sort(stable=True)),
        ("topk", T.topk(x, 2)),
        ("x.topk", x.topk(1, 0)),
        ("var_mean", T.var_mean(x)),
        ("var_mean dim", T.var_mean(x, 0)),
        ("split", x.split(1)),
        ("unbind", T.unbind(x)),
        ("chunk", x.chunk(2)),
        ("ops max", s.ops.aten.max.dim(x, 1)),
        ("ops packet", s.ops.aten.max(x, 1)),
        ("ops sort", s.ops.aten.sort.default(x)),
        ("ops topk", s.ops.aten.topk(x, 1)),
        ("ops split", s.ops.aten.split.Tensor(x, 1)),
        ("ops unbind", s.ops.aten.unbind.int(x)),
    ):
        _facts(log, label, r)
        log(" ", *r)


def the_class(s, log):
    T = s.T
    x = T.tensor([[1.0, 3.0], [4.0, 2.0]])
    r = x.max(1)
    kind = type(r)
    log(kind.__name__, kind.__qualname__, kind.__module__.partition(".")[2])
    log(repr(r).partition(".")[2])
    log(str(T.sort(x)).partition(".")[2])
    log(r.values, r.indices, r[0] is r.values, r[1] is r.indices, r[-1] is r.indices)
    values, indices = r
    log(values is r.values, indices is r.indices, next(iter(r)) is values)
    log(kind is type(T.max(x, 0)), type(T.min(x, 0)) is kind, type(x.sort()) is type(T.sort(x)))
    log(
        T.return_types.max is kind,
        T.return_types.topk is type(x.topk(1)),
        T.return_types.sort is type(x.sort()),
    )
    log.attempt("no such", lambda: T.return_types.nothing)
    log.attempt("set", setattr, r, "values", 1)
    log.attempt("set item", lambda: r.__setitem__(0, 1))
    log.attempt("no field", lambda: r.mean)
    log(r == r, hash(r) == hash((r[0], r[1])), (*r, 1) == (values, indices, 1))
    log(type(r[:1]).__name__, type(r * 1).__name__)
    log.attempt("of a tuple", lambda: T.return_types.max((values, indices)).values)
    log.attempt("of a list", lambda: T.return_types.max([values, indices]).indices)
    log.attempt("of too few", lambda: T.return_types.max((values,)))
    log.attempt("n", lambda: (kind.n_fields, kind.n_sequence_fields, kind.n_unnamed_fields))
    log(
        "_fields",
        hasattr(r, "_fields"),
        "_replace",
        hasattr(r, "_replace"),
        "_asdict",
        hasattr(r, "_asdict"),
    )
    log("match_args", getattr(kind, "__match_args__", None))


def pickled(s, log):
    r = s.T.tensor([[1.0, 3.0]]).max(1)
    found = log.attempt("pickled", lambda: pickle.loads(pickle.dumps(r)))
    log(type(found) is type(r), found is not None and found.values)


def trees(s, log):
    x = s.T.tensor([[1.0, 3.0], [4.0, 2.0]])
    r = x.max(1)
    leaves, spec = s.pytree.tree_flatten(r)
    log(leaves)
    back = s.pytree.tree_unflatten(leaves, spec)
    log(type(back).__name__, type(back) is type(r))
    mapped = s.pytree.tree_map(lambda t: t + 1, r)
    log(type(mapped).__name__, mapped)
    log(s.pytree.tree_map_only(s.Tensor, lambda t: t.shape, r))


def with_out(s, log):
    T = s.T
    x = T.tensor([[1.0, 3.0], [4.0, 2.0]])
    a, b = T.empty(0), T.empty(0, dtype=T.int64)
    r = T.max(x, 1, out=(a, b))
    log(type(r).__name__, r[0] is a, r[1] is b, a, b)
    log(repr(r).partition(".")[2])
    r = T.max(x, 1, out=[T.empty(0), T.empty(0, dtype=T.int64)])
    log(type(r).__name__)
    log(type(T.max(x, 1, out=None)).__name__)
    log(type(T.sort(x, out=(T.empty(0), T.empty(0, dtype=T.int64)))).__name__)
    log(type(T.topk(x, 1, out=(T.empty(0), T.empty(0, dtype=T.int64)))).__name__)
    log.attempt("one", T.max, x, 1, out=a)
    log.attempt("three", T.max, x, 1, out=(a, b, a))
    log.attempt("numbers", T.max, x, 1, out=(1, 2))
    log.attempt("empty", T.max, x, 1, out=())
    log.attempt("for one result", lambda: T.add(x, x, out=(a,)))


def under_a_mode(s, log):
    T = s.T
    x = T.tensor([[1.0, 3.0], [4.0, 2.0]])

    class Seen(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            r = func(*args, **(kwargs or {}))
            log("seen", str(func), type(r).__name__)
            return r

    class AsList(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            r = func(*args, **(kwargs or {}))
            return list(r) if isinstance(r, tuple) else r

    class Short(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))[:1]

    with Seen():
        _facts(log, "max", x.max(1))
        _facts(log, "sort", T.sort(x))
        _facts(log, "split", x.split(1))
        _facts(log, "ops", s.ops.aten.max.dim(x, 1))
    with AsList():
        log.attempt("a list", lambda: type(x.max(1)).__name__)
        log.attempt("a list by ops", lambda: type(s.ops.aten.max.dim(x, 1)).__name__)
    with Short():
        log.attempt("too few", lambda: type(x.max(1)).__name__)


def of_fake_tensors(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(2, 3)
        for r in (x.max(1), x.sort(), x.topk(1), s.T.var_mean(x, 0)):
            _facts(log, "fake", r)
            log([tuple(t.shape) for t in r], type(r[0]).__name__)


def of_subclasses(s, log):
    class Sub(s.Tensor):
        pass

    x = s.T.tensor([[1.0, 3.0], [4.0, 2.0]]).as_subclass(Sub)
    r = x.max(1)
    _facts(log, "sub", r)
    log(
        type(r.values).__name__,
        type(r[1]).__name__,
        type(x.split(1)).__name__,
        type(x.split(1)[0]).__name__,
    )

    class Wrapped(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log("handler", str(func), len(args))
            return s.T.ones(2), s.T.ones(2)

    w = s.Tensor._make_subclass(Wrapped, s.T.ones(2, 2))
    log.attempt("handled", lambda: type(w.max(1)).__name__)


def data_and_copies_are_seen(s, log):
    import copy

    T = s.T

    class Seen(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            names.append(str(func))
            return func(*args, **(kwargs or {}))

    x = T.ones(2, 3)
    for label, f in (
        ("data", lambda: x.data),
        ("deepcopy", lambda: copy.deepcopy(x)),
        ("deepcopy of two", lambda: copy.deepcopy([x, x[0]])),
        ("copy", lambda: copy.copy(x)),
        ("pickle", lambda: pickle.loads(pickle.dumps(x))),
        ("reversed", lambda: reversed(x)),
        ("array", lambda: x.__array__().shape),
        ("numpy", lambda: x.numpy().shape),
        ("where", lambda: T.where(x > 0)),
        ("nonzero", lambda: x.nonzero(as_tuple=True)),
        ("T.nonzero", lambda: T.nonzero(x)),
        ("meta data", lambda: T.empty(2, device="meta").data),
        ("version", lambda: x.data._version),
    ):
        names = []
        with Seen():
            log.attempt(label, f)
        log(" ", names)
    before = x._version
    x.data.add_(1)
    log(x._version == before, x.data is x, x.data.requires_grad)
    g = T.ones(2, requires_grad=True)
    log(g.data.requires_grad, g.data.is_leaf, g.detach().requires_grad)
