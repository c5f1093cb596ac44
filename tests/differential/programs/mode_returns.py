"""What a mode, a subclass or a Python kernel may return, and what comes of it."""

import warnings
from typing import Any

from tests.differential.helpers import logging_mode


def _mode(s, answer):
    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return answer(func, args, kwargs or {})

    return M()


def _show(v):
    return "NotImplemented" if v is NotImplemented else repr(v)


SIMPLE = (None, 7, 2.5, True, 1j, "text", [], (), {}, NotImplemented, object)


def _try_all(s, log, call, extra=()):
    for value in (*SIMPLE, *extra):
        label = value.__name__ if isinstance(value, type) else _show(value)
        with _mode(s, lambda f, a, k, value=value: value):
            try:
                r = call()
            except Exception as e:
                log(label, "raises", type(e).__name__)
                continue
        log(label, "->", type(r), r)
        log(s.C._len_torch_dispatch_stack())


def one_tensor_from_overload(s, log):
    x = s.T.ones(2)
    _try_all(s, log, lambda: s.ops.aten.add.Tensor(x, x))


def one_tensor_from_packet(s, log):
    x = s.T.ones(2)
    _try_all(s, log, lambda: s.ops.aten.add(x, x))


def one_tensor_from_function(s, log):
    x = s.T.ones(2)
    _try_all(s, log, lambda: s.T.add(x, x))


def one_tensor_from_method(s, log):
    x = s.T.ones(2)
    _try_all(s, log, lambda: x.add(x))


def one_tensor_from_python_operator(s, log):
    x = s.T.ones(2)
    _try_all(s, log, lambda: x + x)


def one_tensor_from_unary(s, log):
    x = s.T.ones(2)
    _try_all(s, log, lambda: s.ops.aten.neg.default(x))
    _try_all(s, log, lambda: s.T.neg(x))


def numbers_by_operator(s, log):
    x = s.T.ones(2)
    calls = {
        "add": (x, x),
        "sub": (x, x),
        "mul": (x, x),
        "div": (x, x),
        "pow": (x, x),
        "eq": (x, x),
        "lt": (x, x),
        "maximum": (x, x),
        "atan2": (x, x),
        "bitwise_and": (x, x),
        "remainder": (x, x),
        "fmod": (x, x),
        "floor_divide": (x, x),
        "rsub": (x, x),
        "mm": (x, x),
        "relu": (x,),
        "sum": (x,),
        "clone": (x,),
        "matmul": (x, x),
        "logical_and": (x, x),
        "where": (x > 0, x, x),
    }
    for name, args in calls.items():
        with _mode(s, lambda f, a, k: 3):
            log.attempt(name, getattr(s.ops.aten, name), *args)


def number_from_inference(s, log):
    with s.T.inference_mode():
        x = s.T.ones(2)
        with _mode(s, lambda f, a, k: 3):
            log.attempt("add", s.ops.aten.add.Tensor, x, x)
            log.attempt("neg", s.ops.aten.neg.default, x)
            log.attempt("add function", s.T.add, x, x)


def no_return_value(s, log):
    lib = s.library.Library("mrnone", "DEF")
    lib.define("f(Tensor x) -> ()")
    lib.impl("f", lambda x: None, "CompositeExplicitAutograd")
    x = s.T.ones(2)
    _try_all(s, log, lambda: s.ops.mrnone.f(x), (x,))


def two_tensors(s, log):
    lib = s.library.Library("mrtwo", "DEF")
    lib.define("f(Tensor x) -> (Tensor, Tensor)")
    lib.impl("f", lambda x: (x, x), "CompositeExplicitAutograd")
    x, y = s.T.ones(2), s.T.zeros(3)
    log.attempt("f", s.ops.mrtwo.f, x)
    extra = (
        (x, y),
        [x, y],
        (x,),
        x,
        (None, x),
        (x, 3),
        iter([x, y]),
        {0: x, 1: y},
        "ab",
        s.T.Size([1, 2]),
    )
    for i, value in enumerate((*SIMPLE, *extra)):
        with _mode(s, lambda f, a, k, value=value: value):
            try:
                r = s.ops.mrtwo.f(x)
            except Exception as e:
                log(str(i), "raises", type(e).__name__)
                continue
        log(str(i), "->", type(r), r)


