"""Fake tensors: conversion, constants, propagation, errors, cache, copies."""

from typing import Any


def _mode(s: Any, **kw: Any) -> Any:
    return s.fake.FakeTensorMode(**kw)


def creation_inside(s: Any, log: Any) -> None:
    T = s.T
    with _mode(s) as m:
        for x in (
            T.ones(2, 3),
            T.empty(2, device="cuda"),
            T.arange(5),
            T.zeros((), dtype=T.bool),
            T.full((2,), 1),
        ):
            log(x, x.fake_device, x.fake_mode is m)
        log(T.tensor([1, 2]), T.tensor(3.5))
        log(type(T.ones(1)).__name__, isinstance(T.ones(1), s.fake.FakeTensor))
    log(x.device, x.is_cuda, x.is_cpu, x.is_meta)


def arithmetic_and_promotion(s: Any, log: Any) -> None:
    T = s.T
    with _mode(s):
        a, b = T.ones(3, 1), T.ones(4, dtype=T.float64)
        log(a + b)
        log(T.ones(2, dtype=T.int32) + 1.5)
        log(T.ones(2, dtype=T.int32) / 2)
        log(a.sum(), T.ones(2, dtype=T.int32).sum(), T.ones(2, dtype=T.bool).sum())
        log(a > 0, a.argmax(), a.max(0))
        log(T.ones(2, 3) @ T.ones(3, 4))
        log(T.cat([T.ones(1, 2), T.ones(3, 2)]), T.stack([T.ones(2), T.ones(2)]))
        log(T.where(a > 0, a, 0.0), T.bmm(T.ones(2, 3, 4), T.ones(2, 4, 5)))
        log.attempt("bad", lambda: T.ones(2) + T.ones(3))
        log.attempt("bad mm", lambda: T.ones(2, 3) @ T.ones(2, 3))


def devices(s: Any, log: Any) -> None:
    T = s.T
    with _mode(s):
        c, p = T.ones(2, device="cuda"), T.ones(2)
        log(c + 1, c + T.ones((), dtype=T.float64))
        log.attempt("mixed", lambda: c + p)
        log(T.tensor(2.0) + c, c * T.ones(()))
        log(c.cpu(), c.to(p.device))
        log(T.zeros_like(c), c.new_ones(3), c.new_empty(1, device="cpu"))
        log(p.copy_(c), c.to("meta"))
        log.attempt("cat", T.cat, [c, p])
        log(c.index_select(0, T.zeros(1, dtype=T.int64, device="cuda")))
        log(T.ones(2, device="cuda:1").device)


def from_real_tensors(s: Any, log: Any) -> None:
    T = s.T
    m = _mode(s)
    x = T.arange(6.0).view(2, 3)
    f = m.from_tensor(x)
    log(f, f.fake_mode is m, m.from_tensor(x) is f, f._is_view(), f._version)
    log(m.fake_tensor_converter.from_real_tensor(m, x) is f)
    log(m.from_tensor(x[0]).storage_offset(), m.from_tensor(x[1]).storage_offset())
    log(m.from_tensor(x.t()).stride(), m.from_tensor(T.ones(2, requires_grad=True)).requires_grad)
    y = m.from_tensor(x[1])
    log(y.untyped_storage()._cdata == f.untyped_storage()._cdata, y._base is f)
    log(m.from_tensor(f) is f)
    log.attempt("other mode", _mode(s).from_tensor, f)
    with m:
        log(f + 1)
    log(f + 1, type(f.sin()).__name__)


def real_inputs_not_allowed(s: Any, log: Any) -> None:
    T = s.T
    x = T.ones(2)
    m = _mode(s)
    log(m.allow_non_fake_inputs)
    with m:
        log.attempt("add", lambda: x + 1)
        log.attempt("both", lambda: T.ones(2) + x)
        log.attempt("view", lambda: x.view(2))
        log.attempt("detach", lambda: x.detach())
        log.attempt("in place", lambda: x.zero_())
        log(x.shape, x.device)
    with _mode(s, allow_non_fake_inputs=True):
        log(x + 1, T.ones(2) + x)
    log(x)


def two_modes_do_not_mix(s: Any, log: Any) -> None:
    T = s.T
    a, b = _mode(s), _mode(s)
    with a:
        x = T.ones(2)
    with b:
        y = T.ones(2)
    log.attempt("outside", lambda: x + y)
    with a:
        log.attempt("in a", lambda: x + y)
        log.attempt("y in a", lambda: y + 1)
    log(x + 1, (x + 1).fake_mode is a)
    log(len(s.modes._get_current_dispatch_mode_stack()))


