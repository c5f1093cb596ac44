"""The built-in higher-order operators: without modes, on fake tensors, functionalized."""


def _built_in(s):
    return s.ops.higher_order


def cond_picks_a_branch(s, log):
    T, cond = s.T, _built_in(s).cond
    x = T.arange(4.0)
    for pred in (True, False, T.tensor(True), T.tensor([0]), T.tensor(2.5), 0, 3):
        log.attempt(str(pred), cond, pred, lambda t: (t.sin(),), lambda t: (t + 1,), (x,))
    log.attempt("two", cond, T.tensor(True), lambda a, b: (a + b, a), lambda a, b: (a, b), (x, x))
    log.attempt("ints", cond, True, lambda a, n: (a + n,), lambda a, n: (a,), (x, 2))
    log.attempt("none", cond, True, lambda: (T.ones(1),), lambda: (T.zeros(1),), ())
    log.attempt("str", cond, True, lambda a: a, lambda a: a, ("x",))
    log.attempt("list", cond, True, lambda a: a, lambda a: a, [x])
    log.attempt("empty pred", cond, T.ones(2), lambda a: a, lambda a: a, (x,))


def cond_by_numbers(s, log):
    T = s.T
    for pred in (True, False, 0, 1.5):
        log.attempt(str(pred), T.cond, pred, lambda a: a + 1, lambda a: a - 1, (T.ones(2),))
    log.attempt("no operands", T.cond, True, lambda: 3, lambda: 4)
    log.attempt("str", T.cond, "x", lambda: 3, lambda: 4)
    log.attempt("two elements", T.cond, T.ones(2), lambda: 3, lambda: 4)
    log.attempt("no function", T.cond, T.tensor(True), 3, lambda: 4)
    log.attempt("operands", T.cond, T.tensor(True), lambda a: a, lambda a: a, (3,))
    log.attempt("no tuple", T.cond, T.tensor(True), lambda a: a, lambda a: a, T.ones(1))


def while_loops(s, log):
    T, loop = s.T, _built_in(s).while_loop
    start = (T.tensor(0), T.ones(2))
    log.attempt("three", loop, lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), start, ())
    log.attempt("none", loop, lambda i, x: i > 3, lambda i, x: (i + 1, x * 2), start, ())
    more = (T.tensor([10.0]),)
    log.attempt("more", loop, lambda i, x, y: i < 2, lambda i, x, y: (i + 1, x + y), start, more)
    log.attempt("int", loop, lambda n, x: n < 2, lambda n, x: (n + 1, x + n), (0, T.ones(1)), ())
    log.attempt("bool", loop, lambda x: False, lambda x: (x,), (T.ones(1),), ())
    log.attempt("cond", loop, lambda x: x, lambda x: (x,), (T.ones(1),), ())
    log.attempt("cond int", loop, lambda x: 1, lambda x: (x,), (T.ones(1),), ())
    log.attempt("list", loop, lambda x: x.sum() < 3, lambda x: [x + 1], (T.ones(1),), ())
    log.attempt("two", loop, lambda x: x.sum() < 3, lambda x: (x + 1, x), (T.ones(1),), ())
    log.attempt("carried", loop, lambda x: True, lambda x: (x,), T.ones(1), ())
    log.attempt("additional", loop, lambda x: True, lambda x: (x,), (T.ones(1),), 3)
    log.attempt("str", loop, lambda x: True, lambda x: (x,), ("s",), ())


def maps(s, log):
    T, apply = s.T, _built_in(s).map_impl
    x = T.arange(6.0).reshape(3, 2)
    log.attempt("one", apply, lambda r: (r.sum(),), [x], [])
    log.attempt("two", apply, lambda r, q, n: [r + q, r * n], [x, x], [3])
    log.attempt("bare", apply, lambda r: r + 1, [x], [])
    log.attempt("nested", apply, lambda r: {"a": r, "b": (r,)}, [x], [])
    log.attempt("number", apply, lambda r: (1,), [x], [])
    log.attempt("None", apply, lambda r: (None, r), [x], [])


