"""Library: define, impl, fallback, and taking all of it back."""

import gc

import pytest

import dispatch
from dispatch import _C, ops
from dispatch.library import (
    Library,
    _defs,
    _scoped_library,
    custom_op,
    define,
    fallthrough_kernel,
    get_kernel,
    impl,
    impl_abstract,
    register_kernel,
)
from dispatch.registry.effects import EffectType
from dispatch.registry.entries import singleton

pytestmark = pytest.mark.usefixtures("same_state_after")

T = dispatch.ones(2)


@pytest.mark.parametrize(
    ("args", "error"),
    [(("lb", "OTHER"), ValueError), (("prim", "DEF"), ValueError),
     (("prim", "FRAGMENT"), ValueError), (("aten", "DEF"), RuntimeError),
     (("lb", "IMPL", "NoKey"), RuntimeError)],
)  # fmt: skip
def test_libraries_that_cannot_be(args, error):
    with pytest.raises(error):
        Library(*args)


def test_a_reserved_namespace_takes_kernels(library):
    assert library("prim", "IMPL").ns == "prim"


def test_define_returns_the_name(library):
    lib = library("lb", "DEF")
    assert lib.define("f(Tensor x) -> Tensor") == "f"
    assert lib.define("f.o(Tensor x, int y) -> Tensor") == "f"
    assert ops.lb.f.overloads() == ["default", "o"]


def test_definitions_are_noted_with_namespace_and_overload(library):
    lib = library("lb", "DEF")
    for schema in ("plain(Tensor x) -> Tensor", " lb::spelled.other (Tensor x) -> Tensor"):
        lib.define(schema)
    assert lib._op_defs == {"lb::plain", "lb::spelled.other"}
    assert lib._op_defs <= _defs


def test_impl_only_libraries_and_bad_schemas(library):
    lib = library("lb", "DEF")
    for schema in ("f", "f(", "f(Tensr x) -> Tensor", "f(Tensor x)", ""):
        with pytest.raises(RuntimeError):
            lib.define(schema)
    with pytest.raises(RuntimeError, match="alias_analysis"):
        lib.define("f(Tensor x) -> Tensor", "WRONG")
    assert "lb::f" not in _C._dispatch_get_all_op_names()


def test_impl_by_name_overload_and_object(library):
    lib = library("lb", "DEF")
    for schema in ("f(Tensor x) -> str", "f.o(Tensor x, int y) -> str"):
        lib.define(schema)
    lib.impl("f", lambda x: "name", "CPU")
    lib.impl("f.o", lambda x, y: "overload", "CPU")
    assert ops.lb.f(T) == "name" and ops.lb.f(T, 1) == "overload"
    lib.impl(ops.lb.f.o, lambda x, y: "object", "CPU")
    assert ops.lb.f(T, 1) == "object"
    lib.impl("lb::f", lambda x: "qualified", "CPU")
    assert ops.lb.f(T) == "qualified"
    with pytest.raises(RuntimeError):
        lib.impl(3, lambda x: x, "CPU")


def test_key_of_the_library_is_the_default(library):
    library("lb", "DEF").define("f(Tensor x) -> str")
    library("lb", "IMPL", "CPU").impl("f", lambda x: "cpu")
    assert ops.lb.f(T) == "cpu"
    assert _C._dispatch_has_kernel_for_dispatch_key("lb::f", "CPU")


def test_without_a_key_the_kernel_is_composite(library):
    lib = library("lb", "DEF")
    lib.define("f(Tensor x) -> str")
    lib.impl("f", lambda x: "math")
    assert _C._dispatch_has_kernel_for_dispatch_key("lb::f", "CompositeImplicitAutograd")
    assert ops.lb.f(dispatch.ones(1, device="meta")) == "math"


def test_override_may_be_forbidden(library):
    lib = library("lb", "DEF")
    lib.define("f(Tensor x) -> str")
    lib.impl("f", lambda x: "first", "CPU")
    with pytest.raises(RuntimeError, match="allow_override"):
        lib.impl("f", lambda x: "second", "CPU", allow_override=False)
    assert ops.lb.f(T) == "first"
    lib.impl("f", lambda x: "second", "CPU")
    assert ops.lb.f(T) == "second"


def test_meta_kernel_of_a_decomposing_operator_is_refused(library):
    lib = library("lb", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x)
    with pytest.raises(RuntimeError, match="decompose"):
        lib.impl("f", lambda x: x, "Meta")