def nested_fake_modes(s: Any, log: Any) -> None:
    T = s.T
    a, b = _mode(s), _mode(s)
    key = s.C._TorchDispatchModeKey.FAKE
    with a:
        with b:
            log(T.ones(1).fake_mode is b, s.C._get_dispatch_mode(key) is b)
            with b:
                log(T.ones(1).fake_mode is b)
        log(T.ones(1).fake_mode is a, s.C._get_dispatch_mode(key) is a)
        with s.fake.unset_fake_temporarily() as old:
            log(old is a, type(T.ones(1)).__name__, s.C._get_dispatch_mode(key))
            with b:
                log(T.ones(1).fake_mode is b)
        log(s.C._get_dispatch_mode(key) is a)
    log(s.C._get_dispatch_mode(key), s.C._len_torch_dispatch_stack())
    with s.fake.unset_fake_temporarily() as old:
        log(old)


def constants(s: Any, log: Any) -> None:
    T = s.T
    with _mode(s):
        t = T.tensor(3)
        has = lambda x: x.constant is not None
        log(has(t), t.item(), int(t), has(T.tensor([1.5])), type(t.constant).__name__)
        log(has(T.ones(2)), has(t + 1), has(t.view(1)), has(t.clone()), has(t.detach()))
        log.attempt("sum", (t + T.tensor(2)).item)
        t.add_(1)
        log(has(t))
        log.attempt("item", t.item)
        log.attempt("ones", T.ones(()).item)
        log.attempt("bool", bool, T.ones(()))
        u = T.tensor([1, 2])
        v = u[1:]
        log(has(u), has(v))
        v.zero_()
        log(has(u), has(v), has(T.tensor(range(2000))), bool(T.tensor(0)))


def dynamic_outputs(s: Any, log: Any) -> None:
    T = s.T
    f = s.fake
    with _mode(s) as m:
        x = T.ones(4)
        for name in ("nonzero", "item", "tolist"):
            log.attempt(name, getattr(x, name))
        log.attempt("mask", lambda: x[x > 0])
        log.attempt("equal", T.equal, x, x)
        log.attempt("repeat_interleave", T.repeat_interleave, T.ones(2, dtype=T.int64))
        log.attempt("if", lambda: 1 if x.sum() > 0 else 0)
        log(m.shape_env)
    for name in (
        "DynamicOutputShapeException",
        "DataDependentOutputException",
        "UnsupportedFakeTensorException",
    ):
        log(
            name,
            issubclass(getattr(f, name), RuntimeError),
            getattr(f, name)(s.ops.aten.nonzero.default).func if "Unsup" not in name else "",
        )


def in_place_and_views(s: Any, log: Any) -> None:
    T = s.T
    with _mode(s):
        x = T.ones(2, 3)
        y = x.t()
        log(y, y._is_view(), y._base is x)
        log(x.add_(1) is x, x._version, y._version)
        x.t_()
        log(x, x._version)
        x.resize_(4)
        log(x)
        x.unsqueeze_(0)
        log(x, x.storage_offset())
        log.attempt("broadcast", lambda: T.ones(1).add_(T.ones(3)))
        log.attempt("type", lambda: T.ones(1, dtype=T.int64).add_(1.5))
        o = T.empty(0)
        log(T.add(T.ones(2), 1, out=o) is o, o)
        x[0, 1] = 3
        log(x._version)


def metadata_calls(s: Any, log: Any) -> None:
    T = s.T
    with _mode(s):
        x = T.empty(2, 3, 4, 5, memory_format=T.channels_last)
    log(x.stride(), x.is_contiguous(), x.is_contiguous(memory_format=T.channels_last))
    log(x.numel(), x.dim(), x.element_size(), x.nbytes, x.untyped_storage().nbytes())
    log.attempt("data_ptr", x.data_ptr)
    log.attempt("numpy", x.numpy)
    log.attempt("storage ptr", x.untyped_storage().data_ptr)
    log(x.contiguous().stride(), x.permute(0, 2, 3, 1).is_contiguous())
    log(x.untyped_storage().device, x.layout, x.dtype, x.is_floating_point())
    log(T.empty_like(x).stride(), (x + 1).stride(), x.clone().stride())
    log(x.mean((2, 3)).stride())


