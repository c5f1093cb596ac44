"""Registrations: taken back exactly, in any order; what may not be registered; what the inspectors
report."""

import itertools
import re

import pytest
from hypothesis import given, settings, strategies as st

import dispatch
from dispatch import _C, ops
from dispatch.library import Library, fallthrough_kernel

pytestmark = pytest.mark.usefixtures("same_state_after")

T = dispatch.ones(2)


def table(name="reg::f"):
    return _C._dispatch_dump_table(name)


@pytest.fixture
def lib(library):
    lib = library("reg", "DEF")
    lib.define("f(Tensor x) -> str")
    return lib


STEPS = [
    ("CPU", False),
    ("CPU", False),
    ("CompositeImplicitAutograd", False),
    ("AutogradCPU", True),
]


@pytest.mark.parametrize("order", list(itertools.permutations(range(len(STEPS)))))
def test_taking_kernels_away_in_any_order_restores_the_table(lib, library, order):
    tables = [table()]
    libs = []
    for key, fallthrough in STEPS:
        libs.append(library("reg", "IMPL"))
        libs[-1].impl("f", fallthrough_kernel if fallthrough else (lambda x, k=key: k), key)
        tables.append(table())
    for n in order:
        libs[n]._destroy()
        _C._dispatch_check_invariants("reg::f")
    assert table() == tables[0]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_tables_do_not_depend_on_the_order_of_registration(library, order):
    steps = [
        lambda lib: lib.define("f(Tensor x) -> str"),
        lambda lib: lib.impl("f", lambda x: "cpu", "CPU"),
        lambda lib: lib.impl("f", lambda x: "math", "CompositeImplicitAutograd"),
    ]
    lib = library("reg", "DEF")
    for n in order:
        steps[n](lib)
    rows = {key: why for key, _, why, _ in _C._dispatch_table("reg::f")}
    assert rows["CPU"] == "kernel"
    assert rows["CUDA"] == "math kernel"
    assert rows["AutogradCPU"] == "backend fallback"
    assert ops.reg.f(T) == "cpu"
    assert _C._dispatch_find_dangling_impls() == []


def test_newest_kernel_serves_and_older_ones_come_back(lib, library):
    libs = [library("reg", "IMPL") for _ in range(3)]
    for n, one in enumerate(libs):
        one.impl("f", lambda x, n=n: str(n), "CPU")
    assert ops.reg.f(T) == "2"
    libs[1]._destroy()
    assert ops.reg.f(T) == "2"
    libs[2]._destroy()
    assert ops.reg.f(T) == "0"
    libs[0]._destroy()
    with pytest.raises(NotImplementedError):
        ops.reg.f(T)


def test_implementation_without_definition_dangles_until_it_is_defined(library):
    impl = library("dang", "IMPL")
    impl.impl("f", lambda x: "cpu", "CPU")
    dangling = _C._dispatch_find_dangling_impls()
    assert len(dangling) == 1 and "name: dang::f\nschema: (none)" in dangling[0]
    assert not hasattr(ops.dang, "f")
    definition = library("dang", "DEF")
    definition.define("f(Tensor x) -> str")
    assert _C._dispatch_find_dangling_impls() == []
    assert ops.dang.f(T) == "cpu"
    definition._destroy()
    assert len(_C._dispatch_find_dangling_impls()) == 1
    impl._destroy()
    assert _C._dispatch_find_dangling_impls() == []
    assert "dang::f" not in _C._dispatch_get_all_op_names()


def test_kernels_on_shipped_operators_are_taken_back(library):
    before = table("aten::relu")
    rows = dispatch.ops.aten.relu.default(T).tolist()
    lib = library("aten", "IMPL")
    lib.impl("relu", lambda x: "mine", "CPU")
    with pytest.raises(RuntimeError, match="aten::relu"):
        ops.aten.relu.default(T)
    lib.impl("relu", lambda x: x, "CPU")
    assert ops.aten.relu.default(T) is T
    assert table("aten::relu") != before
    lib._destroy()
    assert table("aten::relu") == before
    assert ops.aten.relu.default(T).tolist() == rows


def test_second_definition_is_refused_and_changes_nothing(lib, library):
    other = library("reg", "FRAGMENT")
    with pytest.raises(RuntimeError, match="reg::f"):
        other.define("f(Tensor x, int y) -> str")
    other._destroy()
    lib.impl("f", lambda x: "still", "CPU")
    assert ops.reg.f(T) == "still"


