"""FakeTensorMode: arguments, attributes, nesting, helpers around it."""

import copy
import weakref
from typing import Any


def attributes(s, log):
    m = s.fake.FakeTensorMode()
    for name in (
        "allow_fallback_kernels",
        "allow_non_fake_inputs",
        "allow_meta",
        "shape_env",
        "static_shapes",
        "propagate_real_tensors",
        "epoch",
        "enter_stack",
        "in_kernel_invocation",
        "allow_scalar_outputs",
        "cache_enabled",
        "cache_crosscheck_enabled",
        "nt_tensor_id_counter",
        "nt_tensor_id_initial_count",
        "_allow_unsafe_data_ptr_access",
        "avoid_device_init",
    ):
        log(name, getattr(m, name, "missing"))
    log(m._mode_key, m.is_infra_mode(), s.fake.FakeTensorMode.is_infra_mode())
    log(type(m.fake_tensor_converter), type(m.stack), isinstance(m, s.modes.TorchDispatchMode))
    log(len(m.lift_fns), s.ops.aten.lift_fresh.default in m.lift_fns)


def arguments(s, log):
    F = s.fake.FakeTensorMode
    m = F(
        allow_fallback_kernels=False, allow_non_fake_inputs=True, static_shapes=False, export=True
    )
    log(m.allow_fallback_kernels, m.allow_non_fake_inputs, m.static_shapes, m.shape_env)
    log(m.fake_tensor_converter.export)
    log.attempt("positional", F, True)
    log.attempt("unknown", F, colour=1)
    log(F(static_shapes=True).static_shapes)


def entering(s, log):
    m = s.fake.FakeTensorMode()
    with m as n:
        log(n is m, len(m.enter_stack), s.T.empty(1).fake_mode is m)
        with m as k:
            log(k is m, len(m.enter_stack))
            log(len(s.modes._get_current_dispatch_mode_stack()))
            log(s.T.empty(1).fake_mode is m)
        log(len(m.enter_stack), s.T.empty(1).fake_mode is m)
    log(len(m.enter_stack), type(s.T.empty(1)))


def nesting(s, log):
    a, b = s.fake.FakeTensorMode(), s.fake.FakeTensorMode()
    key = s.C._TorchDispatchModeKey.FAKE
    with a:
        with b:
            log(s.T.empty(1).fake_mode is b, s.C._get_dispatch_mode(key) is b)
            log(len(s.modes._get_current_dispatch_mode_stack()))
            with a:
                log(s.T.empty(1).fake_mode is a)
            log(s.T.empty(1).fake_mode is b)
        log(s.T.empty(1).fake_mode is a, s.C._get_dispatch_mode(key) is a)
    log(s.C._get_dispatch_mode(key))


def leaving_by_an_error(s, log):
    a, b = s.fake.FakeTensorMode(), s.fake.FakeTensorMode()
    try:
        with a, b:
            raise KeyError("x")
    except KeyError:
        log("out")
    log(s.C._get_dispatch_mode(s.C._TorchDispatchModeKey.FAKE), len(a.enter_stack))
    log(type(s.T.empty(1)))


def unset_temporarily(s, log):
    with s.fake.FakeTensorMode() as m:
        with s.fake.unset_fake_temporarily() as old:
            log(old is m, type(s.T.ones(1)))
        log(type(s.T.ones(1)))
        try:
            with s.fake.unset_fake_temporarily():
                raise KeyError
        except KeyError:
            log(type(s.T.ones(1)))
    with s.fake.unset_fake_temporarily() as old:
        log(old)


def is_our_fake(s, log):
    a, b = s.fake.FakeTensorMode(), s.fake.FakeTensorMode()
    x = a.from_tensor(s.T.ones(2))
    log(a.is_our_fake(x), b.is_our_fake(x), a.is_our_fake(s.T.ones(2)), a.is_our_fake(3))
    log(s.fake.is_fake(x), s.fake.is_fake(s.T.ones(1)), s.fake.is_fake(None), s.fake.is_fake([x]))
    log(s.fake.maybe_get_fake_mode(x) is a, s.fake.maybe_get_fake_mode(s.T.ones(1)))
    log(s.fake.maybe_get_fake_mode(3))


def cache_helpers(s, log):
    m = s.fake.FakeTensorMode()
    with s.fake.disable_fake_tensor_cache(m):
        log(m.cache_enabled)
    log(m.cache_enabled)
    info = s.fake.DispatchCacheInfo(1, 2, {"a": 3}, 4)
    log(info.hits, info.misses, info.bypasses, info.size)
    log(repr(info), info == s.fake.DispatchCacheInfo(1, 2, {"a": 3}, 4))


