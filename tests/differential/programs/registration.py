"""`_dispatch_library` and what it registers: order, errors, taking back, inspection."""


def module_object(s, log):
    m = s.C._dispatch_library("FRAGMENT", "rga", "")
    names = (
        "def_",
        "def_legacy",
        "def_name_t_t",
        "def_schema_t_t",
        "define",
        "fallback",
        "fallback_fallthrough",
        "impl",
        "impl_t_t",
        "impl_with_aoti_compile",
        "register_ad_inplace_or_view_fallback",
        "reset",
    )
    log(type(m).__name__, [n for n in names if not callable(getattr(m, n, None))])
    log(m.def_("a(Tensor x) -> Tensor") is m, m.def_legacy("b(Tensor x) -> Tensor") is m)
    log(m.def_name_t_t("c") is m, m.def_schema_t_t("d(Tensor x) -> Tensor") is m)
    log(m.impl_t_t("a", "CPU") is m, m.impl("a", "CUDA", lambda x: x))
    log(m.define("e(Tensor x) -> Tensor"), m.define("e.ov(Tensor x) -> Tensor"))
    log(m.define("rga::g.ov(Tensor x) -> Tensor"), m.define("  h (Tensor x) -> Tensor"))
    log(m.reset(), m.reset())
    log(m.def_("a(Tensor x) -> Tensor") is m)


def arguments(s, log):
    lib = s.C._dispatch_library
    log.attempt("two", lib, "DEF", "rgb")
    log.attempt("kind", lib, "XX", "rgb", "")
    log.attempt("key", lib, "IMPL", "rgb", "Nope")
    log.attempt("key object", lib, "IMPL", "rgb", s.DispatchKey.CPU)
    log.attempt("None", lib, "IMPL", None, "")
    log.attempt("DEF with key", lib, "DEF", "rgb", "CPU")
    log.attempt("FRAGMENT with key", lib, "FRAGMENT", "rgb", "CPU")
    log.attempt("wild FRAGMENT", lib, "FRAGMENT", "_", "")
    log.attempt(
        "by name",
        lambda: type(lib(kind="IMPL", name="rgb", dispatch="CPU", file="f", linenum=3)).__name__,
    )
    log.attempt("line a str", lib, "IMPL", "rgb", "", "f", "3")
    m = lib("DEF", "rgb", "", "one", 1)
    log.attempt("second DEF", lib, "DEF", "rgb", "", "two", 2)
    m.reset()
    log.attempt("DEF again", lambda: type(lib("DEF", "rgb", "")).__name__)
    log.attempt("DEF aten", lib, "DEF", "aten", "")


def wrong_definitions(s, log):
    m = s.C._dispatch_library("DEF", "rgc", "")
    for text in (
        "f",
        "f(",
        "f(Tensor x)",
        "f(Tensor x) -> Tensr",
        "f(Tensor) -> Tensor",
        "",
        "other::f(Tensor x) -> Tensor",
        "f(Tensor x) -> Tensor y z",
        "f.default(Tensor x) -> Tensor",
        "f(Tensor x, Tensor x) -> Tensor",
        "f(int x=1, Tensor y) -> Tensor",
        "f.__x(Tensor x) -> Tensor",
    ):
        log.attempt(text, lambda text=text: m.def_(text) is m)
        log.attempt("define " + text, m.define, text)
    log.attempt("alias", m.def_, "g(Tensor x) -> Tensor", "NOPE")
    log.attempt("alias define", m.define, "g(Tensor x) -> Tensor", "NOPE")
    log.attempt("pure", m.define, "g(Tensor x) -> Tensor", "PURE_FUNCTION")
    log.attempt("twice", m.define, "g(Tensor x) -> Tensor")
    log.attempt("twice otherwise", m.def_, "g(Tensor x, int y) -> Tensor")
    log.attempt("None", m.define, None)
    log.attempt("tags", m.define, "t(Tensor x) -> Tensor", "", ["no"])
    log([n for n in s.C._dispatch_get_all_op_names() if n.startswith("rgc::")])
    i = s.C._dispatch_library("IMPL", "rgc", "")
    log.attempt("in IMPL", i.def_, "h(Tensor x) -> Tensor")
    log.attempt("in IMPL define", i.define, "h(Tensor x) -> Tensor")
    log.attempt("in IMPL name", i.def_name_t_t, "h")
    log.attempt("in IMPL schema", i.def_schema_t_t, "h(Tensor x) -> Tensor")