def test_definition_of_a_shipped_operator_is_refused(library):
    with pytest.raises(RuntimeError, match="aten::relu"):
        library("aten", "FRAGMENT").define("relu(Tensor self) -> Tensor")
    assert ops.aten.relu(T).tolist() == [1.0, 1.0]


def test_second_def_library_of_a_namespace_is_refused(lib, library):
    with pytest.raises(RuntimeError, match="reg"):
        Library("reg", "DEF")
    lib._destroy()
    library("reg", "DEF").define("f(Tensor x) -> str")


def test_refused_registrations_change_nothing(lib):
    before = table()
    with pytest.raises(TypeError):
        lib.impl("f", 3, "CPU")
    with pytest.raises(RuntimeError):
        lib.impl("f", lambda x: x, "NoSuchKey")
    with pytest.raises(RuntimeError):
        lib.impl("other::f", lambda x: x, "CPU")
    with pytest.raises(RuntimeError):
        lib.define("g(Tensor x -> str")
    assert table() == before
    assert not hasattr(ops.reg, "g")


def test_library_of_another_namespace_cannot_define_there(library):
    with pytest.raises(RuntimeError):
        library("reg", "DEF").define("other::f(Tensor x) -> str")


def test_dump_shows_schema_kernels_and_inactive_ones(lib):
    lib.impl("f", lambda x: x, "CPU")
    lib.impl("f", lambda x: x, "CPU")
    lib.impl("f", fallthrough_kernel, "Autograd")
    text = _C._dispatch_dump("reg::f")
    assert "name: reg::f\nschema: reg::f(Tensor x) -> str\n" in text
    assert text.count("CPU: registered at") == 1
    assert text.count("CPU (inactive): registered at") == 1
    assert re.search(
        r"Autograd\[alias\]: registered at .* :: \(none\) \[ fallthrough boxed \]", text
    )
    assert "registered at " in text and ".py:" in text


def test_table_says_which_registration_serves_and_why(lib):
    lib.impl("f", lambda x: x, "CompositeExplicitAutograd")
    lib.impl("f", fallthrough_kernel, "CUDA")
    lines = dict(line.split(": ", 1) for line in table().splitlines())
    assert lines["CPU"].endswith("[default backend kernel]")
    assert lines["CUDA"].startswith("fallthrough") and lines["CUDA"].endswith("[kernel]")
    assert lines["AutogradCPU"].endswith("[backend fallback]")


def test_inspectors(lib):
    lib.impl("f", lambda x: x, "CPU")
    lib.impl("f", fallthrough_kernel, "Autograd")
    assert _C._dispatch_has_kernel("reg::f")
    assert _C._dispatch_has_kernel_for_dispatch_key("reg::f", "CPU")
    assert not _C._dispatch_has_kernel_for_dispatch_key("reg::f", "CUDA")
    assert _C._dispatch_kernel_for_dispatch_key_is_fallthrough("reg::f", "Autograd")
    assert not _C._dispatch_kernel_for_dispatch_key_is_fallthrough("reg::f", "CPU")
    assert _C._dispatch_has_computed_kernel_for_dispatch_key("reg::f", "AutogradCPU")
    assert not _C._dispatch_has_computed_kernel_for_dispatch_key("reg::f", "CUDA")
    keys = dispatch.DispatchKeySet("CPU") | dispatch.DispatchKeySet("CUDA")
    assert _C._dispatch_has_kernel_for_any_dispatch_key("reg::f", keys)
    assert "reg::f" in _C._dispatch_get_registrations_for_dispatch_key("CPU")
    assert "reg::f" not in _C._dispatch_get_registrations_for_dispatch_key("CUDA")
    assert _C._dispatch_dump("reg::nothing") == _C._dispatch_dump_table("reg::nothing") == ""
    with pytest.raises(RuntimeError, match="runtime key"):
        _C._dispatch_has_computed_kernel_for_dispatch_key("reg::f", "CompositeImplicitAutograd")


def test_handle_calls_and_redispatches(lib):
    lib.impl("f", lambda x: "cpu", "CPU")
    handle = _C._dispatch_find_schema_or_throw("reg::f", "")
    assert str(handle.schema()) == "reg::f(Tensor x) -> str"
    assert handle.debug().startswith("registered at ")
    assert _C._dispatch_call_boxed(handle, T) == "cpu"
    assert handle.redispatch_boxed(dispatch.DispatchKeySet("CPU"), T) == "cpu"
    with pytest.raises(RuntimeError, match="reg::nothing"):
        _C._dispatch_find_schema_or_throw("reg::nothing", "")


