"""What operators do against what their schemas say."""

import pytest

import dispatch
from dispatch import ops
from dispatch.tools.schema_check import SchemaCheckMode


def test_schema_checks_accept_the_operators_here():
    x = dispatch.ones(2, 3)
    with SchemaCheckMode() as check:
        x.add_(1).t().reshape(-1).sum()
        dispatch.cat([x, x])
        dispatch.add(x, x, out=dispatch.empty(2, 3))
    assert ("aten::add_", "input") in check.mutated
    assert ("aten::t", "input", "output_0") in check.aliasing


@pytest.mark.parametrize(
    ("returns", "body", "text"),
    [
        ("Tensor", lambda a: a.add_(1).clone(), "mutated"),
        ("Tensor", lambda a: a.view(-1), "alias"),
        ("(Tensor, Tensor)", lambda a: (a.clone(),) * 2, "alias"),
    ],
)
def test_schema_checks_name_the_operator(returns, body, text):
    lib = dispatch.Library("checked_by_mode", "DEF")
    lib.define(f"f(Tensor a) -> {returns}")
    lib.impl("f", body, "CompositeExplicitAutograd")
    with SchemaCheckMode(), pytest.raises(RuntimeError, match=rf"checked_by_mode::f.*{text}"):
        ops.checked_by_mode.f(dispatch.ones(2))
    lib._destroy()


def other_strides(a):
    a.t_()
    return a.clone()


def other_storage(a):
    a.data = a.clone()
    return a.neg()


def other_sizes(a):
    a.unsqueeze_(0)
    return a.clone()


def one_element(a):
    a[1, 1].fill_(7)
    return a.clone()


@pytest.mark.parametrize("body", [other_strides, other_storage, other_sizes, one_element])
def test_any_change_of_an_argument_is_a_mutation(library, body):
    """Of a square of ones: most leave the values as they were."""
    lib = library("checked_by_mode", "DEF")
    lib.define("f(Tensor a) -> Tensor")
    lib.impl("f", body, "CompositeExplicitAutograd")
    with SchemaCheckMode(), pytest.raises(RuntimeError, match=r"checked_by_mode::f.*mutated"):
        ops.checked_by_mode.f(dispatch.ones(2, 2))


def test_not_a_number_is_equal_to_itself(library):
    x = dispatch.tensor([float("nan"), 1.0])
    with SchemaCheckMode() as check:
        x.neg()
    assert check.mutated == [] and check.ops == ["aten::neg"]
    with SchemaCheckMode() as check:
        x.neg_()
    assert check.mutated == [("aten::neg_", "input")]


def test_declared_writes_and_aliases_are_recorded_by_argument(library):
    lib = library("checked_by_mode", "DEF")
    lib.define("f(Tensor a, Tensor(w!) b, Tensor(v) c) -> (Tensor, Tensor(v))")

    def body(a, b, c):
        b.add_(1)
        return a.clone(), c.view(-1)

    lib.impl("f", body, "CompositeExplicitAutograd")
    with SchemaCheckMode() as check:
        ops.checked_by_mode.f(dispatch.ones(2), dispatch.ones(2), dispatch.ones(2))
    assert check.mutated == [("checked_by_mode::f", "b")]
    assert check.aliasing == [("checked_by_mode::f", "c", "output_1")]


def test_an_input_is_not_returned(library):
    lib = library("checked_by_mode", "DEF")
    lib.define("f(Tensor(a) x) -> Tensor(a)")
    lib.impl("f", lambda x: x, "CompositeExplicitAutograd")
    with SchemaCheckMode(), pytest.raises(RuntimeError, match="do not return their inputs"):
        ops.checked_by_mode.f(dispatch.ones(2))
