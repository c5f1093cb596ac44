"""`ops`, namespaces, overloads and their attributes."""

_KEPT = []  # a library that goes takes its operators along


def _lib(s, ns, *schemas, key="CompositeExplicitAutograd", tags=()):
    lib = s.library.Library(ns, "DEF")
    _KEPT.append(lib)
    for schema in schemas:
        lib.define(schema, tags=tags)
        lib.impl(schema.partition("(")[0], lambda *a, **k: a[0], key)
    return lib


def overload_attributes(s, log):
    _lib(s, "op1", "f.a(Tensor x, int y=1) -> Tensor", "f(Tensor x) -> Tensor")
    for o in (s.ops.op1.f.a, s.ops.op1.f.default):
        log(
            o,
            repr(o),
            o.name(),
            o._name,
            o.__name__,
            o.__qualname__,
            o.__module__.partition(".")[2],
        )
        log(
            o.namespace,
            o._namespace,
            o._opname,
            o._overloadname,
            str(o._schema),
            o.tags,
            o._tags,
            o.is_view,
        )
        log(
            o._defined_in_python,
            o.overloadpacket,
            o.py_kernels,
            o.python_key_table,
            o.functorch_table,
            o._dispatch_cache,
        )
        log(type(o).__name__, isinstance(o, s._ops.OperatorBase), callable(o), o.__annotations__)
        log(
            type(o._handle).__name__, str(o._handle.schema()), o._handle is o._handle, o.op is o._op
        )
        log.attempt("seeded", getattr, o, "_nondeterministic_seeded")
        log.attempt("unknown", getattr, o, "unknown")


def tags(s, log):
    T = s.T.Tag if hasattr(s.T, "Tag") else s.C.Tag
    _lib(s, "op2", "f(Tensor x) -> Tensor", tags=(T.pointwise, T.core))
    o = s.ops.op2.f.default
    log([t.name for t in o.tags], T.core in o.tags, o._nondeterministic_seeded, o.tags == o._tags)
    _lib(s, "op3", "f(Tensor x) -> Tensor", tags=T.nondeterministic_seeded)
    log([t.name for t in s.ops.op3.f.default.tags], s.ops.op3.f.default._nondeterministic_seeded)


def views(s, log):
    _lib(
        s,
        "op4",
        "a(Tensor(a) x) -> Tensor(a)",
        "b(Tensor(a!) x) -> Tensor(a!)",
        "c(Tensor x) -> Tensor",
        "d(Tensor(a) x, Tensor(b!) y) -> Tensor(a)",
        "e(Tensor(a)[] x) -> ()",
        "f(Tensor(a -> *) x) -> Tensor(a)[]",
    )
    for n in "abcdef":
        log.attempt(n, lambda n=n: getattr(s.ops.op4, n).default.is_view)
    log(
        s.ops.aten.view.default.is_view,
        s.ops.aten.add_.Tensor.is_view,
        s.ops.aten.add.out.is_view,
        s.ops.aten.detach.default.is_view,
    )


def namespaces(s, log):
    log(
        type(s.ops).__name__,
        type(s.ops.op5).__name__,
        s.ops.op5.name,
        s.ops.op5 is s.ops.op5,
        s.ops.op5,
        s.ops,
    )
    log("op5" in list(s.ops), "op5" in s.ops._dir, list(s.ops.op5), s.ops.op5._dir)
    log.attempt("missing", getattr, s.ops.op5, "f")
    for name in ("__origin__", "__self__", "__wrapped__"):
        log.attempt(name, getattr, s.ops.op5, name)
    log(getattr(s.ops.op5, "f", 3), hasattr(s.ops.op5, "f"))
    _lib(s, "op5", "f(Tensor x) -> Tensor")
    log(s.ops.op5.f, list(s.ops.op5), s.ops.op5._dir, hasattr(s.ops.op5, "f"))
    log(s.ops.__name__.partition(".")[2], s.ops.op5.__name__.partition(".")[2], s.ops.__file__)
    import types

    log(
        isinstance(s.ops, types.ModuleType),
        isinstance(s.ops.op5, types.ModuleType),
        type(s.ops.higher_order).__name__,
    )


