"""How arguments reach kernels, modes and subclasses, by a second author."""


def _logger(s, log):
    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log(str(func), len(args), kwargs, [a for a in args if not isinstance(a, s.Tensor)])
            return func(*args, **(kwargs or {}))

    return M()


def _lib(s, ns, schema, log, name=None):
    lib = s.library.Library(ns, "DEF")
    lib.define(schema)
    name = name or schema.partition("(")[0]

    def kernel(*args, **kwargs):
        log("got", args, kwargs, [type(a).__name__ for a in args])
        return 0

    lib.impl(name, kernel, "CompositeExplicitAutograd")
    return lib, getattr(getattr(s.ops, ns), name.partition(".")[0])


def defaults_left_out(s, log):
    x = s.T.ones(2, 2)
    with _logger(s, log):
        s.T.add(x, x)
        s.T.add(x, x, alpha=1)
        s.T.add(x, x, alpha=2)
        s.T.add(x, x, alpha=1.0)
        s.T.sum(x, 0, False)
        s.T.sum(x, 0, True)
        s.T.sum(x, 0)
        s.T.sum(x, dim=[0], dtype=s.T.float32)
        x.flatten()
        s.T.clamp(x, None, 1)


def defaults_to_kernels(s, log):
    lib, f = _lib(
        s,
        "ma_def",
        "f(Tensor x, int a=1, float b=2.0, str c='q', bool d=False, int[] e=[1,2], "
        "*, int? k=None, float g=0.5) -> int",
        log,
    )
    x = s.T.ones(1)
    f(x)
    f(x, 1)
    f(x, 1, 2.0, "q", False, [1, 2])
    f(x, 1, 2.0, "q", True)
    f(x, d=True)
    f(x, 2, 2)
    f(x, k=None, g=0.5)
    f(x, k=3, g=1)
    f(x, e=(1, 2))
    f(x, e=[1, 3])
    log.attempt("true for int", f, x, True)


def int_conversions(s, log):
    lib, f = _lib(s, "ma_int", "f(int x, int? y=None) -> int", log)
    for v in (
        1,
        True,
        s.T.tensor(3),
        s.T.tensor([4]),
        s.T.tensor(2.5),
        1.0,
        "1",
        None,
        2**70,
        [1],
        s.T.tensor(True),
        s.T.ones(2),
    ):
        log.attempt("int", f, v)


def float_conversions(s, log):
    lib, f = _lib(s, "ma_float", "f(float x) -> int", log)
    for v in (
        1,
        True,
        1.5,
        s.T.tensor(3),
        s.T.tensor([4.5]),
        1j,
        "1",
        None,
        s.T.ones(2),
        10**400,
        float("nan"),
    ):
        log.attempt("float", f, v)


def bool_conversions(s, log):
    lib, f = _lib(s, "ma_bool", "f(bool x) -> int", log)
    for v in (True, 0, 1.0, s.T.tensor(True), None, "x", [True]):
        log.attempt("bool", f, v)


def scalar_conversions(s, log):
    lib, f = _lib(s, "ma_scalar", "f(Scalar x, Scalar? y=None) -> int", log)
    for v in (1, True, 1.5, 2j, s.T.tensor(3), s.T.tensor([4.5]), "1", None, s.T.ones(2)):
        log.attempt("scalar", f, v)
    log.attempt("both", f, 1, 2)


def string_and_device(s, log):
    lib, f = _lib(
        s,
        "ma_str",
        "f(str x, Device? d=None, ScalarType? t=None, Layout? l=None, MemoryFormat? m=None) -> int",
        log,
    )
    log.attempt("str", f, "a")
    log.attempt("int", f, 1)
    log.attempt("bytes", f, b"a")
    log.attempt("device str", f, "a", "cpu")
    log.attempt("device", f, "a", s.T.device("cuda:1"))
    log.attempt("device bad", f, "a", "nonsense")
    log.attempt("device int", f, "a", 0)
    log.attempt("dtype", f, "a", None, s.T.float16)
    log.attempt("dtype int", f, "a", None, 3)
    log.attempt("dtype type", f, "a", None, float)
    log.attempt("layout", f, "a", None, None, s.T.strided)
    log.attempt("format", f, "a", m=s.T.channels_last)
    log.attempt("format as layout", f, "a", l=s.T.channels_last)


