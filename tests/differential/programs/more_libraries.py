"""Registration through libraries, by a second author (after test_dispatch and test_python_dispatch)."""

import gc


def _commutes(s, name, steps):
    """Apply registrations in order to `name`; yields the state after each."""
    libs = []
    for f in steps:
        m = s.C._dispatch_library("FRAGMENT", name.partition("::")[0], "")
        libs.append(m)
        f(m)
        yield libs


def def_then_impl_states(s, log):
    C = s.C
    n = "ml_a::foo"
    steps = [
        lambda m: m.def_("foo(Tensor x) -> Tensor"),
        lambda m: m.impl_t_t("foo"),
        lambda m: m.impl_t_t("foo", dispatch="CPU"),
        lambda m: m.impl_t_t("foo", dispatch="Autograd"),
        lambda m: m.impl_t_t("foo", dispatch="AutogradCPU"),
    ]
    for libs in _commutes(s, n, steps):
        C._dispatch_check_invariants(n)
        log(len(C._dispatch_dump(n).splitlines()), C._dispatch_has_kernel(n))
    for k in ("CPU", "CUDA", "AutogradCPU", "AutogradCUDA", "AutogradOther", "Meta"):
        log(
            k,
            C._dispatch_has_kernel_for_dispatch_key(n, k),
            C._dispatch_has_computed_kernel_for_dispatch_key(n, k),
        )
    for m in reversed(libs):
        m.reset()
        C._dispatch_check_invariants(n)
        log(len(C._dispatch_dump(n).splitlines()))


def impl_before_def(s, log):
    C = s.C
    m = C._dispatch_library("IMPL", "ml_dang", "CPU")
    m.impl_t_t("foo")
    log([x for x in C._dispatch_find_dangling_impls() if "ml_dang" in x] != [])
    log.attempt("ops", lambda: s.ops.ml_dang.foo)
    log.attempt("schema", lambda: C._dispatch_find_schema_or_throw("ml_dang::foo", ""))
    log("ml_dang::foo" in C._dispatch_get_all_op_names())
    d = C._dispatch_library("DEF", "ml_dang", "")
    d.def_("foo(Tensor x) -> Tensor")
    log([x for x in C._dispatch_find_dangling_impls() if "ml_dang" in x])
    log.attempt("ops", lambda: s.ops.ml_dang.foo)
    log(s.ops.ml_dang.foo.overloads())
    d.reset()
    log(len([x for x in C._dispatch_find_dangling_impls() if "ml_dang" in x]))
    m.reset()
    log(len([x for x in C._dispatch_find_dangling_impls() if "ml_dang" in x]))


def dump_after_def(s, log):
    C = s.C
    m = C._dispatch_library("DEF", "ml_dump", "", "/here/a.py", 7)
    m.def_("foo(Tensor x) -> Tensor")
    m.impl_t_t("foo", "CPU", "first")
    m.impl_t_t("foo", "CPU", "second")
    m.impl_t_t("foo", "CompositeImplicitAutograd", "math")
    for line in C._dispatch_dump("ml_dump::foo").splitlines():
        log(line)
    m.reset()
    log(C._dispatch_dump("ml_dump::foo"))


def def_legacy_and_names(s, log):
    C = s.C
    m = C._dispatch_library("DEF", "ml_leg", "")
    m.def_legacy("a(Tensor x) -> Tensor")
    m.def_name_t_t("b")
    log.attempt("mismatch", m.def_schema_t_t, "e(Tensor x, Tensor y) -> Tensor", "CPU")
    m.def_schema_t_t("c(Tensor x) -> Tensor", "CPU")
    m.def_name_t_t("ml_leg::d", "CUDA", "dbg")
    for n in "abcd":
        log(n, C._dispatch_find_schema_or_throw("ml_leg::" + n, "").schema())
        log(
            [
                k
                for k in ("CPU", "CUDA", "CompositeImplicitAutograd")
                if C._dispatch_has_kernel_for_dispatch_key("ml_leg::" + n, k)
            ]
        )
    m.reset()
    log(C._dispatch_dump("ml_leg::b"))


def define_errors(s, log):
    C = s.C
    m = C._dispatch_library("DEF", "ml_err", "")
    log(m.def_("foo(Tensor x) -> Tensor") is not None)
    log.attempt("again", lambda: m.def_("foo(Tensor x) -> Tensor"))
    log.attempt("other ns", lambda: m.def_("other::foo(Tensor x) -> Tensor"))
    log.attempt("junk", lambda: m.def_("foo(Tensor x"))
    log.attempt("second DEF", lambda: C._dispatch_library("DEF", "ml_err", "") and None)
    log.attempt("def in impl", lambda: C._dispatch_library("IMPL", "ml_err", "").def_("z() -> ()"))
    log.attempt("kind", lambda: C._dispatch_library("WHAT", "ml_err", ""))
    log.attempt("key", lambda: C._dispatch_library("IMPL", "ml_err", "NoKey"))
    log.attempt("frag", lambda: C._dispatch_library("FRAGMENT", "ml_err", "").define("q() -> int"))
    log.attempt("frag key", lambda: C._dispatch_library("FRAGMENT", "ml_err", "CPU") and None)
    log.attempt("wildcard def", lambda: C._dispatch_library("DEF", "_", "") and None)
    log.attempt("impl ns", lambda: C._dispatch_library("IMPL", "ml_err", "CPU").impl_t_t("o::foo"))
    log.attempt(
        "impl key", lambda: C._dispatch_library("IMPL", "ml_err", "CPU").impl_t_t("foo", "CUDA")
    )
    log.attempt(
        "impl same",
        lambda: C._dispatch_library("IMPL", "ml_err", "CPU").impl_t_t("foo", "CPU") and None,
    )


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


def destroyed_library(s, log):
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


def scoped(s, log):
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


def removal_reveals_older(s, log):
    C = s.C
    x = s.T.zeros(1)
    base = s.library.Library("ml_rev", "DEF")
    base.define("f(Tensor x) -> Tensor")
    libs = []
    for i in (1, 2, 3):
        lib = s.library.Library("ml_rev", "IMPL")
        lib.impl("f", lambda x, i=i: x + i, "CPU")
        libs.append(lib)
        log(s.ops.ml_rev.f(x))
    libs[1]._destroy()
    log(s.ops.ml_rev.f(x))
    libs[2]._destroy()
    log(s.ops.ml_rev.f(x))
    libs[0]._destroy()
    log.attempt("none", s.ops.ml_rev.f, x)
    C._dispatch_check_invariants("ml_rev::f")
    log(len(C._dispatch_check_all_invariants() or []))


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


def kernels_hold_and_order(s, log):
    lib = s.library.Library("ml_ord", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    K, C, S = s.DispatchKey, s.C, s.DispatchKeySet

    def at(name, key):
        def kernel(ks, x):
            log(name, ks.highestPriorityTypeId())
            return s.ops.ml_ord.f.default.redispatch(
                ks & C._dispatch_keyset_full_after(getattr(K, key)), x
            )

        lib.impl("f", kernel, name, with_keyset=True)

    at("AutogradCPU", "AutogradFunctionality")
    at("ADInplaceOrView", "ADInplaceOrView")
    at("BackendSelect", "BackendSelect")
    at("Conjugate", "Conjugate")
    lib.impl("f", lambda x: x + 1, "CPU")
    log(s.ops.ml_ord.f(s.T.zeros(1)))
    with C._IncludeDispatchKeyGuard(K.Conjugate):
        log(s.ops.ml_ord.f(s.T.zeros(1, requires_grad=True)))


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