def test_fallbacks_need_the_global_namespace(library):
    with pytest.raises(RuntimeError, match='"_"'):
        library("lb", "DEF").fallback(lambda op: None, "Tracer")
    with pytest.raises(AssertionError):
        library("_", "IMPL").fallback(lambda op: None)


@pytest.mark.parametrize("key", ["", "CPU"])
def test_the_namespace_of_a_fallback_is_looked_at_first(library, key):
    with pytest.raises(RuntimeError, match=r'namespace "_", not .lb'):
        library("lb", "IMPL").fallback(lambda op, *args: None, key)
    with pytest.raises(AssertionError, match="dispatch_key"):
        library("_", "IMPL").fallback(lambda op, *args: None)


def test_library_without_owner_takes_everything_back():
    lib = Library("lb", "DEF")
    lib.define("f(Tensor x) -> str")
    assert hasattr(ops.lb, "f")
    del lib
    gc.collect()
    assert not hasattr(ops.lb, "f")


def test_scoped_library_ends_with_its_block():
    with pytest.raises(KeyError), _scoped_library("lb", "DEF") as lib:
        lib.define("f(Tensor x) -> str")
        raise KeyError
    assert not hasattr(ops.lb, "f")
    Library("lb", "DEF")._destroy()


def test_fallthrough_kernel_is_never_called():
    with pytest.raises(NotImplementedError):
        fallthrough_kernel()


def test_definition_destroyed_before_and_after_its_implementation(library):
    for order in ((0, 1), (1, 0)):
        libs = [library("lb", "DEF"), library("lb", "IMPL")]
        libs[0].define("f(Tensor x) -> str")
        libs[1].impl("f", lambda x: "cpu", "CPU")
        assert ops.lb.f(T) == "cpu"
        for n in order:
            libs[n]._destroy()
        assert not hasattr(ops.lb, "f")
        assert "lb::f" not in _C._dispatch_get_all_op_names()
        assert _C._dispatch_find_dangling_impls() == []


def test_a_kernel_that_outlives_its_definition_waits_for_the_next(library):
    """The overload of the definition that went runs nothing, whoever's kernels are left."""
    first, kernels = library("lb", "FRAGMENT"), library("lb", "IMPL")
    first.define("f(Tensor x) -> str")
    kernels.impl("f", lambda x: "cpu", "CPU")
    gone = ops.lb.f.default
    first._destroy()
    with pytest.raises(RuntimeError, match="lb::f: the operator has no schema"):
        gone(T)
    library("lb", "FRAGMENT").define("f(Tensor x) -> str")
    assert ops.lb.f.default(T) == "cpu"
    with pytest.raises(RuntimeError, match="lb::f: the operator has no schema"):
        gone(T)


def test_with_keyset_kernels_redispatch(library):
    lib = library("lb", "DEF")
    lib.define("f(Tensor x, int n=1) -> Tensor")
    lib.impl("f", lambda x, n=1: dispatch.add(x, n), "CPU")

    def outer(keys, x, *args):
        below = keys & _C._after_autograd_keyset
        return ops.lb.f.default.redispatch(below, dispatch.mul(x, 10), *args)

    lib.impl("f", outer, "AutogradCPU", with_keyset=True)
    assert ops.lb.f(T, 5).tolist() == [15.0, 15.0]


def test_destroyed_library_refuses_everything(library):
    lib = library("lb", "DEF")
    lib._destroy()
    lib._destroy()
    for call in (
        lambda: lib.define("f(Tensor x) -> Tensor"),
        lambda: lib.impl("f", lambda x: x, "CPU"),
        lambda: Library("_", "IMPL")._destroy() or lib.define("f(Tensor x) -> Tensor"),
    ):
        with pytest.raises(AssertionError, match="destroyed"):
            call()


@pytest.mark.parametrize("tags", ["core", ("core",), (3,), (None,)])
def test_what_is_no_tag_is_refused(library, tags):
    lib = library("lb", "DEF")
    with pytest.raises(TypeError):
        lib.define("f(Tensor x) -> Tensor", tags=tags)
    assert "lb::f" not in _C._dispatch_get_all_op_names()


def test_tags_stand_in_the_order_given(library):
    Tag = dispatch.Tag
    lib = library("lb", "DEF")
    lib.define("f(Tensor x) -> Tensor", tags=[Tag.pointwise, Tag.core])
    lib.define("g(Tensor x) -> Tensor", tags=Tag.core)
    assert ops.lb.f.default.tags == [Tag.pointwise, Tag.core]
    assert ops.lb.g.default.tags == [Tag.core]
    ops.lb.f.default.tags.clear()
    assert len(ops.lb.f.default.tags) == 2