def wrong_kernels(s, log):
    m = s.C._dispatch_library("FRAGMENT", "rgd", "")
    m.def_("f(Tensor x) -> Tensor")
    fn = lambda x: x
    for key in (
        "",
        "Nope",
        None,
        3,
        s.DispatchKey.CPU,
        "Dense",
        "StartOfDenseBackends",
        "EndOfDenseBackends",
        "Undefined",
        "Autograd",
        "AutogradFunctionality",
        "Sparse",
        "cpu",
        "CUDA",
    ):
        log.attempt(f"impl at {key}", m.impl, "f", key, fn)
    for key in ("Nope", 3, s.DispatchKey.CPU, "Autograd", "CUDA"):
        log.attempt(f"impl_t_t at {key}", lambda key=key: m.impl_t_t("f", key) is m)
    log.attempt("not callable", m.impl, "f", "Meta", 3)
    log.attempt("other namespace", m.impl, "aten::f", "CPU", fn)
    log.attempt("own namespace", m.impl, "rgd::f", "CPU", fn)
    log.attempt("odd name", m.impl, "f.a.b", "CPU", fn)
    log.attempt("empty name", m.impl, "", "CPU", fn)
    log.attempt("no fn", m.impl, "f", "CPU")


def key_of_the_block(s, log):
    m = s.C._dispatch_library("IMPL", "rge", "CPU")
    log.attempt("same", lambda: m.impl_t_t("f", "CPU") is m)
    log.attempt("other", m.impl_t_t, "f", "CUDA")
    log.attempt("other impl", m.impl, "f", "CUDA", lambda x: x)
    log.attempt("none", lambda: m.impl_t_t("f") is m)
    for key in ("CPU", "CUDA", "CompositeImplicitAutograd"):
        log(key, s.C._dispatch_has_kernel_for_dispatch_key("rge::f", key))


def fallbacks(s, log):
    lib = s.C._dispatch_library("IMPL", "_", "")
    has = s.C._dispatch_has_backend_fallback
    log(has(s.DispatchKey.PrivateUse3), has(s.DispatchKey.Meta), has(s.DispatchKey.CPU))
    log.attempt("one", lib.fallback, "PrivateUse3", lambda *a: 1)
    log(has(s.DispatchKey.PrivateUse3))
    log.attempt("second", lib.fallback, "PrivateUse3", lambda *a: 1)
    log.attempt("taken", lib.fallback, "Meta", lambda *a: 1)
    log.attempt("taken", lib.fallback, "AutogradCPU", lambda *a: 1)
    log.attempt("taken through", lib.fallback_fallthrough, "Conjugate")
    log.attempt("alias", lib.fallback, "Autograd", lambda *a: 1)
    log.attempt("none", lib.fallback_fallthrough)
    log.attempt("Undefined", lib.fallback, "Undefined", lambda *a: 1)
    log.attempt("bad key", lib.fallback, "Nope", lambda *a: 1)
    log.attempt("through", lambda: lib.fallback_fallthrough("XLA") is lib)
    log.attempt("PrivateUse1 autograd", lib.fallback, "AutogradPrivateUse1", lambda *a: 1)
    log.attempt("PrivateUse1 autograd", lib.fallback, "AutogradPrivateUse1", lambda *a: 1)
    lib.reset()
    log(has(s.DispatchKey.PrivateUse3), has(s.DispatchKey.XLA))
    own = s.C._dispatch_library("DEF", "rgf", "")
    log.attempt("not wild", own.fallback, "PrivateUse3", lambda *a: 1)
    log.attempt("not wild", own.fallback_fallthrough, "PrivateUse3")
    named = s.C._dispatch_library("IMPL", "rgf", "PrivateUse3")
    log.attempt("named IMPL", named.fallback, "PrivateUse3", lambda *a: 1)
    keyed = s.C._dispatch_library("IMPL", "_", "PrivateUse3")
    log.attempt("key of the block", lambda: keyed.fallback_fallthrough() is keyed)
    log(has(s.DispatchKey.PrivateUse3))
    keyed.reset()
    log(has(s.DispatchKey.PrivateUse3))


