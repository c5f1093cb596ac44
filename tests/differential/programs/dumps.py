"""The dispatcher's own texts: `_dispatch_dump` and `_dispatch_dump_table`."""

import re


def _place(text):
    """A dump without the places that belong to one build."""
    text = re.sub(r"registered at [^\n]*?(?= ::| \[|$)", "registered at P", text, flags=re.M)
    return re.sub(r"0x[0-9a-f]+", "0x", text)


def _dump(s, log, name):
    text = _place(s.C._dispatch_dump(name))
    log(f"dump {name} ends with newline", text.endswith("\n"))
    for line in text.splitlines():
        log("|", line)


def _table(s, log, name, keys=()):
    """The table: which registration serves each key; fallbacks are each side's own business."""
    for line in _place(s.C._dispatch_dump_table(name)).splitlines():
        key, _, rest = line.partition(": ")
        if rest.endswith("[backend fallback]"):
            continue
        if not keys or key in keys:
            log("|", line)


_SOME = (
    "Undefined",
    "CPU",
    "CUDA",
    "Meta",
    "SparseCPU",
    "QuantizedCPU",
    "NestedTensorCPU",
    "AutogradOther",
    "AutogradCPU",
    "AutogradCUDA",
    "AutogradMeta",
    "AutogradNestedTensor",
    "FuncTorchBatchedDecomposition",
    "ADInplaceOrView",
    "Functionalize",
    "MkldnnCPU",
    "FPGA",
)


def defined_only(s, log):
    m = s.C._dispatch_library("FRAGMENT", "dmp", "")
    m.def_("a(Tensor x) -> Tensor")
    _dump(s, log, "dmp::a")
    _table(s, log, "dmp::a")
    m.def_("b.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", alias="CONSERVATIVE")
    _dump(s, log, "dmp::b.out")
    m.def_("c(Tensor(a) x, int[2] k=1, float? f=None) -> (Tensor(a), int)", "PURE_FUNCTION")
    _dump(s, log, "dmp::c")
    m.def_legacy("d(Tensor x) -> ()")
    _dump(s, log, "dmp::d")


def of_nothing(s, log):
    log(repr(s.C._dispatch_dump("dmp::nothing")), repr(s.C._dispatch_dump_table("dmp::nothing")))
    log.attempt("invariants of nothing", s.C._dispatch_check_invariants, "dmp::nothing")
    log.attempt("has kernel", s.C._dispatch_has_kernel, "dmp::nothing")
    log.attempt("for key", s.C._dispatch_has_kernel_for_dispatch_key, "dmp::nothing", "CPU")
    log.attempt(
        "any",
        s.C._dispatch_has_kernel_for_any_dispatch_key,
        "dmp::nothing",
        s.DispatchKeySet(s.DispatchKey.CPU),
    )
    log.attempt(
        "computed", s.C._dispatch_has_computed_kernel_for_dispatch_key, "dmp::nothing", "CPU"
    )
    log.attempt("get", s.C._dispatch_get_computed_kernel_for_dispatch_key, "dmp::nothing", "CPU")


def kernels_without_schema(s, log):
    m = s.C._dispatch_library("IMPL", "dmp", "", "here", 3)
    m.impl_t_t("u")
    m.impl_t_t("u", "CPU", "on cpu")
    m.impl("u", "CUDA", lambda x: x)
    _dump(s, log, "dmp::u")
    _table(s, log, "dmp::u", _SOME)
    log([_place(x) for x in s.C._dispatch_find_dangling_impls()])
    m.reset()
    log(repr(s.C._dispatch_dump("dmp::u")), s.C._dispatch_find_dangling_impls())


