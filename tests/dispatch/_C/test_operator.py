"""OperatorEntry: its row is a function of its registrations, checked against a table that says the
rules again."""

import pytest
from hypothesis import given, settings, strategies as st

import dispatch
from dispatch import _C, FakeTensorMode, ops
from dispatch.library import Library, fallthrough_kernel
from dispatch.library.autograd import Info, make_autograd_impl
from dispatch.symbolic import ShapeEnv

pytestmark = pytest.mark.usefixtures("same_state_after")

KEYS = [
    "CPU", "CUDA", "Meta", "FPGA", "QuantizedCPU", "SparseCPU", "NestedTensorCPU", "Tracer",
    "AutogradCPU", "AutogradOther", "AutogradNestedTensor", "FuncTorchBatched", "Autograd",
    "CompositeImplicitAutograd", "CompositeExplicitAutograd",
    "CompositeImplicitAutogradNestedTensor",
    "CompositeExplicitAutogradNonFunctional", "FuncTorchBatchedDecomposition",
]  # fmt: skip

REGISTRATIONS = st.lists(st.tuples(st.sampled_from(KEYS), st.booleans()), max_size=5)


@settings(max_examples=60, deadline=None)
@given(REGISTRATIONS)
def test_row_is_a_function_of_the_registrations(registrations):
    lib = Library("oprow", "DEF")
    try:
        lib.define("f(Tensor x) -> Tensor")
        empty = _C._dispatch_dump_table("oprow::f")
        others = []
        for key, fallthrough in registrations:
            others.append(Library("oprow", "IMPL"))
            others[-1].m.impl("f", key, fallthrough_kernel if fallthrough else (lambda x: x))
            _C._dispatch_check_invariants("oprow::f")
        for other in others:
            other._destroy()
            _C._dispatch_check_invariants("oprow::f")
        assert _C._dispatch_dump_table("oprow::f") == empty
    finally:
        lib._destroy()