def fallback_keys_everywhere(s, log):
    for name, key in sorted(s.DispatchKey.__members__.items()):
        log.attempt(name, s.C._dispatch_has_backend_fallback, key)


def commuting(s, log):
    """Registrations in any order end in the same state."""
    import itertools

    steps = {
        "def": lambda m: m.def_("f(Tensor x) -> Tensor"),
        "cpu": lambda m: m.impl_t_t("f", "CPU", "fn_cpu"),
        "math": lambda m: m.impl_t_t("f", "CompositeImplicitAutograd", "fn_math"),
        "ag": lambda m: m.impl_t_t("f", "Autograd", "fn_ag"),
    }
    seen = set()
    for order in itertools.permutations(steps):
        mods = []
        for step in order:
            m = s.C._dispatch_library("FRAGMENT", "rgg", "", "p", 0)
            steps[step](m)
            mods.append(m)
            s.C._dispatch_check_invariants("rgg::f")
        seen.add(s.C._dispatch_dump("rgg::f").replace("p:0", ""))
        for m in mods:
            m.reset()
            s.C._dispatch_check_invariants("rgg::f")
        assert s.C._dispatch_dump("rgg::f") == ""
    log(len(seen))
    for text in seen:
        log(text.splitlines())


def inspection(s, log):
    m = s.C._dispatch_library("FRAGMENT", "rgh", "")
    m.def_("f(Tensor x) -> Tensor")
    m.impl_t_t("f", "CPU")
    m.impl_t_t("f", "CompositeExplicitAutograd")
    m.impl("f", "AutogradCPU", s.library.fallthrough_kernel)
    C, K = s.C, s.DispatchKey
    for key in (
        "CPU",
        "CUDA",
        "AutogradCPU",
        "AutogradCUDA",
        "CompositeExplicitAutograd",
        "Autograd",
        "Meta",
    ):
        log(
            key,
            C._dispatch_has_kernel_for_dispatch_key("rgh::f", key),
            C._dispatch_has_kernel_for_dispatch_key("rgh::f", getattr(K, key)),
        )
        log.attempt("computed", C._dispatch_has_computed_kernel_for_dispatch_key, "rgh::f", key)
        log.attempt("fall", C._dispatch_kernel_for_dispatch_key_is_fallthrough, "rgh::f", key)
    log.attempt(
        "computed by key", C._dispatch_has_computed_kernel_for_dispatch_key, "rgh::f", K.CPU
    )
    for names in (("CPU",), ("CUDA",), ("AutogradCPU",), ("CPU", "CUDA"), ("Meta", "AutogradCPU")):
        ks = s.DispatchKeySet(getattr(K, names[0]))
        for n in names[1:]:
            ks = ks | s.DispatchKeySet(getattr(K, n))
        log(*names, C._dispatch_has_kernel_for_any_dispatch_key("rgh::f", ks))
    log(C._dispatch_has_kernel("rgh::f"), "rgh::f" in C._dispatch_get_all_op_names())
    log([n for n in C._dispatch_get_registrations_for_dispatch_key("CPU") if n.startswith("rgh")])
    log(
        [
            n
            for n in C._dispatch_get_registrations_for_dispatch_key("Autograd")
            if n.startswith("rgh")
        ]
    )
    log([n for n in C._dispatch_get_registrations_for_dispatch_key() if n.startswith("rgh")])
    log.attempt("bad", C._dispatch_get_registrations_for_dispatch_key, "Nope")
    log(C._dispatch_has_kernel("aten::add.Tensor"), type(C._dispatch_get_all_op_names()).__name__)
    log.attempt("any of a key", C._dispatch_has_kernel_for_any_dispatch_key, "rgh::f", K.CPU)
    log.attempt("number", C._dispatch_has_kernel_for_dispatch_key, "rgh::f", 3)
    log.attempt("unknown", C._dispatch_has_kernel_for_dispatch_key, "rgh::f", "Nope")
    log(C._dispatch_check_invariants("rgh::f"), C._dispatch_check_all_invariants())


