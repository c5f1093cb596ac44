"""Higher-order operators: made, registered for, called."""


def _make(s, name, **kw):
    class Op(s._ops.HigherOrderOperator):
        def __init__(self):
            super().__init__(name, **kw)

        def __call__(self, *args, **kwargs):
            return super().__call__(*args, **kwargs)

    return Op()


def made(s, log):
    op = _make(s, "hop_a")
    log(
        op.name(),
        str(op),
        op.__name__,
        op._name,
        op.namespace,
        op._ns,
        op.__module__.partition(".")[2],
    )
    log(s.ops.higher_order.hop_a is op, s._ops._higher_order_ops["hop_a"] is op)
    log(op.cacheable() if s.name == "dispatch" else False, op._cacheable)
    log(
        isinstance(op, s._ops.OperatorBase),
        op.py_kernels,
        op.python_key_table,
        op.functorch_table,
        op._dispatch_cache,
    )
    log("hop_a" in list(s.ops.higher_order), "hop_a" in dir(s.ops.higher_order))
    import copy

    log(copy.deepcopy(op) is op, op.has_kernel_for_dispatch_key(s.DispatchKey.CPU))
    log(
        sorted(
            set(vars(op))
            - {"__module__", "_dispatch_cache", "py_kernels", "python_key_table", "functorch_table"}
        )
    )


def refused(s, log):
    H = s._ops.HigherOrderOperator
    log.attempt("abstract", H, "x")
    log.attempt("no call", type("X", (H,), {}), "x")
    log.attempt("unknown", getattr, s.ops.higher_order, "no_such_hop")
    op = _make(s, "hop_b")
    log.attempt("gen_schema", op.gen_schema)
    log.attempt("setting", setattr, op, "x", 1)
    log(op.x)


def same_name_again(s, log):
    a = _make(s, "hop_c")
    b = _make(s, "hop_c")
    log(s._ops._higher_order_ops["hop_c"] is b, s.ops.higher_order.hop_c is b)
    c = _make(s, "hop_c")
    log(s.ops.higher_order.hop_c is b, s._ops._higher_order_ops["hop_c"] is c, a is b)


def fallthrough_keys(s, log):
    op = _make(s, "hop_d")
    K = s.DispatchKey
    names = (
        "PythonDispatcher",
        "PythonTLSSnapshot",
        "ADInplaceOrView",
        "BackendSelect",
        "AutocastCPU",
        "AutocastCUDA",
        "AutocastXPU",
        "CPU",
        "AutogradCPU",
        "Python",
        "Functionalize",
        "PreDispatch",
        "AutocastMPS",
    )
    log([op.non_fallthrough_keys.has(getattr(K, n)) for n in names])
    op.fallthrough(K.AutogradCPU)
    log(op.non_fallthrough_keys.has(K.AutogradCPU))
    op.py_impl(K.AutogradCPU)(len)
    log(op.non_fallthrough_keys.has(K.AutogradCPU))
    op.py_impl(K.BackendSelect)(len)
    log(op.non_fallthrough_keys.has(K.BackendSelect), [k.name for k in op.py_kernels])
    log(len(s._ops._HIGHER_ORDER_OP_DEFAULT_FALLTHROUGH_DISPATCH_KEYS))


def calls(s, log):
    op = _make(s, "hop_e")
    x = s.T.ones(2)
    log.attempt("nothing", op, lambda t: t, x)
    op.py_impl(s.DispatchKey.CPU)(lambda f, t: f(t) + 1)
    log.attempt("no autograd", op, lambda t: t, x)
    op.py_impl(s.DispatchKey.Autograd)(op.fallthrough) if False else op.fallthrough(
        s.DispatchKey.AutogradCPU
    )
    log.attempt("cpu", op, lambda t: t * 3, x)
    log([k.name for k in op._dispatch_cache])
    log.attempt("no tensors", op, 1, 2)
    log.attempt("bad arguments", op, x)
    log.attempt("keywords", op, f=lambda t: t * 4, t=x)