def every_kind_of_kernel(s, log):
    m = s.C._dispatch_library("FRAGMENT", "dmp", "")
    m.def_("k(Tensor x) -> Tensor")
    for key in (
        "CPU",
        "Autograd",
        "CompositeExplicitAutograd",
        "Meta",
        "ADInplaceOrView",
        "CompositeImplicitAutograd",
        "AutogradCPU",
        "Python",
        "SparseCsrCPU",
        "BackendSelect",
        "CompositeExplicitAutogradNonFunctional",
        "FuncTorchBatchedDecomposition",
        "CompositeImplicitAutogradNestedTensor",
        "Tracer",
        "PrivateUse1",
        "Functionalize",
    ):
        log.attempt(key, m.impl, "k", key, lambda x: x)
    m.impl("k", "AutogradCUDA", s.library.fallthrough_kernel)
    m.impl("k", "Sparse", lambda x: x) if False else None
    m.impl("k", "CPU", s.library.fallthrough_kernel)
    m.impl_t_t("k", "CPU", "third")
    m.impl("k", "CPU", lambda x: x, with_keyset=True)
    _dump(s, log, "dmp::k")
    _table(s, log, "dmp::k", _SOME)


def inferred_schemas(s, log):
    m = s.C._dispatch_library("DEF", "dmi", "")
    m.def_name_t_t("a")
    m.def_name_t_t("b", "CPU")
    m.def_name_t_t("c", "", "said so")
    m.def_name_t_t("d.over", debug="dd")
    for name in ("a", "b", "c", "d.over"):
        _dump(s, log, f"dmi::{name}")
    m.def_schema_t_t("e(Tensor x) -> Tensor")
    m.def_schema_t_t("f(Tensor x) -> Tensor", "CPU", "CONSERVATIVE", "mine")
    m.def_schema_t_t("g(Tensor(a) x) -> Tensor(a)", "Autograd", alias="PURE_FUNCTION")
    for name in ("e", "f", "g"):
        _dump(s, log, f"dmi::{name}")
    x = s.T.ones(2)
    log(s.ops.dmi.a(x) is x, s.ops.dmi.e(x), s.ops.dmi.f(x))
    _table(s, log, "dmi::a", _SOME)


def schema_mismatch(s, log):
    m = s.C._dispatch_library("DEF", "dmm", "")
    log.attempt("def and kernel", m.def_schema_t_t, "a(Tensor x, Tensor y) -> Tensor", "CPU")
    _dump(s, log, "dmm::a")
    m.def_("b(Tensor x, int y) -> Tensor")
    log.attempt("kernel later", m.impl_t_t, "b", "CPU")
    _dump(s, log, "dmm::b")
    m.impl_t_t("c", "CPU")
    log.attempt("schema later", m.def_, "c(Tensor x) -> (Tensor, Tensor)")
    _dump(s, log, "dmm::c")
    log.attempt("schema that fits", lambda: m.def_("c(Tensor x) -> Tensor") is m)
    _dump(s, log, "dmm::c")
    for i, text in enumerate(
        (
            "Tensor? x) -> Tensor",
            "Tensor[] x) -> Tensor",
            "Tensor x) -> ()",
            "Tensor x) -> Tensor?",
            "*, Tensor x) -> Tensor",
            "Tensor(a!) x) -> Tensor(a!)",
            "Tensor x, *, Tensor y) -> Tensor",
        )
    ):
        log.attempt(text, lambda i=i, t=text: m.def_schema_t_t(f"z{i}({t}", "CPU") is m)
        s.C._dispatch_check_invariants(f"dmm::z{i}")


def through_library(s, log):
    lib = s.library.Library("dml", "DEF")
    log(lib.define("f(Tensor x) -> Tensor"), lib.define("g.ov(Tensor x) -> Tensor"))
    lib.impl("f", lambda x: x, "CPU")
    lib.impl("f", lambda x: x)
    lib.impl("f", s.library.fallthrough_kernel, "AutogradCPU")
    _dump(s, log, "dml::f")
    _dump(s, log, "dml::g.ov")
    _table(s, log, "dml::f", _SOME)
    lib._destroy()
    log(repr(s.C._dispatch_dump("dml::f")))


