"""Functions over symbolic numbers as handlers of foreign objects see them."""

import pytest

import dispatch


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
