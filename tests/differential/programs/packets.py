"""Packets: overloads by name, and which one a call reaches."""

_KEPT = []  # a library that goes takes its operators along


def _lib(s, ns, *schemas, key="CompositeExplicitAutograd"):
    lib = s.library.Library(ns, "DEF")
    _KEPT.append(lib)
    for schema in schemas:
        lib.define(schema)
        name = schema.partition("(")[0]
        lib.impl(name, lambda *a, n=name, **k: f"{n}:{len(a)}:{sorted(k)}", key)
    return lib


def attributes(s, log):
    _lib(s, "pk1", "f(Tensor x) -> str", "f.a(int x) -> str", "f.b(float x) -> str")
    p = s.ops.pk1.f
    log(
        p,
        repr(p),
        p.__name__,
        p._qualified_op_name,
        p.__module__.partition(".")[2],
        type(p).__name__,
    )
    log(p.overloads(), p._overload_names, list(p), p._dir, sorted(p._schemas))
    log(p.a, p.default, list(p), p._dir)
    log([str(o) for o in p.op_overloads()], list(p), [str(x) for x in p._schemas.values()])
    log(p is s.ops.pk1.f, p.a is p.a, p.a.overloadpacket is p, p.a._overloadpacket is p)
    log(p._has_torchbind_op_overload, p.op is p._op, callable(p.op), p.op.__name__)


def missing(s, log):
    _lib(s, "pk2", "f.a(int x) -> str")
    p = s.ops.pk2.f
    for name in ("b", "default", "__nothing__", "__origin__", "A", ""):
        log.attempt(name or "empty", getattr, p, name)
    log(hasattr(p, "a"), getattr(p, "zz", 5), list(p))


def identity(s, log):
    import copy

    _lib(s, "pk3", "f(int x) -> str", "g(int x) -> str")
    p, q = s.ops.pk3.f, s.ops.pk3.g
    log(p == p, p == q, p != q, hash(p) == hash(p), {p: 1}[p], copy.deepcopy(p) is p)
    log(
        p.default == p.default,
        p.default == q.default,
        hash(p.default) == hash(p.default),
        copy.deepcopy(p.default) is p.default,
    )
    log(p.default == "pk3.f.default", str(p) == "pk3.f", p.default != p)


def setting(s, log):
    _lib(s, "pk4", "f(int x) -> str")
    p = s.ops.pk4.f
    p.note = 3
    log(p.note, list(p), p.default, list(p))
    p.default.other = [1]
    log(p.default.other, s.ops.pk4.f.default.other)
    del p.note
    log.attempt("gone", getattr, p, "note")
    del p.default.other
    log.attempt("gone", getattr, p.default, "other")
    log.attempt("delete", delattr, p.default, "other")


def first_that_fits(s, log):
    _lib(
        s,
        "pk5",
        "f.i(int x) -> str",
        "f.fl(float x) -> str",
        "f.t(Tensor x) -> str",
        "f.l(int[] x) -> str",
        "f.s(str x) -> str",
        "f.n(int? x) -> str",
        "f.b(bool x) -> str",
    )
    p = s.ops.pk5.f
    x = s.T.ones(2)
    for _ in range(3):
        for label, v in (
            ("1", 1),
            ("1.5", 1.5),
            ("t", x),
            ("list", [1, 2]),
            ("tuple", (1,)),
            ("str", "a"),
            ("None", None),
            ("True", True),
            ("0d", s.T.tensor(3)),
            ("0d float", s.T.tensor(2.5)),
            ("dict", {}),
            ("complex", 1j),
        ):
            log.attempt(label, p, v)


def order_matters(s, log):
    _lib(
        s,
        "pk6",
        "f.b(bool x) -> str",
        "f.i(int x) -> str",
        "f.fl(float x) -> str",
        "f.s(Scalar x) -> str",
    )
    for _ in range(2):
        for v in (True, 1, 1.5, 1j, 2**70, s.T.tensor(1), s.T.tensor(1.5), s.T.tensor(True), "a"):
            log.attempt(str(v)[:8], s.ops.pk6.f, v)