def rows_with(library, *keys):
    lib = library("oprow", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    for key in keys:
        lib.impl("f", lambda x: x, key)
    return {key: why for key, _, why, _ in _C._dispatch_table("oprow::f")}


# What serves some keys when some kernels are registered (c10's computeDispatchTableEntry).
RULES = [
    (("CPU",), {"CPU": "kernel", "AutogradCPU": "backend fallback", "CUDA": None}),
    (
        ("CompositeImplicitAutograd",),
        {"CPU": "math kernel", "AutogradCPU": "math kernel", "Undefined": "math kernel"},
    ),
    (
        ("CompositeExplicitAutograd",),
        {"CPU": "default backend kernel", "AutogradCPU": "backend fallback"},
    ),
    (
        ("CompositeImplicitAutograd", "CPU"),
        {"CPU": "kernel", "AutogradCPU": "backend fallback", "AutogradCUDA": "math kernel"},
    ),
    (("CompositeImplicitAutograd", "Autograd"), {"AutogradCPU": "math kernel"}),
    (("CPU", "Autograd"), {"AutogradCPU": "autograd kernel", "CPU": "kernel"}),
    (("CompositeImplicitAutograd", "FPGA"), {"AutogradOther": "ambiguous autogradother"}),
    (("CompositeExplicitAutogradNonFunctional",), {"CPU": "default backend kernel", "XLA": None}),
]  # fmt: skip


@pytest.mark.parametrize(("registered", "want"), RULES)
def test_rules_of_resolution(library, registered, want):
    rows = rows_with(library, *registered)
    assert {key: rows.get(key) for key in want} == want


def test_emitted_and_recomputed_rows_are_the_same(library):
    before = _C._dispatch_dump_table("aten::add.Tensor")
    lib = library("aten", "IMPL")
    lib.impl("add.Tensor", lambda *a, **k: None, "FPGA")
    _C._dispatch_check_invariants("aten::add.Tensor")
    lib._destroy()
    _C._dispatch_check_invariants("aten::add.Tensor")
    assert _C._dispatch_dump_table("aten::add.Tensor") == before


@pytest.mark.parametrize(
    ("name", "allowed"),
    [("add", True), ("aten::mul_", False), ("maximum", False), ("aten::matmul", False)],
)
def test_which_operators_take_numbers_for_tensors(name, allowed):
    assert _C._should_allow_numbers_as_tensors(name) is allowed


def test_tags_of_a_definition(library):
    lib = library("oprow", "DEF")
    lib.define("f(Tensor x) -> Tensor", tags=dispatch.Tag.core)
    lib.define("g(Tensor x) -> Tensor", tags=[dispatch.Tag.core, dispatch.Tag.pointwise])
    assert dispatch.ops.oprow.f.default.tags == [dispatch.Tag.core]
    assert set(dispatch.ops.oprow.g.default.tags) == {dispatch.Tag.core, dispatch.Tag.pointwise}


@pytest.mark.parametrize("key", ["Dense", "Sparse", "AutogradFunctionality"])
def test_a_kernel_of_a_functionality_without_a_backend_serves_nobody(library, key):
    lib = library("functionality")
    lib.define("f(Tensor x) -> Tensor")
    for _ in range(50):
        lib.impl("f", lambda x: x, key)
    with pytest.raises(NotImplementedError):
        dispatch.ops.functionality.f(dispatch.ones(1))
    lib.impl("f", lambda x: x + 1, "CPU")
    assert dispatch.ops.functionality.f(dispatch.ones(1)).item() == 2


def test_defaults_of_a_definition_belong_to_the_operator(library):
    """They live as long as it does, whatever else is made and given back meanwhile."""
    lib, seen = library("opdefaults", "DEF"), []
    lib.define(
        'f(Tensor x, float y=1234.5, int[] z=[70000, 80000], str s="a longer text", '
        "int n=123456789, complex c=2j, Scalar d=3j, bool last=False) -> Tensor"
    )
    lib.impl("f", lambda x, *rest: seen.append(rest) or x.clone(), "CPU")
    x = dispatch.ones(2)
    for _ in range(20):
        churned = [[float(i), [i, i], f"another text {i}", i + 10**9, 3j * i] for i in range(200)]
        dispatch.ops.opdefaults.f(x, last=True)
        dispatch.ops.opdefaults.f(x, y=1.5, last=True)
        del churned
    default = (1234.5, [70000, 80000], "a longer text", 123456789, 2j, 3j, True)
    assert seen[0::2] == [default] * 20 and seen[1::2] == [(1.5, *default[1:])] * 20


@pytest.mark.parametrize("key", ["Conjugate", "Negative"])
def test_a_key_that_an_operator_lets_pass_has_no_fallback_there(library, key):
    """Also where none of its kernels stands at an alias key."""
    lib, seen = library("oppass", "DEF"), []
    for name in "fg":
        lib.define(f"{name}(Tensor x) -> Tensor")
        kernel = lambda x: seen.append((x.is_conj(), x.is_neg())) or x.clone()  # noqa: E731
        lib.impl(name, kernel, "CPU")
    lib.impl("f", dispatch.library.fallthrough_kernel, key)
    x = dispatch.ones(2, dtype=dispatch.complex64)
    marked = x.conj() if key == "Conjugate" else dispatch.ops.aten._neg_view(x)
    for op in (dispatch.ops.oppass.f, dispatch.ops.oppass.g):
        op(marked)
    assert seen == [(key == "Conjugate", key == "Negative"), (False, False)]


def test_defaults_that_the_schema_names_are_objects(library):
    lib, seen = library("opnamed", "DEF"), []
    lib.define(
        "f(Tensor x, ScalarType d=long, Layout l=strided, MemoryFormat m=contiguous_format, "
        "ScalarType? e=float, bool last=False) -> Tensor"
    )
    lib.impl("f", lambda x, *rest: seen.extend(rest) or x.clone(), "CPU")
    dispatch.ops.opnamed.f(dispatch.ones(1), last=True)
    named = [dispatch.int64, dispatch.strided, dispatch.contiguous_format, dispatch.float32]
    assert seen == [*named, True]


def test_kernels_in_python_get_symbols_and_guard_nothing(library):
    """Kernels that read bytes do not; these may pass a symbol on."""
    env = ShapeEnv()
    fake = FakeTensorMode(shape_env=env).from_tensor(dispatch.ones(7), static_shapes=False)
    lib, seen = library("symbols_in_python"), []
    lib.define("f(Tensor x, SymInt n) -> Tensor")
    for key in ("CPU", "AutogradCPU"):
        lib.impl("f", lambda x, n, key=key: seen.append((key, n)) or x, key)
    x, n = dispatch.ones(2), fake.shape[0]
    ops.symbols_in_python.f(x, n)
    ops.symbols_in_python.f.default.redispatch(dispatch.DispatchKeySet("CPU"), x, n)
    assert [key for key, _ in seen] == ["AutogradCPU", "CPU"]
    assert all(got is n for _, got in seen) and not env.guards


def test_kernels_in_c_above_a_backend_pass_symbols_on(library):
    env = ShapeEnv()
    fake = FakeTensorMode(shape_env=env).from_tensor(dispatch.ones(7), static_shapes=False)
    lib, seen = library("symbols_in_c"), []
    lib.define("f(Tensor x, SymInt n) -> Tensor")
    lib.impl("f", lambda x, n: seen.append(n) or x.clone(), "CPU")
    formula = make_autograd_impl(ops.symbols_in_c.f.default, Info(lambda ctx, g: (g, None), None))
    lib.impl("f", formula, "AutogradCPU")
    n = fake.shape[0]
    assert ops.symbols_in_c.f(dispatch.ones(2, requires_grad=True), n).requires_grad
    assert seen == [n] and seen[0] is n and not env.guards