FIRST = "return the first mutable argument x: the return must be "


@pytest.mark.parametrize(
    ("schema", "tag", "text"),
    [
        ("() -> Tensor", "inplace", "have at least one positional argument"),
        ("(*, Tensor(a!) x) -> Tensor(a!)", "inplace", "have at least one positional argument"),
        ("(Tensor x) -> Tensor", "inplace", "declare its first positional argument to be mutable"),
        ("(int x) -> Tensor", "inplace", "declare its first positional argument to be mutable"),
        ("(Tensor(a!)[] x) -> Tensor(a!)[]", "inplace", "declare its first positional argument to"),
        ("(Tensor(a!) x) -> ()", "inplace", "return exactly one value, x"),
        ("(Tensor(a!) x) -> (Tensor(a!), Tensor)", "inplace", "return exactly one value, x"),
        ("(Tensor(a!) x) -> int", "inplace", FIRST + "a Tensor"),
        ("(Tensor(a!) x) -> Tensor", "inplace", FIRST.replace("be ", "alias")),
        ("(Tensor(a!) x) -> Tensor(a)", "inplace", FIRST + "a mutable alias of it"),
        ("(Tensor(a!) x, Tensor(b!) y) -> Tensor(b!)", "inplace", FIRST.replace("be ", "alias")),
        ("(Tensor(a!) x, Tensor(b!) y) -> Tensor(a!)", "inplace", "only mutate the first"),
        ("(Tensor x) -> Tensor", "out", "have at least one mutable argument"),
        ("(Tensor(a!) x) -> Tensor(a!)", "out", "write keyword-only arguments alone, not x"),
        ("(*, Tensor(a!)[] out) -> ()", "out", "write Tensors: it only supports Tensor, not out"),
        ("(Tensor x, *, Tensor(a!) out) -> ()", "out", "return all mutable arguments, 1 of them"),
        ("(*, Tensor(a!) out) -> Tensor", "out", "return the mutable argument out: the"),
        ("(*, Tensor(a!) o, Tensor(b!) p) -> (Tensor(b!), Tensor(a!))", "out", "return the mut"),
    ],
)
def test_tagged_schemas_are_checked(library, schema, tag, text):
    lib = library("lb", "DEF")
    with pytest.raises(ValueError) as raised:
        lib.define("f" + schema, tags=getattr(dispatch.Tag, tag))
    assert f"Tag.{tag} must {text}" in str(raised.value)
    assert "lb::f" not in _C._dispatch_get_all_op_names()


@pytest.mark.parametrize(
    ("schema", "tag"),
    [
        ("(Tensor(a!) x, Tensor y) -> Tensor(a!)", "inplace"),
        ("(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", "out"),
        ("(*, Tensor(a!) o, Tensor(b!) p) -> (Tensor(a!), Tensor(b!))", "out"),
    ],
)
def test_schemas_that_do_what_their_tag_says_are_taken(library, schema, tag):
    lib = library("lb", "DEF")
    lib.define("f" + schema, tags=getattr(dispatch.Tag, tag))
    assert getattr(dispatch.Tag, tag) in ops.lb.f.default.tags


def test_functions_register_by_name(library):
    lib = library("lb", "DEF")
    define("lb::f", "(Tensor x) -> str", lib=lib)
    impl("lb::f", ("default", "AutogradCPU"), lambda x: "f", lib=lib)
    assert ops.lb.f(T) == "f"
    register_kernel(ops.lb.f.default, "cpu", lambda x: "cpu", lib=lib)
    with _C._AutoDispatchBelowAutograd():
        assert ops.lb.f(T) == "cpu"
    assert lib._op_impls == {
        "lb/f/CompositeExplicitAutograd", "lb/f/AutogradCPU", "lb/f/CPU",
    }  # fmt: skip


