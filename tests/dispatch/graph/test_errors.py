"""`errors`: what is told of long lists."""

import pickle

import pytest

from dispatch.graph.errors import MissingOperatorsError


@pytest.mark.parametrize(
    ("count", "ends"),
    [(1, "a::f0"), (40, "a::f39"), (41, "a::f39 and 1 more"), (50, " and 10 more")],
)
def test_many_missing_operators_are_counted(count, ends):
    error = MissingOperatorsError("m.pt2", [f"a::f{i}" for i in range(count)])
    plural = "" if count == 1 else "s"
    assert str(error).startswith(f"m.pt2: {count} operator{plural} not registered: a::f0")
    assert str(error).endswith(ends) and len(error.names) == count
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