def table_reasons(s, log):
    sets = (
        ("CompositeImplicitAutograd",),
        ("CompositeExplicitAutograd",),
        ("CPU",),
        ("Autograd",),
        ("CPU", "CompositeImplicitAutograd"),
        ("CPU", "Autograd"),
        ("Undefined",),
        ("CompositeImplicitAutograd", "Autograd"),
        ("CompositeExplicitAutograd", "Autograd"),
        ("CompositeExplicitAutogradNonFunctional",),
        ("FPGA", "CompositeImplicitAutograd"),
        ("QuantizedCPU", "CompositeImplicitAutograd"),
        ("CompositeImplicitAutogradNestedTensor",),
        ("CompositeImplicitAutogradNestedTensor", "CompositeImplicitAutograd"),
        ("CPU", "CompositeImplicitAutogradNestedTensor"),
        ("AutogradOther", "MkldnnCPU"),
        ("FuncTorchBatchedDecomposition", "CompositeImplicitAutograd"),
        ("AutogradCPU", "CUDA"),
        ("NestedTensorCPU", "CompositeImplicitAutograd"),
        ("SparseCPU", "CompositeImplicitAutograd"),
    )
    m = s.C._dispatch_library("FRAGMENT", "dmr", "")
    for i, keys in enumerate(sets):
        m.def_(f"r{i}(Tensor x) -> Tensor")
        for key in keys:
            m.impl_t_t(f"r{i}", key, f"fn_{key}")
        log(*keys)
        _table(s, log, f"dmr::r{i}")
        s.C._dispatch_check_invariants(f"dmr::r{i}")


def fallthrough_rows(s, log):
    m = s.C._dispatch_library("FRAGMENT", "dmf", "")
    m.def_("f(Tensor x) -> Tensor")
    m.impl("f", "AutogradCPU", s.library.fallthrough_kernel)
    m.impl("f", "CompositeExplicitAutograd", s.library.fallthrough_kernel)
    _dump(s, log, "dmf::f")
    _table(s, log, "dmf::f", _SOME)


def fallback_rows_by_key(s, log):
    """Which keys have a fallback, and whether it is a fallthrough."""
    m = s.C._dispatch_library("FRAGMENT", "dmb", "")
    m.def_("f(Tensor x) -> Tensor")
    for line in s.C._dispatch_dump_table("dmb::f").splitlines():
        key, _, rest = line.partition(": ")
        log(key, rest.startswith("fallthrough "), rest.endswith(" [backend fallback]"))


def overridden(s, log):
    libs = [s.C._dispatch_library("IMPL", "dmo", "CPU", f"file{i}", i) for i in range(3)]
    for i, m in enumerate(libs):
        m.impl_t_t("f", debug=f"fn{i}")
    _dump(s, log, "dmo::f")
    libs[1].reset()
    _dump(s, log, "dmo::f")
    libs[2].reset()
    _dump(s, log, "dmo::f")
    libs[0].reset()
    log(repr(s.C._dispatch_dump("dmo::f")))


def printed_schemas(s, log):
    m = s.C._dispatch_library("FRAGMENT", "dms", "")
    texts = (
        "a(Tensor self, int[] dim=[], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        "b(Tensor(a!)[] self, Scalar alpha=1.5) -> ()",
        "c(str s='x', str? t=None, *, float f=1e-3, float g=2) -> (Tensor a, Tensor b)",
        "d(Tensor(a -> *) self, SymInt[2] k=[1, 2], int[3] p=0) -> Tensor(*)",
        "e(Device? device=None, Layout layout=strided, MemoryFormat m=contiguous_format) -> bool[]",
        "f(Tensor?[] xs, Dict(str, Tensor) d, (int, float) t) -> Tensor[]",
        "g(Any x, ...) -> ...",
        "h(t x, t[] y) -> t",
        "i(complex c=1j, bool[2] b=True, Generator? g=None, Stream s, Storage st) -> float",
    )
    for text in texts:
        name = text[0]
        log.attempt(text, lambda text=text: m.def_(text) is m)
        for line in s.C._dispatch_dump(f"dms::{name}").splitlines()[:2]:
            log("|", line)
