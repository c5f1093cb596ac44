"""opcheck: each check passes what is right, and fails what it is there for."""

import pytest

import dispatch
from dispatch import Tensor
from dispatch.library import custom_op, opcheck
from dispatch.library.checks import OpCheckError

pytestmark = pytest.mark.usefixtures("same_state_after")

FAKE = "test_faketensor"
TRACING = "test_aot_dispatch_dynamic"
AUTOGRAD = "test_autograd_registration"


def operator(fn, fake=None, schema="(Tensor x) -> Tensor"):
    op = custom_op("toc::f", fn, mutates_args=(), schema=schema)
    if fake is not None:
        op.register_fake(fake)
    return op


def failure(op, check, *args):
    return opcheck(op, args, test_utils=check, raise_exception=False)[check]


@pytest.mark.parametrize(
    "fake",
    [lambda x: x.new_empty(7), lambda x: x.long(), lambda x: x, lambda x: x.new_empty(3, 2).t()],
)
def test_fake_results_must_be_like_real_ones(fake):
    x = dispatch.ones(2, 3)
    assert failure(operator(lambda x: x.clone(), dispatch.empty_like), FAKE, x) == "SUCCESS"
    with pytest.raises(OpCheckError, match=FAKE):
        opcheck(operator(lambda x: x.clone(), fake), (x,), test_utils=FAKE)


def test_writes_and_aliases_must_be_declared():
    x = dispatch.ones(2)
    op = operator(lambda x: x.add_(1).clone(), dispatch.empty_like)
    assert isinstance(failure(op, "test_schema", x), RuntimeError)
    op = operator(lambda x: x.clone(), dispatch.empty_like)
    assert failure(op, "test_schema", x) == "SUCCESS"


def test_everything_passes_for_a_good_operator():
    op = operator(lambda x: x * 2, dispatch.empty_like)
    op.register_autograd(lambda ctx, g: g * 2)
    for x in (dispatch.ones(2), dispatch.ones(2, requires_grad=True)):
        assert set(opcheck(op, (x,), test_utils="ALL").values()) == {"SUCCESS"}


def test_a_missing_fake_kernel_fails():
    op = operator(lambda x: x.clone())
    for check in (FAKE, TRACING):
        assert "no fake impl registered" in str(failure(op, check, dispatch.ones(1)))


def test_results_that_change_fail():
    calls = []

    def counting(x):
        calls.append(x)
        return x * len(calls)

    op = operator(counting, dispatch.empty_like)
    assert "different values" in str(failure(op, TRACING, dispatch.ones(1)))


def test_the_formula_is_run():
    op = operator(lambda x: x * 2, dispatch.empty_like)
    x = dispatch.ones(2, requires_grad=True)
    assert "no autograd formula" in str(failure(op, TRACING, x))
    op.register_autograd(lambda ctx, g: g * 2)
    assert failure(op, TRACING, x) == "SUCCESS"

    def broken(ctx, g):
        raise KeyError("broken")

    op.register_autograd(broken)
    assert isinstance(failure(op, TRACING, x), KeyError)


def test_gradients_below_autograd_fail(library):
    lib = library("tol", "DEF")
    for name, kernel in (("f", lambda x: x.clone()), ("g", lambda x: x.detach().clone())):
        lib.define(f"{name}(Tensor x) -> Tensor")
        lib.impl(name, kernel, "CPU")
    x = dispatch.ones(1, requires_grad=True)
    assert isinstance(failure(dispatch.ops.tol.f, AUTOGRAD, x), AssertionError)
    assert failure(dispatch.ops.tol.g, AUTOGRAD, x) == "SUCCESS"
    assert failure(dispatch.ops.tol.f, AUTOGRAD, dispatch.ones(1)) == "SUCCESS"


def test_arguments_are_copied():
    op = operator(lambda x: x.add_(1).clone(), dispatch.empty_like)
    x = dispatch.ones(2)
    opcheck(op, (x,), test_utils=(FAKE, TRACING), raise_exception=False)
    assert x.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "kw", [{"test_utils": "no"}, {"test_utils": {FAKE}}, {"atol": 1.0}, {"rtol": 1.0}]
)
def test_wrong_arguments(kw):
    with pytest.raises(ValueError):
        opcheck(operator(lambda x: x.clone()), (dispatch.ones(1),), **kw)


def test_what_is_no_operator():
    with pytest.raises(ValueError):
        opcheck(len, ())
    with pytest.raises(RuntimeError, match="several overloads"):
        opcheck(dispatch.ops.aten.add, ())


def test_annotations_are_enough():
    @custom_op("toc::g", mutates_args=())
    def g(xs: list[Tensor], by: float) -> list[Tensor]:
        return [x * by for x in xs]

    g.register_fake(lambda xs, by: [dispatch.empty_like(x) for x in xs])
    assert failure(g, FAKE, [dispatch.ones(2)], 2.0) == "SUCCESS"


@pytest.mark.parametrize(
    "on_fakes",
    [
        lambda g: g.double() * 2,
        lambda g: g.new_empty(7),
        lambda g: (g * 2).to("cuda"),
    ],
    ids=["dtype", "sizes", "device"],
)
def test_gradients_on_fake_tensors_must_be_like_real_ones(on_fakes):
    op = operator(lambda x: x * 2, dispatch.empty_like)
    op.register_autograd(lambda ctx, g: g * 2 if type(g) is Tensor else on_fakes(g))
    x = dispatch.ones(2, requires_grad=True)
    assert isinstance(failure(op, TRACING, x), Exception)
    assert failure(op, TRACING, dispatch.ones(2)) == "SUCCESS"


@pytest.mark.parametrize(
    "fake",
    [lambda x: x.new_empty(7), lambda x: x.new_empty(2, dtype=dispatch.int8)],
    ids=["sizes", "dtype"],
)
def test_tracing_compares_results_too(fake):
    op = operator(lambda x: x.clone(), fake)
    assert "different results" in str(failure(op, TRACING, dispatch.ones(2)))


def test_values_are_compared_within_the_tolerances_of_their_dtype():
    off = []

    def drifting(x):
        off.append(1)
        return x + len(off) * 1e-4

    op = operator(drifting, dispatch.empty_like)
    x = dispatch.ones(2)
    error = failure(op, TRACING, x)
    assert "different values" in str(error)
    assert "Absolute difference: 0.0001" in str(error.__context__)
    assert failure(op, TRACING, x.to(dispatch.bfloat16)) == "SUCCESS"
    found = opcheck(op, (x,), test_utils=TRACING, raise_exception=False, rtol=0.1, atol=0.1)
    assert found[TRACING] == "SUCCESS"


def test_results_may_not_alias_arguments(library):
    lib = library("taliases", "DEF")
    lib.define("f(Tensor(a!) x) -> Tensor(a!)")
    lib.impl("f", lambda x: x.sin_(), "CPU")
    lib.impl("f", lambda x: x, "Meta")
    op = dispatch.ops.taliases.f.default
    assert "do not have alias annotations" in str(failure(op, TRACING, dispatch.ones(2)))
    assert failure(dispatch.ops.aten.sin_.default, TRACING, dispatch.ones(2)) == "SUCCESS"
