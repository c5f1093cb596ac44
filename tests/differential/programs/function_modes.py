"""TorchFunctionMode: the stack, what a mode sees, order, state after errors."""

import operator
import threading
from typing import Any

from tests.differential.helpers import logging_mode, name_of


def _mode(s, log, name="M", answer=None):
    class Mode(s.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            log(
                "  ",
                name,
                func.__name__,
                tuple(t.__name__ for t in types),
                len(args),
                "none" if kwargs is None else sorted(kwargs),
            )
            if answer is not None:
                return answer
            return func(*args, **(kwargs or {}))

    return Mode()


def functions(s, log):
    x = s.T.ones(2, 2)
    with _mode(s, log):
        (
            s.T.add(x, 1),
            s.T.add(x, 1, alpha=2),
            x.add(1),
            x.neg(),
            s.T.neg(x),
            x.add_(1),
            x.sum(0),
            x.clone(),
        )
        (
            s.T.ones(2),
            s.T.zeros(2, 3),
            s.T.empty((2,), dtype=s.T.int64),
            s.T.full((1,), 2.0),
            s.T.arange(3),
        )
        (
            s.T.tensor([1]),
            s.T.as_tensor([1]),
            s.T.zeros_like(x),
            s.T.cat([x, x]),
            s.T.stack([x, x]),
            x.view(4),
        )
        (
            x.to(s.T.float64),
            x.double(),
            x.cpu(),
            x.size(),
            x.size(0),
            x.stride(),
            x.dim(),
            x.numel(),
            x.is_contiguous(),
        )
        (
            x.tolist(),
            x.item() if x.numel() == 1 else None,
            x.requires_grad_(False),
            x.detach(),
            x.numpy(),
        )
    log("out")
    x + 1


def operators(s, log):
    x, i, b = s.T.ones(2, 2), s.T.tensor(3), s.T.tensor(True)
    for name in (
        "add",
        "sub",
        "mul",
        "truediv",
        "floordiv",
        "mod",
        "pow",
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
        "iadd",
        "isub",
        "imul",
    ):
        with _mode(s, log):
            getattr(operator, name)(x, 2)
            if not name.startswith("i"):
                getattr(operator, name)(2, x)
    for name in ("and_", "or_", "xor"):
        with _mode(s, log):
            getattr(operator, name)(i, 1)
            getattr(operator, name)(1, i)
    with _mode(s, log):
        (
            x @ x,
            -x,
            +x,
            abs(x),
            ~i,
            bool(b),
            int(i),
            float(i),
            complex(i),
            operator.index(i),
            len(x),
            1 in x,
            list(x),
        )
        hash(x), x[0], x[0, 1], x[:, None]
        x[0] = 1


def properties(s, log):
    x = s.T.ones(2, 2)
    with _mode(s, log):
        (
            x.shape,
            x.dtype,
            x.device,
            x.layout,
            x.ndim,
            x.requires_grad,
            x.is_leaf,
            x.grad,
            x.grad_fn,
            x.data,
            x.T,
            x.mT,
        )
        x.is_cuda, x.is_meta, x._version, x._base, x.itemsize, x.nbytes
        x.requires_grad = True
        x.grad = None


def what_a_mode_does_not_see(s, log):
    x = s.T.ones(2)
    with _mode(s, log):
        (
            s.T.get_default_dtype(),
            isinstance(x, s.Tensor),
            type(x),
            x.note if hasattr(x, "note") else 0,
        )
        x.note = 1
        (
            s.Tensor._make_subclass(s.Tensor, x),
            x.as_subclass(s.Tensor),
            s.Tensor([1.0]),
            s.Tensor(2),
            x.add,
        )


def operators_of_the_registry(s, log):
    x = s.T.ones(2)
    lib = s.library.Library("fmops", "DEF")
    lib.define("f(Tensor a, int n=1) -> Tensor")
    lib.impl("f", lambda a, n=1: a.neg() + n, "CompositeExplicitAutograd")
    with _mode(s, log):
        (
            s.ops.aten.add.Tensor(x, 1),
            s.ops.aten.add(x, 1, alpha=2),
            s.ops.fmops.f(x),
            s.ops.fmops.f.default(x, n=3),
        )
        s.ops.aten.ones.default([2]), s.ops.aten.cat([x, x])
        log.attempt("bad", s.ops.aten.add.Tensor, x)
        s.ops.aten.neg.default.redispatch(s.DispatchKeySet(s.DispatchKey.CPU), x)


def bad_arguments(s, log):
    x = s.T.ones(2)
    with _mode(s, log):
        log.attempt("type", s.T.add, x, "a")
        log.attempt("few", s.T.add, x)
        log.attempt("keyword", s.T.neg, x, beta=1)
        log.attempt("method", lambda: x.add("a"))
        log.attempt("unbound", s.Tensor.add, 1, 2)
        log.attempt("op", s.ops.aten.add.Tensor, x, object())
    log(s.C._len_torch_function_stack())


def nesting(s, log):
    x = s.T.ones(2)
    with _mode(s, log, "A"), _mode(s, log, "B"), _mode(s, log, "C"):
        s.T.add(x, 1)
        log(s.C._len_torch_function_stack())
        x.shape
    log(s.C._len_torch_function_stack())


def off_while_it_handles(s, log):
    x = s.T.ones(2)

    class M(s.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            log(
                "M",
                func.__name__,
                s.C._len_torch_function_stack(),
                s.C._is_torch_function_mode_enabled(),
            )
            y = s.T.neg(x) * 2
            if func.__name__ == "add":
                with self:
                    s.T.mul(y, 1)
            return func(*args, **(kwargs or {}))

    with M():
        s.T.add(x, 1)
        log(s.C._len_torch_function_stack())


def answers(s, log):
    x = s.T.ones(2)
    for answer in (1, "text", [1], (x,), False):
        with _mode(s, log, answer=answer):
            log(s.T.add(x, 1), x.neg(), x.shape, x[0], s.ops.aten.neg(x), s.T.ones(2))
            log.attempt("len", len, x)
            log.attempt("bool", bool, x)
            log.attempt("plus", lambda: x + 1)
            log.attempt("in place", lambda: x.add_(1))


def declines(s, log):
    class N(s.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return NotImplemented

    class S(s.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return "S", tuple(t.__name__ for t in types)

    x, y = s.T.ones(2), s.T.ones(2).as_subclass(S)
    with N():
        log.attempt("factory", s.T.ones, 2)
        log.attempt("function", s.T.neg, x)
        log.attempt("operator", lambda: x + 1)
        log.attempt("subclass", s.T.add, y, 1)
        log.attempt("property", lambda: y.shape)
        log.attempt("op", s.ops.aten.add.Tensor, x, y)
        log.attempt("op plain", s.ops.aten.add.Tensor, x, x)
    with _mode(s, log, "outer"), N():
        log.attempt("outer is not asked", s.T.ones, 2)


def before_subclasses(s, log):
    class S(s.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            log(
                "  S",
                func.__name__,
                tuple(t.__name__ for t in types),
                s.C._len_torch_function_stack(),
            )
            return super().__torch_function__(func, types, args, kwargs)

    class D(S):
        pass

    x, y = s.T.ones(2).as_subclass(S), s.T.ones(2).as_subclass(D)
    with _mode(s, log):
        log(
            type(s.T.add(x, y)),
            type(x + 1),
            type(y.neg()),
            type(x[0]),
            type(s.ops.aten.neg.default(y)),
        )
        with s.C.DisableTorchFunctionSubclass():
            log(type(s.T.add(x, y)), x.shape)
        with s.C.DisableTorchFunction():
            log(type(s.T.add(x, y)), x.shape)


def errors_restore_the_stack(s, log):
    class E(s.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            raise KeyError("no")

    x = s.T.ones(2)
    e = E()
    with _mode(s, log, "outer"):
        with e:
            log.attempt("function", s.T.neg, x)
            log.attempt("property", lambda: x.shape)
            log.attempt("op", s.ops.aten.neg, x)
            log.attempt("factory", s.T.ones, 1)
            log.attempt("operator", lambda: x + 1)
            log(s.C._len_torch_function_stack(), s.C._get_function_stack_at(1) is e)
        log(s.C._len_torch_function_stack())
        log.attempt("shapes", lambda: s.T.add(x, s.T.ones(3)))
        log(s.C._len_torch_function_stack())
    try:
        with e:
            raise ValueError
    except ValueError:
        log("left", s.C._len_torch_function_stack())


def class_methods_are_refused(s, log):
    class C(s.overrides.TorchFunctionMode):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return 1

    class St(s.overrides.TorchFunctionMode):
        @staticmethod
        def __torch_function__(func, types, args=(), kwargs=None):
            return 1

    class Bare(s.overrides.TorchFunctionMode):
        pass

    for cls in (C, St, Bare):
        with cls():
            log.attempt(cls.__name__, s.T.ones, 1)
        log(s.C._len_torch_function_stack())


def the_stack(s, log):
    C, o = s.C, s.overrides
    a, b = o.BaseTorchFunctionMode(), o.BaseTorchFunctionMode()
    log(
        C._len_torch_function_stack(),
        o._get_current_function_mode(),
        o._get_current_function_mode_stack(),
    )
    C._push_on_torch_function_stack(a)
    C._push_on_torch_function_stack(b)
    log(
        C._get_function_stack_at(0) is a,
        C._get_function_stack_at(1) is b,
        o._get_current_function_mode() is b,
    )
    log([m is b for m in o._get_current_function_mode_stack()], C._is_torch_function_mode_enabled())
    log.attempt("beyond", C._get_function_stack_at, 2)
    log(C._pop_torch_function_stack() is b, C._pop_torch_function_stack() is a)
    log.attempt("empty", C._pop_torch_function_stack)
    C._push_on_torch_function_stack(None)
    log(C._len_torch_function_stack(), C._is_torch_function_mode_enabled())
    with a, a, b:
        log(C._len_torch_function_stack(), s.T.ones(2))
    log.attempt("exit without enter", a.__exit__, None, None, None)
    with a as entered:
        log(entered is a)


def disabling(s, log):
    x = s.T.ones(2)
    with _mode(s, log):
        with s.C.DisableTorchFunctionSubclass():
            log(s.C._is_torch_function_mode_enabled())
            s.T.neg(x)
        with s.C.DisableTorchFunction():
            log(s.C._is_torch_function_mode_enabled(), s.C._len_torch_function_stack())
            s.T.neg(x), x.shape
        log(
            s.overrides.has_torch_function((x,)),
            s.overrides.has_torch_function(()),
            s.overrides.has_torch_function_unary(1),
        )
        with s.C.DisableTorchFunction():
            log(s.overrides.has_torch_function((x,)))


def python_functions(s, log):
    o = s.overrides

    def f(a, n=1):
        if o.has_torch_function((a,)):
            return o.handle_torch_function(f, (a,), a, n=n)
        return a + n

    x = s.T.ones(2)
    with _mode(s, log):
        f(x), f(x, n=2), f(1)


def redispatch(s, log):
    o = s.overrides

    def f(a):
        if o.has_torch_function_unary(a):
            return o.handle_torch_function(f, (a,), a)
        return a * 2 + 1

    class M(o.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            log(func.__name__)
            with self:
                return o.redispatch_function(func, types, args, kwargs or {})

    with M():
        log(f(s.T.ones(2)))
    log(s.C._peek_should_skip_torch_function())


def reentrant_enable(s, log):
    class M(s.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            log(func.__name__)
            return func(*args, **(kwargs or {}))

    class D(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log("dispatch", func, s.C._len_torch_function_stack())
            return func(*args, **(kwargs or {}))

    x = s.T.ones(2)
    with M(), D():
        x + 1
        x.sum()
    with D(), M():
        x.neg()


def handlers_of_dispatch_modes_see_function_modes(s, log):
    class D(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            with _mode(s, log, "inner"):
                return func(*args, **(kwargs or {}))

    with D():
        s.T.ones(2).neg()


def threads(s, log):
    found = []

    def work():
        found.append(s.C._len_torch_function_stack())
        s.T.ones(2)

    with _mode(s, log):
        t = threading.Thread(target=work)
        t.start()
        t.join()
    log(found)


def replacing_factories(s, log):
    class Meta(s.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            kwargs = dict(kwargs or {})
            if func in (s.T.ones, s.T.empty, s.T.zeros, s.T.tensor):
                kwargs.setdefault("device", "meta")
            return func(*args, **kwargs)

    with Meta():
        log(s.T.ones(2), s.T.zeros(2, device="cpu"), s.T.empty(1).device, s.T.tensor([1]).device)


def device_as_a_context(s, log):
    with s.T.device("meta"):
        log(
            s.T.ones(2).device,
            s.T.tensor([1]).device,
            s.T.zeros(1, device="cpu").device,
            s.T.ones(2).neg().device,
        )
        with s.T.device("cpu"):
            log(s.T.ones(1).device)
        log(s.T.empty(1).device)
    log(s.T.ones(1).device)
    s.T.set_default_device("meta")
    log(s.T.ones(1).device, s.T.get_default_device())
    with s.T.device("cpu"):
        log(s.T.ones(1).device, s.T.get_default_device())
    s.T.set_default_device(None)
    log(s.T.ones(1).device)
    try:
        with s.T.device("meta"):
            raise ValueError
    except ValueError:
        log(s.T.ones(1).device)


def push_is_deprecated(s, log):
    import warnings

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        m = s.overrides.BaseTorchFunctionMode.push()
    log(type(m).__name__, len(found), found[0].category)


def constructor_arguments(s, log):
    class M(s.overrides.TorchFunctionMode):
        def __init__(self, n):
            self.n = n

        def __torch_function__(self, func, types, args=(), kwargs=None):
            self.n += 1
            return func(*args, **(kwargs or {}))

    m = M(5)
    with m:
        s.T.ones(2) + 1
    log(m.n)
    with m, m:
        s.T.ones(2)
    log(m.n, hasattr(m, "inner"))


def counting_and_grad_mode(s, log):
    names = []

    class M(s.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            names.append(func.__name__)
            return func(*args, **(kwargs or {}))

    x = s.T.ones(2)
    with M():
        x + 1
        s.T.is_grad_enabled()
    log(names)


def function_mode_sees(s: Any, log: Any) -> None:
    T = s.T

    class F(s.modes.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            log(name_of(func), list(types), len(args), sorted(kwargs or {}))
            return func(*args, **(kwargs or {}))

    x = T.ones(2)
    with F():
        T.add(x, 1)
        x.add(1, alpha=2)
        x + 1
        T.ones(2, dtype=T.int64)
        x.shape
        x[0]
        x.size(0)
        x.sum(dim=0)
        x.requires_grad
        s.ops.aten.add.Tensor(x, x)
        s.ops.aten.add(x, x)


def function_mode_stack(s: Any, log: Any) -> None:
    T, m = s.T, s.modes

    class F(m.TorchFunctionMode):
        def __init__(self, tag):
            self.tag = tag

        def __torch_function__(self, func, types, args=(), kwargs=None):
            log(self.tag, name_of(func), len(m._get_current_function_mode_stack()))
            return func(*args, **(kwargs or {}))

    with F("a"), F("b"):
        log(T.zeros(1) + 1)
    log(len(m._get_current_function_mode_stack()))

    class Bad(m.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            raise OSError

    with F("c"):
        with Bad():
            log.attempt("bad", T.ones, 1)
            log(len(m._get_current_function_mode_stack()))
    log(len(m._get_current_function_mode_stack()), s.C._len_torch_function_stack())


def function_mode_over_dispatch_mode(s: Any, log: Any) -> None:
    T = s.T

    class F(s.modes.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            log("function", name_of(func))
            return func(*args, **(kwargs or {}))

    x = T.ones(2)
    with F(), logging_mode(s, log, "dispatch"):
        x.mul(3)
        x.square()
        with s.C.DisableTorchFunction():
            x.neg()
        with s.C.DisableTorchFunctionSubclass():
            x.sin()
        x.abs_()


def function_mode_returns_anything(s: Any, log: Any) -> None:
    T = s.T

    class F(s.modes.TorchFunctionMode):
        def __init__(self, value):
            self.value = value

        def __torch_function__(self, func, types, args=(), kwargs=None):
            return self.value

    with F("hello"):
        log(T.ones(3))
    with F(NotImplemented):
        log.attempt("ones", T.ones, 3)
        log.attempt("add", T.add, T.__class__, 2)
    with F(None):
        log(T.zeros(2))


def device_context(s: Any, log: Any) -> None:
    T = s.T
    with T.device("meta"):
        log(T.ones(2).device, T.ones(2, device="cpu").device, T.tensor([1]).device)
        log(T.zeros_like(T.ones(1, device="cpu")).device)
        with T.device("cpu"):
            log(T.arange(2))
        log(T.empty(1).device, T.get_default_device())
    log(T.ones(1).device, T.get_default_device())
    T.set_default_device("meta")
    log(T.rand(1).device, T.full((1,), 2.0).device)
    T.set_default_device(None)
    log(T.rand(1).device)