def has_kernel_of_a_bare_definition(s, log):
    m = s.C._dispatch_library("FRAGMENT", "rgi", "")
    m.def_("f(Tensor x) -> Tensor")
    log(s.C._dispatch_has_kernel("rgi::f"))
    m.impl_t_t("f", "CPU")
    log(s.C._dispatch_has_kernel("rgi::f"))
    log.attempt("unparsable", s.C._dispatch_has_kernel, "rgi::f.a.b")
    log.attempt("empty", s.C._dispatch_has_kernel, "")
    log.attempt("None", s.C._dispatch_has_kernel, None)
    log.attempt("bare", s.C._dispatch_has_kernel, "f")


def handles(s, log):
    m = s.C._dispatch_library("FRAGMENT", "rgj", "", "file", 12)
    m.def_("f(Tensor x, int k=2) -> Tensor")
    m.impl("f", "CPU", lambda x, k=2: x * k)
    h = s.C._dispatch_find_schema_or_throw("rgj::f", "")
    log(type(h).__name__, h.schema(), type(h.schema()).__name__, h.debug())
    x = s.T.ones(2)
    log(
        s.C._dispatch_call_boxed(h, x),
        s.C._dispatch_call_boxed(h, x, 3),
        s.C._dispatch_call_boxed(h, x=x, k=4),
    )
    log.attempt("wrong", s.C._dispatch_call_boxed, h, 3, 4)
    log.attempt("few", s.C._dispatch_call_boxed, h)
    log.attempt("no handle", s.C._dispatch_call_boxed, None, x)
    ks = s.DispatchKeySet(s.DispatchKey.CPU)
    log(h.redispatch_boxed(ks, x), h.redispatch_boxed(ks, x, k=5))
    log.attempt("to no kernel", h.redispatch_boxed, s.DispatchKeySet(s.DispatchKey.CUDA), x)
    log.attempt("key as a set", h.redispatch_boxed, s.DispatchKey.CPU, x)
    log.attempt("missing", s.C._dispatch_find_schema_or_throw, "rgj::nothing", "")
    log.attempt("missing overload", s.C._dispatch_find_schema_or_throw, "rgj::f", "no")
    log.attempt("None", s.C._dispatch_find_schema_or_throw, "rgj::f", None)
    log.attempt("default", s.C._dispatch_find_schema_or_throw, "rgj::f", "default")
    a = s.C._dispatch_find_schema_or_throw("aten::add", "Tensor")
    log(a.schema(), s.C._dispatch_call_boxed(a, x, x, alpha=3))
    log(h == s.C._dispatch_find_schema_or_throw("rgj::f", ""))