def test_handle_over_a_destroyed_library_says_so(lib):
    handle = _C._dispatch_find_schema_or_throw("reg::f", "")
    lib._destroy()
    for use in (
        handle.schema,
        lambda: _C._dispatch_call_boxed(handle, T),
        lambda: handle.redispatch_boxed(dispatch.DispatchKeySet("CPU"), T),
    ):
        with pytest.raises(RuntimeError, match="reg::f"):
            use()


KEYS = ("CPU", "AutogradCPU", "Autograd", "CompositeImplicitAutograd", "CompositeExplicitAutograd")


def fresh_dump(survivors):
    """What a fresh build of these registrations (in order) dumps, table included."""
    module = _C._dispatch_library("FRAGMENT", "rnd", "", "p", 0)
    for step in survivors:
        apply_step(module, step)
    texts = _C._dispatch_dump("rnd::f"), table("rnd::f")
    module.reset()
    return texts


def apply_step(module, step):
    if step == "def":
        module.def_("f(Tensor x) -> Tensor")
    else:
        module.impl_t_t("f", step[0], f"fn{step[1]}")


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9), st.sampled_from(KEYS)), max_size=14))
@settings(max_examples=80, deadline=None)
def test_any_sequence_ends_in_the_state_of_its_survivors(steps):
    """Definitions, kernels and resets in any order: what is left is as if built afresh."""
    alive = []
    for i, (adds, which, key) in enumerate(steps):
        if adds or not alive:
            step = (key, i)
            if which == 0 and not any(s == "def" for s, _ in alive):
                step = "def"
            module = _C._dispatch_library("FRAGMENT", "rnd", "", "p", 0)
            apply_step(module, step)
            alive.append((step, module))
        else:
            alive.pop(which % len(alive))[1].reset()
        _C._dispatch_check_invariants("rnd::f")
    ours = _C._dispatch_dump("rnd::f"), table("rnd::f")
    for _, module in alive:
        module.reset()
    assert _C._dispatch_dump("rnd::f") == ""
    assert ours == fresh_dump([step for step, _ in alive])


def test_kernel_in_c_that_does_not_fit_is_refused_with_both_places():
    module = _C._dispatch_library("FRAGMENT", "fit", "", "here", 1)
    module.impl_t_t("f", "CPU", "a kernel")
    with pytest.raises(RuntimeError, match=r"(?s)fit::f.*here:1.*a kernel"):
        module.def_("f(Tensor x, int y) -> Tensor")
    assert "schema: (none)" in _C._dispatch_dump("fit::f")
    module.reset()
    module.def_("f(Tensor x, int y) -> Tensor")
    with pytest.raises(RuntimeError, match=r"(?s)fit::f.*here:1.*impl_t_t"):
        module.impl_t_t("f", "CPU")
    assert not _C._dispatch_has_kernel_for_dispatch_key("fit::f", "CPU")
    module.reset()
    assert _C._dispatch_dump("fit::f") == ""


def test_refused_libraries_leave_the_namespace_free():
    for kind, key in (("DEF", "CPU"), ("DEF", "Nope"), ("IMPL", "Nope"), ("XX", "")):
        with pytest.raises(RuntimeError):
            _C._dispatch_library(kind, "free", key)
    module = _C._dispatch_library("DEF", "free", "")
    with pytest.raises(RuntimeError, match="free"):
        _C._dispatch_library("DEF", "free", "")
    module.reset()
    other = _C._dispatch_library("DEF", "free", "")
    module.reset()
    with pytest.raises(RuntimeError, match="free"):
        _C._dispatch_library("DEF", "free", "")
    other.reset()


def test_the_newest_fallback_of_autograd_for_a_private_backend_serves_and_is_shown():
    """The one key that may have several: of programs from before the library had its own."""

    def shown():
        table = _C._dispatch_dump_table("aten::sin")
        return next(x for x in table.splitlines() if x.startswith("AutogradPrivateUse1:"))

    def call():
        keys = _C.DispatchKeySet(_C.DispatchKey.AutogradPrivateUse1)
        return ops.aten.sin.default.redispatch(keys, dispatch.ones(1))

    before = shown()
    modules = [_C._dispatch_library("IMPL", "_", "", f"{name}.py", 7) for name in ("old", "new")]
    try:
        for module, value in zip(modules, (1.0, 2.0), strict=True):
            module.fallback("AutogradPrivateUse1", lambda op, x, v=value: x.new_full((1,), v))
            assert call().tolist() == [value]
        assert "new.py:7" in shown()
        modules[0].reset()
        assert call().tolist() == [2] and "new.py:7" in shown()
        modules[0].fallback("AutogradPrivateUse1", lambda op, x: x.new_full((1,), 3.0))
        modules[0].reset()
        assert call().tolist() == [2]
    finally:
        for module in modules:
            module.reset()
    assert shown() == before