def list_of_tensors(s, log):
    lib = s.library.Library("mrlist", "DEF")
    lib.define("f(Tensor x) -> Tensor[]")
    lib.impl("f", lambda x: [x], "CompositeExplicitAutograd")
    x, y = s.T.ones(2), s.T.zeros(3)
    extra = ((x, y), [x, y], (x,), [], x, (None, x), [x, 3], iter([x, y]), {0: x}, [[x]])
    for i, value in enumerate((*SIMPLE, *extra)):
        with _mode(s, lambda f, a, k, value=value: value):
            try:
                r = s.ops.mrlist.f(x)
            except Exception as e:
                log(str(i), "raises", type(e).__name__)
                continue
        log(str(i), "->", type(r), r)


def _by_return_type(s, log, ns, returns, values):
    lib = s.library.Library(ns, "DEF")
    lib.define(f"f(Tensor x) -> {returns}")
    lib.impl("f", lambda x: None, "CompositeExplicitAutograd")
    x = s.T.ones(2)
    for i, value in enumerate(values):
        with _mode(s, lambda f, a, k, value=value: value):
            try:
                r = getattr(s.ops, ns).f(x)
            except Exception as e:
                log(str(i), "raises", type(e).__name__)
                continue
        log(str(i), "->", type(r), r)


def ints(s, log):
    _by_return_type(
        s, log, "mrint", "int", (*SIMPLE, s.T.tensor(3), s.T.tensor(2.5), s.T.ones(2), 2**70)
    )


def floats(s, log):
    _by_return_type(
        s, log, "mrfloat", "float", (*SIMPLE, s.T.tensor(3), s.T.tensor(2.5), s.T.ones(2))
    )


def bools(s, log):
    _by_return_type(s, log, "mrbool", "bool", (*SIMPLE, 0, s.T.tensor(True), s.T.ones(2)))


def scalars(s, log):
    _by_return_type(s, log, "mrscalar", "Scalar", (*SIMPLE, s.T.tensor(3), s.T.tensor(2.5)))


def strings(s, log):
    _by_return_type(s, log, "mrstr", "str", (*SIMPLE, b"bytes"))


def int_lists(s, log):
    _by_return_type(
        s,
        log,
        "mrints",
        "int[]",
        (*SIMPLE, [1, 2], (1, 2), [1.5], ["a"], s.T.Size([1]), s.T.ones(2)),
    )


def optional_tensor(s, log):
    _by_return_type(s, log, "mropt", "Tensor?", (*SIMPLE, s.T.ones(2)))


def optional_int(s, log):
    _by_return_type(s, log, "mropti", "int?", (*SIMPLE, s.T.tensor(1)))


def sym_ints(s, log):
    _by_return_type(s, log, "mrsym", "SymInt", (*SIMPLE, s.T.tensor(3)))


def two_mixed(s, log):
    x = s.T.ones(2)
    _by_return_type(s, log, "mrmix", "(Tensor, int)", (*SIMPLE, (x, 1), [x, 1], (1, x), (x, None)))


def kernels_return(s, log):
    """The same from Python kernels of a backend key."""
    lib = s.library.Library("mrk", "DEF")
    box = [None]
    for name, returns in {
        "t": "Tensor",
        "n": "()",
        "tt": "(Tensor, Tensor)",
        "i": "int",
        "l": "Tensor[]",
        "o": "Tensor?",
        "f": "float",
        "b": "bool",
    }.items():
        lib.define(f"{name}(Tensor x) -> {returns}")
        lib.impl(name, lambda x: box[0], "CPU")
    x = s.T.ones(2)
    values = (None, 7, 2.5, True, "text", x, (x, x), [x, x], (x,), NotImplemented)
    for name in ("t", "n", "tt", "i", "l", "o", "f", "b"):
        for i, value in enumerate(values):
            box[0] = value
            try:
                r = getattr(s.ops.mrk, name)(x)
            except Exception as e:
                log(name, str(i), "raises", type(e).__name__)
                continue
            log(name, str(i), "->", type(r), r)


