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