def setting_on_namespaces(s, log):
    s.ops.op6.x = 3
    log(s.ops.op6.x, list(s.ops.op6))
    del s.ops.op6.x
    log.attempt("gone", getattr, s.ops.op6, "x")


def libraries(s, log):
    log(s.ops.loaded_libraries)
    log.attempt("missing", s.ops.load_library, "/no/such/file.so")
    log.attempt("no library", s.ops.load_library, __file__)
    log.attempt("None", s.ops.load_library, None)
    log(s.ops.loaded_libraries, s.ops.import_module("json"))
    log.attempt("no module", s.ops.import_module, "no_such_module_at_all")
    import sys

    before = sys.getdlopenflags()
    with s._ops.dl_open_guard():
        import ctypes

        log(sys.getdlopenflags() == before | ctypes.RTLD_GLOBAL)
    log(sys.getdlopenflags() == before)


def redispatch(s, log):
    lib = s.library.Library("op7", "DEF")
    lib.define("f(Tensor x, int y=2) -> Tensor")
    lib.impl("f", lambda x, y=2: x + y, "CPU")
    lib.impl("f", lambda x, y=2: x * 10, "Meta")
    o = s.ops.op7.f.default
    x = s.T.ones(2)
    K, KS = s.DispatchKey, s.DispatchKeySet
    log(o.redispatch(KS(K.CPU), x), o.redispatch(KS(K.Meta), x, 3), o.redispatch(KS(K.CPU), x, y=5))
    log.attempt("no set", o.redispatch, K.CPU, x)
    log.attempt("nothing", o.redispatch)
    log.attempt("no kernel", o.redispatch, KS(K.CUDA), x)
    log.attempt("bad", o.redispatch, KS(K.CPU), 3)
    log(o._handle.redispatch_boxed(KS(K.CPU), x, 7))