def subclasses_return(s, log):
    box = [None]

    class W(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return box[0]

    x = s.Tensor._make_subclass(W, s.T.ones(2))
    plain = s.T.zeros(3)
    for i, value in enumerate((*SIMPLE, plain, x, (plain,), [plain])):
        box[0] = value
        for name, call in {
            "overload": lambda: s.ops.aten.add.Tensor(x, x),
            "function": lambda: s.T.add(x, 1),
            "unary": lambda: s.ops.aten.neg.default(x),
            "method": lambda: x.abs(),
        }.items():
            try:
                r = call()
            except Exception as e:
                log(str(i), name, "raises", type(e).__name__)
                continue
            log(
                str(i),
                name,
                type(r),
                "same" if r is value or type(r) in (float, complex) else "other",
            )


def in_place_returns_self(s, log):
    x, y = s.T.ones(2), s.T.zeros(2)
    with _mode(s, lambda f, a, k: y):
        log(x.add_(1) is x, s.ops.aten.add_.Tensor(x, 1) is x, s.T.relu_(x) is x)
        log(s.ops.aten.mul_(x, 2) is x)
    with _mode(s, lambda f, a, k: None):
        log.attempt("none", lambda: x.add_(1) is x)
        log.attempt("none overload", lambda: s.ops.aten.add_.Tensor(x, 1) is x)
    with s.T.inference_mode():
        z = s.T.ones(2)
        with _mode(s, lambda f, a, k: y):
            log(z.add_(1) is z, s.ops.aten.add_.Tensor(z, 1) is z, z.add_(1) is y)
    log(x, y)


def out_returns_out(s, log):
    x, y, o = s.T.ones(2), s.T.zeros(2), s.T.empty(2).zero_()
    with _mode(s, lambda f, a, k: y):
        log(s.T.add(x, x, out=o) is o, s.ops.aten.add.out(x, x, out=o) is o)
    with _mode(s, lambda f, a, k: (y, y)):
        log.attempt("two", lambda: len(s.ops.aten.max.dim(x.view(1, 2), 1)))
    log(o)


def in_place_of_custom_operator(s, log):
    lib = s.library.Library("mrin", "DEF")
    lib.define("f_(Tensor(a!) x) -> Tensor(a!)")
    lib.define("g(Tensor x, *, Tensor(a!) out) -> Tensor(a!)")
    x, y = s.T.ones(2), s.T.zeros(2)
    lib.impl("f_", lambda x: y, "CPU")
    lib.impl("g", lambda x, *, out: y, "CPU")
    log(s.ops.mrin.f_(x) is y, s.ops.mrin.g(x, out=s.T.ones(2)) is y)
    with _mode(s, lambda f, a, k: y):
        log(s.ops.mrin.f_(x) is y, s.ops.mrin.f_(x) is x)


def views_returned_by_modes(s, log):
    x, y = s.T.ones(2, 2), s.T.zeros(3)
    with _mode(s, lambda f, a, k: y):
        v = x.view(4)
        log(v is y, v._is_view(), v._base is x, v)
        t = x.t()
        log(t is y, t._is_view(), t._base is x)
    log(y._is_view())


def named_results(s, log):
    x = s.T.ones(2, 3)
    with _mode(s, lambda f, a, k: f(*a, **k)):
        r = x.max(1)
        log(isinstance(r, tuple), r[0], r[1])
        r = s.ops.aten.max.dim(x, 1)
        log(type(r), r)
    with _mode(s, lambda f, a, k: [x, x]):
        r = x.max(1)
        log(r[0] is x)
        log(type(s.ops.aten.max.dim(x, 1)))
    with _mode(s, lambda f, a, k: (x,)):
        log.attempt("one", lambda: len(x.max(1)))


def exceptions_pass_through(s, log):
    class Mine(Exception):
        pass

    def fail(f, a, k):
        raise Mine("x", 3)

    x = s.T.ones(2)
    with _mode(s, fail):
        for call in (lambda: x + 1, lambda: s.ops.aten.neg(x), lambda: s.T.ones(3), lambda: x.t()):
            try:
                call()
            except Mine as e:
                log(e.args, e.__cause__, s.C._len_torch_dispatch_stack())
    log(x + 1)
    for kind in (KeyboardInterrupt, SystemExit, GeneratorExit, StopIteration, IndexError):

        def fail_so(f, a, k, kind=kind):
            raise kind

        with _mode(s, fail_so):
            try:
                x + 1
            except BaseException as e:
                log(type(e))


def not_implemented_everywhere(s, log):
    x = s.T.ones(2)
    order = []

    class M(s.modes.TorchDispatchMode):
        def __init__(self, n):
            super().__init__()
            self.n = n

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            order.append(self.n)
            return NotImplemented

    class W(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            order.append("W")
            return s.T.zeros(1)

    with M(1):
        log.attempt("plain", lambda: x + 1)
    log(order)
    order.clear()
    w = s.Tensor._make_subclass(W, x)
    with M(1):
        log.attempt("subclass", lambda: w + 1)
    log(order)
    order.clear()
    with M(1), M(2):
        log.attempt("two modes", lambda: x + 1)
        log.attempt("two modes and a subclass", lambda: w + 1)
    log(order)


def default_arguments_left_out(s, log):
    seen = []

    def note(f, a, k):
        seen.append((str(f), len(a), sorted(k)))
        return f(*a, **k)

    x = s.T.ones(2, 3)
    with _mode(s, note):
        s.T.add(x, x)
        s.T.add(x, x, alpha=1)
        s.T.add(x, x, alpha=2)
        s.T.add(x, x, alpha=1.0)
        x.sum(1)
        x.sum(1, keepdim=False)
        x.sum(1, keepdim=True)
        x.sum(1, dtype=s.T.float64)
        x.to(s.T.float64)
        x.clone()
        x.clone(memory_format=s.T.contiguous_format)
        s.T.flatten(x)
        x.softmax(1)
        s.T.cat([x, x])
        s.T.cat([x, x], 0)
        s.T.cat([x, x], dim=1)
        x.transpose(0, 1)
        x.mean(0)
        s.ops.aten.add.Tensor(x, other=x)
        s.ops.aten.sum.dim_IntList(x, [1], False)
        s.ops.aten.sum.dim_IntList(self=x, dim=[1])
    for line in seen:
        log(*map(str, line))


def kwargs_are_fresh(s, log):
    kept = []

    def note(f, a, k):
        kept.append((a, k))
        k["new"] = 1
        return s.T.ones(1)

    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log(type(args), type(kwargs), type(types), kwargs is None)
            return note(func, args, kwargs)

    x = s.T.ones(2)
    with M():
        x + 1
        x + 1
    log(kept[0][1], kept[0][1] is kept[1][1], kept[0][0] is kept[1][0])


def warnings_of_plain_methods(s, log):
    class W(s.Tensor):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log(type(self), str(func), types, len(args), kwargs)
            return s.T.ones(1)

    x = s.Tensor._make_subclass(W, s.T.ones(2))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        log(x + 1)
        log(s.T.neg(x))
    log([w.category.__name__ for w in seen])


def mode_that_returns_not_implemented(s: Any, log: Any) -> None:
    class Shy(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log("asked", func)
            return NotImplemented

    x = s.T.ones(1)
    with Shy():
        log.attempt("add", lambda: x + 1)
    with logging_mode(s, log, "outer"), Shy():
        log.attempt("add", lambda: x + 1)
    log(len(s.modes._get_current_dispatch_mode_stack()))


def mode_that_returns_wrong_things(s: Any, log: Any) -> None:
    class Says(s.modes.TorchDispatchMode):
        def __init__(self, value):
            super().__init__()
            self.value = value

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return self.value

    T = s.T
    x = T.ones(3)
    for value in (None, 3, (T.ones(1),), T.zeros(1)):
        with Says(value):
            r = s.ops.aten.add.Tensor(x, x)
        log(f"add {type(value).__name__}", r)
    with Says((T.zeros(1), T.zeros(2))):
        r = T.max(x, 0), T.split(x, 1)
    log([type(v).__name__ for v in r], len(r[1]))
    with Says(T.zeros(1)):
        log.attempt("item", lambda: T.equal(x, x))
