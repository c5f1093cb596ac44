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
    with SchemaCheckMode(), pytest.raises(RuntimeError, match=rf"{text}.*checked_by_mode::f"):
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
    with SchemaCheckMode(), pytest.raises(RuntimeError, match=r"mutated: checked_by_mode::f"):
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
    with SchemaCheckMode(), pytest.raises(RuntimeError, match="to directly return inputs"):
        ops.checked_by_mode.f(dispatch.ones(2))


class Holder(dispatch.Tensor):
    """A wrapper that gets a new value inside instead of writing to the old one."""

    @staticmethod
    def __new__(cls, elem):
        made = dispatch.Tensor._make_wrapper_subclass(cls, elem.shape)
        made.elem = elem
        return made

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        out = func(args[0].elem, *args[1:])
        args[0].elem = args[0].elem + 1
        return cls(out)


def test_a_wrapper_whose_value_was_replaced_was_mutated():
    with SchemaCheckMode(), pytest.raises(RuntimeError, match="input is not defined as mutable"):
        Holder(dispatch.ones(2)).sub(1)


def test_schema_info_takes_input_for_self():
    """`normalize_function` says `input`, as torch.fx does."""
    info = dispatch._C._SchemaInfo(ops.aten.add.Tensor._schema)
    x = dispatch.ones(2)
    info.add_argument_values({"input": x, "other": x})
    place = dispatch._C._SchemaArgument
    kind = dispatch._C._SchemaArgType.input
    assert info.may_alias(place(kind, 0), place(kind, 1))
    with pytest.raises(RuntimeError, match="no argument 'inputs'"):
        info.add_argument_value("inputs", x)
    named = dispatch._C._SchemaInfo(ops.aten.linear.default._schema)
    named.add_argument_values({"input": x, "weight": x})
    assert named.may_alias(place(kind, 0), place(kind, 1))
    with pytest.raises(RuntimeError, match="no argument 'self'"):
        named.add_argument_value("self", x)
