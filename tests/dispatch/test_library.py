"""Library: define, impl, fallback, and taking all of it back."""

import gc

import pytest

import dispatch
from dispatch import _C, ops
from dispatch.library import Library, _scoped_library, fallthrough_kernel

pytestmark = pytest.mark.usefixtures("same_state_after")

T = dispatch.ones(2)


@pytest.mark.parametrize(
    ("args", "error"),
    [(("lb", "OTHER"), ValueError), (("prim", "DEF"), ValueError), (("aten", "DEF"), RuntimeError),
     (("lb", "IMPL", "NoKey"), RuntimeError)],
)  # fmt: skip
def test_libraries_that_cannot_be(args, error):
    with pytest.raises(error):
        Library(*args)


def test_define_returns_the_name(library):
    lib = library("lb", "DEF")
    assert lib.define("f(Tensor x) -> Tensor") == "f"
    assert lib.define("f.o(Tensor x, int y) -> Tensor") == "f.o"
    assert ops.lb.f.overloads() == ["default", "o"]


def test_impl_only_libraries_and_bad_schemas(library):
    lib = library("lb", "DEF")
    for schema in ("f", "f(", "f(Tensr x) -> Tensor", "f(Tensor x)", ""):
        with pytest.raises(RuntimeError):
            lib.define(schema)
    with pytest.raises(RuntimeError, match="alias_analysis"):
        lib.define("f(Tensor x) -> Tensor", "WRONG")
    assert dir(ops.lb) == []


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


def test_with_keyset_kernels_redispatch(library):
    lib = library("lb", "DEF")
    lib.define("f(Tensor x, int n=1) -> Tensor")
    lib.impl("f", lambda x, n=1: dispatch.add(x, n), "CPU")

    def outer(keys, x, *args):
        below = keys & _C._after_autograd_keyset
        return ops.lb.f.default.redispatch(below, dispatch.mul(x, 10), *args)

    lib.impl("f", outer, "AutogradCPU", with_keyset=True)
    assert ops.lb.f(T, 5).tolist() == [15.0, 15.0]
