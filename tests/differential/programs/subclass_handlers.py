"""What handlers of subclasses may do, and what becomes of what they do wrong."""

from typing import Any


def dispatch_disabled_in_handler(s: Any, log: Any) -> None:
    T = s.T

    class S(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log("enter", func)
            with s.C._DisableTorchDispatch():
                r = func(*args, **(kwargs or {}))
            log("leave", type(r).__name__)
            return r

    x = s.Tensor._make_subclass(S, T.ones(2))
    y = x + 1
    log(type(y).__name__, y)
    log(type(x.view(1, 2)).__name__)
    log(x.add_(1) is x, x._version)
    log(T.equal(x, x))


def no_dispatch_in_handler_recurses(s: Any, log: Any) -> None:
    import sys

    class S(s.Tensor):
        count = 0

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            S.count += 1
            return func(*args, **(kwargs or {}))

    x = s.Tensor._make_subclass(S, s.T.ones(2))
    old = sys.getrecursionlimit()
    sys.setrecursionlimit(150)
    log.attempt("add", lambda: x + 1)
    sys.setrecursionlimit(old)
    log(s.C._len_torch_dispatch_stack())
    log(s.T.ones(2) + 1)


def two_tensor(s: Any, log: Any) -> Any:
    T, m, pytree = s.T, s.modes, s.pytree

    class TwoTensor(s.Tensor):
        @staticmethod
        def __new__(cls, a, b, outer_size=None, outer_stride=None):
            r = s.Tensor._make_wrapper_subclass(
                cls,
                a.size() if outer_size is None else outer_size,
                strides=a.stride() if outer_stride is None else outer_stride,
                storage_offset=a.storage_offset(),
                dtype=a.dtype,
                device=a.device,
                requires_grad=a.requires_grad,
            )
            r.a, r.b = a, b
            return r

        def __repr__(self):
            return "TwoTensor"

        def __tensor_flatten__(self):
            return ["a", "b"], None

        @staticmethod
        def __tensor_unflatten__(inner, meta, outer_size, outer_stride):
            return TwoTensor(inner["a"], inner["b"], outer_size, outer_stride)

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            pick = lambda f: func(
                *pytree.tree_map_only(cls, f, args), **pytree.tree_map_only(cls, f, kwargs)
            )
            out_a, out_b = pick(lambda x: x.a), pick(lambda x: x.b)
            flat, spec = pytree.tree_flatten(out_a)
            flat_b = pytree.tree_leaves(out_b)
            out = [cls(x, y) if isinstance(x, s.Tensor) else x for x, y in zip(flat, flat_b)]
            return m.return_and_correct_aliasing(
                func, args, kwargs, pytree.tree_unflatten(out, spec)
            )

    x = TwoTensor(T.arange(4.0), T.ones(4))
    v = x.view(2, 2)
    log(
        v.shape,
        v._is_view(),
        v._base is x,
        v.untyped_storage()._cdata == x.untyped_storage()._cdata,
    )
    log(x.add_(1) is x, x._version, x.a, x.b)
    y = x.mul(2)
    log(y, y.a, y.untyped_storage()._cdata == x.untyped_storage()._cdata)
    log([type(t).__name__ for t in x.split(2)], x.split(2)[1].storage_offset())
    log(
        m.is_traceable_wrapper_subclass(x),
        m.is_traceable_wrapper_subclass(T.ones(1)),
        m.is_traceable_wrapper_subclass_type(TwoTensor),
    )
    t = m.transform_subclass(x, lambda name, inner: (log(name), inner + 1)[1])
    log(type(t).__name__, t.a, t.shape, t.stride())
    log(s.T.add(x, 1, alpha=2).b)
    o = TwoTensor(T.empty(4), T.empty(4))
    log(T.add(x, x, out=o) is o, o.a)


def aliasing_correction_details(s: Any, log: Any) -> None:
    T, m = s.T, s.modes
    make = s.Tensor._make_wrapper_subclass

    class W(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            out = make(cls, args[0].shape)
            log(func)
            return m.return_and_correct_aliasing(func, args, kwargs or {}, out)

    w = make(W, (2, 2))
    v = s.ops.aten.view.default(w, [2, 2])
    log(v is w, v.untyped_storage()._cdata == w.untyped_storage()._cdata)
    r = s.ops.aten.mul_.Tensor(w, 2)
    log(r is w)
    c = s.ops.aten.clone.default(w)
    log(c is w, c.untyped_storage()._cdata == w.untyped_storage()._cdata)
    d = s.ops.aten.detach.default(w)
    log(type(d).__name__, d._is_view())
    log.attempt("list", s.ops.aten.split.Tensor, w, 1)


def register_torch_dispatch_rule(s: Any, log: Any) -> None:
    T = s.T
    lib = s.library.Library("more_rule", "FRAGMENT")
    lib.define("g(Tensor x) -> Tensor")
    lib.impl("g", lambda x: x + 1, "CompositeExplicitAutograd")

    class S(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log("class", func)
            return "class"

    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log("mode", func)
            return func(*args, **(kwargs or {}))

    @s.library.register_torch_dispatch("more_rule::g", S, lib=lib)
    def rule(cls, func, types, args, kwargs):
        log("rule", func, [t.__name__ for t in types], len(args), kwargs)
        return None

    @s.library.register_torch_dispatch("more_rule::g", M, lib=lib)
    def mode_rule(mode, func, types, args, kwargs):
        log("mode rule", type(mode).__name__, func)
        return T.zeros(1)

    x = s.Tensor._make_subclass(S, T.ones(1))
    log(s.ops.more_rule.g(x))
    with M():
        log(s.ops.more_rule.g(T.ones(2)))
    log(s.ops.more_rule.g.default(T.ones(1)))


def handler_returns_wrong_things(s: Any, log: Any) -> None:
    T = s.T

    class S(s.Tensor):
        value: Any = None

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return cls.value

    x = s.Tensor._make_subclass(S, T.ones(2))
    for value in (None, 7, "a", T.zeros(1), [T.zeros(1)], (1, 2)):
        S.value = value
        log.attempt(f"op {type(value).__name__}", s.ops.aten.add.Tensor, x, x)
    S.value = 3
    log.attempt("function", T.add, x, x)
    log.attempt("method", lambda: x.neg())
    S.value = True
    log.attempt("equal", T.equal, x, x)


def handler_raises(s: Any, log: Any) -> None:
    T = s.T

    class S(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            raise ZeroDivisionError("here")

    x = s.Tensor._make_subclass(S, T.ones(2))
    for call in (
        lambda: x + 1,
        lambda: x.add_(1),
        lambda: T.cat([x]),
        lambda: x.view(2),
        lambda: x.sum(),
    ):
        log.attempt("call", call)
    log(x._version, s.C._dispatch_tls_is_dispatch_key_excluded("Python"))
    log(s.C._dispatch_tls_is_dispatch_key_excluded("AutogradCPU"))