def scans(s, log):
    T, scan = s.T, _built_in(s).scan
    x = T.arange(6.0).reshape(3, 2)
    log.attempt("sums", scan, lambda c, r: [c + r, c * 1], [T.zeros(2)], [x], ())
    log.attempt("more", scan, lambda c, r, k: [c + r * k, r], [T.zeros(2)], [x], (T.tensor(2.0),))
    log.attempt("two", scan, lambda c, d, r: [c + r, d * 2, r, c], [T.zeros(2), T.ones(2)], [x], [])
    log.attempt("empty", scan, lambda c: [c], [T.zeros(2)], [], ())
    log.attempt("str", scan, lambda c, r: [c, r], [T.zeros(2)], [x], 3)


def results_in_another_dtype(s, log):
    T, o, out = s.T, s.ops.aten, _built_in(s).out_dtype
    a = T.tensor([[1, 2], [3, 4]], dtype=T.int8)
    log.attempt("mm", out, o.mm.default, T.int32, a, a)
    log.attempt("mul", out, o.mul.Tensor, T.float32, a, a)
    log.attempt("scalar", out, o.mul.Scalar, T.float64, a.float(), 2.5)
    log.attempt("div", out, o.div.Tensor, T.int32, a, a)
    log.attempt("half", out, o.mul.Tensor, T.float16, a.float(), a.float())
    for op in (o.add.Tensor, o.add_.Tensor, o.max.dim, o.mul, 3):
        log.attempt(str(op), out, op, T.int32, a, a)


def operators_that_write(s, log):
    lib = s.library.Library("hos", "FRAGMENT")
    lib.define("one(Tensor(a!) x, Tensor y) -> ()")
    lib.define("two(Tensor(a!) x, Tensor(b!)[] y, Tensor(c!)? z=None) -> Tensor")
    lib.define("view(Tensor(a!) x) -> Tensor(a!)")
    lib.define("reads(Tensor x) -> Tensor")

    def one(x, y):
        x.add_(y)

    def two(x, y, z=None):
        x.mul_(2)
        y[0].zero_()
        return x.sum()

    lib.impl("one", one, "CompositeExplicitAutograd")
    lib.impl("two", two, "CompositeExplicitAutograd")
    T, run, ops = s.T, _built_in(s).auto_functionalized, s.ops.hos
    x, y = T.ones(2, 3).t(), T.ones(1)
    log.attempt("one", run, ops.one.default, x=x, y=y)
    log.attempt("two", run, ops.two.default, x=x, y=[y, y], z=None)
    log.attempt("two", run, ops.two.default, x=x[1:], y=[y], z=y)
    log(x, y)
    for op in (ops.view.default, ops.reads.default, s.ops.aten.add_.Tensor, ops.one, 3):
        log.attempt("refused", run, op, x=x)


def on_fake_tensors(s, log):
    T, h = s.T, _built_in(s)
    with s.fake.FakeTensorMode():
        x, p = T.ones(3, 2), T.ones((), dtype=T.bool)
        log.attempt("cond", h.cond, p, lambda t: (t.sin(),), lambda t: (t.cos(),), (x,))
        log.attempt("other", h.cond, p, lambda t: (t.sin(),), lambda t: [t.cos()], (x,))
        log.attempt("dtypes", h.cond, p, lambda t: (t.double(),), lambda t: (t,), (x,))
        log.attempt("dims", h.cond, p, lambda t: (t[0],), lambda t: (t,), (x,))
        log.attempt("ints", h.cond, p, lambda t: (1, t), lambda t: (1, t), (x,))
        log.attempt("None", h.cond, p, lambda t: (None, t), lambda t: (None, t), (x,))
        log.attempt("map", h.map_impl, lambda r, k: (r.t() if r.ndim > 1 else r + k,), [x], [2])
        log.attempt("scan", h.scan, lambda c, r: [c + r, r * 2], [x[0]], [x], ())
        log.attempt("out_dtype", h.out_dtype, s.ops.aten.mul.Tensor, T.float64, x, x)
    log.attempt("outside", h.cond, p, lambda t: (t.sin(),), lambda t: (t.cos(),), (x,))