def test_functions_with_a_library_are_decorators(library):
    lib = library("lb", "DEF")

    @define(lib, "f(Tensor x) -> str")
    def f(x):
        return "everywhere"

    assert f(T) == ops.lb.f(T) == "everywhere"

    @impl(lib, "f", "CPU")
    def g(x):
        return "cpu"

    assert g(T) == ops.lb.f(T) == "cpu"


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: define(3, "(Tensor x) -> Tensor"), ValueError),
        (lambda: define("f", "(Tensor x) -> Tensor"), ValueError),
        (lambda: define("lb::f", "f(Tensor x) -> Tensor"), ValueError),
        (lambda: impl("f", "cpu", lambda x: x), ValueError),
        (lambda: impl("lb::f", "nothing", lambda x: x), RuntimeError),
        (lambda: register_kernel(ops.aten.add, "cpu", lambda x: x), ValueError),
        (lambda: get_kernel(3, "CPU"), ValueError),
        (lambda: get_kernel("aten::add.Tensor", "NoKey"), ValueError),
        (lambda: get_kernel("aten::nothing", "CPU"), RuntimeError),
    ],
)
def test_functions_refuse(call, error):
    with pytest.raises(error):
        call()


def test_the_kernel_of_an_operator_without_definition_is_refused(library):
    library("lb", "FRAGMENT").impl("ghost", lambda x: x, "CPU")
    with pytest.raises(RuntimeError, match="lb::ghost"):
        get_kernel("lb::ghost", "CPU")


def test_a_custom_operator_needs_a_namespace():
    def f(x: dispatch.Tensor) -> dispatch.Tensor:
        return x.clone()

    with pytest.raises(RuntimeError, match="namespace"):
        custom_op("::f", mutates_args=())(f)


def test_a_kernel_outlives_its_replacement(library):
    lib = library("lb", "DEF")
    lib.define("f(Tensor x) -> str")
    lib.impl("f", lambda x: "old", "CPU")
    old = get_kernel("lb::f", "CPU")
    lib.impl("f", lambda x: "new", "CPU")
    assert old.call_boxed(_C._dispatch_keys(T), T) == "old"
    assert ops.lb.f(T) == "new"