def test_second_fallback_of_a_key_is_refused():
    module = _C._dispatch_library("IMPL", "_", "")
    module.fallback("PrivateUse3", lambda op, *args: 3)
    with pytest.raises(RuntimeError, match="PrivateUse3"):
        module.fallback_fallthrough("PrivateUse3")
    with pytest.raises(RuntimeError, match="Autograd"):
        module.fallback("Autograd", lambda op, *args: 3)
    module.reset()
    assert not _C._dispatch_has_backend_fallback("PrivateUse3")
    assert _C._dispatch_has_backend_fallback("AutogradCPU")


@pytest.mark.parametrize(("kind", "namespace"), [("IMPL", "aten"), ("FRAGMENT", "aten")])
def test_fallbacks_need_the_namespace_of_fallbacks(kind, namespace):
    module = _C._dispatch_library(kind, namespace, "")
    with pytest.raises(RuntimeError, match=f"not with one of {namespace}"):
        module.fallback("PrivateUse3", lambda op, *args: 3)
    assert not _C._dispatch_has_backend_fallback("PrivateUse3")


def test_python_module_of_a_definition_is_known_while_it_lives():
    module = _C._dispatch_library("FRAGMENT", "stub", "")
    module.set_python_module("somewhere.ops", "pip install it")
    module.def_("f.ov(Tensor x) -> Tensor")
    assert _C._dispatch_pystub("stub::f", "ov") == ("somewhere.ops", "pip install it")
    assert _C._dispatch_pystub("stub::f", "") is None
    module.reset()
    assert _C._dispatch_pystub("stub::f", "ov") is None


def test_kernel_taken_from_the_table_is_called_while_it_is_registered(library, lib):
    impl = library("reg", "IMPL")
    impl.impl("f", lambda x: "one", "CPU")
    kernel = _C._dispatch_get_computed_kernel_for_dispatch_key("reg::f", "CPU")
    lib.impl("f", lambda x: "two", "CPU")
    assert kernel.call_boxed(_C._dispatch_keys(T), T) == "one"
    assert str(kernel.op_handle.schema()) == "reg::f(Tensor x) -> str"
    impl._destroy()
    with pytest.raises(RuntimeError, match="reg::f"):
        kernel.call_boxed(_C._dispatch_keys(T), T)
    for cls in (_C._SafeKernelFunction, _C._DispatchOperatorHandle):
        with pytest.raises(TypeError):
            cls()


def test_callback_is_asked_where_there_is_no_kernel(lib):
    def callback(key):
        raise KeyError(key)

    handle = _C._dispatch_find_schema_or_throw("reg::f", "")
    _C._dispatch_set_report_error_callback(handle, callback)
    with pytest.raises(KeyError, match="CPU"):
        ops.reg.f(T)


def test_destroying_twice_or_an_empty_library_is_nothing(library):
    lib = library("empty", "DEF")
    lib._destroy()
    lib._destroy()
    with pytest.raises(AssertionError, match="destroyed"):
        lib.define("f(Tensor x) -> str")


def test_registration_and_removal_leave_no_memory(grown_blocks):
    def cycle():
        lib = Library("cyc", "DEF")
        lib.define("f(Tensor x, int[] n=[1, 2], *, str s='a') -> Tensor")
        lib.impl("f", lambda x, *a, **k: x, "CPU")
        lib.impl("f", fallthrough_kernel, "AutogradCPU")
        assert ops.cyc.f(T) is T
        lib._destroy()

    assert grown_blocks(cycle, 300) < 150


def test_every_row_is_what_the_rules_give():
    _C._dispatch_check_all_invariants()