def int_lists(s, log):
    lib, f = _lib(s, "ma_ints", "f(int[] x, int[2] y=1, int[]? z=None) -> int", log)
    for v in (
        [1, 2],
        (1, 2),
        [],
        3,
        s.T.Size([2, 3]),
        [1.5],
        ["a"],
        None,
        [s.T.tensor(3)],
        range(3),
        [True],
        {1},
    ):
        log.attempt("ints", f, v)
    log.attempt("fixed int", f, [1], 2)
    log.attempt("fixed list", f, [1], [2, 3])
    log.attempt("fixed wrong", f, [1], [2, 3, 4])
    log.attempt("optional", f, [1], z=[1])
    log.attempt("optional int", f, [1], z=4)


def tensor_lists(s, log):
    lib, f = _lib(s, "ma_ts", "f(Tensor[] x, Tensor?[]? y=None) -> int", log)
    a = s.T.ones(1)
    for v in ([a], (a, a), [], a, [None], [1], None, [a, None], [[a]]):
        log.attempt("tensors", f, v)
    log.attempt("opt", f, [a], [None, a])
    log.attempt("opt none", f, [a], [None])
    log.attempt("opt int", f, [a], [1])


def other_lists(s, log):
    lib, f = _lib(
        s, "ma_ol", "f(float[] a=[], bool[] b=[], str[]? c=None, Scalar[]? d=None) -> int", log
    )
    log.attempt("floats", f, [1, 2.5])
    log.attempt("float", f, 2.5)
    log.attempt("bools", f, b=[True, False])
    log.attempt("bools int", f, b=[1, 0])
    log.attempt("strs", f, c=["a"])
    log.attempt("str", f, c="ab")
    log.attempt("scalars", f, d=[1, 2.5, True])
    log.attempt("scalar", f, d=1)
    log.attempt("tuple", f, (1.0,), (True,), ("x",))


def tensors_and_numbers(s, log):
    lib, f = _lib(s, "ma_t", "f(Tensor x, Tensor? y=None) -> int", log)
    a = s.T.ones(1)
    for v in (
        a,
        1,
        1.5,
        True,
        None,
        "a",
        [a],
        a.numpy() if hasattr(a, "numpy") else 1,
        a.requires_grad_(),
    ):
        log.attempt("tensor", f, v)
    log.attempt("opt", f, a, None)
    log.attempt("opt int", f, a, 3)


def calls_that_do_not_fit(s, log):
    x = s.T.ones(2)
    op, fn = s.ops.aten.add.Tensor, s.T.add
    for label, call in (
        ("op none", lambda: op()),
        ("fn none", lambda: fn()),
        ("method none", lambda: x.add()),
        ("op many", lambda: op(x, x, 1, 2)),
        ("fn many", lambda: fn(x, x, x, x)),
        ("op kw", lambda: op(x, x, beta=1)),
        ("fn kw", lambda: fn(x, x, beta=1)),
        ("method kw", lambda: x.add(x, beta=1)),
        ("op twice", lambda: op(x, x, self=x)),
        ("fn twice", lambda: fn(x, x, input=x)),
        ("op str", lambda: op(x, "a")),
        ("fn str", lambda: fn(x, "a")),
        ("packet str", lambda: s.ops.aten.add(x, "a")),
        ("packet none", lambda: s.ops.aten.add()),
        ("op alpha", lambda: op(x, x, alpha="a")),
        ("fn alpha", lambda: fn(x, x, alpha="a")),
        ("op None", lambda: op(None, x)),
        ("fn None", lambda: fn(None, x)),
        ("op shape", lambda: op(x, s.T.ones(3))),
        ("fn shape", lambda: fn(x, s.T.ones(3))),
        ("sum dim", lambda: s.T.sum(x, 5)),
        ("op sum dim", lambda: s.ops.aten.sum.dim_IntList(x, [5])),
        ("iadd", lambda: x.add_(s.T.ones(3))),
        ("plus str", lambda: x + "a"),
        ("plus none", lambda: x + None),
    ):
        log.attempt(label, lambda call=call: (call(), "fine")[1])