def reprs(s: Any, log: Any) -> None:
    T = s.T
    plain = lambda x: repr(x).replace("torch.", "").replace("dispatch.", "")
    with _mode(s):
        x = T.ones(2, 3)
        log(plain(x), plain(T.ones((), dtype=T.int64)))
        log(plain(T.empty(2, device="cuda")), plain(T.ones(1, requires_grad=True)))
        log(plain(T.tensor([1, 2])))
        log(plain(x.view(6)), plain((T.ones(1, requires_grad=True)).requires_grad))
        log(plain([x]), plain(T.empty(0)))
    log(plain(x))


def cache_counts(s: Any, log: Any) -> None:
    T = s.T
    F = s.fake.FakeTensorMode
    F.cache_clear()

    def info():
        i = F.cache_info()
        log(i.hits, i.misses, dict(i.bypasses), i.size)

    with _mode(s):
        x = T.ones(2, 3)
        info()
        x + 1
        info()
        x + 1
        info()
        x + 2
        x + x
        x.t()
        x.t()
        info()
        T.ones(2, 3) + x
        info()
        x.add_(1)
        x.mul_(2)
        info()
    F.cache_clear()
    info()


def cache_bypasses(s: Any, log: Any) -> None:
    T = s.T
    F = s.fake.FakeTensorMode
    lib = s.library.Library("more_fake_cache", "DEF")
    lib.define("own(Tensor x) -> Tensor")
    lib.impl("own", lambda x: x + 1, "CompositeExplicitAutograd")
    with _mode(s):
        x, f = T.ones(2), T.ones(4)
        calls = {
            "own": lambda: s.ops.more_fake_cache.own(x),
            "bernoulli": lambda: x.bernoulli(),
            "item": lambda: T.tensor(1.0).item(),
            "nonzero": lambda: x.nonzero(),
            "bad": lambda: x + T.ones(3),
            "max": lambda: f.max(0),
            "detach": lambda: x.detach(),
            "tensor": lambda: T.tensor([1.0]),
        }
        for name, call in calls.items():
            F.cache_clear()
            try:
                call()
                result = "ok"
            except Exception as e:
                result = type(e).__name__
            i = F.cache_info()
            log(name, result, i.hits, i.misses, dict(i.bypasses))


def cache_keys_tell_apart(s: Any, log: Any) -> None:
    T = s.T
    F = s.fake.FakeTensorMode
    with _mode(s):
        x = T.ones(2, 3)
        F.cache_clear()
        for call in (
            lambda: x.sum(0),
            lambda: x.sum(1),
            lambda: x.sum(0),
            lambda: x.sum(0, True),
            lambda: x.mul(2),
            lambda: x.mul(2.0),
            lambda: x.mul(True),
            lambda: x.mul(2),
            lambda: x.t().mul(2),
            lambda: x.mul(x),
            lambda: x.mul(x.t().t()),
            lambda: x.mul(-2),
        ):
            r = call()
            i = F.cache_info()
            log(r, i.hits, i.misses)


def cache_switched_off(s: Any, log: Any) -> None:
    T = s.T
    F = s.fake.FakeTensorMode
    m = _mode(s)
    log(m.cache_enabled)
    m.cache_enabled = False
    F.cache_clear()
    with m:
        x = T.ones(2)
        x + 1
        x + 1
    i = F.cache_info()
    log(i.hits, i.misses, dict(i.bypasses), type(i).__name__)
    log(repr(i))


def deepcopy_of_fakes(s: Any, log: Any) -> None:
    import copy

    T = s.T
    m = _mode(s)
    with m:
        x = T.ones(2, 3)
        y = x.view(6)
    c = copy.deepcopy([x, y, x])
    log(c[0] is c[2], c[0] is x, c[0])
    log(c[1], c[0].untyped_storage()._cdata == c[1].untyped_storage()._cdata)
    r = T.ones(2)
    with m:
        log.attempt("real in mode", copy.deepcopy, r)
    log(copy.copy(x) is x, type(copy.copy(x)).__name__)
    n = copy.deepcopy(m)
    log(type(n).__name__, n is m)


