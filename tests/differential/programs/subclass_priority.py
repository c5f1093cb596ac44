"""Who is asked first: modes, subclasses before their bases, then from left to right."""

from typing import Any


def _classes(s, order, declines=()):
    def make(name, base, handles=True):
        def dispatch(cls, func, types, args=(), kwargs=None):
            order.append((name, cls.__name__, tuple(t.__name__ for t in types)))
            return NotImplemented if name in declines else s.T.zeros(1)

        body = {"__torch_dispatch__": classmethod(dispatch)} if handles else {}
        return type(name, (base,), body)

    A = make("A", s.Tensor)
    B = make("B", A)
    D = make("D", s.Tensor)
    return {"A": A, "B": B, "C": make("C", B), "D": D, "E": make("E", A, False), "P": s.Tensor}


def _x(s, cls):
    return s.Tensor._make_subclass(cls, s.T.ones(2)) if cls is not s.Tensor else s.T.ones(2)


def _flush(log, order):
    for line in order:
        log("   ", *map(str, line))
    order.clear()


def two_arguments(s, log):
    order = []
    k = _classes(s, order)
    for pair in (
        "AA",
        "AB",
        "BA",
        "AD",
        "DA",
        "BD",
        "DB",
        "AP",
        "PA",
        "CB",
        "BC",
        "CA",
        "AE",
        "EA",
        "EB",
        "BE",
        "EE",
    ):
        log.attempt(pair, s.ops.aten.add.Tensor, *[_x(s, k[c]) for c in pair])
        _flush(log, order)


def three_arguments(s, log):
    order = []
    k = _classes(s, order)
    for triple in ("ABC", "CBA", "ADB", "DAB", "DBA", "ABD", "BDA", "PPA", "AAA", "EDC"):
        c, a, b = (_x(s, k[x]) for x in triple)
        log.attempt(triple, s.ops.aten.addcmul.default, c, a, b)
        _flush(log, order)


def all_decline(s, log):
    order = []
    k = _classes(s, order, declines="ABCD")
    for triple in ("ABC", "ADB", "DAB", "PPA", "AAA"):
        c, a, b = (_x(s, k[x]) for x in triple)
        log.attempt(triple, s.ops.aten.addcmul.default, c, a, b)
        _flush(log, order)


def some_decline(s, log):
    order = []
    k = _classes(s, order, declines="BC")
    for triple in ("ABC", "CBD", "DCA", "CBP", "BBB"):
        c, a, b = (_x(s, k[x]) for x in triple)
        log.attempt(triple, s.ops.aten.addcmul.default, c, a, b)
        _flush(log, order)


def lists_of_tensors(s, log):
    order = []
    k = _classes(s, order)
    for names in ("AB", "BA", "PA", "PP", "DAB", "ABDC", "E"):
        log.attempt(names, s.T.cat, [_x(s, k[c]) for c in names])
        _flush(log, order)
    log.attempt("tuple", s.ops.aten.cat.default, (_x(s, k["A"]), _x(s, k["B"])))
    _flush(log, order)


def optional_lists(s, log):
    order = []
    k = _classes(s, order)
    x = s.T.ones(2, 2)
    i = s.Tensor._make_subclass(k["A"], s.T.tensor([0, 1]))
    log.attempt("index", s.ops.aten.index.Tensor, x, [None, i])
    _flush(log, order)
    log.attempt("index by subclass", lambda: x[i])
    _flush(log, order)
    log.attempt("index_put", s.ops.aten.index_put.default, x, [i], _x(s, k["B"]))
    _flush(log, order)


def optional_and_keyword_arguments(s, log):
    order = []
    k = _classes(s, order)
    lib = s.library.Library("sporder", "DEF")
    lib.define(
        "f(Tensor a, Tensor? b=None, *, Tensor[] c, Tensor? d=None, Tensor(a!)? out=None) -> Tensor"
    )
    lib.impl("f", lambda *a, **k: s.T.ones(1), "CompositeExplicitAutograd")
    p, a, b, d = (_x(s, k[c]) for c in "PABD")
    f = s.ops.sporder.f
    for label, args, kwargs in (
        ("plain", (p,), {"c": []}),
        ("optional", (p, a), {"c": []}),
        ("list", (p, None), {"c": [a, b]}),
        ("keyword", (p,), {"d": d, "c": []}),
        ("keywords", (p,), {"out": a, "d": d, "c": []}),
        ("mixed", (a, d), {"d": b, "c": []}),
        ("same class twice", (a, a), {"d": a, "c": [a]}),
    ):
        log.attempt(label, f, *args, **kwargs)
        _flush(log, order)