def names_of_arguments(s, log):
    x = s.T.ones(2)
    log.attempt("input", lambda: s.T.add(input=x, other=1))
    log.attempt("self", lambda: s.T.add(self=x, other=1))
    log.attempt("op self", lambda: s.ops.aten.add.Tensor(self=x, other=x))
    log.attempt("op input", lambda: s.ops.aten.add.Tensor(input=x, other=x))
    log.attempt("method", lambda: x.add(other=2))
    log.attempt("mul mixed", lambda: s.ops.aten.mul.Tensor(x, other=3))
    log.attempt("dim axis", lambda: s.T.sum(x, axis=0))
    log.attempt("op axis", lambda: s.ops.aten.sum.dim_IntList(x, axis=[0]))
    log.attempt("keepdims", lambda: s.T.sum(x, dim=0, keepdims=True))
    log.attempt("x", lambda: s.T.add(x=x, y=x))
    log.attempt("kwonly", lambda: s.ops.aten.add.Tensor(x, x, 2))
    log.attempt("ns kw order", lambda: s.ops.aten.sub.Tensor(other=x, self=x + 1))


def numbers_as_tensors(s, log):
    x = s.T.ones(2)
    log.attempt("op", lambda: s.ops.aten.add.Tensor(x, 2))
    log.attempt("op first", lambda: s.ops.aten.add.Tensor(2, x))
    log.attempt("both", lambda: s.ops.aten.add.Tensor(2, 3))
    log.attempt("fn first", lambda: s.T.add(2, x))
    log.attempt("packet", lambda: s.ops.aten.add(2, 3))
    log.attempt("mul", lambda: s.ops.aten.mul.Tensor(2, 3))
    log.attempt("matmul", lambda: s.ops.aten.matmul.default(x, 2))
    log.attempt("eq", lambda: s.ops.aten.eq.Tensor(x, 1))
    log.attempt("float", lambda: s.ops.aten.mul.Tensor(s.T.ones(1, dtype=s.T.int64), 1.5))
    with _logger(s, log):
        s.ops.aten.add.Tensor(x, 2)
        s.T.add(x, 2)
        x * 2.5
        2 - x


def returns_from_kernels(s, log):
    lib = s.library.Library("ma_ret", "DEF")
    for i, (sig, v) in enumerate(
        (
            ("() -> int", 3),
            ("() -> int", 3.5),
            ("() -> float", 3),
            ("() -> ()", None),
            ("() -> ()", 4),
            ("() -> (int, int)", (1, 2)),
            ("() -> (int, int)", [1, 2]),
            ("() -> (int, int)", (1,)),
            ("() -> int[]", [1]),
            ("() -> int[]", (1, 2)),
            ("() -> str", "a"),
            ("() -> str", 1),
            ("() -> bool", 1),
            ("() -> bool", True),
            ("() -> Scalar", 1.5),
            ("() -> Tensor", 3),
            ("() -> Tensor", None),
            ("() -> Tensor?", None),
            ("() -> int", None),
            ("() -> Tensor[]", []),
            ("() -> (int a, str b)", (1, "x")),
            ("() -> int?", None),
            ("() -> ScalarType", s.T.float32),
            ("() -> Device", s.T.device("cpu")),
        )
    ):
        lib.define(f"f{i}{sig}")
        lib.impl(f"f{i}", lambda v=v: v, "CompositeExplicitAutograd")
        log.attempt(sig + " " + type(v).__name__, getattr(s.ops.ma_ret, f"f{i}").default)


def modes_return_numbers(s, log):
    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return 7

    x = s.T.ones(2)
    with M():
        log.attempt("op", lambda: s.ops.aten.add.Tensor(x, x))
        log.attempt("packet", lambda: s.ops.aten.add(x, x))
        log.attempt("fn", lambda: s.T.add(x, x))
        log.attempt("method", lambda: x.add(x))
        log.attempt("relu", lambda: s.ops.aten.relu.default(x))
        log.attempt("item", lambda: x.sum().item())
        log.attempt("plus", lambda: x + x)
        log.attempt("mul", lambda: s.ops.aten.mul.Tensor(x, 2))


def modes_return_oddities(s, log):
    box = [None]

    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return box[0]

    x = s.T.ones(2)
    for v in (None, "a", [x], (x,), x, object):
        box[0] = v
        with M():
            log.attempt("relu", lambda: type(s.ops.aten.relu.default(x)))
            log.attempt("topk", lambda: type(s.ops.aten.topk.default(x, 1)))
            log.attempt("unbind", lambda: type(s.ops.aten.unbind.int(x)))