def computed_kernels(s, log):
    m = s.C._dispatch_library("FRAGMENT", "rgk", "")
    m.def_("f(Tensor x, int k=2) -> Tensor")
    seen = []
    m.impl("f", "CPU", lambda x, k=2: (seen.append(("cpu", k)), x * k)[1])
    m.impl("f", "CompositeExplicitAutograd", lambda x, k=2: (seen.append(("any", k)), x)[1])
    x = s.T.ones(2)
    get = s.C._dispatch_get_computed_kernel_for_dispatch_key
    ks = s.C._dispatch_keys(x)
    for key in ("CPU", "CUDA", s.DispatchKey.Meta):
        k = get("rgk::f", key)
        log(type(k).__name__, k.call_boxed(ks, x, 3), seen)
    k = get("rgk::f", "CPU")
    log(
        k.call_boxed(ks, x),
        k.call_boxed(ks, x, k=5),
        type(k.op_handle).__name__,
        k.op_handle.schema(),
    )
    log.attempt("wrong argument", k.call_boxed, ks, "x")
    log.attempt("no key set", k.call_boxed, x)
    log.attempt("alias key", get, "rgk::f", "CompositeExplicitAutograd")
    log.attempt("unknown key", get, "rgk::f", "Nope")
    log.attempt("unknown op", get, "rgk::g", "CPU")
    m.def_("g(Tensor x) -> Tensor")
    log.attempt("no kernel", get, "rgk::g", "CPU")
    c = s.library.get_kernel("aten::add.Tensor", "CPU")
    log(c.call_boxed(ks, x, x, alpha=2), type(c).__name__)
    m.reset()
    log.attempt("after reset", k.call_boxed, ks, x)


def called_after_reset(s, log):
    m = s.C._dispatch_library("FRAGMENT", "rgl", "")
    m.def_("f(Tensor x) -> Tensor")
    m.impl_t_t("f", "CPU")
    op = s.ops.rgl.f.default
    x = s.T.ones(2)
    log(op(x) is x)
    m.reset()
    log("rgl::f" in s.C._dispatch_get_all_op_names(), repr(s.C._dispatch_dump("rgl::f")))


def override_order(s, log):
    x = s.T.ones(2)
    m = s.C._dispatch_library("FRAGMENT", "rgm", "")
    m.def_("f(Tensor x) -> int")
    mods = []
    for i in range(4):
        one = s.C._dispatch_library("IMPL", "rgm", "CPU")
        one.impl("f", "CPU", lambda x, i=i: i)
        mods.append(one)
        log(s.ops.rgm.f(x))
    for i in (1, 3, 0, 2):
        mods[i].reset()
        log.attempt(f"without {i}", s.ops.rgm.f, x)
        s.C._dispatch_check_invariants("rgm::f")


def reset_does_not_touch_others(s, log):
    a = s.C._dispatch_library("FRAGMENT", "rgn", "")
    b = s.C._dispatch_library("FRAGMENT", "rgn", "")
    a.def_("f(Tensor x) -> Tensor")
    b.def_("g(Tensor x) -> Tensor")
    b.impl_t_t("f", "CPU", "of b")
    a.reset()
    log([n for n in s.C._dispatch_get_all_op_names() if n.startswith("rgn")])
    log(s.C._dispatch_dump("rgn::f").splitlines())
    log(len(s.C._dispatch_find_dangling_impls()))
    b.reset()
    log([n for n in s.C._dispatch_get_all_op_names() if n.startswith("rgn")])


def ad_inplace_or_view(s, log):
    m = s.C._dispatch_library("FRAGMENT", "rgo", "")
    m.def_("f(Tensor(a!) x) -> Tensor(a!)")
    m.impl("f", "CPU", lambda x: x.add_(1))
    log.attempt("fallback", m.register_ad_inplace_or_view_fallback, "f")
    log(s.C._dispatch_has_kernel_for_dispatch_key("rgo::f", "ADInplaceOrView"))
    x = s.T.ones(2)
    v = x._version
    s.ops.rgo.f(x)
    log(x, x._version - v)
    m.def_("g(Tensor(a) x) -> Tensor(a)")
    m.impl("g", "CPU", lambda x: x.view(-1))
    m.register_ad_inplace_or_view_fallback("g")
    y = s.ops.rgo.g(x)
    log(y._is_view(), y._base is x)


