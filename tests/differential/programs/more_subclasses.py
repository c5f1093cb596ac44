"""Subclasses: what `__torch_dispatch__` and `__torch_function__` get, and what wrappers keep."""

from typing import Any


def _name(func: Any) -> str:
    if type(func).__name__ in ("OpOverload", "OpOverloadPacket"):
        return str(func)
    return getattr(func, "__name__", type(func).__name__)


def _logging_tensor(s: Any, log: Any) -> Any:
    """The LoggingTensor of PyTorch's tests: a wrapper that holds `elem`."""
    T, pytree = s.T, s.pytree

    class LoggingTensor(s.Tensor):
        @staticmethod
        def __new__(cls, elem, requires_grad=False):
            r = s.Tensor._make_wrapper_subclass(
                cls,
                elem.size(),
                strides=elem.stride(),
                storage_offset=elem.storage_offset(),
                dtype=elem.dtype,
                layout=elem.layout,
                device=elem.device,
                requires_grad=requires_grad or elem.requires_grad,
            )
            r.elem = elem.detach() if r.requires_grad else elem
            return r

        def __repr__(self):
            return f"LoggingTensor({self.elem.tolist()})"

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log(func, [t.__name__ for t in types], sorted(kwargs or {}))
            un = lambda x: x.elem if isinstance(x, cls) else x
            wrap = lambda x: cls(x) if isinstance(x, s.Tensor) else x
            return pytree.tree_map(
                wrap, func(*pytree.tree_map(un, args), **pytree.tree_map(un, kwargs or {}))
            )

    return LoggingTensor


def logging_tensor_arithmetic(s: Any, log: Any) -> None:
    L = _logging_tensor(s, log)
    x = L(s.T.arange(4.0))
    log(x + 1)
    log(1 - x)
    log(x.sum())
    log(s.T.add(s.T.ones(4), x, alpha=3).elem)
    log((x == x).elem)


def logging_tensor_views(s: Any, log: Any) -> None:
    L = _logging_tensor(s, log)
    x = L(s.T.arange(6.0).view(2, 3))
    y = x.t()
    log(y.shape, y.stride(), y._is_view(), y._base is x)
    z = x[0, 1:]
    log(z, z.storage_offset(), z._is_view())
    log(x.view(-1).shape, x.is_contiguous(), y.is_contiguous())


def logging_tensor_in_place(s: Any, log: Any) -> None:
    L = _logging_tensor(s, log)
    x = L(s.T.ones(2))
    y = x.add_(1)
    log(y is x, x._version, x.elem, x.elem._version)
    x += 1
    log(type(x).__name__, x)
    x.mul_(2)
    log(x, x._version)


def logging_tensor_lists(s: Any, log: Any) -> None:
    L = _logging_tensor(s, log)
    x = L(s.T.arange(4.0))
    log(s.T.cat([x, s.T.ones(1)]))
    log(x.split(2))
    log(s.T.stack([x, x]).shape)
    log([type(t).__name__ for t in x.unbind()])
    log(x.max(0))


def logging_tensor_requires_grad(s: Any, log: Any) -> None:
    L = _logging_tensor(s, log)
    x = L(s.T.ones(2), requires_grad=True)
    log(x.requires_grad, x.is_leaf)
    y = x * 2
    log(y.requires_grad, y.is_leaf, y.elem.requires_grad)
    log(y.detach().requires_grad)
    with s.T.no_grad():
        log((x * 2).requires_grad)