def aliasing_of_lists(s, log):
    lib = s.library.Library("ma_al", "DEF")
    lib.define("f(int[] x, Tensor[] t) -> int")
    kept = []

    def kernel(x, t):
        kept.append((x, t))
        x.append(9)
        return len(x)

    lib.impl("f", kernel, "CompositeExplicitAutograd")
    mine, ts = [1, 2], [s.T.ones(1)]
    log(s.ops.ma_al.f(mine, ts), mine)
    log(kept[0][0] is mine, kept[0][1] is ts, kept[0][1][0] is ts[0])
    log(s.ops.ma_al.f(mine, ts), len(mine))


def default_values_are_fresh(s, log):
    lib = s.library.Library("ma_fresh", "DEF")
    lib.define("f(int[] x=[1, 2]) -> int[]")

    def kernel(x=None):
        log("kernel", x)
        return [3] if x is None else x

    lib.impl("f", kernel, "CompositeExplicitAutograd")
    log(s.ops.ma_fresh.f(), s.ops.ma_fresh.f([1, 2]), s.ops.ma_fresh.f([2]))
    log(s.ops.ma_fresh.f.default._schema.arguments[0].default_value)


def subclass_sees(s, log):
    class Sub(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log(str(func), [t.__name__ for t in types], len(args), kwargs)
            with s.C._DisableTorchDispatch() if False else s.T.no_grad():
                return s.T.zeros(1)

    x = s.T.ones(2).as_subclass(Sub)
    y = s.T.ones(2)
    s.ops.aten.add.Tensor(x, y, alpha=1)
    s.ops.aten.add.Tensor(y, x, alpha=2)
    s.T.cat([y, x])
    s.T.sum(x, dim=0, keepdim=True)
    s.ops.aten.clone.default(x, memory_format=None)
    s.ops.aten._to_copy.default(x, dtype=s.T.float64)


def callables_and_objects(s, log):
    lib, f = _lib(s, "ma_any", "f(Any x) -> int", log) if False else (None, None)
    lib = s.library.Library("ma_any2", "DEF")
    log.attempt("any", lambda: lib.define("f(Any x) -> int"))
    log.attempt("dict", lambda: lib.define("g(Dict(str, int) x) -> int"))
    log.attempt("tuple", lambda: lib.define("h((int, int) x) -> int"))
    log.attempt("symint", lambda: lib.define("i(SymInt x, SymInt[] y) -> SymInt"))
    log.attempt("generator", lambda: lib.define("j(Generator? g=None) -> int"))
    log.attempt("storage", lambda: lib.define("k(Storage g) -> int"))
    log.attempt("stream", lambda: lib.define("l(Stream g) -> int"))
    lib.impl("i", lambda x, y: x, "CompositeExplicitAutograd")
    log.attempt("sym", lambda: s.ops.ma_any2.i(4, [1]))
    log(s.ops.ma_any2.i.default._schema)
    lib.impl("j", lambda g=None: 1, "CompositeExplicitAutograd")
    log.attempt("gen", lambda: s.ops.ma_any2.j(s.T.Generator()))
    log.attempt("gen bad", lambda: s.ops.ma_any2.j(3))


def views_answered_with_what_is_there(s, log):
    box = [None]

    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return box[0]

    x, a = s.T.ones(4), s.ops.aten
    view, grad = x.view(4), s.T.ones(4, requires_grad=True)
    with s.T.inference_mode():
        inference = s.T.ones(4)
    for label, base, out in (
        ("itself", x, x), ("its base", view, x), ("a view", x, view), ("needs grad", x, grad),
        ("inference", x, inference), ("of inference", inference, inference), ("new", x, s.T.ones(4)),
    ):  # fmt: skip
        box[0] = out
        with M():
            log.attempt(label, lambda: a.alias.default(base) is out)  # noqa: B023
            log.attempt("custom", lambda: a.relu.default(base) is out)  # noqa: B023
    box[0] = grad
    with M():
        log(x.detach() is grad)
    log(grad.requires_grad)
    box[0] = view
    with M():
        log(x.detach() is view)
    log(view._is_view(), view._base is None)
