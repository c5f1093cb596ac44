"""Tensor subclasses: classes, instances, attributes, the protocol around their handlers."""

import copy
import gc
import weakref


def _logging(s, seen):
    class L(s.Tensor):
        @staticmethod
        def __new__(cls, elem, *args, **kwargs):
            return s.Tensor._make_subclass(cls, elem, elem.requires_grad)

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            seen.append(str(func))
            args = s.pytree.tree_map(lambda t: _strip(s, t), args)
            kwargs = s.pytree.tree_map(lambda t: _strip(s, t), kwargs or {})
            out = func(*args, **kwargs)
            return s.pytree.tree_map(lambda t: L(t) if isinstance(t, s.Tensor) else t, out)

    return L


def _strip(s, t):
    if not isinstance(t, s.Tensor) or type(t) is s.Tensor:
        return t
    guard = s.C._DisableTorchDispatch()
    try:
        return s.ops.aten.alias.default(t)
    finally:
        del guard


def logging_subclass(s, log):
    seen = []
    L = _logging(s, seen)
    x = L(s.T.arange(4.0))
    y = x + 1
    z = (y * y).sum()
    log(type(y), type(z), seen)
    log(_strip(s, y), _strip(s, z))
    seen.clear()
    s.T.cat([x, y])
    x.view(2, 2)
    x[1:]
    x.mul_(2)
    s.T.add(x, 1, out=y)
    log(seen)