def by_number_and_keyword(s, log):
    _lib(
        s,
        "pk7",
        "f(int x) -> str",
        "f.two(int x, int y) -> str",
        "f.k(int x, *, int k) -> str",
        "f.d(int x, float y, int z=3) -> str",
    )
    p = s.ops.pk7.f
    for _ in range(2):
        log.attempt("1", p, 1)
        log.attempt("2", p, 1, 2)
        log.attempt("k", p, 1, k=3)
        log.attempt("y", p, 1, y=3)
        log.attempt("y float", p, 1, y=3.5)
        log.attempt("x", p, x=1)
        log.attempt("z", p, 1, 2.5, z=4)
        log.attempt("3", p, 1, 2, 3)
        log.attempt("4", p, 1, 2, 3, 4)
        log.attempt("unknown", p, 1, q=2)
        log.attempt("twice", p, 1, x=2)
        log.attempt("none", p)


def lists(s, log):
    _lib(
        s,
        "pk8",
        "f.i(int[] x) -> str",
        "f.fl(float[] x) -> str",
        "f.t(Tensor[] x) -> str",
        "f.o(Tensor?[] x) -> str",
        "f.b(bool[] x) -> str",
        "f.s(str[] x) -> str",
    )
    x = s.T.ones(1)
    for _ in range(2):
        for label, v in (
            ("empty", []),
            ("ints", [1]),
            ("floats", [1.5]),
            ("mixed", [1, 1.5]),
            ("tensors", [x]),
            ("optional", [x, None]),
            ("bools", [True]),
            ("strs", ["a"]),
            ("0d", [s.T.tensor(1)]),
            ("nested", [[1]]),
        ):
            log.attempt(label, s.ops.pk8.f, v)


def sizes(s, log):
    _lib(s, "pk9", "f.two(int[2] x) -> str", "f.i(int x) -> str")
    for _ in range(2):
        for v in (1, [1], [1, 2], [1, 2, 3], (4, 5), s.T.Size([1, 2]), 1.5):
            log.attempt(str(len(v)) if hasattr(v, "__len__") else str(v), s.ops.pk9.f, v)


def types(s, log):
    _lib(s, "pk10", "f.d(Device x) -> str", "f.dt(ScalarType x) -> str", "f.s(str x) -> str")
    for _ in range(2):
        log.attempt("device", s.ops.pk10.f, s.T.device("cpu"))
        log.attempt("cpu", s.ops.pk10.f, "cpu")
        log.attempt("dtype", s.ops.pk10.f, s.T.float32)
        log.attempt("float", s.ops.pk10.f, 1.5)


def redefined(s, log):
    lib = _lib(s, "pk11", "f.i(int x) -> str")
    p = s.ops.pk11.f
    log.attempt("float", p, 1.5)
    log(p.overloads())
    lib.define("f.fl(float x) -> str")
    lib.impl("f.fl", lambda x: "float", "CompositeExplicitAutograd")
    log(s.ops.pk11.f is p)
    log.attempt("fl", lambda: p.fl(1.5))
    log.attempt("1", p, 1)
    s._ops._refresh_packet(p)
    log.attempt("float", p, 1.5)
    log(p.overloads())


def subclass_arguments(s, log):
    class A(s.Tensor):
        pass

    _lib(s, "pk12", "f.i(int x) -> str", "f.t(Tensor x) -> str")
    a = s.T.ones(2).as_subclass(A)
    p = s.T.nn.Parameter(s.T.ones(2)) if hasattr(s.T, "nn") else s.T.ones(2)
    log(s.ops.pk12.f(a), s.ops.pk12.f(p), s.ops.pk12.f(s.T.ones(2)), s.ops.pk12.f(a))


class _Index:
    def __index__(self):
        return 3