def kernel_invocation(s, log):
    m = s.fake.FakeTensorMode()
    x = m.from_tensor(s.T.ones(2))
    with s.fake.in_kernel_invocation_manager(m):
        log(m.in_kernel_invocation, x.device, x.fake_device, s.C._meta_in_tls_dispatch_include())
        log(x.is_meta, x.is_cpu)
        r = s.ops.aten.relu.default(x)
        log(r, type(r))
    log(m.in_kernel_invocation, x.device, s.C._meta_in_tls_dispatch_include())


def kernel_invocation_and_errors(s, log):
    m = s.fake.FakeTensorMode()
    try:
        with s.fake.in_kernel_invocation_manager(m):
            raise KeyError
    except KeyError:
        log(m.in_kernel_invocation, s.C._meta_in_tls_dispatch_include())
    m.in_kernel_invocation = True
    log.attempt("not in step", lambda: s.fake.in_kernel_invocation_manager(m).__enter__())


def small_helpers(s, log):
    f = s.fake
    A = s.ops.aten
    log(
        f.should_allow_numbers_as_tensors(A.add.Tensor),
        f.should_allow_numbers_as_tensors(A.mm.default),
    )
    log(
        f.should_allow_numbers_as_tensors(A.mul.out),
        f.should_allow_numbers_as_tensors(A.relu.default),
    )
    log(f.ordered_set(1, 2, 1), f.tree_flatten_only(int, [1, (2, "a"), {"k": 3.0}]))
    info = f.get_schema_info(A.add_.Tensor)
    log(info.is_mutable(), info.is_mutable("self"), info.is_mutable("other"))
    log(f.get_schema_info(A.add_.Tensor) is info, f.get_schema_info(A.add.Tensor).is_mutable())
    log(f.has_meta(A.add.Tensor), f.stride_incorrect_op(A.add.Tensor))
    log(f._is_tensor_constructor(A.empty.memory_format), f._is_tensor_constructor(A.add.Tensor))
    log(f._is_tensor_constructor(A.arange.start), f._is_tensor_constructor(A.empty_like.default))
    log.attempt("packet", f._is_tensor_constructor, A.empty)
    log(A.ones_like.default in f._like_tensor_constructors, A.to.device in f._device_not_kwarg_ops)
    log(f.CONSTANT_NUMEL_LIMIT, f.FakeTensorConfig.debug, f.RECURSION_COUNT)


def recursion_count(s, log):
    f = s.fake
    one = f.IncrementRecursionCount()
    log(f.RECURSION_COUNT)
    two = f.IncrementRecursionCount()
    log(f.RECURSION_COUNT)
    del one, two
    log(f.RECURSION_COUNT)


def metadata_of_tensors(s, log):
    for t in (
        s.T.ones(2, 3),
        s.T.ones(2, 3).t(),
        s.T.ones(2, 3, 4, 4).to(memory_format=s.T.channels_last),
        s.T.ones(4, requires_grad=True)[1:],
    ):
        d = s.fake.extract_tensor_metadata(t)
        log(type(d), d.dtype, d.shape, d.stride, d.device, d.layout, d.memory_format)
        log(d.storage_offset, d.storage_bytes, d.requires_grad, d.is_quantized, d.is_conj, d.is_neg)
        log(d.is_inference, d.is_sparse, d.is_coalesced, d.dense_dim, d.sparse_dim)
        log(d == s.fake.extract_tensor_metadata(t))
    m = s.fake.FakeTensorMode()
    log(
        s.fake.extract_tensor_metadata(m.from_tensor(s.T.ones(2, 3)))
        == s.fake.extract_tensor_metadata(s.T.ones(2, 3))
    )


