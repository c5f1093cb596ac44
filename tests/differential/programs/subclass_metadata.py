"""Metadata of subclasses: made, overridden, copied, kept by wrappers."""

from typing import Any


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