def wrapper_attributes(s: Any, log: Any) -> None:
    T = s.T

    class Plain(s.Tensor):
        pass

    class W(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            raise KeyError(str(func))

    make = s.Tensor._make_wrapper_subclass
    log.attempt("no handler", make, Plain, (2,))
    w = make(W, (2, 3), dtype=T.float64, device="cuda", requires_grad=True)
    log(type(w).__name__, w.shape, w.stride(), w.dtype, w.device, w.requires_grad, w.layout)
    w = make(W, (2, 3), strides=(1, 2), storage_offset=4)
    log(w.stride(), w.storage_offset(), w.dtype, w.device, w.is_contiguous())
    log(w._is_view(), w._version, w.is_leaf, w.numel(), w.element_size())
    log(
        s.C._dispatch_keys(w).has(s.DispatchKey.Python),
        s.C._dispatch_keys(w).has(s.DispatchKey.Meta),
    )
    log.attempt("add", lambda: w + 1)
    log.attempt("class", make, s.T.device, (2,))
    log.attempt("size", make, W, "x")
    log.attempt(
        "memory_format", lambda: make(W, (1, 2, 3, 4), memory_format=T.channels_last).stride()
    )


def make_subclass_checks(s: Any, log: Any) -> None:
    T = s.T

    class D(s.Tensor):
        pass

    x = T.ones(2)
    d = s.Tensor._make_subclass(D, x)
    log(type(d).__name__, d.data_ptr() == x.data_ptr(), d.requires_grad, d._is_view(), d._version)
    log(s.Tensor._make_subclass(D, x, True).requires_grad)
    d.add_(1)
    log(x, d._version, x._version)
    log.attempt("int grad", s.Tensor._make_subclass, D, T.ones(2, dtype=T.int64), True)
    log.attempt("not a class", s.Tensor._make_subclass, 3, x)
    log.attempt("not a tensor", s.Tensor._make_subclass, D, 3)
    log.attempt("other class", s.Tensor._make_subclass, int, x)
    log(type(x.as_subclass(D)).__name__, x.as_subclass(D).data_ptr() == x.data_ptr())
    log(type(d.detach()).__name__, type(d + 1).__name__, type(d[0]).__name__)
    log(type(d.as_subclass(s.Tensor)).__name__)


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


def function_of_subclass(s: Any, log: Any) -> None:
    T = s.T

    class F(s.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            log(_name(func), [t.__name__ for t in types], len(args), kwargs or {})
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
            log("N", _name(func))
            return NotImplemented

    class Other:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            log("Other", _name(func), [t.__name__ for t in types])
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


def transform_subclass_errors(s: Any, log: Any) -> None:
    T, m = s.T, s.modes

    class W(s.Tensor):
        @staticmethod
        def __new__(cls, inner):
            r = s.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
            r.inner = inner
            return r

        def __tensor_flatten__(self):
            return ["inner"], {"k": 1}

        @staticmethod
        def __tensor_unflatten__(inner, meta, outer_size, outer_stride):
            log("unflatten", sorted(inner), meta, tuple(outer_size), tuple(outer_stride))
            return W(inner["inner"])

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            raise NotImplementedError(str(func))

    w = W(T.ones(2, 3))
    log(type(m.transform_subclass(w, lambda n, t: t * 2)).__name__)
    log.attempt("shape changes", m.transform_subclass, w, lambda n, t: t.sum())
    log.attempt("given sizes", lambda: m.transform_subclass(w, lambda n, t: t[0], (3,), (1,)).shape)
    log.attempt("add", lambda: w + 1)
    log(m.is_traceable_wrapper_subclass(w))


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


def subclass_under_mode(s: Any, log: Any) -> None:
    L = _logging_tensor(s, log)

    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log("mode", func, [t.__name__ for t in types])
            return func(*args, **(kwargs or {}))

    x = L(s.T.ones(2))
    with M():
        y = x.sin()
        z = s.T.ones(2).add(x)
    log(type(y).__name__, type(z).__name__, len(s.modes._get_current_dispatch_mode_stack()))


def composite_in_subclass(s: Any, log: Any) -> None:
    L = _logging_tensor(s, log)
    x = L(s.T.ones(2, 3))
    x.reshape(3, 2)
    s.T.matmul(x, x.t())
    s.T.square(x)
    x.flatten()
    x.to(s.T.float64)
    x.contiguous()
    x.expand(4, 2, 3)
    x.type_as(s.T.ones(1))


def custom_op_with_subclass(s: Any, log: Any) -> None:
    T = s.T
    lib = s.library.Library("more_sub", "DEF")
    lib.define("f(Tensor x, Tensor? y=None, *, Tensor[]? zs=None, int n=0) -> (Tensor, int)")
    lib.impl("f", lambda x, y=None, *, zs=None, n=0: (x.clone(), n), "CPU")
    L = _logging_tensor(s, log)
    op = s.ops.more_sub.f
    x = L(T.ones(1))
    log(op(x))
    log(op(T.ones(1), x, n=3))
    log(op(T.ones(1), zs=[T.ones(1)]))
    log(op(T.ones(1), None, zs=[], n=0))


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


def overridden_metadata(s: Any, log: Any) -> None:
    T = s.T

    class S(s.Tensor):
        @staticmethod
        def __new__(cls, x, policy):
            return s.Tensor._make_wrapper_subclass(
                cls, x.shape, dtype=x.dtype, dispatch_sizes_strides_policy=policy
            )

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log(func)
            if func is s.ops.aten.sym_size.default or func is s.ops.aten.size.default:
                return (5, 6)
            if func is s.ops.aten.sym_stride.default or func is s.ops.aten.stride.default:
                return (6, 1)
            if func is s.ops.aten.is_contiguous.default:
                return True
            if func is s.ops.aten.dim.default:
                return 2
            if func in (s.ops.aten.numel.default, s.ops.aten.sym_numel.default):
                return 30
            return NotImplemented

    x = S(T.ones(2, 3), "sizes")
    log.attempt("size", x.size)
    log.attempt("shape", lambda: x.shape)
    log.attempt("dim", x.dim)
    log.attempt("numel", x.numel)
    log.attempt("stride", x.stride)
    log.attempt("contiguous", x.is_contiguous)
    y = S(T.ones(2, 3), "strides")
    log.attempt("size", y.size)
    log.attempt("stride", y.stride)
    log.attempt("contiguous", y.is_contiguous)
    log.attempt("policy", S, T.ones(1), "nothing")


def device_property_overridden(s: Any, log: Any) -> None:
    T = s.T

    class S(s.Tensor):
        @staticmethod
        def __new__(cls, x):
            return s.Tensor._make_wrapper_subclass(
                cls, x.shape, dtype=x.dtype, dispatch_device=True, dispatch_layout=True
            )

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log(func)
            if func is s.ops.prim.device.default:
                return T.device("meta")
            if func is s.ops.prim.layout.default:
                return T.sparse_coo
            return NotImplemented

    x = S(T.ones(1))
    log.attempt("device", lambda: x.device)
    log.attempt("layout", lambda: x.layout)
    log.attempt("is_cuda", lambda: x.is_cuda)
    log.attempt("is_meta", lambda: x.is_meta)
    log(s.C._dispatch_keys(x).has(s.DispatchKey.Python))


def subclass_deepcopy_and_pickle(s: Any, log: Any) -> None:
    import copy

    T = s.T

    class P(s.Tensor):
        pass

    x = T.ones(2).as_subclass(P)
    x.note = [1]
    log.attempt("deepcopy", copy.deepcopy, x)
    z = copy.copy(x)
    log(type(z).__name__, z.note is x.note, z is x)
    L = _logging_tensor(s, log)
    l = L(T.ones(1))
    log.attempt("deepcopy", lambda: type(copy.deepcopy(l)).__name__)


def subclass_repr(s: Any, log: Any) -> None:
    T = s.T

    class P(s.Tensor):
        pass

    log(repr(T.ones(2).as_subclass(P)))
    log(repr(T.ones(2, requires_grad=True).as_subclass(P)))
    log(repr(T.ones(2)[0].as_subclass(P)), str(T.ones(1).as_subclass(P)))
    L = _logging_tensor(s, log)
    log(repr(L(T.ones(1))), str(L(T.zeros(1))))


def parameters_like(s: Any, log: Any) -> None:
    T = s.T

    class P(s.Tensor):
        def __new__(cls, data, tag="t"):
            r = s.Tensor._make_subclass(cls, data, True)
            r.tag = tag
            return r

        __torch_function__ = s.C._disabled_torch_function_impl

    p = P(T.ones(2), "w")
    log(p.tag, p.requires_grad, p.is_leaf, type(p).__name__)
    log(type(p * 2).__name__, (p * 2).requires_grad)
    log(isinstance(p, s.Tensor), p.grad, p.data_ptr() == p.data.data_ptr(), type(p.data).__name__)
    with T.no_grad():
        p.add_(1)
    log(p._version, p.detach())
    log.attempt("leaf in place", lambda: p.add_(1))


def saved_types_and_scalar(s: Any, log: Any) -> None:
    T = s.T
    L = _logging_tensor(s, log)
    x = L(T.tensor(3.0))
    log.attempt("item", x.item)
    log.attempt("float", float, x)
    log.attempt("bool", bool, x)
    log.attempt("tolist", x.tolist)
    log.attempt("numpy", lambda: x.numpy().shape)
    log.attempt("len", len, L(T.ones(3)))
    log.attempt("iter", lambda: [type(t).__name__ for t in L(T.ones(2))])
    log.attempt("equal", lambda: T.equal(x, x))


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


def enable_reentrant(s: Any, log: Any) -> None:
    T = s.T
    L = _logging_tensor(s, log)
    x = L(T.ones(1))

    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log("mode", func, [t.__name__ for t in types])
            if func is s.ops.aten.sin.default:
                return L(T.zeros(1))
            return func(*args, **(kwargs or {}))

    with M():
        y = T.ones(1).sin()
        log(type(y).__name__)
        y.cos()
    with s.C._DisableTorchDispatch():
        log(s.C._len_torch_dispatch_stack())
    log(s.C._dispatch_isTensorSubclassLike(x), s.C._dispatch_isTensorSubclassLike(T.ones(1)))


def setting_attributes_and_data(s: Any, log: Any) -> None:
    T = s.T

    class P(s.Tensor):
        pass

    x = T.ones(2).as_subclass(P)
    x.foo = 1
    log(x.foo, (x + 1).__dict__, x.__dict__)
    x.data = T.zeros(3)
    log(type(x).__name__, x.shape, x.foo)
    log.attempt("dtype", setattr, x, "dtype", T.int64)
    log.attempt("shape", setattr, x, "shape", (1,))
    t = T.ones(1)
    t.bar = 2
    log(t.bar, t.__dict__)
    log.attempt("grad", setattr, t, "grad", 3)
    log.attempt("requires_grad", setattr, T.ones(1, dtype=T.int64), "requires_grad", True)
