"""Library: define, impl, fallback, taking back; the functions of the module that do the same by name."""

import gc
import warnings


def kinds(s, log):
    L = s.library.Library
    for args in (
        ("lb1", "OTHER"),
        ("prim", "DEF"),
        ("prim", "FRAGMENT"),
        ("aten", "DEF"),
        ("lb1", "IMPL", "NoKey"),
        ("lb1", "DEF", "CPU"),
        ("_", "DEF"),
        ("_", "FRAGMENT"),
    ):
        log.attempt(str(args), L, *args)
    a = L("lb1", "DEF")
    log(a, a.ns, a.kind, repr(a.dispatch_key), a.m is not None)
    log.attempt("second DEF", L, "lb1", "DEF")
    b = L("lb1", "FRAGMENT")
    c = L("lb1", "IMPL", "CPU")
    log(b, c, c.dispatch_key)
    log.attempt("IMPL defines", c.define, "f(Tensor x) -> Tensor")
    a._destroy()
    log(L("lb1", "DEF"))


def state_of_a_library(s, log):
    lib = s.library.Library("lb2", "DEF")
    log(lib._op_defs, lib._op_impls, lib._registration_handles)
    log(lib.define("f(Tensor x) -> Tensor"), lib.define("f.o(Tensor x, int y) -> Tensor"))
    lib.impl("f", lambda x: x, "CPU")
    lib.impl("lb2::f.o", lambda x, y: x)
    lib.impl(s.ops.lb2.f.o, lambda x, y: x, "CPU")
    log(lib._op_defs, lib._op_impls)
    log(lib._op_defs <= s.library._defs, lib._op_impls <= s.library._impls)
    defs, impls = lib._op_defs, lib._op_impls
    lib._destroy()
    log(lib.m, lib, bool(defs & s.library._defs), bool(impls & s.library._impls))
    log(hasattr(s.ops.lb2, "f"))
    log.attempt("again", lib._destroy)


def destroyed_library(s, log):
    lib = s.library.Library("lb3", "DEF")
    lib._destroy()
    log.attempt("define", lib.define, "f(Tensor x) -> Tensor")
    log.attempt("impl", lib.impl, "f", lambda x: x, "CPU")
    log.attempt("impl of nothing", lib.impl, "f", 3)
    log.attempt("wrong analysis", lib.define, "f(Tensor x) -> Tensor", "WRONG")
    log.attempt("fallback", lib.fallback, lambda op: op, "CPU")


def defining(s, log):
    lib = s.library.Library("lb4", "DEF")
    for schema in (
        "f",
        "f(",
        "f(Tensr x) -> Tensor",
        "f(Tensor x)",
        "",
        "f(Tensor x) -> Tensor, ",
        "other::f(Tensor x) -> Tensor",
    ):
        log.attempt(repr(schema), lib.define, schema)
    log(
        lib.define("a() -> ()"),
        lib.define("b.x(*, Tensor y) -> (Tensor, Tensor)"),
        lib.define("lb4::c(Tensor x) -> Tensor"),
    )
    log.attempt("again", lib.define, "a() -> ()")
    log.attempt("again, other schema", lib.define, "a(Tensor x) -> ()")
    for kind in ("", "FROM_SCHEMA", "CONSERVATIVE", "PURE_FUNCTION", "WRONG"):
        log.attempt(kind, lib.define, f"k{kind}(Tensor x) -> Tensor", kind)
    log(sorted(s.ops.lb4.b.overloads()), s.ops.lb4.c.default._schema)


def tags(s, log):
    lib = s.library.Library("lb5", "DEF")
    Tag = s.T.Tag
    lib.define("a(Tensor x) -> Tensor", tags=Tag.pointwise)
    lib.define("b(Tensor x) -> Tensor", tags=(Tag.core, Tag.pointwise))
    lib.define("c(Tensor x) -> Tensor", tags=[Tag.pt2_compliant_tag, Tag.core, Tag.core])
    lib.define("d(Tensor x) -> Tensor")
    for op in "abcd":
        log(op, [t.name for t in getattr(s.ops.lb5, op).default.tags])
    log.attempt("no tag", lib.define, "e(Tensor x) -> Tensor", tags=("core",))
    log.attempt("a string", lib.define, "e(Tensor x) -> Tensor", tags="core")
    log.attempt("None", lib.define, "e(Tensor x) -> Tensor", tags=None)
    log.attempt("a set", lib.define, "g(Tensor x) -> Tensor", tags={Tag.core})