def under_a_mode(s, log):
    class Takes(s.modes.TorchDispatchMode):
        supports_higher_order_operators = True

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log("asked for", str(func), len(args))
            return func(*args, **(kwargs or {}))

    class Refuses(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    x, h = s.T.ones(2), _built_in(s)
    for mode in (Takes(), Refuses()):
        with mode:
            log.attempt("cond", h.cond, True, lambda t: (t + 1,), lambda t: (t,), (x,))
            log.attempt("map", h.map_impl, lambda r: (r + 1,), [x], [])
            log.attempt("out_dtype", h.out_dtype, s.ops.aten.mul.Tensor, s.T.float64, x, x)


def functionalized(s, log):
    T, h = s.T, _built_in(s)

    def cond(x):
        return h.cond(T.tensor(True), lambda t: (t.sin(),), lambda t: (t.cos(),), (x,))

    def scanned(x):
        return h.scan(lambda c, r: [c + r, c * r], [x[0]], [x], ())

    def looped(x):
        return h.while_loop(lambda t: t.sum() < 20, lambda t: (t * 2,), (x,), ())

    def cast(x):
        return h.out_dtype(s.ops.aten.mul.Tensor, T.float64, x, x)

    for f in (cond, scanned, looped, cast):
        with s.functional.FunctionalTensorMode():
            x = s.functional.FunctionalTensor.to_functional(T.arange(4.0).reshape(2, 2))
            log.attempt(f.__name__, lambda f=f, x=x: type(f(x)).__name__)


def names_and_keys(s, log):
    h = _built_in(s)
    for name in ("cond", "map_impl", "out_dtype", "scan", "while_loop", "auto_functionalized"):
        op = getattr(h, name)
        log(name, op.name(), str(op), op.namespace, type(op).__name__, op.cacheable())
        log(s.DispatchKey.CompositeExplicitAutograd in op.py_kernels, type(op.py_kernels).__name__)
        log(s.DispatchKey.Functionalize in op.py_kernels, s.fake.FakeTensorMode in op.python_key_table)
    log.attempt("no such", getattr, h, "no_such_operator")


def with_gradients(s, log):
    T, h = s.T, _built_in(s)
    x = T.arange(4.0).requires_grad_()
    log.attempt("cond", lambda: h.cond(True, lambda t: (t * 2,), lambda t: (t,), (x,))[0].requires_grad)
    log.attempt("out_dtype", lambda: h.out_dtype(s.ops.aten.mul.Tensor, T.float64, x, x).requires_grad)
    with T.no_grad():
        log.attempt("no_grad", h.cond, True, lambda t: (t * 2,), lambda t: (t,), (x,))


def operators_that_write_under_the_mode(s, log):
    lib = s.library.Library("hom", "FRAGMENT")
    lib.define("one(Tensor(a!) x, Tensor y) -> ()")
    lib.define("two(Tensor(a!) x, Tensor(b!)[] ys, *, Tensor(c!)? z=None, int n=2) -> Tensor")
    lib.define("three(Tensor(a!) x) -> (Tensor, Tensor)")
    lib.define("view(Tensor(a!) x) -> Tensor(a!)")

    def one(x, y):
        x.add_(y)

    def two(x, ys, z=None, n=2):
        x.mul_(n)
        ys[0].zero_()
        return x.sum()

    def three(x):
        x.neg_()
        return x + 1, x + 2

    for name, kernel in (("one", one), ("two", two), ("three", three), ("view", lambda x: x)):
        lib.impl(name, kernel, "CompositeExplicitAutograd")
    T, F, ops = s.T, s.functional.FunctionalTensor, s.ops.hom
    plain = [T.arange(4.0), T.ones(2, 2), T.ones(4)]
    with s.functional.FunctionalTensorMode():
        x, y, z = map(F.to_functional, plain)
        log.attempt("one", ops.one.default, x.view(2, 2), y)
        log.attempt("two", lambda: F.from_functional(ops.two.default(x[1:], [y], z=z, n=3)))
        log.attempt("three", lambda: [type(t).__name__ for t in ops.three.default(x)])
        log.attempt("view", ops.view.default, x)
    log(*(F.from_functional(t).tolist() for t in (x, y, z)))
    log(plain)