def keys_of_instances(s, log):
    class A(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    class P(s.Tensor):
        pass

    for cls in (A, P):
        x = s.Tensor._make_subclass(cls, s.T.ones(2))
        log(s.C._dispatch_keys(x), s.C._dispatch_keys(x).has(s.DispatchKey.Python))
        log(s.C._dispatch_keys(x).has(s.DispatchKey.PythonTLSSnapshot))
        log.attempt("subclass-like", s.C._dispatch_isTensorSubclassLike, x)


def constructing_instances(s, log):
    class P(s.Tensor):
        pass

    class A(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return func(*[_strip(s, a) for a in args], **(kwargs or {}))

    for cls in (P, A):
        log.attempt("of a list", lambda cls=cls: type(cls([1.0, 2.0])))
        log.attempt("of sizes", lambda cls=cls: tuple(cls(2, 3).shape))
        log.attempt("of a tensor", lambda cls=cls: type(cls(s.T.ones(2))))
        log.attempt("of nothing", lambda cls=cls: tuple(cls().shape))
        log.attempt("of a string", lambda cls=cls: cls("no"))
        log.attempt("keys", lambda cls=cls: s.C._dispatch_keys(cls([1.0])))
    t = s.T.ones(2)
    p = P(t)
    log(p.untyped_storage().data_ptr() == t.untyped_storage().data_ptr(), p is t)


def init_with_arguments(s, log):
    class P(s.Tensor):
        def __new__(cls, data, name):
            log("new", name)
            return s.Tensor._make_subclass(cls, data)

        def __init__(self, data, name):
            self.name_of_it = name

    p = P(s.T.ones(2), "n")
    log(type(p), p.name_of_it, p.as_subclass(s.Tensor))
    log.attempt("missing", lambda: P(s.T.ones(2)))


def attributes(s, log):
    class P(s.Tensor):
        kind = "class attribute"

    p = s.Tensor._make_subclass(P, s.T.ones(2))
    p.a = 1
    p.kind = "own"
    log(p.a, p.kind, P.kind, sorted(p.__dict__), hasattr(p, "missing"))
    del p.kind
    log(p.kind)
    log.attempt("missing", lambda: p.missing)
    log.attempt("shape", lambda: setattr(p, "shape", (1,)))
    log.attempt("dtype", lambda: setattr(p, "dtype", s.T.int64))
    q = p + 1
    log(sorted(getattr(q, "__dict__", {})))
    t = s.T.ones(1)
    t.note = [1]
    log(t.note, t.__dict__)


def slots(s, log):
    class P(s.Tensor):
        __slots__ = ("one", "two")

    p = s.Tensor._make_subclass(P, s.T.ones(2))
    p.one = 1
    log(p.one)
    log.attempt("unset", lambda: p.two)
    p.other = 3
    log(p.other, sorted(p.__dict__))
    copied = copy.copy(p)
    log(type(copied), getattr(copied, "one", "lost"), getattr(copied, "other", "lost"))


def weak_references(s, log):
    class P(s.Tensor):
        pass

    class A(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    for cls in (P, A):
        x = s.Tensor._make_subclass(cls, s.T.ones(2))
        gone = []
        r = weakref.ref(x, lambda _: gone.append(1))
        log(r() is x)
        del x
        gc.collect()
        log(r() is None, gone)
    d = weakref.WeakValueDictionary()
    x = s.Tensor._make_subclass(P, s.T.ones(2))
    d["x"] = x
    log(len(d))
    del x
    gc.collect()
    log(len(d))


def cycles_are_collected(s, log):
    class P(s.Tensor):
        pass

    gone = []
    x = s.Tensor._make_subclass(P, s.T.ones(2))
    y = s.Tensor._make_subclass(P, s.T.ones(2))
    x.other, y.other = y, x
    x.me = x
    r = weakref.ref(x, lambda _: gone.append("x"))
    weak = weakref.ref(y, lambda _: gone.append("y"))
    del x, y
    gc.collect()
    log(r() is None, weak() is None, sorted(gone))


def finalisers_and_resurrection(s, log):
    kept = []

    class P(s.Tensor):
        def __del__(self):
            kept.append(self)

    x = s.Tensor._make_subclass(P, s.T.arange(3.0))
    x.note = "n"
    del x
    gc.collect()
    log(len(kept), type(kept[0]), kept[0].note, kept[0].as_subclass(s.Tensor))
    kept[0].mul_(2)
    log(kept[0].as_subclass(s.Tensor))


def handler_set_and_deleted_later(s, log):
    class P(s.Tensor):
        pass

    def handle(cls, func, types, args=(), kwargs=None):
        seen.append(str(func))
        return s.T.zeros(1)

    seen = []
    before = s.Tensor._make_subclass(P, s.T.ones(2))
    P.__torch_dispatch__ = classmethod(handle)
    after = s.Tensor._make_subclass(P, s.T.ones(2))
    log(s.C._dispatch_keys(before), s.C._dispatch_keys(after))
    s.ops.aten.neg.default(before)
    log(seen)
    s.ops.aten.neg.default(after)
    log(seen)
    del P.__torch_dispatch__
    log(s.C._dispatch_keys(after))
    log.attempt("gone", lambda: s.ops.aten.neg.default(after).shape)
    log(seen)


def handler_of_the_instance(s, log):
    class P(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            seen.append("class")
            return s.T.zeros(1)

    seen = []
    x = s.Tensor._make_subclass(P, s.T.ones(2))

    def own(func, types, args=(), kwargs=None):
        seen.append("instance")
        return s.T.zeros(1)

    x.__torch_dispatch__ = own
    s.ops.aten.neg.default(x)
    log(seen)
    del x.__torch_dispatch__
    s.ops.aten.neg.default(x)
    log(seen)


def disabled_handlers(s, log):
    seen = []

    class A(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return s.T.zeros(1)

    class D(A):
        __torch_dispatch__ = s.C._disabled_torch_dispatch_impl

    a = s.Tensor._make_subclass(A, s.T.ones(2))
    d = s.Tensor._make_subclass(D, s.T.ones(2))
    log(s.C._dispatch_keys(d))
    s.ops.aten.neg.default(d)
    log(seen)
    s.ops.aten.add.Tensor(a, d)
    log(seen)


def dispatch_disabled(s, log):
    seen = []

    class A(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return s.T.zeros(1)

    a = s.Tensor._make_subclass(A, s.T.ones(2))
    with s.C._DisableTorchDispatch():
        log.attempt("neg", lambda: tuple(s.ops.aten.neg.default(a).shape))
        log.attempt("add", lambda: tuple(s.ops.aten.add.Tensor(a, a).shape))
    log(seen)
    s.ops.aten.neg.default(a)
    log(seen)
    direct = s.C._disabled_torch_dispatch_impl
    log.attempt("direct", lambda: tuple(direct(s.ops.aten.neg.default, (), (a,)).shape))
    log.attempt("direct kwargs", lambda: tuple(direct(s.ops.aten.neg.default, (), (a,), {}).shape))
    log.attempt("too few", lambda: direct())
    log(seen)


def handlers_that_call_again(s, log):
    depth = []

    class A(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            depth.append(len(depth))
            if len(depth) < 5:
                return func(*args, **(kwargs or {}))
            return s.T.zeros(1)

    a = s.Tensor._make_subclass(A, s.T.ones(2))
    log(s.ops.aten.neg.default(a), depth)
    depth.clear()
    depth.extend(range(5))
    log(a + a, depth[-1])


def endless_recursion(s, log):
    class A(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    a = s.Tensor._make_subclass(A, s.T.ones(2))
    log.attempt("neg", lambda: s.ops.aten.neg.default(a))
    log(s.C._dispatch_tls_local_exclude_set(), s.C._len_torch_dispatch_stack())


def a_hundred_modes(s, log):
    seen = []

    class M(s.modes.TorchDispatchMode):
        def __init__(self, n):
            super().__init__()
            self.n = n

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(self.n)
            return func(*args, **(kwargs or {}))

    modes = [M(i) for i in range(100)]
    for m in modes:
        m.__enter__()
    x = s.ops.aten.ones.default([2])
    for m in reversed(modes):
        m.__exit__(None, None, None)
    log(x, len(seen), seen == list(range(99, -1, -1)), s.C._len_torch_dispatch_stack())


def keys_inside_handlers(s, log):
    class A(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log(s.C._dispatch_tls_local_exclude_set(), s.C._dispatch_tls_local_include_set())
            return s.T.zeros(1)

    a = s.Tensor._make_subclass(A, s.T.ones(2))
    s.ops.aten.neg.default(a)
    with s.T.inference_mode():
        s.ops.aten.neg.default(a)
    log(s.C._dispatch_tls_local_exclude_set())


def plain_methods_and_static_methods(s, log):
    class I(s.Tensor):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log("instance", type(self), str(func), type(args[0]))
            return s.T.zeros(1)

    class S(s.Tensor):
        @staticmethod
        def __torch_dispatch__(func, types, args=(), kwargs=None):
            log("static", str(func))
            return s.T.zeros(1)

    class C:
        def __call__(self, *args):
            log("callable", len(args), type(args[0]))
            return s.T.zeros(1)

    class O(s.Tensor):
        __torch_dispatch__ = C()

    for cls in (I, S, O):
        x = s.Tensor._make_subclass(cls, s.T.ones(2))
        log.attempt(cls.__name__, lambda x=x: s.ops.aten.neg.default(x))


def handlers_with_wrong_signatures(s, log):
    class A(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types):
            return s.T.zeros(1)

    class B(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, *everything, **more):
            log(len(everything), len(more), type(everything[3]))
            return s.T.zeros(1)

    class N(s.Tensor):
        __torch_dispatch__ = None

    for cls in (A, B, N):
        x = s.Tensor._make_subclass(cls, s.T.ones(2))
        log.attempt(cls.__name__, lambda x=x: s.ops.aten.neg.default(x))


def parameters_and_requires_grad(s, log):
    class A(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return func(*[_strip(s, a) for a in args], **(kwargs or {}))

    a = s.Tensor._make_subclass(A, s.T.ones(2), True)
    b = a * 2
    log(b.requires_grad, b.is_leaf, b.grad_fn is None, type(b))
    with s.T.no_grad():
        c = a * 2
    log(c.requires_grad, c.is_leaf)
    d = a.detach()
    log(d.requires_grad, type(d))
    log.attempt("in place", lambda: a.mul_(2))
    with s.T.no_grad():
        log.attempt("in place without grad", lambda: a.mul_(2) is a)


def flatten_and_unflatten(s, log):
    class Two(s.Tensor):
        @staticmethod
        def __new__(cls, a, b):
            return s.Tensor._make_wrapper_subclass(cls, a.size(), strides=a.stride(), dtype=a.dtype)

        def __init__(self, a, b):
            self.a, self.b = a, b

        def __tensor_flatten__(self):
            return ["a", "b"], "context"

        @staticmethod
        def __tensor_unflatten__(inner, context, outer_size, outer_stride):
            log("unflatten", sorted(inner), context, tuple(outer_size), tuple(outer_stride))
            return Two(inner["a"], inner["b"])

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    class Half(s.Tensor):
        def __tensor_flatten__(self):
            return [], None

    m = s.modes
    t = Two(s.T.ones(2, 3), s.T.zeros(2, 3))
    h = s.Tensor._make_subclass(Half, s.T.ones(2))
    log(m.is_traceable_wrapper_subclass(t), m.is_traceable_wrapper_subclass(h))
    log(m.is_traceable_wrapper_subclass(s.T.ones(1)), m.is_traceable_wrapper_subclass(3))
    log(m.is_traceable_wrapper_subclass_type(Two), m.is_traceable_wrapper_subclass_type(Half))
    log(m.is_traceable_wrapper_subclass_type(s.Tensor), m.is_traceable_wrapper_subclass_type(int))
    log.attempt("not a type", m.is_traceable_wrapper_subclass_type, t)
    seen = []
    u = m.transform_subclass(t, lambda n, x: seen.append(n) or x * 2)
    log(type(u), u.a, u.b, seen)
    log.attempt("other size", lambda: m.transform_subclass(t, lambda n, x: x, outer_size=(3, 2)))
    log.attempt(
        "other stride", lambda: m.transform_subclass(t, lambda n, x: x, outer_stride=(1, 2))
    )
    log.attempt(
        "same size",
        lambda: type(m.transform_subclass(t, lambda n, x: x, outer_size=s.T.Size([2, 3]))),
    )
    log.attempt("other shapes", lambda: m.transform_subclass(t, lambda n, x: x[0]))
    log.attempt("not flattened", lambda: m.transform_subclass(s.T.ones(1), lambda n, x: x))


def alias_info(s, log):
    a = s.ops.aten
    for op in (
        a.add.Tensor,
        a.add_.Tensor,
        a.view.default,
        a.split.Tensor,
        a.add.out,
        a.t_.default,
        a.max.dim_max,
        a.transpose.int,
        a.detach.default,
        a.unbind.int,
        a.squeeze_.dim,
    ):
        info = s.modes.get_alias_info(op)
        log(str(op), [(sorted(x.alias_set), x.is_write, x.name) for x in info.args])
        log("  outs", [(sorted(x.alias_set), x.is_write, x.name) for x in info.outs])
        log(
            "  ",
            info.is_inplace_view_op,
            info.outs_write_aliases,
            info.read_only_alias_match_indexes,
        )
    log(s.modes.get_alias_info(a.add.Tensor) is s.modes.get_alias_info(a.add.Tensor))


def _two(s, rule):
    class Two(s.Tensor):
        @staticmethod
        def __new__(cls, a):
            return s.Tensor._make_wrapper_subclass(cls, a.size(), strides=a.stride(), dtype=a.dtype)

        def __init__(self, a):
            self.a = a

        def __tensor_flatten__(self):
            return ["a"], None

        @staticmethod
        def __tensor_unflatten__(inner, context, outer_size, outer_stride):
            return Two(inner["a"])

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            un = lambda t: t.a if isinstance(t, Two) else t
            out = func(*s.pytree.tree_map(un, args), **s.pytree.tree_map(un, kwargs))
            out = s.pytree.tree_map(lambda t: Two(t) if isinstance(t, s.Tensor) else t, out)
            return rule(func, args, kwargs, out)

    return Two


def corrected_aliasing(s, log):
    Two = _two(s, s.modes.return_and_correct_aliasing)
    t = Two(s.T.arange(6.0).reshape(2, 3))

    def same(x, y):
        return x.untyped_storage()._cdata == y.untyped_storage()._cdata

    v = t.view(-1)
    log(type(v), v.shape, same(v, t), v.a)
    w = t.t()
    log(w.shape, w.stride(), same(w, t))
    log(t.add_(1) is t, t.a)
    out = Two(s.T.zeros(2, 3))
    log(s.T.add(t, 1, out=out) is out, out.a)
    u = t + 1
    log(same(u, t), u.a)
    parts = t.split(1)
    log(len(parts), [same(p, t) for p in parts], type(parts))
    d = t.detach()
    log(same(d, t), type(d))
    k = t.expand(2, 2, 3)
    log(k.shape, k.stride(), same(k, t))


def inplace_views_corrected(s, log):
    Two = _two(s, s.modes.return_and_correct_aliasing)
    t = Two(s.T.arange(6.0).reshape(2, 3))
    r = t.t_()
    log(r is t, t.shape, t.stride(), t.a.shape)
    t.unsqueeze_(0)
    log(t.shape, t.a.shape)
    t.squeeze_()
    log(t.shape, t.stride(), t.a.shape)


def aliasing_of_other_classes(s, log):
    Two = _two(
        s, lambda f, a, k, out: s.modes.return_and_correct_aliasing(f, a, k, getattr(out, "a", out))
    )
    t = Two(s.T.arange(6.0).reshape(2, 3))
    log.attempt("view to a plain tensor", lambda: t.view(-1))
    log.attempt("add", lambda: type(t + 1))
    f = s.modes.return_and_correct_aliasing
    x = s.T.ones(2, 3)
    log.attempt("not an operator", lambda: f(len, (x,), {}, x))
    log.attempt("args of a list", lambda: f(s.ops.aten.view.default, [x, [6]], {}, x))
    log.attempt(
        "plain",
        lambda: f(s.ops.aten.view.default, (x, [6]), {}, s.T.zeros(6)).untyped_storage().nbytes(),
    )


def copies(s, log):
    class P(s.Tensor):
        pass

    p = s.Tensor._make_subclass(P, s.T.arange(3.0))
    p.note = ["n"]
    q = copy.copy(p)
    log(type(q), q.note, q.note is p.note, q.as_subclass(s.Tensor))
    log(q.untyped_storage().data_ptr() == p.untyped_storage().data_ptr(), q is p)
    log.attempt("deep", lambda: type(copy.deepcopy(p)))


def deep_copies_of_handled_classes(s, log):
    seen = []

    class A(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return s.Tensor._make_subclass(
                cls, func(*[_strip(s, a) for a in args], **(kwargs or {}))
            )

    class Plain(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return func(*[_strip(s, a) for a in args], **(kwargs or {}))

    a = s.Tensor._make_subclass(A, s.T.arange(3.0))
    a.note = "n"
    q = copy.deepcopy(a)
    log(type(q), q.note, seen, q is a)
    p = s.Tensor._make_subclass(Plain, s.T.arange(3.0))
    log.attempt("clone of another class", lambda: copy.deepcopy(p))


def wrapper_deep_copy(s, log):
    Two = _two(s, lambda f, a, k, out: out)
    t = Two(s.T.arange(3.0))
    q = copy.deepcopy(t)
    log(type(q), q.a, q.a is t.a)
    t.requires_grad_()
    q = copy.deepcopy(t)
    log(q.requires_grad)
    u = t * 2
    log.attempt("not a leaf", lambda: copy.deepcopy(u))


def printing(s, log):
    class P(s.Tensor):
        pass

    class R(s.Tensor):
        def __repr__(self):
            return "R!"

    p = s.Tensor._make_subclass(P, s.T.arange(3.0))
    log(repr(p), str(s.Tensor._make_subclass(R, s.T.ones(1))))
    log(f"{s.Tensor._make_subclass(R, s.T.ones(1))}")


def comparing_and_hashing(s, log):
    class P(s.Tensor):
        pass

    p = s.Tensor._make_subclass(P, s.T.arange(3.0))
    q = s.Tensor._make_subclass(P, s.T.arange(3.0))
    log(
        p is q,
        hash(p) == hash(q),
        len({p, q}),
        p in [p],
        isinstance(p, s.Tensor),
        issubclass(P, s.Tensor),
    )
    log({p: 1}[p])


def tensor_class_facts(s, log):
    log(s.Tensor.__torch_dispatch__ is s.C._disabled_torch_dispatch_impl)
    log(hasattr(s.Tensor, "_make_subclass"), hasattr(s.Tensor, "_make_wrapper_subclass"))
    log(callable(s.Tensor.as_subclass), s.Tensor.__name__)
    x = s.T.ones(2)
    log(type(x.__torch_dispatch__).__name__, x.__torch_dispatch__ is s.Tensor.__torch_dispatch__)


def list_arguments(s, log):
    seen = []

    class A(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            seen.append((str(func), [type(a).__name__ for a in args]))
            if args and isinstance(args[0], list):
                seen.append([type(t).__name__ for t in args[0]])
            return s.T.zeros(1)

    a = s.Tensor._make_subclass(A, s.T.ones(2))
    s.T.cat([a, s.T.ones(1)])
    s.T.stack((a, a))
    s.ops.aten.cat.default((s.T.ones(1), a), 0)
    given = [a, a]
    s.ops.aten.cat.default(given)
    s.ops.aten.sum.dim_IntList(a, (0,))
    s.ops.aten.view.default(a, s.T.Size([2]))
    log(seen)


def factories_with_subclass_arguments(s, log):
    seen = []

    class A(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            seen.append((str(func), sorted(kwargs)))
            return s.T.zeros(1)

    a = s.Tensor._make_subclass(A, s.T.ones(2))
    a.new_empty((3,))
    a.new_zeros(3)
    a.type(s.T.float64)
    a.double()
    a.to(s.T.int32)
    a.cpu()
    a.contiguous()
    a.clone()
    a.reshape(1, 2)
    a.flatten()
    log([name for name, _ in seen])