def modes_first(s, log):
    order = []
    k = _classes(s, order)

    class M(s.modes.TorchDispatchMode):
        def __init__(self, n, declines=False):
            super().__init__()
            self.n, self.declines = n, declines

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            order.append((f"mode {self.n}", tuple(t.__name__ for t in types)))
            return NotImplemented if self.declines else func(*args, **(kwargs or {}))

    a, b, p = (_x(s, k[c]) for c in "ABP")
    with M(1):
        log.attempt("one", s.T.add, a, b)
        _flush(log, order)
        with M(2):
            log.attempt("two", s.T.add, a, b)
            _flush(log, order)
            log.attempt("plain", s.T.add, p, p)
            _flush(log, order)
    with M(1), M(2, True):
        log.attempt("inner declines", s.T.add, a, b)
        _flush(log, order)
        log.attempt("inner declines, plain", s.T.add, p, p)
        _flush(log, order)


def types_have_no_plain_tensors(s, log):
    seen = []

    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append((types, type(types).__name__))
            return func(*args, **(kwargs or {}))

    with M():
        s.T.ones(2) + 1
        s.T.ones(2)
    log([(len(t), n) for t, n in seen])


def classes_without_a_handler_are_not_types(s, log):
    class Plain(s.Tensor):
        pass

    seen = []

    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append([t.__name__ for t in types])
            return func(*args, **(kwargs or {}))

    p = s.Tensor._make_subclass(Plain, s.T.ones(2))
    with M():
        r = s.ops.aten.neg.default(p)
        log(type(r))
        r = p + 1
    log(seen)


def handlers_see_cls(s, log):
    seen = []

    class A(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            seen.append(cls.__name__)
            return s.T.ones(1)

    class B(A):
        pass

    class S(s.Tensor):
        @staticmethod
        def __torch_dispatch__(func, types, args=(), kwargs=None):
            seen.append(f"static {len(args)} {[t.__name__ for t in types]}")
            return s.T.ones(1)

    for cls in (A, B, S):
        x = s.Tensor._make_subclass(cls, s.T.ones(2))
        s.T.neg(x)
        s.ops.aten.add.Tensor(s.T.ones(2), x)
    log(seen)
    seen.clear()
    a, b = (s.Tensor._make_subclass(c, s.T.ones(2)) for c in (A, B))
    s.T.add(a, b)
    log(seen)


def super_calls_up(s, log):
    seen = []

    class A(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            seen.append(("A", cls.__name__))
            return s.T.ones(1)

    class B(A):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            seen.append(("B", cls.__name__))
            return super().__torch_dispatch__(func, types, args, kwargs)

    s.T.neg(s.Tensor._make_subclass(B, s.T.ones(2)))
    log(seen)


def super_of_tensor(s, log):
    class A(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            r = super().__torch_dispatch__(func, types, args, kwargs or {})
            log("inner", type(r))
            return r

    x = s.Tensor._make_subclass(A, s.T.ones(2))
    log.attempt("neg", lambda: type(s.T.neg(x)))
    log.attempt("add", lambda: type(x + 1))
    log(
        hasattr(s.Tensor, "__torch_dispatch__"),
        s.Tensor.__torch_dispatch__ is s.C._disabled_torch_dispatch_impl,
    )


def metaclasses_and_mixins(s, log):
    seen = []

    class Mixin:
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            seen.append((cls.__name__, str(func)))
            return s.T.ones(1)

    class A(Mixin, s.Tensor):
        pass

    class B(s.Tensor, Mixin):
        pass

    for cls in (A, B):
        x = s.Tensor._make_subclass(cls, s.T.ones(2))
        log(s.C._dispatch_keys(x), type(s.ops.aten.neg.default(x)))
    log(seen)


def unrelated_subclass_of_second_argument(s, log):
    """A subclass found later comes before its base, not before others."""
    order = []
    k = _classes(s, order, declines="ABCD")
    lib = s.library.Library("spmany", "DEF")
    lib.define("f(Tensor a, Tensor b, Tensor c, Tensor d, Tensor e) -> Tensor")
    lib.impl("f", lambda *a: a[0], "CompositeExplicitAutograd")
    for names in ("ADBCP", "DABCA", "ADCBE", "EADBC", "CDBAE"):
        log.attempt(names, s.ops.spmany.f, *[_x(s, k[c]) for c in names])
        _flush(log, order)


def priority_of_subclasses(s: Any, log: Any) -> None:
    T = s.T
    make = s.Tensor._make_subclass

    class A(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log("A", [t.__name__ for t in types])
            return NotImplemented

    class B(A):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log("B", [t.__name__ for t in types])
            return NotImplemented

    class C(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log("C", [t.__name__ for t in types])
            return "C"

    a, b, c = (make(k, T.ones(1)) for k in (A, B, C))
    log.attempt("a b", T.add, a, b)
    log.attempt("a b c", T.cat, [a, b, c])
    log.attempt("c a", s.ops.aten.add.Tensor, c, a)
    log.attempt("a a", s.ops.aten.add.Tensor, a, a)