def composites(s, log):
    op = _make(s, "hop_f")
    op.py_impl(s.DispatchKey.CompositeExplicitAutograd)(lambda x: "explicit")
    log.attempt("autograd", op, s.T.ones(1))
    with s.C._AutoDispatchBelowAutograd():
        log.attempt("below", op, s.T.ones(1))
    log.attempt("undefined", op, 3)
    op2 = _make(s, "hop_g")
    op2.py_impl(s.DispatchKey.CompositeImplicitAutograd)(lambda x: "implicit")
    log.attempt("autograd", op2, s.T.ones(1))
    log.attempt("undefined", op2, 3)
    log(sorted(k.name for k in op2._dispatch_cache))
    op2.py_impl(s.DispatchKey.CPU)(lambda x: "cpu")
    log(op2._dispatch_cache)
    log.attempt("cpu", op2, s.T.ones(1))


def autograd_impl(s, log):
    op = _make(s, "hop_h")
    op.py_impl(s.DispatchKey.CompositeExplicitAutograd)(lambda x: "kernel")
    fn = lambda x: "autograd"
    log(op.py_autograd_impl(fn) is fn, [k.name for k in op.py_kernels])
    x, g = s.T.ones(1), s.T.ones(1, requires_grad=True)
    log(op(x), op(g))
    with s.T.no_grad():
        log(op(g))
    log(op([g]) if False else op(g))


def modes_without_rules(s, log):
    seen = []

    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append((func is op, types, len(args), kwargs))
            return func(*args, **(kwargs or {}))

    class N(M):
        supports_higher_order_operators = True

    op = _make(s, "hop_i")
    op.fallthrough(s.DispatchKey.AutogradCPU)
    op.py_impl(s.DispatchKey.CompositeImplicitAutograd)(lambda f, x: f(x))
    x = s.T.ones(2)
    with M():
        log.attempt("no rule", op, lambda t: t.shape, x)
        log(s.C._len_torch_dispatch_stack())
    with N():
        log.attempt("supports", op, lambda t: t.shape, x)
    log(seen, s.C._len_torch_dispatch_stack())
    with s.modes._disable_current_modes():
        log(op(lambda t: t + 1, x))


def modes_with_rules(s, log):
    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    class N(M):
        pass

    op = _make(s, "hop_j")
    op.fallthrough(s.DispatchKey.AutogradCPU)

    @op.py_impl(M)
    def rule(mode, f, x):
        log("rule", type(mode).__name__, len(s.modes._get_current_dispatch_mode_stack()))
        return f(x) * 10

    op.py_impl(s.DispatchKey.CompositeImplicitAutograd)(lambda f, x: f(x))
    x = s.T.ones(2)
    log(op(lambda t: t + 1, x))
    with M():
        log(op(lambda t: t + 1, x))
        with M():
            log(op(lambda t: t + 1, x))
    with N():
        log.attempt("exact class", op, lambda t: t, x)
    log(s.C._len_torch_dispatch_stack())


def declining_rules(s, log):
    class M(s.modes.TorchDispatchMode):
        pass

    op = _make(s, "hop_k")
    op.fallthrough(s.DispatchKey.AutogradCPU)
    op.py_impl(M)(lambda mode, x: NotImplemented)
    x = s.T.ones(1)
    with M():
        log.attempt("declined", op, x)