def tagged_schemas(s, log):
    lib = s.library.Library("lb6", "DEF")
    Tag = s.T.Tag
    for i, schema in enumerate((
        "(Tensor(a!) x) -> Tensor(a!)", "(Tensor x) -> Tensor", "(Tensor(a!) x) -> ()", "(Tensor(a!)[] x) -> Tensor(a!)[]",
        "(*, Tensor(a!) x) -> Tensor(a!)", "(Tensor(a!) x, Tensor(b!) y) -> Tensor(a!)", "(Tensor(a!) x) -> Tensor(a)",
        "(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", "(Tensor x, *, Tensor(a!) o, Tensor(b!) p) -> (Tensor(a!), Tensor(b!))",
        "(Tensor x, *, Tensor(a!) o, Tensor(b!) p) -> (Tensor(b!), Tensor(a!))", "() -> ()", "(Tensor(a!) x) -> Tensor",
    )):  # fmt: skip
        log.attempt(f"{schema} inplace", lib.define, f"i{i}{schema}", tags=Tag.inplace)
        log.attempt(f"{schema} out", lib.define, f"o{i}{schema}", tags=[Tag.out])


def implementing(s, log):
    lib = s.library.Library("lb7", "DEF")
    lib.define("f(Tensor x) -> str")
    x = s.T.ones(1)
    log.attempt("packet", lib.impl, s.ops.lb7.f, lambda x: "", "CPU")
    log.attempt("number", lib.impl, 3, lambda x: "", "CPU")
    log.attempt("no callable", lib.impl, "f", "text", "CPU")
    log.attempt("no key", lib.impl, "f", lambda x: "", "NoKey")
    log.attempt("other namespace", lib.impl, "other::f", lambda x: "", "CPU")
    log.attempt("nothing there", s.ops.lb7.f, x)
    lib.impl("f", lambda x: "by name", "CPU")
    log(s.ops.lb7.f(x))
    lib.impl("lb7::f", lambda x: "qualified", "CPU")
    log(s.ops.lb7.f(x))
    lib.impl(s.ops.lb7.f.default, lambda x: "object", "CPU")
    log(s.ops.lb7.f(x))
    log.attempt("refused", lib.impl, "f", lambda x: "no", "CPU", allow_override=False)
    log(s.ops.lb7.f(x))
    lib.impl("f", lambda keys, x: keys.has(s.DispatchKey.CPU), "CPU", with_keyset=True)
    log.attempt("wrong type back", s.ops.lb7.f, x)


def override_rules(s, log):
    lib = s.library.Library("lb8", "DEF")
    other = s.library.Library("lb8", "IMPL")
    lib.define("f(Tensor x) -> str")
    lib.impl("f", lambda x: "first", "CPU", allow_override=False)
    log.attempt("same key", other.impl, "f", lambda x: "second", "CPU", allow_override=False)
    other.impl("f", lambda x: "second", "CPU")
    log(s.ops.lb8.f(s.T.ones(1)))
    other._destroy()
    log(s.ops.lb8.f(s.T.ones(1)))
    log.attempt("after", lib.impl, "f", lambda x: "third", "CPU", allow_override=False)
    log.attempt("another key", lib.impl, "f", lambda x: "meta", "Meta", allow_override=False)
    log(s.ops.lb8.f(s.T.ones(1, device="meta")))


def meta_kernels(s, log):
    lib = s.library.Library("lb9", "DEF")
    log.attempt("before definition, Meta", lib.impl, "g", lambda x: x, "Meta")
    log.attempt("before definition, CPU", lib.impl, "g", lambda x: x, "CPU")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x.clone())
    log.attempt("decomposes", lib.impl, "f", lambda x: x, "Meta")
    lib.define("g(Tensor x) -> Tensor")
    lib.impl("g", lambda x: x.new_empty(3), "Meta")
    log(s.ops.lb9.g(s.T.ones(2, device="meta")), s.ops.lb9.g(s.T.ones(2)).shape)
    aten = s.library.Library("aten", "IMPL")
    log.attempt("aten op that decomposes", aten.impl, "reshape", lambda x, y: x, "Meta")


def fallbacks(s, log):
    lib = s.library.Library("lb10", "DEF")
    log.attempt("namespace", lib.fallback, lambda op: op, "CPU")
    under = s.library.Library("_", "IMPL")
    log.attempt("no key", under.fallback, lambda op: op)
    log.attempt("wrong key", under.fallback, lambda op: op, "NoKey")
    log.attempt("no callable", under.fallback, 3, "PrivateUse2")
    log.attempt("taken", under.fallback, lambda op: op, "CPU")
    lib.define("f(Tensor x, int n=1, *, float k=2.0) -> (str, int)")
    lib.impl("f", lambda x, n=1, *, k=2.0: ("cpu", n), "CPU")
    under.fallback(lambda op, *a, **kw: (str(op), len(a)), "PrivateUse1")
    x = s.T.ones(1)
    with s.C._IncludeDispatchKeyGuard(s.DispatchKey.PrivateUse1):
        log.attempt("fallback", s.ops.lb10.f, x, 5, k=3.0)
    under._destroy()
    log(s.ops.lb10.f(s.T.ones(1), 5))