def fallback_rules(s, log):
    m = s.fake.FakeTensorMode()
    log(m.can_run_unsafe_fallback(s.ops.aten.add.Tensor))
    log(m.cpp_meta_supports_symint(s.ops.aten.empty.memory_format))
    log(m.cpp_meta_supports_symint(s.ops.aten.add.Tensor))
    lib = s.library.Library("dfm1", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    log(m.can_run_unsafe_fallback(s.ops.dfm1.f.default))
    n = s.fake.FakeTensorMode(allow_fallback_kernels=False)
    log(n.can_run_unsafe_fallback(s.ops.aten.add.Tensor))
    log(m._can_run_unsafe_fallback_allowed_namespaces)


def _fallback(s, kernel):
    frag = s.library.Library("aten", "FRAGMENT")
    frag.define("dfm_fall(Tensor x) -> Tensor")
    frag.impl("dfm_fall", kernel, "CPU")
    return frag, s.ops.aten.dfm_fall.default


def fallback_runs_on_zeros(s, log):
    seen = []

    def kernel(x):
        seen.append((type(x).__name__, x.tolist()))
        return x.new_ones(3)

    _frag, op = _fallback(s, kernel)
    with s.fake.FakeTensorMode() as m:
        r = log.attempt("call", op, s.T.empty(2))
        log(seen, r is not None and r.fake_mode is m, r is not None and r.constant)
    with s.fake.FakeTensorMode(allow_fallback_kernels=False):
        log.attempt("not allowed", op, s.T.empty(3))


def fallback_that_aliases(s, log):
    _frag, op = _fallback(s, lambda x: x.view(-1))
    with s.fake.FakeTensorMode():
        log.attempt("view", op, s.T.empty(2))


def fallback_that_returns_its_input(s, log):
    _frag, op = _fallback(s, lambda x: x)
    with s.fake.FakeTensorMode():
        x = s.T.empty(2)
        r = log.attempt("same", op, x)
        log(r is x)


def fallback_that_raises(s, log):
    def kernel(x):
        raise ZeroDivisionError

    _frag, op = _fallback(s, kernel)
    with s.fake.FakeTensorMode():
        log.attempt("call", op, s.T.empty(2))


def fallback_by_hand(s, log):
    m = s.fake.FakeTensorMode()
    x = m.from_tensor(s.T.ones(2, 3))
    flat, spec = s.pytree.tree_flatten(((x, x), {}))
    op = s.ops.aten.add.Tensor
    r = s.fake.run_fallback_kernel(m, op, flat, spec, RuntimeError("no"))
    log(r, r.fake_mode is m)
    flat, spec = s.pytree.tree_flatten(((x, [6]), {}))
    log.attempt(
        "alias", s.fake.run_fallback_kernel, m, s.ops.aten.view.default, flat, spec, KeyError("no")
    )
    flat, spec = s.pytree.tree_flatten(((x,), {}))
    log.attempt(
        "inplace view",
        s.fake.run_fallback_kernel,
        m,
        s.ops.aten.t_.default,
        flat,
        spec,
        KeyError("no"),
    )
    r = s.fake.run_fallback_kernel(m, s.ops.aten.relu_.default, flat, spec, KeyError("no"))
    log(r is x)


def wrapping_by_hand(s, log):
    m = s.fake.FakeTensorMode()
    x = m.from_tensor(s.T.ones(2, 3))
    meta = s.T.empty(4, device="meta")
    w = m.wrap_meta_outputs_with_default_device_logic
    r = w(meta, s.ops.aten.relu.default, [x], None)
    log(r, r.fake_mode is m)
    log(w((meta, 3, [x]), s.ops.aten.relu.default, [x], None))
    log(w(meta, s.ops.aten.relu.default, [x], s.T.device("cuda")))
    log.attempt("no tensor", w, meta, s.ops.aten.relu.default, [], None)


def validating_by_hand(s, log):
    m = s.fake.FakeTensorMode(allow_non_fake_inputs=True)
    x = s.T.ones(2)
    flat, spec = s.pytree.tree_flatten(((x, 3), {}))
    args, fakes = m.validate_and_convert_non_fake_tensors(
        s.ops.aten.add.Tensor, m.fake_tensor_converter, flat, spec
    )
    log(args[0] is m.from_tensor(x), args[1], len(fakes))


def subclass_of_the_mode(s, log):
    class Mine(s.fake.FakeTensorMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log("mine", func)
            return super().__torch_dispatch__(func, types, args, kwargs or {})

    with Mine() as m:
        x = s.T.empty(2, device="cuda")
        log(x + x, x.fake_mode is m)
    log(x * 2)


def dispatch_by_hand(s, log):
    m = s.fake.FakeTensorMode()
    x = m.from_tensor(s.T.ones(2))
    r = m.dispatch(s.ops.aten.add.Tensor, (s.fake.FakeTensor,), (x, x), {})
    log(r, r.fake_mode is m)
    r = m.dispatch(s.ops.aten.add.Tensor, (), (x,), {"other": x, "alpha": 2})
    log(r)
    log(m.__torch_dispatch__(s.ops.aten.relu.default, (), (x,), {}))
    log(m.dispatch(s.ops.prim.device.default, (), (x,), {}))


def copying_modules(s, log):
    class Holder:
        def __init__(self, w, b):
            self.w, self.b, self.again = w, b, w

    m = s.fake.FakeTensorMode()
    h = Holder(s.T.ones(2, 3), s.T.zeros(2, requires_grad=True))
    with s.fake.FakeCopyMode(m):
        g = copy.deepcopy(h)
    log(type(g), type(g.w), g.w, g.again is g.w, g.b.requires_grad)
    log(m.from_tensor(h.w) is g.w, type(h.w), g.w.fake_mode is m)
    with s.fake.FakeCopyMode(m):
        log(s.T.ones(2).clone())


def cross_reference(s, log):
    from importlib import import_module

    C = getattr(s.fake, "CrossRefFakeMode", None)
    if C is None:
        C = import_module("torch._subclasses.fake_utils").CrossRefFakeMode
    with C():
        x = s.T.ones(2, 3)
        log(x + 1, x.view(6), x.add_(1) is x, s.T.split(x, 1)[0])
    lib = s.library.Library("dfm2", "DEF")
    lib.define("bad(Tensor x) -> Tensor")
    lib.impl("bad", lambda x: x.clone(), "CPU")
    lib.impl("bad", lambda x: x.new_empty(7), "Meta")
    lib.define("alias(Tensor x) -> Tensor")
    lib.impl("alias", lambda x: x.clone(), "CPU")
    lib.impl("alias", lambda x: x, "Meta")
    with C():
        log.attempt("bad", s.ops.dfm2.bad, s.T.ones(2))
        log.attempt("alias", s.ops.dfm2.alias, s.T.ones(2))
    with C(ignore_op_fn=lambda f: f.namespace == "dfm2"):
        log.attempt("ignored", s.ops.dfm2.bad, s.T.ones(2))
    with C(check_aliasing=False):
        log.attempt("aliasing not checked", s.ops.dfm2.alias, s.T.ones(2))


def real_tensors_run_along(s, log):
    m = s.fake.FakeTensorMode()
    log(m.propagate_real_tensors)
    f = m.from_tensor(s.T.ones(2))
    log(f.real_tensor)
    f.real_tensor = s.T.ones(2)
    log(f.real_tensor)


def threads(s, log):
    import threading

    out = []

    def work():
        out.append(type(s.T.empty(1)).__name__)
        with s.fake.FakeTensorMode():
            out.append(type(s.T.empty(1)).__name__)

    with s.fake.FakeTensorMode():
        t = threading.Thread(target=work)
        t.start()
        t.join()
        log(out, type(s.T.empty(1)))


def names_of_the_module(s, log):
    for name in (
        "CONSTANT_NUMEL_LIMIT",
        "DataDependentOutputException",
        "DispatchCacheInfo",
        "FakeCopyMode",
        "FakeTensor",
        "FakeTensorConfig",
        "FakeTensorConverter",
        "FakeTensorMode",
        "FakeTensorTLS",
        "IncrementRecursionCount",
        "MetaConverter",
        "SingletonConstant",
        "SymNumberMemoDescriptor",
        "TensorMetadata",
        "_check_for_subclass",
        "_check_for_subclass_arg",
        "_device_handler",
        "_device_not_kwarg_ops",
        "_is_plain_tensor",
        "_is_tensor_constructor",
        "assert_eq",
        "assert_metadata_eq",
        "contains_tensor_types",
        "disable_fake_tensor_cache",
        "extract_tensor_metadata",
        "fake_tensor_tls",
        "get_fast_op_impls",
        "get_plain_tensors",
        "get_schema_info",
        "has_meta",
        "in_kernel_invocation_manager",
        "init_gpu_context",
        "is_fake",
        "is_sparse_any",
        "maybe_get_fake_mode",
        "op_implementations_checks",
        "ordered_set",
        "run_fallback_kernel",
        "should_allow_numbers_as_tensors",
        "stride_incorrect_op",
        "suggest_memory_format",
        "torch_decomp_decompositions",
        "tree_flatten_only",
        "unset_fake_temporarily",
        "is_sparse_compressed",
        "_is_indexed_device_type",
    ):
        log(name, hasattr(s.fake, name))


def names_of_the_classes(s, log):
    for cls, names in (
        (
            s.fake.FakeTensor,
            (
                "_find_common_device",
                "_normalize_fake_device",
                "from_tensor",
                "get_nested_int",
                "tolist",
                "_mode_key",
                "device",
                "fake_device",
            ),
        ),
        (
            s.fake.FakeTensorMode,
            (
                "_cached_dispatch_impl",
                "_dispatch_impl",
                "cache_clear",
                "cache_info",
                "can_run_unsafe_fallback",
                "cpp_meta_supports_symint",
                "create_symbolic_nested_int",
                "dispatch",
                "from_tensor",
                "invalidate_written_to_constants",
                "is_our_fake",
                "lift_fns",
                "may_turn_const",
                "reset_nt_tensor_id_counter",
                "stack",
                "push",
                "validate_and_convert_non_fake_tensors",
                "wrap_meta_outputs_with_default_device_logic",
            ),
        ),
        (
            s.fake.FakeTensorConverter,
            (
                "add_constant_storage_mapping",
                "clear_non_cpu_constants",
                "from_meta_and_device",
                "from_real_tensor",
                "invalidate_constant_aliases",
                "set_tensor_memo",
                "tensor_memo",
                "_get_memo",
            ),
        ),
    ):
        for name in names:
            log(cls, name, hasattr(cls, name))


def indexed_devices(s, log):
    n = s.fake.FakeTensor._normalize_fake_device
    for d in ("cpu", "cuda", "cuda:3", "mps", "meta", "xpu"):
        log(d, n(s.T.device(d)), s.fake._is_indexed_device_type(d.split(":")[0]))


def registered_implementations(s, log):
    lib = s.library.Library("dfm3", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x.clone(), "Meta")
    try:
        import torch._subclasses.fake_impls as impls

        if s.name != "torch":
            impls = s.fake
    except ImportError:
        impls = s.fake

    @impls.register_op_impl(s.ops.dfm3.f.default)
    def own(mode, func, x):
        log("own", func, type(mode).__name__, x.fake_mode is mode)
        with mode:
            return s.T.empty(9)

    with s.fake.FakeTensorMode():
        log(s.ops.dfm3.f(s.T.empty(2)))
    log.attempt("twice", impls.register_op_impl(s.ops.dfm3.f.default), own)
    impls._deregister_op_impl(s.ops.dfm3.f.default)
    with s.fake.FakeTensorMode():
        log(s.ops.dfm3.f(s.T.empty(2)))


def nested_fake_modes(s: Any, log: Any) -> None:
    T = s.T
    a, b = s.fake.FakeTensorMode(), s.fake.FakeTensorMode()
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


def fake_with_logging_mode(s: Any, log: Any) -> None:
    T = s.T

    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log(func, [t.__name__ for t in types])
            return func(*args, **(kwargs or {}))

    with s.fake.FakeTensorMode(), M():
        x = T.ones(2)
        y = x.square()
        T.tensor([1])
    with M(), s.fake.FakeTensorMode():
        log.attempt("mixed", y.sin)
    with M():
        log.attempt("later", y.cos)
    log(len(s.modes._get_current_dispatch_mode_stack()))


def is_fake_and_helpers(s: Any, log: Any) -> None:
    T = s.T
    f = s.fake
    with s.fake.FakeTensorMode() as m:
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


def mode_order(s, log):
    class Log(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log(func, type(args[0]).__name__ if args else None)
            r = func(*args, **(kwargs or {}))
            log(type(r).__name__)
            return r

    with Log(), s.fake.FakeTensorMode():
        s.T.empty(2) + 1
    with s.fake.FakeTensorMode(), Log():
        s.T.empty(2) + 1
    log([type(m).__name__ for m in s.modes._get_current_dispatch_mode_stack()])


def stack_of_modes(s, log):
    class Log(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    with Log(), s.fake.FakeTensorMode(), Log():
        names = [type(m).__name__ for m in s.modes._get_current_dispatch_mode_stack()]
        log(names, type(s.modes._get_current_dispatch_mode()).__name__)
        with s.modes._disable_current_modes():
            log(type(s.T.empty(1)).__name__)
        log(type(s.T.empty(1)).__name__)


def lifetimes(s, log):
    with s.fake.FakeTensorMode() as m:
        x = s.T.empty(2)
        v = x.view(2, 1)
        dead = weakref.ref(x)
        del x
        log(dead() is None, v._base is dead())
        del v
        log(dead() is None)
        y = s.T.empty(2) + 1
        dead = weakref.ref(y)
        del y
        log(dead() is None)
    log(len(m.enter_stack))
