"""`__torch_function__` of subclasses and of other objects."""

import copy
import operator
from typing import Any

from tests.differential.helpers import name_of


def _recorder(s, seen, base=None, name="S", answer=None):
    def handle(cls, func, types, args=(), kwargs=None):
        seen.append((name, func.__name__, tuple(t.__name__ for t in types), len(args), kwargs))
        return answer if answer is not None else (name, func.__name__)

    bases = (base,) if base is not None else ()
    return type(name, bases, {"__torch_function__": classmethod(handle)})


def _flush(log, seen):
    for name, func, types, n, kwargs in seen:
        log("   ", name, func, types, n, "none" if kwargs is None else sorted(kwargs))
    seen.clear()


def functions_and_methods(s, log):
    seen = []
    S = _recorder(s, seen, s.Tensor)
    x, p = s.T.ones(2, 2).as_subclass(S), s.T.ones(2, 2)
    for call in (
        lambda: s.T.add(x, 1), lambda: s.T.add(p, x, alpha=2), lambda: s.T.add(p, p, out=x),
        lambda: x.add(1), lambda: p.add(x), lambda: x.add_(1), lambda: x.neg(), lambda: s.T.neg(x),
        lambda: x.sum(), lambda: x.sum(0, keepdim=True), lambda: s.T.cat([p, x]),
        lambda: s.T.stack((x, x), dim=1), lambda: x.view(4), lambda: x.view(2, 2),
        lambda: x.reshape((4,)), lambda: s.T.zeros_like(x), lambda: x.new_zeros(2), lambda: x.clone(),
        lambda: x.detach(), lambda: s.T.mm(p, x), lambda: x.abs(), lambda: x.transpose(0, 1),
    ):  # fmt: skip
        try:
            log(call())
        except Exception as e:
            log("raises", type(e).__name__)
        _flush(log, seen)


def operators(s, log):
    seen = []
    S = _recorder(s, seen, s.Tensor)
    x, p = s.T.ones(2, 2).as_subclass(S), s.T.ones(2, 2)
    for name in (
        "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "eq", "ne", "lt", "le",
        "gt", "ge", "and_", "or_", "xor", "iadd", "isub", "imul", "itruediv",
    ):  # fmt: skip
        f = getattr(operator, name)
        for label, a, b in (("number", x, 2), ("left", x, p), ("right", p, x), ("reflected", 2, x)):
            if label == "reflected" and name.startswith("i"):
                continue
            try:
                log(name, label, f(a, b))
            except Exception as e:
                log(name, label, "raises", type(e).__name__)
            _flush(log, seen)
    for f in (operator.neg, operator.pos, operator.abs, operator.invert):
        log(f.__name__, f(x))
        _flush(log, seen)


def numbers_and_protocols(s, log):
    seen = []
    S = _recorder(s, seen, s.Tensor, answer=3)
    x = s.T.ones(2, 2).as_subclass(S)
    for f in (len, int, float, bool, operator.index, repr, list, hash, copy.deepcopy, complex):
        try:
            r = f(x)
            log(f.__name__, r if f is not hash else type(r))
        except Exception as e:
            log(f.__name__, "raises", type(e).__name__)
        _flush(log, seen)
    log.attempt("format", lambda: f"{x}")
    _flush(log, seen)


def indexing(s, log):
    seen = []
    S = _recorder(s, seen, s.Tensor)
    O = _recorder(s, seen, None, "O")
    x, p = s.T.ones(3).as_subclass(S), s.T.ones(3)
    for index in (0, slice(1), None, ..., (0,), [0, 1], s.T.tensor([0])):
        log(x[index])
        _flush(log, seen)
    log(p[O()], p[0, O()] if False else "", p[[O()]])
    _flush(log, seen)
    i = s.T.tensor(0).as_subclass(S)
    log(p[i], p[(i,)])
    _flush(log, seen)
    x[0] = 5
    p[0] = x
    _flush(log, seen)


