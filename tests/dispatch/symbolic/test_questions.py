"""Functions over symbolic numbers as handlers of foreign objects see them."""

import pytest

import dispatch
from dispatch.symbolic import DimDynamic, ShapeEnv, StatelessSymbolicContext


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("sym_int", 1),
        ("sym_not", 1),
        ("sym_max", 2),
        ("sym_min", 2),
        ("sym_ite", 3),
        ("_sym_cos", 1),
    ],
)
def test_handlers_are_asked_before_numbers_are_looked_at(name, arguments):
    class Foreign:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func, len(args)

    function = getattr(dispatch, name)
    assert function(*[Foreign() for _ in range(arguments)]) == (function, arguments)
    assert dispatch.sym_sum([Foreign()])[0] is dispatch.sym_sum
    assert dispatch.sym_sum([1, 2]) == 3


def test_a_size_that_went_through_a_tensor_is_a_number_and_a_guard():
    env = ShapeEnv()
    mode = dispatch.FakeTensorMode(shape_env=env)
    context = StatelessSymbolicContext([DimDynamic.DYNAMIC])
    (n,) = mode.from_tensor(dispatch.ones(4), symbolic_context=context).shape
    assert dispatch.sym_fresh_size(5) == 5
    with mode:
        found = dispatch.sym_fresh_size(n)
    assert (type(found), found) == (int, 4)
    assert [g.expr.function for g in env.guards] == ["Eq"]