def fallback_with_keyset(s, log):
    under = s.library.Library("_", "IMPL", "PrivateUse1")
    seen = []

    def fall(keys, op, *args, **kwargs):
        seen.append((op, keys.has(s.DispatchKey.CPU), len(args), sorted(kwargs)))
        return op.redispatch(s.DispatchKeySet(s.DispatchKey.CPU), *args, **kwargs)

    log.attempt("register", under.fallback, fall, with_keyset=True)
    lib = s.library.Library("lb26", "DEF")
    lib.define("f(Tensor x, int n=1, *, float k=2.0) -> Tensor")
    lib.impl("f", lambda x, n=1, *, k=2.0: x, "CPU")
    x = s.T.ones(2)
    with s.C._IncludeDispatchKeyGuard(s.DispatchKey.PrivateUse1):
        log.attempt("f", s.ops.lb26.f, x)
        log.attempt("all", s.ops.lb26.f, x, 5, k=3.0)
    log(seen)


def taken_back_by_gc(s, log):
    lib = s.library.Library("lb11", "DEF")
    lib.define("f(Tensor x) -> str")
    op = s.ops.lb11.f.default
    log(hasattr(s.ops.lb11, "f"), "lb11::f" in s.C._dispatch_get_all_op_names())
    del lib
    gc.collect()
    log(hasattr(s.ops.lb11, "f"), "lb11::f" in s.C._dispatch_get_all_op_names(), op)
    s.library.Library("lb11", "DEF")


def scoped(s, log):
    with s.library._scoped_library("lb12", "DEF") as lib:
        lib.define("f(Tensor x) -> Tensor")
        lib.impl("f", lambda x: x + 1, "CPU")
        log(s.ops.lb12.f(s.T.ones(1)))
    log(lib.m, hasattr(s.ops.lb12, "f"))
    log.attempt("in error", _raise_in_scope, s)
    log(hasattr(s.ops.lb12, "g"))


def _raise_in_scope(s):
    with s.library._scoped_library("lb12", "FRAGMENT") as lib:
        lib.define("g(Tensor x) -> Tensor")
        raise KeyError


def packets_follow(s, log):
    lib = s.library.Library("lb13", "DEF")
    lib.define("f(Tensor x) -> str")
    lib.impl("f", lambda x: "default", "CPU")
    packet = s.ops.lb13.f
    log(packet.overloads(), packet(s.T.ones(1)))
    more = s.library.Library("lb13", "FRAGMENT")
    more.define("f.two(Tensor x, Tensor y) -> str")
    more.impl("f.two", lambda x, y: "two", "CPU")
    log(
        sorted(packet.overloads()),
        packet is s.ops.lb13.f,
        packet(s.T.ones(1), s.T.ones(1)),
        packet.two,
    )
    more._destroy()
    log(sorted(s.ops.lb13.f.overloads()), s.ops.lb13.f(s.T.ones(1)))
    log.attempt("gone", lambda: s.ops.lb13.f.two)


def fallthrough(s, log):
    lib = s.library.Library("lb14", "DEF")
    lib.define("f(Tensor x) -> str")
    lib.impl("f", s.library.fallthrough_kernel, "CPU")
    log.attempt("only fallthrough", s.ops.lb14.f, s.T.ones(1))
    lib.impl("f", lambda x: "default", "CompositeExplicitAutograd")
    log.attempt("with default", s.ops.lb14.f, s.T.ones(1))
    log.attempt("meta", s.ops.lb14.f, s.T.ones(1, device="meta"))
    log.attempt("called", s.library.fallthrough_kernel)
    log(
        s.C._dispatch_kernel_for_dispatch_key_is_fallthrough("lb14::f", s.DispatchKey.CPU),
        callable(s.library.fallthrough_kernel),
    )


def define_by_name(s, log):
    define, impl = s.library.define, s.library.impl
    log(define("lb15::f", "(Tensor x) -> str"))
    log(impl("lb15::f", "cpu", lambda x: "cpu"), s.ops.lb15.f(s.T.ones(1)))
    log.attempt("number", define, 3, "(Tensor x) -> Tensor")
    log.attempt("no namespace", define, "f", "(Tensor x) -> Tensor")
    log.attempt("two", define, "a::b::c", "(Tensor x) -> Tensor")
    log.attempt("named schema", define, "lb15::g", "g(Tensor x) -> Tensor")
    log.attempt("bad schema", define, "lb15::g", "(Tensr x) -> Tensor")
    log.attempt("no arrow", define, "lb15::g", "(Tensor x)")
    lib = s.library.Library("lb15", "FRAGMENT")
    define("lb15::h", "(Tensor x) -> Tensor", lib=lib, tags=s.T.Tag.core)
    log(lib._op_defs, [t.name for t in s.ops.lb15.h.default.tags])
    lib._destroy()
    log(hasattr(s.ops.lb15, "h"), hasattr(s.ops.lb15, "f"))