@pytest.mark.parametrize(
    ("key", "file"),
    [
        ("AutogradCPU", "VariableFallbackKernel"),
        ("ADInplaceOrView", "VariableFallbackKernel"),
        ("BackendSelect", "BackendSelectFallbackKernel"),
        ("Python", "PythonFallbackKernel"),
        ("PreDispatch", "PythonFallbackKernel"),
        ("Conjugate", "ConjugateFallback"),
        ("FuncTorchVmapMode", "VmapModeRegistrations"),
    ],
)
def test_tables_name_the_file_of_a_built_in_fallback(lib, key, file):
    """Programs replace `registered at .*FallbackKernel.cpp.*[` by words of their own."""
    (row,) = [row for row in table().splitlines() if row.startswith(key + ": ")]
    assert re.fullmatch(
        rf"{key}: (fallthrough )?registered at \S+/{file}\.cpp \[backend fallback\]", row
    )


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ("(Tensor x, int y) -> Tensor", "The number of arguments is different. 2 vs 1."),
        ("(Tensor x) -> ()", "The number of returns is different. 0 vs 1."),
        ("(Tensor? x) -> Tensor", "Type mismatch in argument 1: Tensor? vs Tensor."),
        ("(Tensor x) -> Tensor[]", "Type mismatch in return 1: Tensor[] vs Tensor."),
    ],
)
@pytest.mark.parametrize("kernel_first", [False, True])
def test_a_kernel_in_c_says_what_does_not_fit_its_schema(schema, reason, kernel_first):
    module = _C._dispatch_library("FRAGMENT", "regfit", "")
    steps = [lambda: module.def_("f" + schema), lambda: module.impl_t_t("f")]
    if kernel_first:
        steps.reverse()
    steps[0]()
    with pytest.raises(RuntimeError, match="doesn't match the expected") as error:
        steps[1]()
    assert str(error.value).endswith(f"impl_t_t\n  reason: {reason}")
    module.reset()


def test_a_second_definition_names_both_places():
    first = _C._dispatch_library("FRAGMENT", "regtwo", "", "a.py", 1)
    second = _C._dispatch_library("FRAGMENT", "regtwo", "", "b.py", 2)
    first.def_("f(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match="Each overload's schema should only be registered") as e:
        second.def_("f(Tensor x) -> Tensor")
    first_place, second_place = "registered at a.py:1", "registered at b.py:2"
    places = f"Duplicate registration: {second_place}. Original registration: {first_place}"
    assert str(e.value).endswith(places)
    first.reset()
    second.reset()


def test_a_library_that_defines_has_a_namespace():
    for kind in ("DEF", "FRAGMENT"):
        with pytest.raises(RuntimeError, match="fallbacks"):
            _C._dispatch_library(kind, "_", "")


def test_a_kernel_without_a_key_serves_everywhere():
    module = _C._dispatch_library("DEF", "regno", "")
    module.def_("f(Tensor x) -> Tensor").impl_t_t("f")
    found = [
        key
        for key in ("CompositeImplicitAutograd", "CompositeExplicitAutograd")
        if _C._dispatch_has_kernel_for_dispatch_key("regno::f", key)
    ]
    assert found == ["CompositeImplicitAutograd"]
    module.reset()


@pytest.mark.parametrize("with_keyset", [False, True])
def test_a_fallback_gets_the_keys_of_the_call_if_it_asks(library, with_keyset):
    library("regkeys", "DEF").define("f(Tensor x) -> Tensor")
    lib, seen = library("_", "IMPL"), []
    lib.fallback(lambda *args: seen.append(args) or args[-1], "XLA", with_keyset=with_keyset)
    keys = _C.DispatchKeySet(_C.DispatchKey.XLA)
    ops.regkeys.f.default.redispatch(keys, dispatch.ones(1))
    (args,) = seen
    assert len(args) == 2 + with_keyset
    assert any(a is ops.regkeys.f.default for a in args)
    assert [a.has(_C.DispatchKey.XLA) for a in args if type(a) is _C.DispatchKeySet] == (
        [True] * with_keyset
    )


def test_a_namespace_that_begins_like_the_librarys_is_another(library):
    lib = library("regns", "DEF")
    for call in (
        lambda: lib.define("regnsx::f(Tensor x) -> Tensor"),
        lambda: lib.m.impl("regnsx::f", "CPU", lambda x: x),
    ):
        with pytest.raises(RuntimeError, match="does not match namespace"):
            call()
    assert lib.define("regns::f(Tensor x) -> Tensor") == "regns::f"
    assert lib.define('g(Tensor x, str s="a::b") -> Tensor') == "g"


def test_tags_go_with_their_definition():
    for tags in ([dispatch.Tag.core], []):
        lib = Library("regtags", "DEF")
        lib.define("f(Tensor x) -> Tensor", tags=tags)
        assert ops.regtags.f.default.tags == tags
        lib._destroy()