def custom_ops_and_fake(s: Any, log: Any) -> None:
    T = s.T
    lib = s.library.Library("more_fake", "DEF")
    for name in ("plain", "meta", "reg", "comp"):
        lib.define(f"{name}(Tensor x) -> Tensor")
        if name != "comp":
            lib.impl(name, lambda x: x.clone(), "CPU")
    lib.impl("meta", lambda x: T.empty(3, device="meta"), "Meta")
    lib.impl("comp", lambda x: x * 2, "CompositeImplicitAutograd")

    @s.library.register_fake("more_fake::reg", lib=lib)
    def _(x):
        log("fake impl", x)
        return x.new_empty(7)

    ns = s.ops.more_fake
    with _mode(s):
        for x in (T.ones(2), T.ones(2, device="cuda")):
            for name in ("plain", "meta", "reg", "comp"):
                log.attempt(name, getattr(ns, name), x)


def fake_impl_context(s: Any, log: Any) -> None:
    T = s.T
    lib = s.library.Library("more_fake_ctx", "DEF")
    lib.define("nz(Tensor x) -> Tensor")

    @s.library.register_fake("more_fake_ctx::nz", lib=lib)
    def _(x):
        ctx = s.library.get_ctx()
        log(type(ctx).__name__)
        n = ctx.new_dynamic_size()
        return x.new_empty(n)

    log.attempt("outside", s.library.get_ctx)
    with _mode(s):
        log.attempt("inside", s.ops.more_fake_ctx.nz, T.ones(1))
    log.attempt("meta", s.ops.more_fake_ctx.nz, T.ones(1, device="meta"))
    log.attempt("again", lambda: s.library.register_fake("more_fake_ctx::nz", lambda x: x, lib=lib))
    log.attempt(
        "unknown", lambda: s.library.register_fake("more_fake_ctx::zz", lambda x: x, lib=lib)
    )


def fake_with_logging_mode(s: Any, log: Any) -> None:
    T = s.T

    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log(func, [t.__name__ for t in types])
            return func(*args, **(kwargs or {}))

    with _mode(s), M():
        x = T.ones(2)
        y = x.square()
        T.tensor([1])
    with M(), _mode(s):
        log.attempt("mixed", y.sin)
    with M():
        log.attempt("later", y.cos)
    log(len(s.modes._get_current_dispatch_mode_stack()))


def fake_and_subclass(s: Any, log: Any) -> None:
    T = s.T

    class W(s.Tensor):
        @staticmethod
        def __new__(cls, inner):
            r = s.Tensor._make_wrapper_subclass(
                cls, inner.shape, dtype=inner.dtype, device=inner.device
            )
            r.inner = inner
            return r

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log(func, [t.__name__ for t in types])
            un = lambda x: x.inner if isinstance(x, cls) else x
            r = func(*s.pytree.tree_map(un, args), **(kwargs or {}))
            return s.pytree.tree_map(lambda x: cls(x) if isinstance(x, s.Tensor) else x, r)

    m = _mode(s)
    with m:
        w = W(T.ones(2))
        y = w + 1
        log(type(y).__name__, type(y.inner).__name__)
    log(s.fake.is_fake(y.inner), s.fake.is_fake(T.ones(1)), s.fake.is_fake(y))
    z = y + y.inner
    log(type(z).__name__, type(z.inner).__name__)


def is_fake_and_helpers(s: Any, log: Any) -> None:
    T = s.T
    f = s.fake
    with _mode(s) as m:
        x = T.ones(2)
    log(f.is_fake(x), f.is_fake(3), f.is_fake(None), f.is_fake([x]))
    log(f.maybe_get_fake_mode(x) is m, f.maybe_get_fake_mode(T.ones(1)), f.maybe_get_fake_mode(3))
    log(f.get_fake_mode(x) is m if hasattr(f, "get_fake_mode") else "absent")
    log(
        x.fake_device,
        x.device_for_backend_keys if hasattr(x, "device_for_backend_keys") else "absent",
    )
    log(f.FakeTensor.from_tensor(T.ones(3), m))
    log.attempt("constructor", f.FakeTensor, m, T.empty(2, device="meta"), "cuda")
    log.attempt("not meta", f.FakeTensor, m, T.empty(2), "cuda")
    log.attempt("names", lambda: x.names)
    log(x.is_sparse, x.requires_grad, x.is_leaf, x.grad_fn)


def fake_grad(s: Any, log: Any) -> None:
    T = s.T
    with _mode(s):
        x = T.ones(2, requires_grad=True)
        y = x * 2
        log(y.requires_grad, y.is_leaf, x.is_leaf, y.detach().requires_grad)
        with T.no_grad():
            log((x * 2).requires_grad)
        log.attempt("leaf in place", lambda: x.add_(1))
        log(y.data.requires_grad, type(y.data).__name__)
        log.attempt("numpy", y.numpy)
        x.requires_grad_(False)
        log((x * 2).requires_grad)
    with T.inference_mode(), _mode(s):
        log(T.ones(1).is_inference())