def define_as_decorator(s, log):
    lib = s.library.Library("lb16", "DEF")

    @s.library.define(lib, "f(Tensor x, int n) -> Tensor")
    def f(x, n):
        return x * n

    log(type(f).__name__, f(2, 3), s.ops.lb16.f(s.T.ones(2), 3))
    log(s.C._dispatch_has_kernel_for_dispatch_key("lb16::f", "CompositeImplicitAutograd"))

    @s.library.impl(lib, "f", "CPU")
    def g(x, n):
        return x - n

    log(g(2, 3), s.ops.lb16.f(s.T.ones(2), 3), lib._op_impls)


def impl_by_name(s, log):
    impl = s.library.impl
    lib = s.library.Library("lb17", "DEF")
    lib.define("f(Tensor x) -> str")

    @impl("lb17::f", "default")
    def f(x):
        return "default"

    log(f, s.ops.lb17.f(s.T.ones(1)))
    log(s.C._dispatch_has_kernel_for_dispatch_key("lb17::f", "CompositeExplicitAutograd"))
    impl("lb17::f", ("cpu", "cuda"), lambda x: "both")
    log(s.ops.lb17.f(s.T.ones(1)), s.C._dispatch_has_kernel_for_dispatch_key("lb17::f", "CUDA"))
    impl("lb17::f", "AutogradCPU", lambda x: "autograd", lib=lib)
    log(s.ops.lb17.f(s.T.ones(1)), lib._op_impls)
    log.attempt("no device", impl, "lb17::f", "nothing", lambda x: x)
    log.attempt("no namespace", impl, "f", "cpu", lambda x: x)
    log.attempt("no types", impl, "lb17::f", None, lambda x: x)
    log.attempt("no callable", impl, "lb17::f", "cpu", 3)
    log.attempt("Meta of nothing", impl, "lb17::g", "Meta", lambda x: x)


def kernels_by_key(s, log):
    lib = s.library.Library("lb18", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x + 10, "CPU")

    def autograd(keys, x):
        log("keys", keys.has(s.DispatchKey.AutogradCPU), keys.has(s.DispatchKey.CPU))
        with s.C._AutoDispatchBelowAutograd():
            return s.ops.lb18.f.default.redispatch(keys & s.C._after_autograd_keyset, x) * 2

    lib.impl("f", autograd, "Autograd", with_keyset=True)
    log(s.ops.lb18.f(s.T.ones(2)))
    with s.C._AutoDispatchBelowAutograd():
        log(s.ops.lb18.f(s.T.ones(2)))


def kernels_seen(s, log):
    get = s.library.get_kernel
    k = get("aten::sin", "CPU")
    log(type(k).__name__)
    x = s.T.zeros(2)
    ks = s.C._dispatch_keys(x)
    log(k.call_boxed(ks, x))
    log(get(s.ops.aten.add.Tensor, s.DispatchKey.CPU).call_boxed(ks, x, x + 1))
    log.attempt("packet", get, s.ops.aten.sin, "CPU")
    log.attempt("number", get, 3, "CPU")
    log.attempt("wrong key", get, "aten::sin", "NoKey")
    log.attempt("no operator", get, "aten::no_such_op", "CPU")
    lib = s.library.Library("lb19", "DEF")
    lib.define("f(Tensor x) -> str")
    log.attempt("nothing there", get, "lb19::f", "CPU")
    lib.impl("f", lambda x: "old", "CPU")
    old = get("lb19::f", "CPU")
    lib.impl("f", lambda keys, x: "new", "CPU", with_keyset=True)
    log(s.ops.lb19.f(x), old.call_boxed(ks, x))


