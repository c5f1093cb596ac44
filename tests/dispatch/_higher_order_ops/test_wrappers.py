"""`strict_mode` and `hints_wrapper` call the function that they are given."""

import pytest

import dispatch
from dispatch import ones
from dispatch._higher_order_ops import hints_wrapper, strict_mode
from dispatch._higher_order_ops.wrappers import strict_mode_op
from dispatch.fake import FakeTensorMode
from dispatch.functional import functionalize

hop = dispatch.ops.higher_order


def test_they_are_operators_under_their_names():
    assert hop.strict_mode is strict_mode_op
    assert hop.hints_wrapper is hints_wrapper


@pytest.mark.parametrize(
    "call", [strict_mode, lambda f, args: hints_wrapper(f, args, {}, hints={"level": 3})]
)
def test_the_function_runs_everywhere(call):
    x = ones(3)
    assert call(lambda a: (a + 1, a.sum()), (x,))[0].tolist() == [2.0] * 3
    assert call(lambda a: a * 2, (ones(3, requires_grad=True),)).requires_grad
    with FakeTensorMode():
        assert call(lambda a: a.sum(), (ones(3),)).shape == ()
    functional = functionalize(lambda a: call(lambda b: b.clone().add_(1), (a,)))
    assert functional(x).tolist() == [2.0] * 3


@pytest.mark.parametrize(
    "args, text",
    [
        ((("a",), {}, {}), "args: expected tensors and numbers"),
        (((), {"b": 1}, {}), "kwargs: expected an empty dict"),
        (((), 3, {}), "kwargs: expected an empty dict"),
        (((), {}, 3), "hints must be a dict"),
        (((), {}, {1: 2}), "dict of str to int"),
        (((), {}, {"a": None}), "dict of str to int"),
    ],
)
def test_hints_wrapper_refuses_other_arguments(args, text):
    with pytest.raises(RuntimeError, match=f"hints_wrapper: .*{text}"):
        hints_wrapper(lambda *given: given, *args)