def meta_tensors_and_fakes(s: Any, log: Any) -> None:
    T = s.T
    m = _mode(s)
    with m:
        log(T.empty(2, device="meta"))
        f = T.empty(2, device="meta")
        log(f.device, f.is_meta, f + 1)
        log.attempt("with cpu", lambda: f + T.ones(2))
    r = T.ones(2, device="meta")
    log(m.from_tensor(r).device)
    with m:
        log.attempt("real meta", lambda: r + 1)


def cross_ref(s: Any, log: Any) -> None:
    import importlib

    name = "torch._subclasses.fake_utils" if s.name == "torch" else "dispatch.fake"
    C = importlib.import_module(name).CrossRefFakeMode
    T = s.T
    with C():
        x = T.ones(2, 3)
        log(x + 1)
        log(x.t().contiguous(), x.sum(0))
        log(x.max(0))
    lib = s.library.Library("more_cross", "DEF")
    lib.define("lie(Tensor x) -> Tensor")
    lib.impl("lie", lambda x: x.clone(), "CPU")
    lib.impl("lie", lambda x: x.new_empty(7), "Meta")
    with C():
        log.attempt("lie", s.ops.more_cross.lie, x)
    with C(check_strides=False):
        log.attempt("lie", s.ops.more_cross.lie, x)
    log(len(s.modes._get_current_dispatch_mode_stack()))


def errors_leave_state(s: Any, log: Any) -> None:
    T = s.T
    key = s.C._TorchDispatchModeKey.FAKE
    try:
        with _mode(s):
            T.ones(2) + T.ones(3)
    except RuntimeError as e:
        log(type(e).__name__)
    log(s.C._get_dispatch_mode(key), s.C._len_torch_dispatch_stack())
    log(type(T.ones(1)).__name__)
    with _mode(s) as m:
        x = T.ones(2)
        log.attempt("kw", lambda: x.sum(dmi=0))
        log.attempt("op", lambda: s.ops.aten.add.Tensor(x))
        log.attempt("dim", lambda: x.sum(3))
        log.attempt("view", lambda: x.view(3))
        log.attempt("dtype", lambda: x.bitwise_and(x))
        log(s.C._get_dispatch_mode(key) is m, x._version)


def real_run_of_unknown_ops(s: Any, log: Any) -> None:
    T = s.T
    lib = s.library.Library("more_fake_fb", "DEF")
    lib.define("k(Tensor x) -> Tensor")
    lib.impl("k", lambda x: x + 1, "CPU")
    m = _mode(s, allow_fallback_kernels=True)
    log(m.allow_fallback_kernels, _mode(s).allow_fallback_kernels)
    with m:
        log.attempt("cpu", s.ops.more_fake_fb.k, T.ones(2))
        log.attempt("cuda", s.ops.more_fake_fb.k, T.ones(2, device="cuda"))
    with _mode(s, allow_fallback_kernels=False):
        log.attempt("off", s.ops.more_fake_fb.k, T.ones(2))


def memo_is_weak(s: Any, log: Any) -> None:
    import gc
    import weakref

    T = s.T
    m = _mode(s)
    x = T.ones(2)
    f = m.from_tensor(x)
    ref, rx = weakref.ref(f), weakref.ref(x)
    del f
    gc.collect()
    log(ref() is None)
    f = m.from_tensor(x)
    log(m.from_tensor(x) is f)
    del x
    gc.collect()
    log(rx() is None, ref() is None, f)
    log(
        len(m.fake_tensor_converter.tensor_memo)
        if hasattr(m.fake_tensor_converter, "tensor_memo")
        else 0
    )


def storages_of_fakes(s: Any, log: Any) -> None:
    T = s.T
    with _mode(s):
        x = T.ones(4)
        y = x[2:]
        log(x.untyped_storage().nbytes(), y.untyped_storage().nbytes(), y.storage_offset())
        log(x.untyped_storage()._cdata == y.untyped_storage()._cdata)
        x.untyped_storage().resize_(0)
        log(x.untyped_storage().nbytes(), x.shape)
        z = T.empty(0).set_(y)
        log(z.shape, z.untyped_storage()._cdata == y.untyped_storage()._cdata)
        log(T.as_strided(T.ones(6), (2, 2), (3, 1), 1))
        log(T.empty_strided((2, 2), (1, 2)))