def test_the_old_name_of_register_fake_warns(library):
    lib = library("lb", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    with pytest.warns(FutureWarning, match="register_fake"):
        impl_abstract("lb::f", lambda x: x.new_empty(5), lib=lib)
    assert ops.lb.f(dispatch.ones(1, device="meta")).shape == (5,)


def test_no_compiler(library):
    lib = library("lb", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    with pytest.raises(NotImplementedError, match="compiled"):
        lib._impl_with_aoti_compile("f", "CPU")
    with pytest.raises(AssertionError):
        lib._impl_with_aoti_compile("f", "Undefined")


def test_a_refused_kernel_takes_no_place(library):
    lib = library("lb", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError):
        lib.impl("f", lambda x: x, "NoKey")
    with pytest.raises(RuntimeError):
        library("lb", "IMPL", "CPU").impl("f", lambda x: x, "CUDA")
    library("lb", "IMPL").impl("f", lambda x: x + 1, "CUDA", allow_override=False)


def test_operators_of_a_library_that_died_are_not_listed_as_defined():
    lib = Library("lb", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    assert "lb::f" in _defs
    del lib
    gc.collect()
    assert "lb::f" not in _defs


def test_a_library_for_meta_has_no_kernel_of_what_decomposes(library):
    lib = library("lb", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x + 1, "CompositeImplicitAutograd")
    with pytest.raises(RuntimeError, match="CompositeImplicitAutograd"):
        library("lb", "IMPL", "Meta").impl("f", lambda x: x)


def test_a_schema_of_a_subclass_of_str_is_one(library):
    class Text(str):
        pass

    assert library("lb", "DEF").define(Text("f(Tensor x) -> Tensor")) == "f"
    assert ops.lb.f.overloads() == ["default"]


def test_a_schema_that_is_no_text_defines_nothing(library):
    lib = library("lb", "DEF")
    for schema in (b"f(Tensor x) -> Tensor", None):
        with pytest.raises(TypeError):
            lib.define(schema)
    assert not hasattr(ops.lb, "f")


def test_a_dispatch_key_is_given_by_name(library):
    lib = library("lb", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    with pytest.raises(TypeError, match="by its name"):
        lib.impl("f", lambda x: x, _C.DispatchKey.CPU)
    assert not _C._dispatch_has_kernel_for_dispatch_key("lb::f", "CPU")


@pytest.mark.usefixtures("untold")
@pytest.mark.parametrize(("name", "key"), [("lb::again", "CPU"), ("aten::sin", "CPU")])
def test_the_first_kernel_in_place_of_another_is_told(library, name, key):
    ns = name.partition("::")[0]
    if ns == "lb":
        lib = library("lb", "DEF")
        lib.define("again(Tensor x) -> Tensor")
        lib.impl("again", lambda x: x, key)
    else:
        lib = library(ns, "IMPL")
    lib.impl(name, lambda x: x.clone(), "Meta")
    lib.impl(name, lambda x: x.clone(), "Meta")
    with pytest.warns(UserWarning, match=f"{name}.* CPU already"):
        lib.impl(name, lambda x: x, key)
    lib.impl(name, lambda x: x, key)


@pytest.mark.filterwarnings("ignore:Library.impl")
def test_kernels_outlive_the_definition_and_each_goes_with_its_library():
    def added(number, kind="IMPL"):
        lib = Library("tlgo", kind)
        if kind == "DEF":
            lib.define("f(Tensor x) -> Tensor")
        lib.impl("f", lambda x: x + number, "CPU")
        return lib

    def result():
        return dispatch.ops.tlgo.f(dispatch.zeros(1)).item()

    first, kernel = added(1, "DEF"), added(2)
    assert result() == 2
    first._destroy()
    second = Library("tlgo", "DEF")
    second.define("f(Tensor x) -> Tensor")
    assert result() == 2
    second.impl("f", lambda x: x + 3, "CPU")
    assert result() == 3
    kernel._destroy()
    assert result() == 3
    lower, upper = added(4), added(5)
    lower._destroy()
    assert result() == 5
    upper._destroy()
    assert result() == 3
    second._destroy()
    with pytest.raises(AttributeError):
        result()


def test_no_mode_sees_a_call_of_an_operator_that_is_gone():
    seen = []

    class Mode(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    lib = Library("tlgone", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x.clone(), "CPU")
    op, x = dispatch.ops.tlgone.f.default, dispatch.ones(1)
    with Mode():
        op(x)
        assert seen == [op]
        lib._destroy()
        with pytest.raises((RuntimeError, NotImplementedError), match="tlgone::f"):
            op(x)
    with pytest.raises((RuntimeError, NotImplementedError), match="tlgone::f"):
        op(x.to(dispatch.complex64).conj())
    assert seen == [op]


def test_what_stands_in_no_table_goes_with_its_library(library):
    lib = library("lb", "DEF")
    lib.define("f(Tensor x, Tensor y) -> Tensor")
    entry = singleton.find("lb::f")
    lib.register_symm_mem_args("lb::f", ["y", "y", "x"])
    lib._register_effectful_op("f", EffectType.ORDERED)
    lib._register_torch_dispatch_rule("f", Own, lambda *args: None)
    assert entry.symm_mem_args.get() == ["y", "x"] and entry.symm_mem_args.is_registered()
    assert entry.symm_mem_args.is_symm_mem_arg("x")
    assert not entry.symm_mem_args.is_symm_mem_arg("z")
    assert entry.effect.effect is EffectType.ORDERED
    with pytest.raises(RuntimeError, match="lb::f"):
        lib._register_torch_dispatch_rule("f", Own, lambda *args: None)
    with pytest.raises(ValueError, match="lb::f"):
        lib.register_symm_mem_args("lb::f", [])
    lib._destroy()
    assert entry.symm_mem_args.get() is None and not entry.symm_mem_args.is_registered()
    assert entry.effect.effect is None
    assert entry.torch_dispatch_rules.find(Own) is None


class Own(dispatch.Tensor):
    """A class that has a rule."""


def test_an_overload_that_is_gone_is_gone_from_its_packet(library):
    library("lb", "DEF").define("f(Tensor x) -> Tensor")
    more = library("lb")
    more.define("f.o(Tensor x) -> Tensor")
    more.define("g.o(Tensor x) -> Tensor")
    assert ops.lb.f.o.name() == "lb::f.o" and ops.lb.g.overloads() == ["o"]
    more._destroy()
    assert ops.lb.f.overloads() == ["default"]
    assert not hasattr(ops.lb.f, "o") and not hasattr(ops.lb, "g")
    assert "g" not in dir(ops.lb)


def test_a_fake_kernel_of_the_module_that_its_definition_names_serves(library):
    lib = library("lb", "DEF")
    lib.m.set_python_module(__name__)
    lib.define("f.o(Tensor x) -> Tensor")
    lib._register_fake("f.o", lambda x: x.new_empty(5))
    assert ops.lb.f.o(dispatch.ones(2, device="meta")).shape == (5,)