def properties(s, log):
    seen = []

    class S(s.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(
                (func.__name__, s.overrides.resolve_name(func).split(".", 1)[1], len(args), kwargs)
            )
            return super().__torch_function__(func, types, args, kwargs)

    x = s.T.ones(2, 3).as_subclass(S)
    for name in (
        "shape", "dtype", "device", "layout", "ndim", "requires_grad", "is_leaf", "grad", "grad_fn",
        "data", "T", "mT", "is_cuda", "is_sparse", "is_meta", "_version", "itemsize", "nbytes", "real", "_base",
    ):  # fmt: skip
        r = getattr(x, name)
        log(name, type(r), seen)
        seen.clear()
    x.requires_grad = True
    log(seen, x.requires_grad)
    seen.clear()
    x.grad = None
    log(seen)
    seen.clear()
    for name in (
        "size",
        "stride",
        "dim",
        "numel",
        "storage_offset",
        "element_size",
        "is_contiguous",
        "data_ptr",
        "is_floating_point",
        "nelement",
        "ndimension",
    ):
        getattr(x, name)()
        log(name, seen)
        seen.clear()


def what_func_is(s, log):
    seen = []

    class S(s.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(func)
            return super().__torch_function__(func, types, args, kwargs)

    x = s.T.ones(2).as_subclass(S)
    (
        s.T.add(x, 1),
        x.add(1),
        x + 1,
        x.shape,
        x[0],
        x.size(),
        s.ops.aten.add.Tensor(x, 1),
        s.ops.aten.add(x, 1),
    )
    want = [s.T.add, s.Tensor.add, s.Tensor.add, s.Tensor.shape.__get__, s.Tensor.__getitem__, s.Tensor.size,
            s.ops.aten.add.Tensor, s.ops.aten.add]  # fmt: skip
    log([a is b for a, b in zip(seen, want)], [a == b for a, b in zip(seen, want)])
    log([hash(a) == hash(b) for a, b in zip(seen, want)])
    log([s.overrides.is_tensor_method_or_property(f) for f in seen])
    log([s.overrides.resolve_name(f).removeprefix(s.name + ".") for f in seen])
    log(
        s.T.add is s.Tensor.add,
        s.T.add is s.T.add,
        s.Tensor.shape.__get__ == s.Tensor.dtype.__get__,
    )
    log([repr(f) for f in seen[:2]] if False else "", [f.__name__ for f in seen])


def wrapping_of_results(s, log):
    class S(s.Tensor):
        pass

    class D(S):
        pass

    x, d, p = s.T.ones(2, 2).as_subclass(S), s.T.ones(2, 2).as_subclass(D), s.T.ones(2, 2)
    for call in (
        lambda: x + 1, lambda: 1 + x, lambda: p + x, lambda: x + d, lambda: d + x, lambda: x[0], lambda: x.sum(),
        lambda: s.T.cat([p, x]), lambda: x.T, lambda: x.data, lambda: x.clone(), lambda: x.detach(),
        lambda: x.view(4), lambda: x.new_zeros(1), lambda: s.T.zeros_like(x), lambda: x.unbind(0)[0],
        lambda: s.ops.aten.add.Tensor(x, 1), lambda: s.ops.aten.neg(x), lambda: x.to(s.T.float64), lambda: x.double(),
        lambda: x == x, lambda: s.T.where(x > 0, x, p), lambda: next(iter(x)), lambda: x.real, lambda: copy.deepcopy(x),
        lambda: x.requires_grad_(), lambda: x.detach().add_(1), lambda: s.T.add(p, p, out=x.detach()),
    ):  # fmt: skip
        log(type(call()))
    log(
        type(x.split(1)),
        [type(t) for t in x.split(1)],
        type(x.shape),
        type(x.tolist()),
        type(x.numel()),
    )
    log(type(x.max(0)).__name__, [type(t) for t in x.max(0)])
    log(type(x.data._base), type(x.detach().view(4)._base))


def siblings_are_not_mixed(s, log):
    class A(s.Tensor):
        pass

    class B(s.Tensor):
        pass

    a, b = s.T.ones(2).as_subclass(A), s.T.ones(2).as_subclass(B)
    log.attempt("add", s.T.add, a, b)
    log.attempt("+", lambda: a + b)
    log.attempt("method", lambda: a.add(b))
    log.attempt("cat", s.T.cat, [a, b])
    log.attempt("op", s.ops.aten.add.Tensor, a, b)
    log.attempt("index", lambda: a[s.T.tensor([0]).as_subclass(B)])


def priority(s, log):
    order = []

    def make(name, base, declines=True):
        def handle(cls, func, types, args=(), kwargs=None):
            order.append((name, cls.__name__, tuple(t.__name__ for t in types)))
            return NotImplemented if declines else name

        return type(name, (base,), {"__torch_function__": classmethod(handle)})

    A = make("A", s.Tensor)
    B = make("B", A)
    C = make("C", B)
    D = make("D", s.Tensor)
    classes = {"A": A, "B": B, "C": C, "D": D}
    for names in ("AB", "BA", "AD", "DA", "ABC", "CAB", "ADB", "DAB", "AAB", "ADBC"):
        args = [s.T.ones(2).as_subclass(classes[n]) for n in names]
        log.attempt(names, s.T.cat, args)
        log(order)
        order.clear()
    for names in ("AB", "DB", "PB", "AP"):
        a, b = (s.T.ones(2) if n == "P" else s.T.ones(2).as_subclass(classes[n]) for n in names)
        log.attempt(names, s.ops.aten.add.Tensor, a, b)
        log.attempt(names, s.T.add, a, b)
        if "P" not in names:
            log.attempt(names, lambda: a + b)
        log(order)
        order.clear()


def other_objects(s, log):
    seen = []
    O = _recorder(s, seen, None, "O")
    o, p = O(), s.T.ones(2)
    for name, call in {
        "first": lambda: s.T.add(o, 1), "second": lambda: s.T.add(p, o), "alpha": lambda: s.T.add(p, 1, alpha=o),
        "list": lambda: s.T.cat([p, o]), "size": lambda: s.T.ones(o), "in size": lambda: s.T.ones([o, 2]),
        "dtype": lambda: s.T.ones(2, dtype=o), "fill": lambda: s.T.full((2,), o), "dim": lambda: s.T.sum(p, o),
        "method": lambda: p.add(o), "plus": lambda: p + o, "plus left": lambda: o + p, "view": lambda: p.view(o),
        "op": lambda: s.ops.aten.add.Tensor(p, o), "packet": lambda: s.ops.aten.add(o, 1),
        "op list": lambda: s.ops.aten.cat.default([p, o]), "bad name": lambda: s.T.add(o, 1, beta=2),
        "too many": lambda: s.T.neg(o, o, o, o), "op keyword": lambda: s.ops.aten.add.Tensor(p, 1, alpha=o),
        "op bad name": lambda: s.ops.aten.add.Tensor(o, nothing=1), "unbound": lambda: s.Tensor.add(o, 1),
        "property": lambda: s.Tensor.shape.__get__(o),
        "to": lambda: p.to(o), "where": lambda: s.T.where(o, p, p),
    }.items():  # fmt: skip
        log.attempt(name, call)
        _flush(log, seen)


def objects_without_a_handler(s, log):
    class No:
        pass

    class Off:
        __torch_function__ = s.C._disabled_torch_function_impl

    p = s.T.ones(2)
    for o in (No(), Off(), "text", None, object):
        log.attempt("add", s.T.add, p, o)
        log.attempt("op", s.ops.aten.add.Tensor, p, o)
        log(s.overrides.is_tensor_like(o), s.overrides.has_torch_function((o,)))


def arguments_as_given(s, log):
    class S(s.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            log(
                func.__name__,
                type(args),
                [type(a) for a in args],
                "none" if kwargs is None else dict(kwargs),
            )
            return 0

    x, p = s.T.ones(2).as_subclass(S), s.T.ones(2)
    (
        s.T.cat((x, p), 0),
        s.T.cat([x, p], dim=0),
        s.T.add(x, 1, alpha=1),
        x.view([2]),
        x.view(2),
        x.view(-1),
    )
    (
        s.ops.aten.add.Tensor(x, 1, alpha=1),
        s.ops.aten.cat.default((x, p)),
        s.T.sum(x, dim=0, keepdim=False),
    )
    (
        x.size(0),
        x.size(dim=0),
        x.sum(),
        x.to(s.T.float64),
        x.permute(0),
        s.T.zeros_like(x, dtype=s.T.int64),
    )
    x[0], x[1:], x[..., None], x.repeat(1, 2), x.expand(2, 2), x.transpose(dim0=0, dim1=0)


def disabled(s, log):
    seen = []
    S = _recorder(s, seen, s.Tensor)
    x = s.T.ones(2).as_subclass(S)
    C = s.C
    log(C._is_torch_function_enabled())
    with C.DisableTorchFunctionSubclass():
        r = s.T.neg(x)
        log(
            C._is_torch_function_enabled(),
            type(r),
            type(x.detach()),
            type(x[0]),
            x.shape,
            type(x + 1),
            type(x.add_(1)),
        )
        log(s.overrides.has_torch_function((x,)), s.overrides.has_torch_function_unary(x))
    with C.DisableTorchFunction():
        log(C._is_torch_function_enabled(), type(s.T.neg(x)), x.dtype, len(x))
        log(C._is_torch_function_all_disabled())
    log(C._is_torch_function_enabled(), seen, s.overrides.has_torch_function((x,)))
    r = C._disabled_torch_function_impl(s.T.neg, (S,), (x,), {})
    log(type(r), seen)
    log.attempt("few", C._disabled_torch_function_impl, s.T.neg)
    log(type(C._disabled_torch_function_impl(s.T.neg, (S,), (x,))))

    class Off(s.Tensor):
        __torch_function__ = C._disabled_torch_function_impl

    y = s.T.ones(2).as_subclass(Off)
    log(
        type(y + 1),
        type(y[0]),
        type(y.clone()),
        type(y.add_(1)),
        s.overrides.has_torch_function((y,)),
        type(y.view(2)),
    )


def enabling_inside(s, log):
    class S(s.Tensor):
        depth = 0

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            log("in", func.__name__, s.C._is_torch_function_enabled())
            if S.depth == 0 and func.__name__ == "add":
                S.depth += 1
                with s.C.DisableTorchFunctionSubclass():
                    log(s.C._is_torch_function_enabled(), type(args[0].neg()))
                    with s.overrides._enable_torch_function():
                        log(s.C._is_torch_function_enabled())
                        args[0].neg()
                    log(s.C._is_torch_function_enabled())
                S.depth -= 1
            return super().__torch_function__(func, types, args, kwargs)

    x = s.T.ones(2).as_subclass(S)
    s.T.add(x, 1)
    log(s.C._get_torch_function_state().name)
    s.C._set_torch_function_state(s.C._TorchFunctionState.SUBCLASSES_DISABLED)
    log(s.C._get_torch_function_state().name, s.C._is_torch_function_enabled())
    s.C._set_torch_function_state(s.C._TorchFunctionState.ENABLED)


def errors_leave_state(s, log):
    class S(s.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func.__name__ == "neg":
                raise KeyError("no")
            return super().__torch_function__(func, types, args, kwargs)

    x = s.T.ones(2).as_subclass(S)
    log.attempt("neg", s.T.neg, x)
    log(s.C._is_torch_function_enabled())
    log.attempt("shapes", s.T.add, x, s.T.ones(3))
    log(s.C._is_torch_function_enabled())
    log.attempt("type", s.T.add, x, "a")
    log.attempt("op type", s.ops.aten.add.Tensor, x, "a")
    log(s.C._is_torch_function_enabled(), type(x + 1))


def declined(s, log):
    class N(s.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    class R:
        def __radd__(self, other):
            return "radd"

    x = s.T.ones(2).as_subclass(N)
    log.attempt("function", s.T.neg, x)
    log.attempt("method", lambda: x.neg())
    log.attempt("operator", lambda: x + 1)
    log.attempt("reflected", lambda: x + R())
    log.attempt("op", s.ops.aten.neg.default, x)
    log.attempt("property", lambda: x.shape)
    log.attempt("index", lambda: x[0])
    log.attempt("eq", lambda: x == 1)
    log.attempt("len", lambda: len(x))


def super_in_a_chain(s, log):
    order = []

    class A(s.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            order.append(("A", cls.__name__, func.__name__))
            return super().__torch_function__(func, types, args, kwargs)

    class B(A):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            order.append(("B", cls.__name__, func.__name__))
            return super().__torch_function__(func, types, args, kwargs)

    a, b = s.T.ones(2).as_subclass(A), s.T.ones(2).as_subclass(B)
    for x, y in ((a, b), (b, a), (a, a), (b, 1)):
        log(type(s.T.add(x, y)), order)
        order.clear()
    log(type(b.sum()), order)


def dispatch_handlers_switch_functions_off(s, log):
    class W(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return s.T.zeros(3)

    class Both(s.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            log("function", func.__name__)
            return super().__torch_function__(func, types, args, kwargs)

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log("dispatch", func)
            return s.T.zeros(3)

    w, b = s.Tensor._make_subclass(W, s.T.ones(2)), s.Tensor._make_subclass(Both, s.T.ones(2))
    log(
        type(w + 1),
        W.__torch_function__ is s.C._disabled_torch_function_impl,
        s.overrides.has_torch_function((w,)),
    )
    log(type(b + 1), s.overrides.has_torch_function((b,)))

    class Later(W):
        pass

    log(Later.__torch_function__ is s.C._disabled_torch_function_impl)


def classmethods_only(s, log):
    import warnings

    class P(s.Tensor):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return "plain"

    class St(s.Tensor):
        @staticmethod
        def __torch_function__(func, types, args=(), kwargs=None):
            return "static"

    for cls in (P, St):
        x = s.T.ones(2).as_subclass(cls)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            log(s.T.neg(x), x + 1, x.shape)
        log(sorted({w.category.__name__ for w in found}))


def python_functions(s, log):
    seen = []
    S = _recorder(s, seen, s.Tensor)
    o = s.overrides

    def scaled(a, b, *, scale=1):
        if o.has_torch_function((a, b)):
            return o.handle_torch_function(scaled, (a, b), a, b, scale=scale)
        return a * b * scale

    @o.wrap_torch_function(lambda a, *rest: (a,))
    def wrapped(a, n):
        "text"
        return a + n

    x, p = s.T.ones(2).as_subclass(S), s.T.ones(2)
    log(scaled(p, p), scaled(x, p), scaled(p, x, scale=3))
    _flush(log, seen)
    log(wrapped(p, 1), wrapped(x, 1), wrapped(x, n=2), wrapped.__name__, wrapped.__doc__)
    _flush(log, seen)
    log(
        o.has_torch_function_unary(x),
        o.has_torch_function_unary(p),
        o.has_torch_function_variadic(p, x),
        o.has_torch_function_variadic(),
    )
    log(o.has_torch_function([]), o.has_torch_function((1, "a", None)), o.has_torch_function((S,)))
    log(
        [type(v).__name__ for v in o._get_overloaded_args((p, x, x, 1))],
        [type(v).__name__ for v in o._get_overloaded_args((1,))],
    )


def overrides_helpers(s, log):
    o = s.overrides

    class Like:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return -1

    class Sub(s.Tensor):
        pass

    log(
        o.is_tensor_like(Like()),
        o.is_tensor_like(s.T.ones(1)),
        o.is_tensor_like(s.T.ones(1).as_subclass(Sub)),
        o.is_tensor_like(3),
        o.is_tensor_like(Like),
    )
    log(
        o.is_tensor_method_or_property(s.Tensor.add),
        o.is_tensor_method_or_property(s.T.add),
        o.is_tensor_method_or_property(s.Tensor.shape.__get__),
    )
    log(
        s.T.add in o.get_overridable_functions()[s.T],
        s.Tensor.add in o.get_overridable_functions()[s.Tensor],
    )
    log(
        s.T.ones in o.get_ignored_functions(),
        s.T.add in o.get_ignored_functions(),
        s.T.ones in o.get_overridable_functions()[s.T],
    )
    log(
        s.Tensor._base.__get__ in o.get_default_nowrap_functions(),
        s.Tensor.grad.__get__ in o.get_default_nowrap_functions(),
    )
    for f in (
        s.T.add,
        s.Tensor.add,
        s.Tensor.shape.__get__,
        s.Tensor.requires_grad.__set__,
        s.ops.aten.add,
        s.ops.aten.add.Tensor,
        s.T.ones,
        s.T.tensor,
        s.Tensor.size,
        s.Tensor.__getitem__,
    ):
        log(o.resolve_name(f).removeprefix(s.name + "."))
    log(o.resolve_name(len), o.resolve_name(None))
    log(callable(o.get_testing_overrides()[s.T.add]), o.get_testing_overrides()[s.T.neg](1))


def constructors(s, log):
    seen = []

    class S(s.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs)

    log(type(S([1.0, 2.0])), type(S(2)), seen)
    x = S([1.0, 2.0])
    log(type(s.T.tensor(x)), seen)
    seen.clear()
    log(
        type(x.as_subclass(s.Tensor)),
        type(s.Tensor.as_subclass(x, S)),
        type(s.Tensor._make_subclass(S, x)),
        seen,
    )
    log(
        type(s.T.is_tensor(x)) if hasattr(s.T, "is_tensor") else type(True),
        isinstance(x, s.Tensor),
        seen,
    )


def names_of_functions(s, log):
    for f in (
        s.T.add,
        s.T.ones,
        s.Tensor.add,
        s.Tensor.size,
        s.Tensor.dim,
        s.Tensor.to,
        s.Tensor.numpy,
        s.Tensor.tolist,
        s.Tensor.__getitem__,
        s.Tensor.__len__,
        s.Tensor.__repr__,
    ):
        log(f.__name__, callable(f))
    log(s.T.add.__qualname__, s.Tensor.add.__qualname__)
    log(repr(s.Tensor.add).replace(s.name + ".", ""), repr(s.T.add).split(" at ")[0])
    log(s.Tensor.shape.__name__)
    log(
        isinstance(s.Tensor.__torch_function__.__self__, type),
        s.Tensor.__torch_function__.__func__.__name__ == "__torch_function__",
    )


def function_attribute_lookup(s, log):
    class S(s.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return super().__torch_function__(func, types, args, kwargs)

    x = s.T.ones(2).as_subclass(S)
    x.note = "here"
    log(x.note, type(x + 1), hasattr(x + 1, "note"), hasattr(x, "nothing"))
    log.attempt("missing", getattr, x, "nothing_here")
    log(x.add(1).tolist(), x.tolist(), x.sum().item(), type(x.sum()))


def handlers_counting(s, log):
    calls = {}

    class Count(s.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            calls[func] = calls.get(func, 0) + 1
            return super().__torch_function__(func, types, args, kwargs or {})

    x = s.T.ones(3).as_subclass(Count)
    for _ in range(3):
        x = x + x * 2
    log(calls[s.Tensor.add], calls[s.Tensor.mul], len(calls))
    handled = {s.T.mean: lambda a: "mean"}

    class Table(s.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func in handled:
                return handled[func](*args, **(kwargs or {}))
            return super().__torch_function__(func, types, args, kwargs)

    t = s.T.ones(3).as_subclass(Table)
    log(s.T.mean(t), type(t.mean()), type(t.sum()))


def metadata_tensor(s, log):
    """The example of PyTorch's notes: an object that carries metadata beside a tensor."""

    class Meta:
        def __init__(self, data, **meta):
            self.t, self.meta = data, meta

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            found = tuple(a.meta for a in args if hasattr(a, "meta"))
            args = [getattr(a, "t", a) for a in args]
            return cls(func(*args, **(kwargs or {})), **found[0])

    m = Meta(s.T.ones(2), unit="m")
    r = s.T.add(m, s.T.ones(2))
    log(type(r).__name__, r.t, r.meta)
    r = s.T.mul(s.T.ones(2), m)
    log(r.t, r.meta)
    log.attempt("list", s.T.cat, [m, m])


def function_of_subclass(s: Any, log: Any) -> None:
    T = s.T

    class F(s.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            log(name_of(func), [t.__name__ for t in types], len(args), kwargs or {})
            return super().__torch_function__(func, types, args, kwargs)

    x = T.ones(2, 2).as_subclass(F)
    y = x + 1
    log(type(y).__name__)
    T.add(T.ones(2, 2), x)
    log(type(x.shape).__name__)
    x[0] = 2
    log(type(x.T).__name__, x.device)
    x.sum(dim=1)
    x.max(0)
    log(type(x.split(1)[0]).__name__)
    T.stack([x, x])


def default_torch_function_converts(s: Any, log: Any) -> None:
    T = s.T

    class P(s.Tensor):
        pass

    x = T.arange(4.0).as_subclass(P)
    log([type(t).__name__ for t in (x + 1, x.sum(), x[0], x.view(2, 2), T.ones(1) + x, x.clone())])
    log(type(x.tolist()).__name__, type(x.shape).__name__, type(x[0].item()).__name__)
    log(type(x.max(0)).__name__, type(x.max(0)[0]).__name__)
    log([type(t).__name__ for t in x.chunk(2)])
    log(
        type(T.zeros_like(x)).__name__, type(x.new_ones(2)).__name__, type(x.to(T.float64)).__name__
    )
    with s.C.DisableTorchFunctionSubclass():
        log(type(x + 1).__name__)
    log(type(x.data).__name__, type(x.detach()).__name__)
    x.requires_grad_()
    log(type(x).__name__, x.requires_grad)


def function_not_implemented(s: Any, log: Any) -> None:
    T = s.T

    class N(s.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            log("N", name_of(func))
            return NotImplemented

    class Other:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            log("Other", name_of(func), [t.__name__ for t in types])
            return 42

    n = T.ones(1).as_subclass(N)
    log.attempt("add", T.add, n, 1)
    log.attempt("method", lambda: n.add(1))
    log(T.add(n, Other()))
    log(T.add(Other(), T.ones(1)))
    log(T.cat([T.ones(1), Other()]))
    log.attempt("plus", lambda: T.ones(1) + Other())
    log.attempt("op", s.ops.aten.add.Tensor, T.ones(1), Other())


def disabled_torch_function_impl(s: Any, log: Any) -> None:
    T = s.T

    class Q(s.Tensor):
        __torch_function__ = s.C._disabled_torch_function_impl

    x = T.ones(2).as_subclass(Q)
    log(type(x + 1).__name__, type(x.view(1, 2)).__name__, type(x.sum()).__name__)
    log(type(x.add_(1)).__name__, x.add_(1) is x)
    log(type(T.add(x, x)).__name__, type(x[0]).__name__)
    log(
        s.overrides.has_torch_function((x,)) if hasattr(s.overrides, "has_torch_function") else None
    )
    log(type(x.detach()).__name__)