def kernels(s, log):
    lib = s.library.Library("op8", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    o = s.ops.op8.f.default
    K, KS = s.DispatchKey, s.DispatchKeySet
    log(o.has_kernel_for_dispatch_key(K.CPU), o.has_kernel_for_any_dispatch_key(KS(K.CPU)))
    lib.impl("f", lambda x: x, "CPU")
    log(
        o.has_kernel_for_dispatch_key(K.CPU),
        o.has_kernel_for_any_dispatch_key(KS(K.CPU)),
        o.has_kernel_for_dispatch_key("CPU"),
    )
    lib.impl("f", lambda x: x, "CompositeImplicitAutograd")
    log(
        o.has_kernel_for_dispatch_key(K.CompositeImplicitAutograd),
        o.has_kernel_for_any_dispatch_key(KS(K.Meta)),
    )
    log(
        o.has_kernel_for_any_dispatch_key(KS(K.CPU) | KS(K.CUDA)),
        o.has_kernel_for_dispatch_key(K.Autograd),
    )
    o.py_impl(K.CUDA)(len)
    log(o.has_kernel_for_any_dispatch_key(KS(K.CUDA)), o.has_kernel_for_dispatch_key(K.CUDA))
    log.attempt("unknown", o.has_kernel_for_dispatch_key, "Nonsense")
    log.attempt("number", o.has_kernel_for_dispatch_key, 3)


def destroyed(s, log):
    lib = _lib(s, "op9", "f(Tensor x) -> Tensor")
    o = s.ops.op9.f.default
    log(o(s.T.ones(1)))
    lib._destroy()
    log.attempt("namespace", getattr, s.ops.op9, "f")
    log(str(o), o.name())
    _lib(s, "op9", "f(Tensor x) -> Tensor")
    log(s.ops.op9.f.default is o, s.ops.op9.f.default(s.T.ones(1)))


def arguments_named_self(s, log):
    _lib(s, "op10", "f(Tensor self, int args=1, *, int kwargs=2) -> Tensor")
    x = s.T.ones(1)
    log(
        s.ops.op10.f.default(self=x),
        s.ops.op10.f(self=x, args=3, kwargs=4),
        s.ops.op10.f.default(x, kwargs=1),
    )
    log(s.ops.aten.add.Tensor(self=x, other=x), s.ops.aten.add(self=x, other=1, alpha=2))


def names_in_torch_ops(s, log):
    for n in (
        "OperatorBase",
        "OpOverload",
        "OpOverloadPacket",
        "HigherOrderOperator",
        "TorchBindOpOverload",
        "resolve_key",
        "key_extractor",
        "TransformType",
        "ops",
        "dl_open_guard",
        "is_included_in_alias",
        "_OpNamespace",
        "_Ops",
        "_HigherOrderNamespace",
        "_get_packet",
        "_refresh_packet",
        "_higher_order_ops",
        "cached_ops",
        "TorchDispatchMode",
        "DispatchKey",
        "_has_script_object_arg",
        "_contains_fake_script_object",
        "_must_dispatch_in_python",
        "_call_overload_packet_from_python",
        "_SET_GLOBAL_FLAGS",
    ):
        log(n, hasattr(s._ops, n))
    log(
        s._ops.ops is s.ops,
        s._ops.is_included_in_alias(s.DispatchKey.CPU, s.DispatchKey.CompositeExplicitAutograd),
    )
    log(
        issubclass(s._ops.TorchBindOpOverload, s._ops.OpOverload),
        issubclass(s._ops.OpOverload, s._ops.OperatorBase),
    )


def script_objects(s, log):
    registry = s._library.fake_class_registry
    lib = s.library.Library("op11", "DEF")
    cls = "__torch__.torch.classes.rnn.CellParamsBase"
    lib.define(f"f({cls} obj, Tensor x) -> Tensor")
    o = s.ops.op11.f.default
    log(
        type(o).__name__,
        s.ops.op11.f._has_torchbind_op_overload,
        s._ops._has_script_object_arg(o._schema),
    )
    fake = registry.FakeScriptObject(3, cls, None)
    log(
        s._ops._must_dispatch_in_python((1, [fake]), {}),
        s._ops._must_dispatch_in_python((1,), {"a": {"b": (fake,)}}),
        s._ops._must_dispatch_in_python((1,), None),
        s._ops._contains_fake_script_object([1, {"a": 2}]),
    )
    x = s.T.ones(2)
    log([k.name for k in o._fallthrough_keys()])
    log.attempt("no kernel", o, fake, x)
    o.py_impl(s.DispatchKey.CompositeExplicitAutograd)(lambda obj, x: x + obj.wrapped_obj)
    log.attempt("overload", o, fake, x)

    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log("mode", func, types, len(args), kwargs)
            return func(*args, **(kwargs or {}))

    with M():
        log.attempt("mode", o, fake, x)
    log(sorted(k.name for k in o._dispatch_cache))


def fake_script_objects(s, log):
    import copy

    registry = s._library.fake_class_registry
    real = [1, 2]
    f = registry.FakeScriptObject("w", "__torch__.x", real)
    log(f.wrapped_obj, f.script_class_name, f.real_obj, f.real_obj is real, f[1])
    log.attempt("set", setattr, f, "a", 1)
    log.attempt("get", getattr, f, "a")
    log(f == real, f == f, f == 3, f != real, copy.deepcopy(f).real_obj)
    log(registry.maybe_unwrap_fake_script_object(f), registry.maybe_unwrap_fake_script_object(4))


def functionalize_rules(s, log):
    _lib(s, "op12", "f(Tensor x) -> Tensor")
    o = s.ops.op12.f.default
    fn = lambda ctx, x: x
    log(o.py_functionalize_impl(fn) is fn)
    log(
        [k.name for k in o.py_kernels],
        [c.__name__ for c in o.python_key_table],
        [str(t) for t in o.functorch_table],
    )
    log.attempt("again", o.py_functionalize_impl, fn)


def schemas_and_handles(s, log):
    _lib(s, "op13", "f.a(Tensor x, *, int[] k=[1, 2], str s='q') -> (Tensor, Tensor y)")
    o = s.ops.op13.f.a
    log(
        str(o._schema),
        o._schema.name,
        o._schema.overload_name,
        [a.name for a in o._schema.arguments],
    )
    log(
        o._schema == o._handle.schema(),
        s.C._dispatch_find_schema_or_throw("op13::f", "a").schema().name,
    )
    log.attempt("missing", s.C._dispatch_find_schema_or_throw, "op13::f", "")
    log.attempt("getattr", lambda: s.ops.op13.f.default)