def report_error_callback(s, log):
    m = s.C._dispatch_library("FRAGMENT", "rgp", "")
    m.def_("f(Tensor x) -> Tensor")
    h = s.C._dispatch_find_schema_or_throw("rgp::f", "")
    said = []
    log.attempt("set", s.C._dispatch_set_report_error_callback, h, said.append)
    log.attempt("call", s.ops.rgp.f, s.T.ones(2))
    log(said)
    log.attempt("again", s.C._dispatch_set_report_error_callback, h, said.append)
    log.attempt("no handle", s.C._dispatch_set_report_error_callback, "f", said.append)


def pystubs(s, log):
    log.attempt("of nothing", s.C._dispatch_pystub, "rgq::nothing", "")
    m = s.C._dispatch_library("FRAGMENT", "rgq", "")
    m.def_("f(Tensor x) -> Tensor")
    log.attempt("of a plain one", s.C._dispatch_pystub, "rgq::f", "")
    log.attempt("arguments", s.C._dispatch_pystub, "rgq::f")
    log.attempt("None", s.C._dispatch_pystub, "rgq::f", None)


def subclass_like(s, log):
    class Sub(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    x = s.T.ones(2)
    log(s.C._dispatch_isTensorSubclassLike(x))
    y = s.Tensor._make_subclass(Sub, x)
    log(s.C._dispatch_isTensorSubclassLike(y))
    log.attempt("a number", s.C._dispatch_isTensorSubclassLike, 3)

    class Plain(s.Tensor):
        pass

    log(s.C._dispatch_isTensorSubclassLike(x.as_subclass(Plain)))
    log(s.C._dispatch_isTensorSubclassLike(s.T.empty(2, device="meta")))
    log(s.C._dispatch_key_set(x), s.C._dispatch_key_set(y))
    log(s.C._dispatch_keys(x), s.C._dispatch_keys(y))
    log.attempt("of a number", s.C._dispatch_keys, 3)
    log.attempt("of a number", s.C._dispatch_key_set, 3)


def with_keyset(s, log):
    m = s.C._dispatch_library("FRAGMENT", "rgr", "")
    m.def_("f(Tensor x, *, int k=1) -> Tensor")
    got = []
    m.impl("f", "CPU", lambda ks, x, k=1: (got.append((ks, k)), x)[1], True)
    m.impl(
        "f",
        "AutogradCPU",
        lambda ks, x, k=1: (
            got.append(ks),
            s.ops.rgr.f.default.redispatch(ks & s.C._after_autograd_keyset, x, k=k),
        )[1],
        with_keyset=True,
    )
    log(s.ops.rgr.f(s.T.ones(2), k=3), got)


def many_operators(s, log):
    m = s.C._dispatch_library("FRAGMENT", "rgs", "")
    x = s.T.ones(1)
    total = 0
    for i in range(300):
        m.def_(f"f{i}(Tensor x, int a={i}) -> int")
        m.impl(f"f{i}", "CPU", lambda x, a=0, i=i: i)
        total += getattr(s.ops.rgs, f"f{i}")(x)
    log(total, len([n for n in s.C._dispatch_get_all_op_names() if n.startswith("rgs::")]))
    m.reset()
    log(len([n for n in s.C._dispatch_get_all_op_names() if n.startswith("rgs::")]))


def duplicates_across_libraries(s, log):
    a = s.library.Library("rgt", "DEF")
    b = s.library.Library("rgt", "FRAGMENT")
    log(a.define("f(Tensor x) -> Tensor"), b.define("f.two(Tensor x, int y) -> Tensor"))
    log.attempt("same", b.define, "f(Tensor x) -> Tensor")
    log.attempt("DEF", s.library.Library, "rgt", "DEF")
    log(s.ops.rgt.f.overloads())
    b._destroy()
    log.attempt("gone", s.ops.rgt.f, s.T.ones(2), 1)
    log.attempt("DEF after", s.library.Library, "aten", "DEF")


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