def subclasses(s, log):
    class A(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return "handler"

        __torch_function__ = s.C._disabled_torch_function_impl

    op = _make(s, "hop_l")
    op.fallthrough(s.DispatchKey.AutogradCPU)
    a = s.Tensor._make_subclass(A, s.T.ones(2))
    log.attempt("no rule", op, a)
    op.py_impl(A)(lambda x, *rest: ("rule", type(x).__name__, len(rest)))
    log(op(a), op(a, 1), op([a], 1) if False else op(a, [a]))
    log([type(t).__name__ for t in op._get_overloaded_args((a, [a, s.T.ones(1)]), {"k": a})])

    class B(A):
        pass

    b = s.Tensor._make_subclass(B, s.T.ones(2))
    log.attempt("no rule for B", op, b, a)
    log.attempt("a first", op, a, b)
    op.py_impl(B)(lambda *x: NotImplemented)
    log.attempt("b declines", op, b, a)
    log.attempt("all decline", op, b)


def functions_are_overridden(s, log):
    class A(s.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            log("function", func.name(), list(types), len(args), sorted(kwargs or {}))
            return "answer"

    op = _make(s, "hop_m")
    op.py_impl(s.DispatchKey.CompositeImplicitAutograd)(lambda x, **k: "kernel")
    a = s.T.ones(1).as_subclass(A)
    log(op(a), op(s.T.ones(1)), op([a], k={"z": a}))
    with s.C.DisableTorchFunctionSubclass():
        log(op(a))

    class M(s.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            log("mode", func.name(), types, kwargs)
            return func(*args, **(kwargs or {}))

    with M():
        log(op(s.T.ones(1), k=2))


def dispatch_by_hand(s, log):
    op = _make(s, "hop_n")
    K = s.DispatchKey
    op.py_impl(K.CPU)(lambda *a, **k: ("cpu", a, k))
    log(op.dispatch(K.CPU, 1, b=2))
    log.attempt("none", op.dispatch, K.CUDA, 1)
    log.attempt("fallback", op.dispatch, K.Functionalize, 1)
    log.attempt("front", op.dispatch, K.FuncTorchDynamicLayerFrontMode, 1)
    log.attempt("python", op.dispatch, K.Python, 1)
    log.attempt("pre", op.dispatch, K.PreDispatch, 1)
    op.py_impl(K.PreDispatch)(lambda *a: "pre")
    log.attempt("pre", op.dispatch, K.PreDispatch, 1)
    log([k.name for k in op._dispatch_cache])


def pre_dispatch_rules(s, log):
    class M(s.modes.TorchDispatchMode):
        pass

    op = _make(s, "hop_o")
    op.py_impl(s.DispatchKey.CompositeImplicitAutograd)(lambda x: "kernel")
    op.py_impl(s.DispatchKey.PreDispatch)(lambda x: "pre")
    x = s.T.ones(1)
    with s.C._EnablePreDispatch():
        log(op(x))
        s._ops.mode_stack_state_for_pre_dispatch().set(0, M())
        log.attempt("no rule", op, x)
        with s.C._ExcludeDispatchKeyGuard(s.DispatchKeySet(s.DispatchKey.Python)):
            log.attempt("python excluded", op, x)


def key_sets(s, log):
    o = s._ops
    x, y = s.T.ones(1), s.T.ones(1, device="meta")
    log(
        o._get_tensors((x, [y, 1]), {"k": (x,)}),
        len(o._to_flat_tuple((1, [2, None]), {"a": {"b": 3}})),
    )
    full = s.C._dispatch_keyset_full()
    log(o.key_extractor([x, y], full), o._compute_keyset((x,), {}, full).highestPriorityTypeId())
    log(o._compute_keyset((1,), {}, full), o.key_extractor([], s.DispatchKeySet(s.DispatchKey.CPU)))
    with s.C._AutoDispatchBelowAutograd():
        log(o.key_extractor([x], full))
    with s.modes.TorchDispatchMode():
        log(o.key_extractor((x,), full).highestPriorityTypeId())


def transforms(s, log):
    T = s._ops.TransformType
    log(
        [
            str(T.Vmap),
            repr(T.Grad),
            int(T.Functionalize),
            T.Jvp == T.Jvp,
            list(T.__members__) == list(T.__members__),
        ]
    )
    log(
        sorted(T.__members__),
        T.Torch.name,
        T.Torch.value,
        T(1) == T.Vmap,
        hash(T.Vmap) == hash(T.Vmap),
    )
    op = _make(s, "hop_p")
    op.py_impl(T.Vmap)(len)
    log(op.functorch_table[T.Vmap] is len)
    log.attempt("again", lambda: op.py_impl(T.Vmap)(len))


def wrong_keys(s, log):
    op = _make(s, "hop_q")
    for k in ("CPU", 1, None, int, s.DispatchKey.Python):
        log.attempt("key", lambda k=k: op.py_impl(k)(len))
    op.py_impl(s.DispatchKey.CPU)(len)
    log.attempt("again", lambda: op.py_impl(s.DispatchKey.CPU)(len))
    log.attempt("dispatch nothing", op.dispatch)


def bare_operator_base(s, log):
    b = s._ops.OperatorBase()
    log.attempt("call", b)
    log.attempt("name", b.name)
    log(b.py_kernels, b.python_key_table, b.functorch_table, b._dispatch_cache)
    b.py_impl(s.DispatchKey.CPU)(len)
    log(
        b.has_kernel_for_dispatch_key(s.DispatchKey.CPU),
        b.has_kernel_for_any_dispatch_key(s.DispatchKeySet(s.DispatchKey.CPU)),
    )
    log(s._ops.resolve_key(b, s.DispatchKey.CPU))
    log.attempt("resolve", s._ops.resolve_key, b, s.DispatchKey.CUDA)
    log.attempt("again", lambda: b.py_impl(s.DispatchKey.CPU)(len))


def fake_tensors(s, log):
    op = _make(s, "hop_r")

    @op.py_impl(s.fake.FakeTensorMode)
    def rule(mode, f, x):
        log("rule", isinstance(mode, s.fake.FakeTensorMode))
        with mode:
            return f(x)

    op.py_impl(s.DispatchKey.Autograd)(lambda *a: op.dispatch(s.DispatchKey.Python, *a))
    with s.fake.FakeTensorMode() as mode:
        x = mode.from_tensor(s.T.ones(2, 3))
        log(op(lambda t: t.t(), x))
    log(op(lambda t: t.t(), x))


def higher_order(s, log):
    K = s.DispatchKey

    class H(s._ops.HigherOrderOperator):
        def __init__(self):
            super().__init__("mr_hop")

        def __call__(self, *args, **kwargs):
            return super().__call__(*args, **kwargs)

    h = H()
    log(str(h), repr(h)[:40].split(" at ")[0], h.name(), h.namespace, h.__name__)
    h.py_impl(K.CPU)(lambda f, x: ("cpu", f(x)))
    h.py_impl(K.CompositeExplicitAutograd)(lambda f, x: "composite")
    log.attempt("no autograd", h, lambda x: x + 1, s.T.zeros(1))
    h.py_impl(K.AutogradCPU)(lambda f, x: "autograd")
    log.attempt("cpu", h, lambda x: x + 1, s.T.zeros(1))
    with s.C._AutoDispatchBelowAutograd():
        log.attempt("below", h, lambda x: x + 1, s.T.zeros(1))
        log.attempt("meta", h, lambda x: x, s.T.zeros(1, device="meta"))
    log.attempt("none", h, 1, 2)
    log.attempt("twice", lambda: h.py_impl(K.CPU)(len))
    log(sorted(k.name for k in h.py_kernels))
    h.fallthrough(K.AutogradCPU) if hasattr(h, "fallthrough") else None
    log(h.non_fallthrough_keys.has(K.AutogradCPU), h.cacheable())


def higher_order_modes(s, log):
    class H(s._ops.HigherOrderOperator):
        def __init__(self):
            super().__init__("mr_hop2")

        def __call__(self, *args, **kwargs):
            return super().__call__(*args, **kwargs)

    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log("mode", str(func))
            return "mode"

    class Willing(M):
        supports_higher_order_operators = True

    h = H()
    h.py_impl(s.DispatchKey.CompositeExplicitAutograd)(lambda x: "base")
    h.py_autograd_impl(lambda x: h.dispatch(s.DispatchKey.CPU, x)) if hasattr(
        h, "py_autograd_impl"
    ) else 0
    log.attempt("plain", h, 1)
    with M():
        log.attempt("unwilling", h, 1)
    with Willing():
        log.attempt("willing", h, 1)
    h.py_impl(M)(lambda mode, x: "py " + type(mode).__name__)
    with M():
        log.attempt("py", h, 1)
    log.attempt("abstract", lambda: s._ops.HigherOrderOperator("mr_abs"))
    log(s.ops.higher_order.mr_hop2 is h)