def register_kernel_by_name(s, log):
    reg = s.library.register_kernel
    lib = s.library.Library("lb20", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    log(reg("lb20::f", "cpu", lambda x: x + 1))
    log(s.ops.lb20.f(s.T.ones(1)))
    reg(s.ops.lb20.f.default, None, lambda x: x + 2)
    log(
        s.C._dispatch_has_kernel_for_dispatch_key("lb20::f", "CompositeExplicitAutograd"),
        s.ops.lb20.f(s.T.ones(1)),
    )

    @reg("lb20::f", ["cpu", "cuda"], lib=lib)
    def f(x):
        return x + 3

    log(f, s.ops.lb20.f(s.T.ones(1)), lib._op_impls)
    log.attempt("packet", reg, s.ops.lb20.f, "cpu", lambda x: x)
    log.attempt("number", reg, 3, "cpu", lambda x: x)
    log.attempt("no device", reg, "lb20::f", "nothing", lambda x: x)


def deprecated_names(s, log):
    lib = s.library.Library("lb21", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")

        @s.library.impl_abstract("lb21::f")
        def f(x):
            return x.new_empty(3)

    log([w.category.__name__ for w in seen], callable(f))
    log(s.ops.lb21.f(s.T.ones(1, device="meta")))


def public_face(s, log):
    names = ("Library", "impl", "define", "fallthrough_kernel", "impl_abstract", "register_autocast", "register_fake",
             "register_torch_dispatch", "register_vmap", "get_ctx", "get_kernel", "custom_op", "infer_schema", "opcheck",
             "CustomOpDef", "register_autograd", "register_kernel", "NAMELESS_SCHEMA", "EffectType", "_impl_abstract",
             "_scoped_library", "_reserved_namespaces", "_keep_alive", "_OPCHECK_DEFAULT_UTILS", "_device_type_to_key")  # fmt: skip
    log([n for n in names if hasattr(s.library, n)])
    log(s.library._reserved_namespaces, s.library._OPCHECK_DEFAULT_UTILS)
    log(s.library._device_type_to_key("default"), s.library._device_type_to_key("cuda"))
    log(
        bool(s.library.NAMELESS_SCHEMA.fullmatch("(Tensor x) -> Tensor")),
        bool(s.library.NAMELESS_SCHEMA.fullmatch("f(Tensor x) -> Tensor")),
    )


def compile_ahead(s, log):
    lib = s.library.Library("lb22", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    log.attempt("Autograd", lib._impl_with_aoti_compile, "f", "Undefined")


def returned_objects(s, log):
    lib = s.library.Library("lb23", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.define("t(Tensor x) -> (Tensor, int)")
    lib.define("l(Tensor x) -> Tensor[]")
    lib.define("n(Tensor x) -> ()")
    lib.impl("f", lambda x: x, "CPU")
    lib.impl("t", lambda x: [x, 3], "CPU")
    lib.impl("l", lambda x: (x, x), "CPU")
    lib.impl("n", lambda x: None, "CPU")
    x = s.T.ones(1)
    log(s.ops.lb23.f(x) is x)
    log.attempt("t", s.ops.lb23.t, x)
    log.attempt("l", s.ops.lb23.l, x)
    log(s.ops.lb23.n(x))
    lib.impl("n", lambda x: 3, "CPU")
    log.attempt("something for nothing", s.ops.lb23.n, x)
    lib.impl("f", lambda x: None, "CPU")
    log.attempt("None for a tensor", s.ops.lb23.f, x)


def errors_in_kernels(s, log):
    lib = s.library.Library("lb24", "DEF")
    lib.define("f(Tensor x) -> Tensor")

    def bad(x):
        raise KeyError("mine")

    lib.impl("f", bad, "CPU")
    log.attempt("kernel", s.ops.lb24.f, s.T.ones(1))
    lib.impl("f", lambda: 3, "CPU")
    log.attempt("arguments", s.ops.lb24.f, s.T.ones(1))
    before = s.C._dispatch_tls_local_exclude_set().raw_repr()
    log.attempt("again", s.ops.lb24.f, s.T.ones(1, requires_grad=True))
    log(before == s.C._dispatch_tls_local_exclude_set().raw_repr())


def requires_grad_through_library_ops(s, log):
    lib = s.library.Library("lb25", "DEF")
    for n in "fgi":
        lib.define(f"{n}(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x.clone(), "CPU")
    lib.impl("g", lambda x: s.T.ones(2), "CPU")
    lib.impl("i", lambda x: x.detach().clone(), "CPU")
    x = s.T.ones(2, requires_grad=True)
    for mode in ("warn", "nothing"):
        s.C._set_autograd_fallback_mode(mode)
        for n in "fgi":
            y = getattr(s.ops.lb25, n)(x)
            log(s.C._get_autograd_fallback_mode(), n, y.requires_grad, y.grad_fn is None)
    log.attempt("unknown", s.C._set_autograd_fallback_mode, "loud")


def python_library_kinds(s, log):
    L = s.library.Library
    log.attempt("def", lambda: L("ml_k", "DEF").ns)
    log.attempt("impl", lambda: L("ml_k2", "IMPL").kind)
    log.attempt("fragment", lambda: L("ml_k3", "FRAGMENT", "").dispatch_key)
    log.attempt("bad", lambda: L("ml_k4", "WHAT"))
    log.attempt("prim", lambda: L("prim", "DEF"))
    log.attempt("prim frag", lambda: L("prim", "FRAGMENT") and None)
    log.attempt("aten def", lambda: L("aten", "DEF"))
    log.attempt("aten impl", lambda: L("aten", "IMPL").ns)
    log.attempt("key", lambda: L("ml_k5", "IMPL", "CPU").dispatch_key)
    log.attempt("bad key", lambda: L("ml_k6", "IMPL", "Nope"))
    keep = L("ml_k7", "DEF")
    log.attempt("two defs", lambda: L("ml_k7", "DEF").ns)
    log(keep.ns, repr(keep))


def define_returns_name(s, log):
    lib = s.library.Library("ml_ret", "DEF")
    log(lib.define("a(Tensor x) -> Tensor"))
    log(lib.define("b.over(Tensor x) -> Tensor"))
    log.attempt("alias", lambda: lib.define("c(Tensor x) -> Tensor", "CONSERVATIVE"))
    log.attempt("pure", lambda: lib.define("d(Tensor x) -> Tensor", "PURE_FUNCTION"))
    log.attempt("junk alias", lambda: lib.define("e(Tensor x) -> Tensor", "WHAT"))
    log.attempt("tags", lambda: lib.define("f(Tensor x) -> Tensor", tags=s.T.Tag.core))
    log.attempt("tag list", lambda: lib.define("g(Tensor x) -> Tensor", tags=(s.T.Tag.core,)))
    log.attempt("ns", lambda: lib.define("ml_ret::h(Tensor x) -> Tensor"))
    log.attempt("again", lambda: lib.define("a(Tensor x) -> Tensor"))
    log.attempt("no name", lambda: lib.define("(Tensor x) -> Tensor"))
    log(sorted(s.ops.ml_ret.f.default.tags, key=str), s.ops.ml_ret.a.default.tags)
    log(s.ops.ml_ret.b.overloads(), s.ops.ml_ret.a.overloads())


def impl_overrides(s, log):
    lib = s.library.Library("ml_over", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    log(lib.impl("f", lambda x: x + 1, "CPU"))
    f = s.ops.ml_over.f
    x = s.T.zeros(1)
    log(f(x))
    log.attempt("same library", lambda: lib.impl("f", lambda x: x + 2, "CPU"))
    log(f(x))
    other = s.library.Library("ml_over", "IMPL", "CPU")
    log.attempt("another", lambda: other.impl("f", lambda x: x + 3))
    log(f(x))
    log.attempt("allow", lambda: other.impl("f", lambda x: x + 4, allow_override=True))
    log(f(x))
    log.attempt("not allowed", lambda: lib.impl("f", lambda x: x + 5, "CPU", allow_override=False))
    log(f(x))
    other._destroy()
    log(f(x))
    lib._destroy()
    log.attempt("gone", lambda: f(x))


def impl_arguments(s, log):
    lib = s.library.Library("ml_args", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.define("f.two(Tensor x, int y) -> Tensor")
    lib.impl(s.ops.ml_args.f.default, lambda x: x + 1, "CPU")
    lib.impl(s.ops.ml_args.f.two, lambda x, y: x + y, "CPU")
    lib.impl("f.two", lambda x, y: x * 0, "Meta")
    x = s.T.zeros(1)
    log(s.ops.ml_args.f(x), s.ops.ml_args.f(x, 5))
    log.attempt("packet", lambda: lib.impl(s.ops.ml_args.f, lambda x: x, "CPU"))
    log.attempt("no key", lambda: lib.impl("f", lambda x: x))
    log.attempt("not callable", lambda: lib.impl("f", 3, "CUDA"))
    log.attempt("bad key", lambda: lib.impl("f", lambda x: x, "Nope"))
    log.attempt("int name", lambda: lib.impl(3, lambda x: x, "CPU"))
    log.attempt("undefined op", lambda: lib.impl("nothere", lambda x: x, "CPU"))
    log.attempt("ns in name", lambda: lib.impl("ml_args::f", lambda x: x, "CUDA"))
    log.attempt("wrong ns", lambda: lib.impl("aten::add", lambda x: x, "CUDA"))
    log.attempt("again", lambda: lib.impl("f", s.ops.ml_args.f.default, "XLA"))


def fallthrough_kernel(s, log):
    C = s.C
    lib = s.library.Library("ml_ft", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x + 1, "CPU")
    lib.impl("f", s.library.fallthrough_kernel, "AutogradCPU")
    log(C._dispatch_kernel_for_dispatch_key_is_fallthrough("ml_ft::f", "AutogradCPU"))
    log(C._dispatch_kernel_for_dispatch_key_is_fallthrough("ml_ft::f", "CPU"))
    log(s.ops.ml_ft.f(s.T.zeros(1, requires_grad=True)))
    log.attempt("call", lambda: s.library.fallthrough_kernel())
    lib.impl("f", s.library.fallthrough_kernel, "CPU")
    log.attempt("no kernel", lambda: s.ops.ml_ft.f(s.T.zeros(1)))
    log.attempt(
        "none", lambda: C._dispatch_kernel_for_dispatch_key_is_fallthrough("ml_ft::f", "XLA")
    )


def impl_with_keyset(s, log):
    C, K = s.C, s.DispatchKey
    lib = s.library.Library("ml_ks", "DEF")
    lib.define("f(Tensor x, *, int a=1) -> Tensor")

    def neg(ks, x, **kw):
        log(type(ks).__name__, ks.has(K.AutogradCPU), ks.has(K.CPU), kw)
        return s.ops.ml_ks.f.default.redispatch(ks & C._after_autograd_keyset, x, a=5)

    def cpu(ks, x, *, a=1):
        log("cpu", ks.highestPriorityTypeId(), a)
        return x + a

    lib.impl("f", neg, "AutogradCPU", with_keyset=True)
    lib.impl("f", cpu, "CPU", with_keyset=True)
    log(s.ops.ml_ks.f(s.T.zeros(2)))
    log(s.ops.ml_ks.f(s.T.zeros(2), a=1))
    log(s.ops.ml_ks.f(s.T.zeros(2), a=3))


def python_fallback(s, log):
    lib = s.library.Library("_", "IMPL")
    seen = []

    def fb(op, *args, **kwargs):
        seen.append((str(op), len(args), sorted(kwargs)))
        return args[0]

    log.attempt("set", lambda: lib.fallback(fb, "PrivateUse3"))
    log(s.C._dispatch_has_backend_fallback(s.DispatchKey.PrivateUse3))
    log(s.C._dispatch_has_backend_fallback(s.DispatchKey.PrivateUse2))
    one = s.T.ones(1)
    with s.C._IncludeDispatchKeyGuard(s.DispatchKey.PrivateUse3):
        with s.C._ExcludeDispatchKeyGuard(s.DispatchKeySet(s.DispatchKey.AutogradPrivateUse3)):
            log(s.ops.aten.relu_.default(one) is one)
    log(seen)
    log.attempt("twice", lambda: lib.fallback(fb, "PrivateUse3"))
    named = s.library.Library("ml_fb", "IMPL")
    log.attempt("named ns", lambda: named.fallback(fb, "PrivateUse3"))
    log.attempt("no key", lambda: lib.fallback(fb))
    log.attempt("not callable", lambda: lib.fallback(3, "PrivateUse2"))
    lib._destroy()
    log(s.C._dispatch_has_backend_fallback(s.DispatchKey.PrivateUse3))


def destroyed_library_frees_its_names(s, log):
    lib = s.library.Library("ml_dest", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x, "CPU")
    log(hasattr(s.ops.ml_dest, "f"))
    lib._destroy()
    log(hasattr(s.ops.ml_dest, "f"), "ml_dest::f" in s.C._dispatch_get_all_op_names())
    log.attempt("define", lambda: lib.define("g(Tensor x) -> Tensor"))
    log.attempt("impl", lambda: lib.impl("g", lambda x: x, "CPU"))
    log.attempt("again", lib._destroy)
    new = s.library.Library("ml_dest", "DEF")
    new.define("f(Tensor x, int y=0) -> Tensor")
    log(s.ops.ml_dest.f.default._schema)


def scoped_library(s, log):
    with s.library._scoped_library("ml_scoped", "FRAGMENT") as lib:
        lib.define("f(Tensor x) -> Tensor")
        lib.impl("f", lambda x: x + 1, "CompositeImplicitAutograd")
        log(s.ops.ml_scoped.f(s.T.zeros(1)), type(lib).__name__)
    log(hasattr(s.ops.ml_scoped, "f"))
    try:
        with s.library._scoped_library("ml_scoped", "FRAGMENT") as lib:
            lib.define("g(Tensor x) -> Tensor")
            raise ValueError
    except ValueError:
        log("out", hasattr(s.ops.ml_scoped, "g"))


def collected(s, log):
    lib = s.library.Library("ml_gc", "FRAGMENT")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x * 3, "CPU")
    log(s.ops.ml_gc.f(s.T.ones(1)))
    del lib
    gc.collect()
    log("ml_gc::f" in s.C._dispatch_get_all_op_names())


def module_functions(s, log):
    L = s.library
    keep = []
    lib = L.Library("ml_fn", "FRAGMENT")
    L.define("ml_fn::a", "(Tensor x) -> Tensor", lib=lib)
    L.impl("ml_fn::a", "cpu", lambda x: x + 1, lib=lib)

    @L.impl("ml_fn::a", "cuda", lib=lib)
    def cu(x):
        return x

    log(s.ops.ml_fn.a(s.T.zeros(1)), cu)

    @L.impl(lib, "a", "Meta")
    def meta(x):
        return x

    keep.append(meta)
    log(s.ops.ml_fn.a(s.T.zeros(1, device="meta")), meta)
    log.attempt("no ns", lambda: L.define("a", "(Tensor x) -> Tensor"))
    log.attempt("bad schema", lambda: L.define("ml_fn::b", "Tensor x -> Tensor", lib=lib))
    log.attempt("device", lambda: L.impl("ml_fn::a", "gpu", lambda x: x, lib=lib))
    log.attempt("types int", lambda: L.impl("ml_fn::a", 3, lambda x: x, lib=lib))
    log.attempt("seq", lambda: L.impl("ml_fn::a", ("xpu", "mps"), lambda x: x, lib=lib))
    log(
        [
            k
            for k in ("CPU", "CUDA", "XPU", "MPS", "HPU")
            if s.C._dispatch_has_kernel_for_dispatch_key("ml_fn::a", k)
        ]
    )
    log.attempt("default", lambda: L.impl("ml_fn::a", "default", lambda x: x, lib=lib))
    log(s.C._dispatch_has_kernel_for_dispatch_key("ml_fn::a", "CompositeExplicitAutograd"))


def override_aten(s, log):
    lib = s.library.Library("aten", "IMPL")
    calls = []

    def neg(x):
        calls.append("neg")
        return x.clone()

    lib.impl("neg", neg, "AutogradCPU")
    log(s.T.neg(s.T.ones(1)), calls)
    log(s.ops.aten.neg(s.T.ones(1)), s.T.ones(1).neg(), -s.T.ones(1))
    log(len(calls))
    lib._destroy()
    log(s.T.neg(s.T.ones(1)), len(calls))


def library_state(s, log):
    lib = s.library.Library("ml_st", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x, "CPU")
    log(sorted(lib._op_defs), sorted(lib._op_impls))
    log(lib.ns, lib.kind, repr(lib.dispatch_key))
    log(sorted(s.C._dispatch_get_registrations_for_dispatch_key("CPU")).count("ml_st::f"))
    log([n for n in s.C._dispatch_get_all_op_names() if n.startswith("ml_st")])
    log(s.C._dispatch_has_kernel("ml_st::f"), s.C._dispatch_has_kernel("ml_st::nope"))
    log(
        s.C._dispatch_has_kernel_for_any_dispatch_key(
            "ml_st::f", s.DispatchKeySet(s.DispatchKey.CPU) | s.DispatchKeySet(s.DispatchKey.Meta)
        )
    )
    log(
        s.C._dispatch_has_kernel_for_any_dispatch_key(
            "ml_st::f", s.DispatchKeySet(s.DispatchKey.CUDA)
        )
    )
    log.attempt("unknown", lambda: s.C._dispatch_has_kernel_for_dispatch_key("ml_st::zz", "CPU"))
    log.attempt("bad key", lambda: s.C._dispatch_has_kernel_for_dispatch_key("ml_st::f", "Zz"))
    log.attempt("dump none", lambda: s.C._dispatch_dump("ml_st::zz"))
    log.attempt("table none", lambda: s.C._dispatch_dump_table("ml_st::zz"))


def handles(s, log):
    C = s.C
    lib = s.library.Library("ml_h", "DEF")
    lib.define("f(Tensor x, int y=2) -> Tensor")
    lib.impl("f", lambda x, y=2: x + y, "CPU")
    h = C._dispatch_find_schema_or_throw("ml_h::f", "")
    log(type(h).__name__, h.schema())
    log(len(h.debug()) > 0 if callable(h.debug) else h.debug)
    log.attempt("boxed", lambda: C._dispatch_call_boxed(h, s.T.zeros(1), 3))
    log.attempt("boxed few", lambda: C._dispatch_call_boxed(h, s.T.zeros(1)))
    log.attempt(
        "redispatch",
        lambda: h.redispatch_boxed(s.DispatchKeySet(s.DispatchKey.CPU), s.T.zeros(1), 4),
    )
    log.attempt("missing", lambda: C._dispatch_find_schema_or_throw("ml_h::g", ""))
    log.attempt("overload", lambda: C._dispatch_find_schema_or_throw("ml_h::f", "x"))
    log.attempt("aten", lambda: C._dispatch_find_schema_or_throw("aten::add", "Tensor").schema())