def indexable(s, log):
    import numpy

    _lib(s, "pk13", "f.i(int x) -> str", "f.fl(float x) -> str", "f.s(Scalar x) -> str")
    for _ in range(2):
        for v in (
            _Index(),
            numpy.int64(3),
            numpy.float64(1.5),
            numpy.float32(1.5),
            numpy.bool_(True),
        ):
            log.attempt(type(v).__name__, s.ops.pk13.f, v)


def aten(s, log):
    x = s.T.ones(2, 2)
    for _ in range(2):
        log(s.ops.aten.add(x, 1.5), s.ops.aten.add(x, x), s.ops.aten.add(x, 1, alpha=2))
        log(s.ops.aten.sum(x), s.ops.aten.sum(x, [0]), s.ops.aten.sum(x, dtype=s.T.float64))
        log(s.ops.aten.pow(x, 2), s.ops.aten.pow(2, x), s.ops.aten.pow(x, x))
        log(s.ops.aten.add(x, x, out=s.T.empty(2, 2)))
        log.attempt("bad", s.ops.aten.add, x, "a")
        log.attempt("none", s.ops.aten.add)


def under_a_mode(s, log):
    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log(func, args[1:], kwargs)
            return func(*args, **(kwargs or {}))

    x = s.T.ones(2)
    with M():
        s.ops.aten.add(x, 1.5)
        s.ops.aten.add(x, x, alpha=3)
        s.ops.aten.sum(x, [0])
        s.ops.aten.mul(x, 2)


def get_packet(s, log):
    _lib(s, "pk14", "f.a(int x) -> str")
    op, names = s._ops._get_packet("pk14::f", "m")
    log(callable(op), names)
    log.attempt("none", s._ops._get_packet, "pk14::nothing", "m")
    log(op(1))


def packet_fields(s, log):
    p = s.ops.aten.min
    log(str(p), repr(p), p.__name__)
    log(p.overloads())
    log(sorted(p._overload_names) == sorted(p.overloads()))
    log(p._qualified_op_name, p.default if "default" in p.overloads() else "no default")
    log.attempt("missing", lambda: p.nothing)
    log.attempt("dunder", lambda: p.__nothing__)
    log.attempt("ns missing", lambda: s.ops.aten.no_such_op_at_all)
    log(s.ops.aten.min is p, p.dim is p.dim, hash(p.dim) == hash(s.ops.aten.min.dim))
    log(isinstance(p, s._ops.OpOverloadPacket), isinstance(p.dim, s._ops.OperatorBase))
    log("dim" in dir(p), "add" in dir(s.ops.aten), "aten" in dir(s.ops))
    log([str(o) for o in iter(p)][0])
    log.attempt("has", lambda: p.has_kernel_for_dispatch_key(s.DispatchKey.CPU))
    log.attempt("schema", lambda: len(p._schemas))


def packet_calls(s, log):
    lib = s.library.Library("mr_p", "DEF")
    for n, sig in (
        ("f", "(Tensor x)"),
        ("f.int", "(Tensor x, int y)"),
        ("f.float", "(Tensor x, float y)"),
        ("f.t", "(Tensor x, Tensor y)"),
        ("f.kw", "(Tensor x, *, str z)"),
    ):
        lib.define(n + sig + " -> str")
        lib.impl(n, lambda *a, n=n, **k: n, "CPU")
    f, x = s.ops.mr_p.f, s.T.ones(1)
    log(f(x), f(x, 1), f(x, 1.5), f(x, x), f(x, z="a"))
    log(f.overloads())
    log.attempt("str", f, x, "a")
    log.attempt("bool", f, x, True)
    log.attempt("none", f, x, None)
    log.attempt("kw", lambda: f(x, q=1))
    log.attempt("no args", f)
    log.attempt("by name", lambda: f(x=x, y=2))
    log.attempt("default", lambda: f.default(x, 1))
    log.attempt("resolve", s.C._jit_resolve_packet, "mr_p::f", x, 1.5)
